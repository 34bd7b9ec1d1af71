from urllib.parse import urldefrag as urldefrag
from urllib.parse import urljoin as urljoin
from urllib.parse import urlunparse as urlunparse
from urllib.parse import urlunsplit as urlunsplit
