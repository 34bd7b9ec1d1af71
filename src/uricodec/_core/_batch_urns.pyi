from uricodec._core._urn_rows import UrnRows

FIELDS: tuple[str, ...]

class SplitUrns(UrnRows):
    def __init__(self, spec: str = "8141") -> None: ...
