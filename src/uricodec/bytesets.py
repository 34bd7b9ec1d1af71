"""The sets of bytes that the standards name: each production as a `ByteSet`, under its quoted grammar.

RFC 1630 (both BNFs), RFC 1738 section 5, RFC 2141 section 2, RFC 2396 section 2, RFC 3986 appendix A, RFC 3987
section 3, RFC 8141 section 2, the percent-encode sets of the URL Standard (WHATWG), and the characters that
urllib.parse.quote and JavaScript's encodeURI and encodeURIComponent keep.

If a production contains an escape (pct-encoded, escaped, escape, "%" hex hex), its set contains the literal characters
only, without the `%` that begins an escape. Sets whose grammar names `%` itself contain it: RFC1738_PUNCTUATION,
RFC2141_RESERVED, RFC2141_TRANS, RFC2396_DELIMS, RFC3986_URI_CHAR, RFC3987_IRI_TO_URI_NEVER.

`safe=` takes the bytes to *keep*. The WHATWG sets are bytes to *encode*: pass their complement, as in
`safe=~WHATWG_COMPONENT`. Only COMPONENT and FORM of them contain `%`; the complements of the others keep triplets, and
any other `%`, as they are.

>>> from uricodec import percent_encode
>>> from uricodec.bytesets import RFC3986_PCHAR, RFC3986_UNRESERVED, WHATWG_COMPONENT
>>> percent_encode("a b&c", safe=RFC3986_UNRESERVED)
'a%20b%26c'
>>> percent_encode("a b&c", safe=~WHATWG_COMPONENT)
'a%20b%26c'
>>> percent_encode("a b&c/d", safe=RFC3986_PCHAR | "/")
'a%20b&c/d'
>>> RFC3986_PCHAR - RFC3986_UNRESERVED
ByteSet(b"!$&'()*+,:;=@")
>>> ord("~") in RFC3986_UNRESERVED, ord("%") in RFC3986_PCHAR
(True, False)
"""

from uricodec._base._kernels import ALPHA as _ALPHA  # RFC 5234 appendix B.1
from uricodec._base._kernels import DIGIT as _DIGIT
from uricodec._base._kernels import UNRESERVED as _UNRESERVED
from uricodec._base._kernels import ByteSet

__all__ = [
    "JS_ENCODE_URI",
    "JS_ENCODE_URI_COMPONENT",
    "RFC1630_EXTRA",
    "RFC1630_NATIONAL",
    "RFC1630_PUNCTUATION",
    "RFC1630_RESERVED",
    "RFC1630_SAFE",
    "RFC1630_URL_SAFE",
    "RFC1630_XALPHA",
    "RFC1630_XPALPHA",
    "RFC1738_EXTRA",
    "RFC1738_NATIONAL",
    "RFC1738_PUNCTUATION",
    "RFC1738_RESERVED",
    "RFC1738_SAFE",
    "RFC2141_EXCLUDED",
    "RFC2141_NEVER",
    "RFC2141_NSS",
    "RFC2141_OTHER",
    "RFC2141_RESERVED",
    "RFC2141_TRANS",
    "RFC2396_CONTROL",
    "RFC2396_DELIMS",
    "RFC2396_MARK",
    "RFC2396_RESERVED",
    "RFC2396_SPACE",
    "RFC2396_UNRESERVED",
    "RFC2396_UNWISE",
    "RFC2396_URIC",
    "RFC3986_FRAGMENT",
    "RFC3986_GEN_DELIMS",
    "RFC3986_PCHAR",
    "RFC3986_QUERY",
    "RFC3986_REG_NAME",
    "RFC3986_RESERVED",
    "RFC3986_SCHEME_TAIL",
    "RFC3986_SEGMENT_NZ_NC",
    "RFC3986_SUB_DELIMS",
    "RFC3986_UNRESERVED",
    "RFC3986_URI_CHAR",
    "RFC3986_USERINFO",
    "RFC3987_IRI_TO_URI_NEVER",
    "RFC3987_IRI_TO_URI_OPTIONAL",
    "RFC3987_URI_TO_IRI_DECODED",
    "RFC8141_F_COMPONENT",
    "RFC8141_NSS",
    "RFC8141_Q_COMPONENT",
    "RFC8141_R_COMPONENT",
    "URLLIB_ALWAYS_SAFE",
    "WHATWG_C0_CONTROL",
    "WHATWG_COMPONENT",
    "WHATWG_FORM",
    "WHATWG_FRAGMENT",
    "WHATWG_PATH",
    "WHATWG_QUERY",
    "WHATWG_SPECIAL_QUERY",
    "WHATWG_USERINFO",
]


def __dir__() -> list[str]:
    return __all__


_ALPHANUM = _ALPHA | _DIGIT


# RFC 1630, "BNF of Generic URI Syntax" and "BNF for specific URL schemes". No class contains the backtick. The double
# quote is legal ("extra"), but not in later standards. The generic BNF limits xpalphas to two ("xpalpha [ xpalpha ]"):
# a typo, which the URL BNF does not repeat and which does not affect the sets.

#   safe                   $ | - | _ | @ | . | &
RFC1630_SAFE = ByteSet("$-_@.&")
#   safe                   $ | - | _ | @ | . | &  | + | -        (the URL BNF, with its second "-")
RFC1630_URL_SAFE = RFC1630_SAFE | "+-"
#   extra                  ! | * | " |  ' | ( | ) | ,
RFC1630_EXTRA = ByteSet("!*\"'(),")
#   reserved               = | ; | / | # | ? | : | space
RFC1630_RESERVED = ByteSet("=;/#?: ")
#   national               { | } | vline | [ | ] | \ | ^ | ~
RFC1630_NATIONAL = ByteSet("{}|[]\\^~")
#   punctuation            < | >
RFC1630_PUNCTUATION = ByteSet("<>")
#   xalpha                 alpha | digit | safe | extra | escape
RFC1630_XALPHA = _ALPHA | _DIGIT | RFC1630_SAFE | RFC1630_EXTRA
#   xpalpha                xalpha | +
RFC1630_XPALPHA = RFC1630_XALPHA | "+"


# RFC 1738 section 5.

#   safe           = "$" | "-" | "_" | "." | "+"
RFC1738_SAFE = ByteSet("$-_.+")
#   extra          = "!" | "*" | "'" | "(" | ")" | ","
RFC1738_EXTRA = ByteSet("!*'(),")
#   national       = "{" | "}" | "|" | "\" | "^" | "~" | "[" | "]" | "`"
RFC1738_NATIONAL = ByteSet("{}|\\^~[]`")
#   punctuation    = "<" | ">" | "#" | "%" | <">
RFC1738_PUNCTUATION = ByteSet('<>#%"')
#   reserved       = ";" | "/" | "?" | ":" | "@" | "&" | "="
RFC1738_RESERVED = ByteSet(";/?:@&=")


# RFC 2141 section 2.

#   <other>       ::= "(" | ")" | "+" | "," | "-" | "." |
#                     ":" | "=" | "@" | ";" | "$" |
#                     "_" | "!" | "*" | "'"
RFC2141_OTHER = ByteSet("()+,-.:=@;$_!*'")
#   <reserved>    ::= '%" | "/" | "?" | "#"        (the first quote is a misprint of ")
RFC2141_RESERVED = ByteSet("%/?#")
#   <trans>       ::= <upper> | <lower> | <number> | <other> | <reserved>
RFC2141_TRANS = _ALPHANUM | RFC2141_OTHER | RFC2141_RESERVED
#   <NSS>         ::= 1*<URN chars>
#   <URN chars>   ::= <trans> | "%" <hex> <hex>
# Section 2.3.2: "Namespace developers SHOULD NOT use these characters ["/", "?", "#"] in unencoded form". An encoder
# keeps this set. A validator also accepts those three, as the grammar does: RFC2141_TRANS - "%".
RFC2141_NSS = RFC2141_TRANS - RFC2141_RESERVED
#   <excluded> ::= octets 1-32 (1-20 hex) | "\" | """ | "&" | "<"
#                  | ">" | "[" | "]" | "^" | "`" | "{" | "|" | "}" | "~"
#                  | octets 127-255 (7F-FF hex)
RFC2141_EXCLUDED = ByteSet(range(1, 33)) | '\\"&<>[]^`{|}~' | bytes(range(127, 256))
#   "In addition, octet 0 (0 hex) should NEVER be used, in either unencoded or %-encoded form."
RFC2141_NEVER = ByteSet([0])


# RFC 2396 section 2 (and appendix A). RFC 2732 later moved "[" and "]" from unwise to reserved; these sets are 2396's.

#   mark        = "-" | "_" | "." | "!" | "~" | "*" | "'" | "(" | ")"
RFC2396_MARK = ByteSet("-_.!~*'()")
#   unreserved  = alphanum | mark
RFC2396_UNRESERVED = _ALPHANUM | RFC2396_MARK
#   reserved    = ";" | "/" | "?" | ":" | "@" | "&" | "=" | "+" |
#                 "$" | ","
RFC2396_RESERVED = ByteSet(";/?:@&=+$,")
#   uric          = reserved | unreserved | escaped
RFC2396_URIC = RFC2396_RESERVED | RFC2396_UNRESERVED
#   control     = <US-ASCII coded characters 00-1F and 7F hexadecimal>
RFC2396_CONTROL = ByteSet(range(0x20)) | b"\x7f"
#   space       = <US-ASCII coded character 20 hexadecimal>
RFC2396_SPACE = ByteSet([0x20])
#   delims      = "<" | ">" | "#" | "%" | <">
RFC2396_DELIMS = ByteSet('<>#%"')
#   unwise      = "{" | "}" | "|" | "\" | "^" | "[" | "]" | "`"
RFC2396_UNWISE = ByteSet("{}|\\^[]`")


# RFC 3986 appendix A.

#   unreserved    = ALPHA / DIGIT / "-" / "." / "_" / "~"
RFC3986_UNRESERVED = _UNRESERVED
#   gen-delims    = ":" / "/" / "?" / "#" / "[" / "]" / "@"
RFC3986_GEN_DELIMS = ByteSet(":/?#[]@")
#   sub-delims    = "!" / "$" / "&" / "'" / "(" / ")"
#                 / "*" / "+" / "," / ";" / "="
RFC3986_SUB_DELIMS = ByteSet("!$&'()*+,;=")
#   reserved      = gen-delims / sub-delims
RFC3986_RESERVED = RFC3986_GEN_DELIMS | RFC3986_SUB_DELIMS
#   scheme        = ALPHA *( ALPHA / DIGIT / "+" / "-" / "." )        (the part in parentheses)
RFC3986_SCHEME_TAIL = _ALPHA | _DIGIT | "+-."
#   userinfo      = *( unreserved / pct-encoded / sub-delims / ":" )
RFC3986_USERINFO = RFC3986_UNRESERVED | RFC3986_SUB_DELIMS | ":"
#   reg-name      = *( unreserved / pct-encoded / sub-delims )
RFC3986_REG_NAME = RFC3986_UNRESERVED | RFC3986_SUB_DELIMS
#   segment-nz-nc = 1*( unreserved / pct-encoded / sub-delims / "@" )
RFC3986_SEGMENT_NZ_NC = RFC3986_UNRESERVED | RFC3986_SUB_DELIMS | "@"
#   pchar         = unreserved / pct-encoded / sub-delims / ":" / "@"
RFC3986_PCHAR = RFC3986_UNRESERVED | RFC3986_SUB_DELIMS | ":@"
#   query         = *( pchar / "/" / "?" )
RFC3986_QUERY = RFC3986_PCHAR | "/?"
#   fragment      = *( pchar / "/" / "?" )
RFC3986_FRAGMENT = RFC3986_PCHAR | "/?"
#   pct-encoded   = "%" HEXDIG HEXDIG
# Section 2: "A URI is composed from a limited set of characters": all characters of a URI, "%" included.
RFC3986_URI_CHAR = RFC3986_UNRESERVED | RFC3986_RESERVED | "%"


# RFC 3987 section 3; reserved and unreserved are those of RFC 3986. The sets are ASCII only: bytes from 0x80 up are
# converted as whole UTF-8 sequences.

# 3.1: "the printable characters in US-ASCII that are not allowed in URIs, namely "<", ">", '"', space, "{", "}", "|",
# "\", "^", and "`"": a system MAY percent-encode them; if it does not, "the conversion SHOULD fail".
RFC3987_IRI_TO_URI_OPTIONAL = ByteSet('<>" {}|\\^`')
# 3.1: "the number sign ("#"), the percent sign ("%"), and the square bracket characters ("[", "]") are not part of the
# above list and MUST NOT be converted".
RFC3987_IRI_TO_URI_NEVER = ByteSet("#%[]")
# 3.2: "Convert all percent-encodings [...] to the corresponding octets, except those corresponding to "%", characters
# in "reserved", and characters in US-ASCII not allowed in URIs."
RFC3987_URI_TO_IRI_DECODED = RFC3986_URI_CHAR - "%" - RFC3986_RESERVED


# RFC 8141 section 2, with pchar and fragment of RFC 3986.

#   NSS           = pchar *(pchar / "/")        ("/" cannot come first)
RFC8141_NSS = RFC3986_PCHAR | "/"
#   r-component   = pchar *( pchar / "/" / "?" )
RFC8141_R_COMPONENT = RFC3986_PCHAR | "/?"
#   q-component   = pchar *( pchar / "/" / "?" )
RFC8141_Q_COMPONENT = RFC3986_PCHAR | "/?"
#   f-component   = fragment
RFC8141_F_COMPONENT = RFC3986_FRAGMENT


# URL Standard (WHATWG), "Percent-encoded bytes", review draft of August 2026: the bytes to ENCODE. The standard defines
# sets of code points; code points above U+007E are the bytes 7F-FF here, which include those of their UTF-8.

#   C0 control: "C0 controls and all code points greater than U+007E (~)"
WHATWG_C0_CONTROL = ByteSet(range(0x20)) | bytes(range(0x7F, 0x100))
#   fragment: "the C0 control percent-encode set and U+0020 SPACE, U+0022 ("), U+003C (<), U+003E (>), and U+0060 (`)"
WHATWG_FRAGMENT = WHATWG_C0_CONTROL | ' "<>`'
#   query: "the C0 control percent-encode set and U+0020 SPACE, U+0022 ("), U+0023 (#), U+003C (<), and U+003E (>)"
WHATWG_QUERY = WHATWG_C0_CONTROL | ' "#<>'
#   special-query: "the query percent-encode set and U+0027 (')"
WHATWG_SPECIAL_QUERY = WHATWG_QUERY | "'"
#   path: "the query percent-encode set and U+003F (?), U+005E (^), U+0060 (`), U+007B ({), and U+007D (})"
WHATWG_PATH = WHATWG_QUERY | "?^`{}"
#   userinfo: "the path percent-encode set and U+002F (/), U+003A (:), U+003B (;), U+003D (=), U+0040 (@), U+005B ([)
#   to U+005D (]), inclusive, and U+007C (|)"
WHATWG_USERINFO = WHATWG_PATH | "/:;=@[\\]|"
#   component: "the userinfo percent-encode set and U+0024 ($) to U+0026 (&), inclusive, U+002B (+), and U+002C (,)"
WHATWG_COMPONENT = WHATWG_USERINFO | "$%&+,"
#   application/x-www-form-urlencoded: "the component percent-encode set and U+0021 (!), U+0027 (') to U+0029 RIGHT
#   PARENTHESIS, inclusive, and U+007E (~)"; it is used with a space as "+"
WHATWG_FORM = WHATWG_COMPONENT | "!'()~"


# Documentation of urllib.parse.quote: "Letters, digits, and the characters '_.-~' are never quoted."
URLLIB_ALWAYS_SAFE = _UNRESERVED


# ECMA-262, "URI Handling Functions": the bytes to keep.

#   encodeURIComponent: "the string-concatenation of the ASCII word characters and "-.!~*'()""
JS_ENCODE_URI_COMPONENT = _ALPHANUM | "_" | "-.!~*'()"
#   encodeURI: the same and "the string-concatenation of ";/?:@&=+$," and "#""
JS_ENCODE_URI = JS_ENCODE_URI_COMPONENT | ";/?:@&=+$," | "#"
