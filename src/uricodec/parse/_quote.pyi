from urllib.parse import parse_qs as parse_qs
from urllib.parse import parse_qsl as parse_qsl
from urllib.parse import quote as quote
from urllib.parse import quote_from_bytes as quote_from_bytes
from urllib.parse import quote_plus as quote_plus
from urllib.parse import unquote as unquote
from urllib.parse import unquote_plus as unquote_plus
from urllib.parse import unquote_to_bytes as unquote_to_bytes
from urllib.parse import urlencode as urlencode

PARSE_DOC: str
