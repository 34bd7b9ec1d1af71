from uricodec._core._urn_rows import UrnRows

FIELDS: tuple[str, ...]

class SplitUrns(UrnRows):
    def __new__(cls, spec: str = "8141") -> SplitUrns: ...
