from urllib.parse import urlparse as urlparse
from urllib.parse import urlsplit as urlsplit

KNOWS_MISSING: bool

def cache_clear() -> None: ...
def cache_info() -> tuple[int, int, int, int]: ...
