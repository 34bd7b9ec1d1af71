from uricodec.urn.namespaces import Validator

RULE_NUMBERS: dict[str, int]

def set_rule(nid: str, rule: str, validator: Validator | None = None) -> None: ...
