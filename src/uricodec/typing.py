"""Types for annotations: each option that has a closed set of values, under one name.

    from uricodec.typing import UriLevel

    def normalized(urls: list[str], level: UriLevel = "path") -> list[str]: ...

The functions of uricodec are annotated with these names. No code needs them at run time.

>>> from typing import get_args
>>> get_args(UriProduction)
('URI-reference', 'URI', 'absolute-URI', 'relative-ref', 'whatwg')
"""

from typing import Literal

__all__ = [
    "AddressCategory",
    "Ambiguity",
    "CodecErrors",
    "ComponentErrors",
    "DedupErrors",
    "DedupKeep",
    "DedupReport",
    "DiagnosticErrors",
    "DisallowedCharacters",
    "FingerprintErrors",
    "HostCategory",
    "HostInIri",
    "HostInUri",
    "HostKind",
    "IdentifierKind",
    "IriProduction",
    "KeepOrDrop",
    "LogClient",
    "LogErrors",
    "NormalizeProduction",
    "PolicyName",
    "QueryPolicy",
    "QuerySpace",
    "RecordFormat",
    "ShapeQuery",
    "SplitErrors",
    "SqlErrors",
    "StructErrors",
    "TextContent",
    "TextErrors",
    "UriLevel",
    "UriProduction",
    "UrnLevel",
    "UrnRfc",
    "VerdictErrors",
    "WebHostKind",
    "WebScheme",
]


def __dir__() -> list[str]:
    return __all__


# --- how invalid values are handled: `errors` -------------------------------------------------------------------------

# Of `uricodec.bulk`, by the kind of result. docs/guides/columns.md says what each does.
TextErrors = Literal["keep", "null", "raise", "drop"]
CodecErrors = Literal["keep", "null", "raise", "drop", "replace"]  # of the operations that encode or decode
VerdictErrors = Literal["keep", "null", "raise"]
ComponentErrors = Literal["keep", "null", "raise"]
DiagnosticErrors = Literal["keep", "raise"]
StructErrors = Literal["null", "raise", "drop"]
SplitErrors = Literal["null", "keep", "raise", "drop"]  # of URIs and IRIs
FingerprintErrors = Literal["null", "keep", "raise"]

# Of deduplication, of the functions of SQL (DuckDB, Spark), and of access logs.
DedupErrors = Literal["keep", "drop", "raise"]
SqlErrors = Literal["null", "keep", "raise", "replace"]
LogErrors = Literal["drop", "raise"]

# --- identifiers ------------------------------------------------------------------------------------------------------

IdentifierKind = Literal["bytes", "urn", "uri", "iri", "web"]

# Levels of normal forms: RFC 3986 section 6.2 ("simple" to "scheme"), RFC 3987 section 5.3, the older RFCs; and URNs.
UriLevel = Literal["simple", "case", "percent", "path", "scheme", "iri", "rfc2396", "rfc1630"]
UrnLevel = Literal["bytes", "2141", "8141", "namespace", "functional"]

# Productions of RFC 3986 appendix A and RFC 3987 section 2.2, what the WHATWG URL Standard accepts, and the RFC whose
# grammar a URN is read by. "any": any text.
UriProduction = Literal["URI-reference", "URI", "absolute-URI", "relative-ref", "whatwg"]
IriProduction = Literal["IRI-reference", "IRI", "absolute-IRI", "irelative-ref"]
NormalizeProduction = Literal[UriProduction, IriProduction, "any"]
UrnRfc = Literal["2141", "8141", "any", 2141, 8141]

# Policies for URLs: the ready ones, and values of fields of `uricodec.uri.Policy`.
PolicyName = Literal["tracking", "crawl", "shape", "surt", "w3lib", "whatwg"]
KeepOrDrop = Literal["keep", "drop"]
QueryPolicy = Literal["keep", "sort", "drop", "drop-empty", "names"]
ShapeQuery = Literal["names", "drop", "keep"]

# How a space in a query is written.
QuerySpace = Literal["+", "%20"]

# RFC 3986 section 3.2.2.
HostKind = Literal["reg-name", "IPv4address", "IP-literal"]

# The host on which parsers agree: what some parsers read in another way, and what kind of host and address there is.
Ambiguity = Literal["raise", "allow"]
WebScheme = Literal["http", "https", "ws", "wss"]
WebHostKind = Literal["name", "ipv4", "ipv6"]
AddressCategory = Literal["public", "private", "loopback", "link-local", "shared", "multicast", "reserved", "metadata"]
HostCategory = Literal[
    "public", "private", "loopback", "link-local", "shared", "multicast", "reserved", "metadata", "name"
]

# What a text is in which URLs are found.
TextContent = Literal["auto", "plain", "json", "html"]

# Conversion between URIs and IRIs.
DisallowedCharacters = Literal["raise", "encode"]
HostInUri = Literal["percent", "idna"]
HostInIri = Literal["keep", "unicode", "safe"]

# --- files ------------------------------------------------------------------------------------------------------------

DedupKeep = Literal["first", "last", "newest"]
DedupReport = Literal["unique", "counts", "repeated"]
RecordFormat = Literal["csv", "delimited", "jsonl"]
LogClient = Literal["peer", "forwarded"]
