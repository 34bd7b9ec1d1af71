"""The operations on columns and lines: one table, OPERATIONS.

Made from it: the functions of `uricodec.bulk`; the methods for Polars and pandas, the functions for Spark and SQL;
their documentation and type stubs; the page docs/reference/operations.md; the calls that tests and the fuzz target
make. Compared with it, by test_registry.py: the parser of the command line.

The module imports only the types of options, and an operation is loaded when it is first used.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple, get_args

from uricodec import typing as types

__all__ = ["OPERATIONS", "REQUIRED", "Filter", "Operation", "Parameter", "SqlFunction"]

# The default of parameters that must be given.
REQUIRED: Any = ...

_NOTHING: Mapping[str, Any] = MappingProxyType({})


class Parameter(NamedTuple):
    """A parameter of an operation.

    Attributes:
        name (str): The name, everywhere but on the command line.
        type (str): The annotation; the names are those of `uricodec.typing`.
        default (Any): The default of `bulk`, SQL and the engines; or REQUIRED.
        about (str): The documentation: one sentence.
        choices (tuple[Any, ...]): All values, if their number is limited.
        examples (tuple[Any, ...]): Without choices: values that make a difference, for tests. Without a default,
            SQL takes the type of the result from a call with the first.
        column (str): Whether it may be a column, too, with a value for each row: "" (no), "needed" (the result is null
            if the value is null) or "optional" (a null value is an undefined one).
    """

    name: str
    type: str
    default: Any
    about: str
    choices: tuple[Any, ...] = ()
    examples: tuple[Any, ...] = ()
    column: str = ""


class SqlFunction(NamedTuple):
    """A function of SQL.

    Attributes:
        name (str): The name.
        parameters (tuple[str, ...]): The parameters after the column, all of them text. Trailing ones with a
            default are optional.
        fixed (Mapping[str, Any]): The values of parameters, and of `errors`, that this function fixes.
    """

    name: str
    parameters: tuple[str, ...] = ()
    fixed: Mapping[str, Any] = _NOTHING


class Filter(NamedTuple):
    """A filter of the command line.

    Attributes:
        line (str): The command, with the options that select the operation.
        options (Mapping[str, str]): Parameter -> the option that sets it.
    """

    line: str
    options: Mapping[str, str] = _NOTHING


class Operation(NamedTuple):
    """A row of the table.

    Attributes:
        name (str): The name in `bulk`, Polars, pandas and Spark.
        summary (str): What it does with each row, for the documentation.
        source (str): The sections of the RFCs that define it.
        single (str): The public function for one value: its name after "uricodec.".
        details (str): What the documentation of the function of `bulk` adds to the summary.
        returns (str): What it says of the result; "": see `returned`.
        invalid (str): What it adds about invalid rows.
        example (str): Its example.
        make (str): "module:name" of the RowOperation, or of a function that returns what `bulk/_operations.py` needs.
            The class of a "component" or "list" also takes whether results are UTF-8 (`text`) and whether rows may
            not be (`checks`).
        constants (Mapping[str, Any]): What that takes besides the parameters.
        result (str): The result of a row: "text", "verdict" (bool), "diagnostic" (None, or why the row is invalid),
            "component" (text; null if the row has none), "struct" (several of them), "list" (of text or structs) or
            "fingerprint" (16 bytes).
        fields (tuple[str, ...]): The field names of a diagnostic, a struct, or the structs of a list.
        parameters (tuple[Parameter, ...]): The parameters, in their order in `bulk`.
        policies (tuple[str, ...]): The values of `errors`, the default first; (): those of the result. "drop" is for
            lines and records only,
            because the length of a list or a column is fixed.
        sql (tuple[SqlFunction, ...]): The functions of SQL.
        command (Filter | None): The filter of the command line.
        rows (str): tests/data/rows/NAME.txt, the edge cases for tests; by default those of URIs.
        page (str): The page that explains the operation: "guides/uri", the default, is docs/guides/uri.md.
        needs (tuple[str, ...]): Optional libraries that the operation imports.
        takes_errors (bool): Whether `make` also takes `errors`.
    """

    name: str
    summary: str
    source: str
    make: str
    result: str
    rows: str = "uris"
    page: str = "guides/uri"
    policies: tuple[str, ...] = ()
    single: str = ""
    details: str = ""
    returns: str = ""
    invalid: str = ""
    example: str = ""
    constants: Mapping[str, Any] = _NOTHING
    fields: tuple[str, ...] = ()
    parameters: tuple[Parameter, ...] = ()
    sql: tuple[SqlFunction, ...] = ()
    command: Filter | None = None
    needs: tuple[str, ...] = ()
    takes_errors: bool = False

    @property
    def required(self) -> dict[str, Any]:
        """The first example of each parameter that has no default."""
        return {each.name: each.examples[0] for each in self.parameters if each.default is REQUIRED}

    @property
    def errors_type(self) -> str:
        """The type of `errors`, in `uricodec.typing`."""
        if self.result == "struct" and "keep" in self.policies:
            return "SplitErrors"
        if self.result == "text":
            return "CodecErrors" if "replace" in self.policies else "TextErrors"
        return {"list": "ComponentErrors"}.get(self.result) or f"{self.result.capitalize()}Errors"

    @property
    def returned(self) -> str:
        """The documentation of the result of the function of `bulk`."""
        if self.returns:
            return self.returns
        start = f"{_RETURNS[self.result]} {', '.join(self.fields)}".rstrip()
        return f"{start}, as from `uricodec.{self.single}`{_ENDS.get(self.result, '')}."


_RETURNS = {
    "text": "Text",
    "verdict": "bool",
    "diagnostic": "dicts or structs of",
    "component": "Text",
    "struct": "dicts or structs of",
    "list": "Lists of text",
}
_ENDS = {
    "verdict": '; with errors="null", null instead of False',
    "diagnostic": "; null if the row is valid. An offset counts characters of a str, bytes otherwise",
    "component": "; null if the row has none",
    "struct": "; an undefined component is null, and so is an invalid row",
}

# --- values that rows share -------------------------------------------------------------------------------------------

# With "keep", an invalid text stays as it is, its verdict is false, and its component is what the text has. The
# components of an invalid URN are unknown: no "keep". Diagnostics have no "null": it means that the row is
# valid.
_POLICIES = {
    "text": ("keep", "null", "raise", "drop"),
    "verdict": ("keep", "null", "raise"),
    "diagnostic": ("keep", "raise"),
    "component": ("keep", "null", "raise"),
    "list": ("keep", "null", "raise"),
    "struct": ("null", "raise", "drop"),
    "fingerprint": ("null", "keep", "raise"),
}
_CODEC = (*_POLICIES["text"], "replace")
_SPLIT = ("null", "keep", "raise", "drop")

# In SQL, `is_valid_*` are false for invalid rows and `*_check` return the reason, whatever policy other functions use.
_KEEP = MappingProxyType({"errors": "keep"})
_ANY = MappingProxyType({"production": "any"})

_DIAGNOSTIC_FIELDS = ("code", "offset")
_URI_FIELDS = ("scheme", "authority", "userinfo", "host", "port", "path", "query", "fragment")
_URN_FIELDS = ("nid", "nss", "r_component", "q_component", "f_component")

_SAFE = Parameter(
    "safe",
    "ByteSet | str | bytes",
    "/",
    "The bytes to keep: a ByteSet, which contains all bytes from 128 up or none of them, is the whole set; a str or "
    "bytes lists ASCII characters to keep besides the unreserved ones.",
    examples=("", "/:é"),
)
_REQUOTE_SAFE = _SAFE._replace(default=":/?#[]@!$&'()*+,;=", about="The bytes to keep, as in `quote`.")
_PLUS = Parameter("plus", "bool", False, "Write '+' for a space, and always encode a '+'.", (False, True))
_DECODE_PLUS = _PLUS._replace(about="Read '+' as a space.")
_DISALLOWED = Parameter(
    "disallowed",
    "DisallowedCharacters",
    "raise",
    'How the ten ASCII characters that no URI contains are handled: "raise" (the row is invalid) or "encode".',
    get_args(types.DisallowedCharacters),
)
_HOST_IN_URI = Parameter(
    "host",
    "HostInUri",
    "percent",
    'How a host beyond ASCII is written: "percent" (percent-encoded) or "idna" (A-labels).',
    get_args(types.HostInUri),
)
_HOST_IN_IRI = Parameter(
    "host",
    "HostInIri",
    "keep",
    'A-labels of hosts: "keep"; "unicode": characters; "safe": the same, where no scripts mix.',
    get_args(types.HostInIri),
)
_URI_LEVEL = Parameter(
    "level",
    "UriLevel",
    "path",
    'What the normal form merges: "simple", "case", "percent", "path", "scheme", "iri", "rfc2396" or "rfc1630".',
    get_args(types.UriLevel),
)
_POLICY = Parameter(
    "policy",
    "Policy | PolicyName | None",
    None,
    "What is merged beyond a level, instead of one: a `uricodec.uri.Policy`, or the name of a ready one.",
    examples=get_args(types.PolicyName),
)
_URN_LEVEL = Parameter(
    "level",
    "UrnLevel",
    "8141",
    'What the normal form merges: "bytes", "2141", "8141", "namespace" or "functional".',
    get_args(types.UrnLevel),
)
_URI_PRODUCTION = Parameter(
    "production",
    "UriProduction",
    "URI-reference",
    'The production: "URI-reference", "URI" (with a scheme), "absolute-URI" or "relative-ref"; or "whatwg".',
    get_args(types.UriProduction),
)
_IRI_PRODUCTION = Parameter(
    "production",
    "IriProduction",
    "IRI-reference",
    'The production: "IRI-reference", "IRI" (with a scheme), "absolute-IRI" or "irelative-ref".',
    get_args(types.IriProduction),
)
_NORMALIZE_PRODUCTION = Parameter(
    "production",
    "NormalizeProduction | None",
    None,
    'The production that rows must match, as in `is_valid_uri` and `is_valid_iri`, or "any" text. None: "any" with '
    'errors="keep"; else "IRI-reference" with level "iri" or a policy, "URI-reference" with the other levels, and '
    '"any" with what rejects rows itself: level "rfc1630", and the policies "w3lib" and "whatwg".',
    (None, *get_args(types.NormalizeProduction)),
)
_SAFE_HOST = Parameter(
    "safe_host",
    "bool",
    False,
    "Whether a host that decodes or normalizes to a delimiter is invalid, too.",
    (False, True),
)
_RFC = Parameter(
    "rfc",
    "UrnRfc",
    "8141",
    'The RFC of the grammar: "2141", "8141" or "any" of the two.',
    tuple(rfc for rfc in get_args(types.UrnRfc) if isinstance(rfc, str)),  # a number means the same
)
_SPEC_OF_LEVEL = Parameter(
    "rfc",
    "UrnRfc | None",
    None,
    'The RFC of the grammar: "2141", "8141" or "any" of the two; None: that of the level.',
    (None, *_RFC.choices),
)

_QUERY_NAME = Parameter(
    "name",
    "str | Sequence[str]",
    REQUIRED,
    "The decoded name; for several different names, the result is a struct with a field for each.",
    examples=("q", "page", ["q", "page", "é"]),
)

_PRIVATE = Parameter(
    "private",
    "bool",
    False,
    "Apply the private section of the list, too, which has suffixes of companies: github.io.",
    (False, True),
)
_SUFFIXES = Parameter(
    "suffixes",
    "str | PathLike[str] | None",
    None,
    "A file in the format of the Public Suffix List. None: the list of the library `publicsuffixlist`, which the extra "
    "`domains` installs.",
)

_WEB = (
    Parameter(
        "schemes",
        "Collection[WebScheme] | None",
        None,
        'The accepted ones of "http", "https", "ws" and "wss"; None: all.',
        examples=(None, ["https", "wss"]),
    ),
    Parameter(
        "userinfo",
        "Ambiguity",
        "raise",
        'How an "@" before the host is handled: "raise" (the row is invalid) or "allow".',
        get_args(types.Ambiguity),
    ),
    Parameter(
        "trailing_dot",
        "Ambiguity",
        "raise",
        'How a "." at the end of a name is handled: "raise" (the row is invalid) or "allow".',
        get_args(types.Ambiguity),
    ),
    Parameter(
        "ports",
        "Collection[int] | None",
        None,
        "The accepted ports; None: all.",
        examples=(None, [80, 8080]),
    ),
)

_SENSITIVE = Parameter(
    "names",
    "str | Collection[str]",
    "default",
    'The names of the parameters: "default" (those of the OpenTelemetry semantic conventions), "extended" (also those '
    'of OAuth, sessions, passwords and keys), or names, of which "*" at the ends stands for anything. A str may list '
    "several, with commas.",
    examples=("default", "extended", "token,x-*", ["q", "é"], "*"),
)
_NESTED = Parameter(
    "nested",
    "bool",
    True,
    "Redact also in a value that is a URL itself, percent-encoded once or twice.",
    (False, True),
)
_REDACTING = MappingProxyType({"names": "--names", "nested": "--no-nested"})
_BASE = Parameter(
    "base",
    "str | bytes | Any",
    REQUIRED,
    "The base URI or IRI, with a scheme; or a column of them, with one for each row.",
    examples=("http://a/b/c/d;p?q", "s:é/..", "urn:example:a"),
    column="needed",
)


_SET = Parameter(
    "set",
    "HostSet | PrefixSet | Collection[str]",
    REQUIRED,
    "The set; a list is a list of hosts, of which a set is made for this call.",
    examples=(["a.example", "b\u00fccher.example", "127.0.0.1", "::1", "org"], ["example.org"], []),
)
_EXACT = Parameter(
    "exact",
    "bool",
    False,
    "Whether only an entry itself matches, not what is below it.",
    (False, True),
)
_OTHER = Parameter(
    "other",
    "str | bytes | Any",
    REQUIRED,
    "What the rows are compared with; or a column, with one for each row.",
    examples=("http://example.org/b", "HTTP://EXAMPLE.org:80/x/../%62#f", "é"),
    column="needed",
)


def _component(name: str, default: Any, *examples: Any) -> Parameter:
    """Return the parameter of a component."""
    about = f"The {name}; or a column of them. None, or null: it is undefined."
    return Parameter(name, "str | bytes | Any | None", default, about, examples=examples, column="optional")


_MADE = "uricodec.bulk._operations"
_PARTS = "uricodec.uri._values"


def _part(name: str, summary: str, source: str, example: str, **more: Any) -> Operation:
    """Return the row of a part of URLs, which `_values.pyx` has under this name."""
    row = Operation(
        name=name,
        summary=summary,
        source=source,
        example=example,
        single=f"uri.{name}",
        make=f"{_PARTS}:PartRows",
        constants={"name": name},
        result="component",
        sql=(SqlFunction(f"uri_{name}"),),
        rows="urls",
        page="guides/url_analytics",
    )
    return row._replace(**more)


# --- the table --------------------------------------------------------------------------------------------------------

_ROWS = (
    Operation(
        name="quote",
        summary="percent-encode each row, as urllib.parse.quote does",
        source="RFC 3986 section 2.1.",
        single="parse.quote",
        returns=(
            'Text. Text that is not UTF-8 is invalid: a line (code "utf-8"), a str with a lone surrogate '
            '("surrogate"). errors="keep" encodes the bytes of such a line (a str stays as it is), '
            'errors="replace" encodes U+FFFD in their place.'
        ),
        example=r"""
            >>> quote(["/a b", b"\xff", None])
            ['/a%20b', b'%FF', None]
            >>> quote(b"/a\xff\n"), quote(b"/a\xff\n", errors="replace")
            (b'/a%FF\n', b'/a%EF%BF%BD\n')
        """,
        make=f"{_MADE}:quote",
        result="text",
        parameters=(_SAFE, _PLUS),
        policies=_CODEC,
        sql=(SqlFunction("uri_encode", ("safe",)), SqlFunction("form_encode", fixed={"plus": True, "safe": ""})),
        command=Filter("encode", {"safe": "--safe", "plus": "--plus"}),
        rows="percent",
        page="guides/framing",
    ),
    Operation(
        name="requote",
        summary="percent-encode what is not encoded yet",
        source="RFC 3986 section 2.4.",
        single="requote",
        details="Percent-encoded triplets stay as they are.",
        returns=(
            'Text. A row with a malformed triplet is invalid (code "percent"), and so is text that is not '
            'UTF-8, as in `quote`. errors="keep" leaves the \'%\', errors="replace" encodes it as %25.'
        ),
        example="""
            >>> requote(["/a b/%c3%a9", "100%"])
            ['/a%20b/%c3%a9', '100%']
            >>> requote(["/a b/%c3%a9", "100%"], errors="replace")
            ['/a%20b/%c3%a9', '100%25']
        """,
        make=f"{_MADE}:requote",
        result="text",
        parameters=(_REQUOTE_SAFE,),
        policies=_CODEC,
        sql=(SqlFunction("uri_requote"),),
        command=Filter("requote", {"safe": "--safe"}),
        rows="percent",
        page="guides/framing",
    ),
    Operation(
        name="unquote",
        summary="decode each row once, as urllib.parse.unquote does",
        source="RFC 3986 section 2.1; UTF-8 is RFC 3629's.",
        single="parse.unquote",
        details=(
            "Rows of bytes (not lines) are decoded as urllib.parse.unquote_to_bytes does. A str or a line is "
            'invalid if it contains a malformed triplet (code "percent") or decodes to bytes that are not '
            'UTF-8 ("utf-8"). errors="replace" leaves the malformed triplet, and replaces such bytes by '
            'U+FFFD; errors="keep" leaves both as they are, as in `percent_decode`. Rows of bytes are never '
            "invalid. Decoding adds no lines: in lines, triplets of control characters stay."
        ),
        returns="Text.",
        example=r"""
            >>> unquote(["caf%C3%A9", "%FF", b"%FF", "100%"], errors="null")
            ['café', None, b'\xff', None]
            >>> unquote(b"/a%20b\n/c%0Ad\n")
            b'/a b\n/c%0Ad\n'
        """,
        make=f"{_MADE}:decode",
        constants={"lossless": False},
        result="text",
        parameters=(_DECODE_PLUS,),
        policies=("replace", *_POLICIES["text"]),
        sql=(SqlFunction("uri_decode"), SqlFunction("form_decode", fixed={"plus": True})),
        rows="percent",
        page="guides/drop_in",
    ),
    Operation(
        name="percent_decode",
        summary="decode each row once, without losing information",
        source="RFC 3986 section 2.1 and 2.4; UTF-8 is RFC 3629's.",
        single="percent_decode",
        details=(
            "This is what `uricodec.percent_decode` does. A row is invalid if it contains a malformed triplet "
            '(code "percent"), or is text and decodes to bytes that are not UTF-8 ("utf-8"). errors="keep" '
            'leaves both as they are, errors="replace" writes U+FFFD in their place. Decoding never changes '
            "the number of lines: in lines, triplets of control characters stay."
        ),
        returns="Text.",
        example=r"""
            >>> percent_decode(["caf%C3%A9", "%FF", b"%FF", "100%"])
            ['café', '%FF', b'\xff', '100%']
            >>> percent_decode(b"/a%20b\n/c%0Ad%zz\n", errors="replace").decode()
            '/a b\n/c%0Ad\ufffdzz\n'
        """,
        make=f"{_MADE}:decode",
        constants={"lossless": True},
        result="text",
        parameters=(_DECODE_PLUS,),
        policies=_CODEC,
        sql=(SqlFunction("percent_decode"),),
        command=Filter("decode", {"plus": "--plus"}),
        rows="percent",
        page="guides/framing",
    ),
    Operation(
        name="iri_to_uri",
        summary="convert each IRI to a URI",
        source="RFC 3987 section 3.1.",
        single="iri.iri_to_uri",
        example="""
            >>> iri_to_uri(["http://example.org/é", "http://a/ "], errors="null")
            ['http://example.org/%C3%A9', None]
        """,
        make="uricodec.uri._rows:IriToUriRows",
        result="text",
        page="guides/convert",
        parameters=(_DISALLOWED, _HOST_IN_URI),
        sql=(SqlFunction("iri_to_uri"),),
        command=Filter("encode --iri", {"disallowed": "--disallowed", "host": "--host"}),
        needs=("idna",),
    ),
    Operation(
        name="uri_to_iri",
        summary="convert each URI to an IRI",
        source="RFC 3987 section 3.2.",
        single="iri.uri_to_iri",
        example="""
            >>> uri_to_iri(["http://example.org/%C3%A9%2F"])
            ['http://example.org/é%2F']
        """,
        make="uricodec.uri._rows:UriToIriRows",
        result="text",
        page="guides/convert",
        parameters=(_HOST_IN_IRI,),
        sql=(SqlFunction("uri_to_iri"),),
        command=Filter("decode --iri", {"host": "--host"}),
        needs=("idna",),
    ),
    Operation(
        name="normalize_uri",
        summary="return the normal form of each URI or IRI",
        source="RFC 3986 section 6.2; RFC 3987 section 5.3.",
        single="uri.normalize",
        example="""
            >>> normalize_uri(["HTTP://Example.org/a/../b"])
            ['http://example.org/b']
            >>> normalize_uri(["https://example.com?utm_source=x&b=2&a=1#top"], policy="crawl")
            ['https://example.com/?a=1&b=2']
            >>> normalize_uri(b"HTTP://a/\\nhttp://a b/\\n", errors="drop")
            b'http://a/\\n'
        """,
        invalid=(
            "Invalid are rows that are not UTF-8, that do not match `production`, and what level rfc1630 and the "
            "policies w3lib and whatwg reject."
        ),
        make=f"{_MADE}:normalize_uri",
        result="text",
        page="guides/compare",
        parameters=(_URI_LEVEL, _POLICY, _NORMALIZE_PRODUCTION),
        # In SQL, where errors="null" is the default, URLs that are not quite right have a normal form all the same.
        sql=(SqlFunction("uri_normalize", ("level",), _ANY), SqlFunction("uri_policy", ("policy",), _ANY)),
        command=Filter(
            "normalize --kind uri", {"level": "--level", "policy": "--policy", "production": "--production"}
        ),
        takes_errors=True,
        needs=("idna",),
    ),
    Operation(
        name="redact",
        summary="replace the values of sensitive query parameters, and userinfo, of each URL by REDACTED",
        source="OpenTelemetry semantic conventions, attributes url.full and url.query; RFC 3986 section 3.2.1.",
        single="uri.redact",
        details="Every other byte stays. No row is invalid.",
        returns="Text, as from `uricodec.uri.redact`.",
        example="""
            >>> redact(["https://me:pw@a.example/?id=7&sig=c2VjcmV0", None])
            ['https://REDACTED:REDACTED@a.example/?id=7&sig=REDACTED', None]
            >>> redact(["#state=7&access_token=c2VjcmV0"], "access_token")
            ['#state=7&access_token=REDACTED']
        """,
        make="uricodec.uri._redact:RedactRows",
        result="text",
        parameters=(_SENSITIVE, _NESTED),
        sql=(SqlFunction("uri_redact", ("names",)),),
        command=Filter("redact --urls", _REDACTING),
        rows="redact",
        page="guides/redact",
    ),
    Operation(
        name="redact_text",
        summary="redact the URLs in each row of any text, such as a line of a log",
        source="OpenTelemetry semantic conventions, attributes url.full and url.query; RFC 3986 section 3.2.1.",
        single="uri.redact_text",
        details="Every other byte stays. No row is invalid.",
        returns="Text, as from `uricodec.uri.redact_text`.",
        example="""
            >>> redact_text(['"GET /a?sig=c2VjcmV0 HTTP/1.1" 200'])
            ['"GET /a?sig=REDACTED HTTP/1.1" 200']
        """,
        make="uricodec.uri._redact:RedactTextRows",
        result="text",
        parameters=(_SENSITIVE, _NESTED),
        sql=(SqlFunction("uri_redact_text", ("names",)),),
        command=Filter("redact", _REDACTING),
        rows="redact",
        page="guides/redact",
    ),
    Operation(
        name="normalize_urn",
        summary="return the normal form of each URN",
        source="RFC 2141 section 5; RFC 8141 section 3.1.",
        single="urn.normalize",
        example="""
            >>> normalize_urn(["URN:ISBN:0-395-36341-1", None], level="namespace")
            ['urn:isbn:0395363411', None]
        """,
        make="uricodec.urn._rows:NormalizeUrnRows",
        result="text",
        parameters=(_URN_LEVEL, _SPEC_OF_LEVEL),
        sql=(SqlFunction("urn_normalize", ("level",)), SqlFunction("urn_key", ("level",))),
        command=Filter("normalize --kind urn", {"level": "--level", "rfc": "--rfc"}),
        rows="urns",
        page="guides/urn",
    ),
    Operation(
        name="is_valid_uri",
        summary="return whether each row is a URI reference",
        source="RFC 3986 appendix A.",
        single="uri.is_valid",
        example="""
            >>> is_valid_uri(["http://example.org/", "/a", "a b", None])
            [True, True, False, None]
            >>> is_valid_uri(["http://example.org/", "/a", "a b", None], production="URI")
            [True, False, False, None]
        """,
        make="uricodec.uri._rows:CheckRows",
        constants={"kind": "uri"},
        result="verdict",
        parameters=(_URI_PRODUCTION, _SAFE_HOST),
        sql=(SqlFunction("is_valid_uri", ("production", "safe_host"), _KEEP),),
    ),
    Operation(
        name="is_valid_iri",
        summary="return whether each row is an IRI reference",
        source="RFC 3987 section 2.2.",
        single="iri.is_valid",
        example="""
            >>> is_valid_iri(["http://example.org/é"])
            [True]
        """,
        make="uricodec.uri._rows:CheckRows",
        constants={"kind": "iri"},
        result="verdict",
        parameters=(_IRI_PRODUCTION, _SAFE_HOST),
        sql=(SqlFunction("is_valid_iri", ("production", "safe_host"), _KEEP),),
    ),
    Operation(
        name="is_valid_urn",
        summary="return whether each row is a URN",
        source="RFC 2141 section 2; RFC 8141 section 2.",
        single="urn.is_valid",
        example="""
            >>> is_valid_urn(["urn:example:a", "urn:example:", None])
            [True, False, None]
        """,
        make="uricodec.urn._rows:CheckUrnRows",
        result="verdict",
        parameters=(_RFC,),
        sql=(SqlFunction("is_valid_urn", ("rfc",), _KEEP),),
        rows="urns",
        page="guides/urn",
    ),
    Operation(
        name="check_uri",
        summary="return why each row is not a URI reference",
        source="RFC 3986 appendix A.",
        single="uri.check",
        example="""
            >>> check_uri(["/a", "/a b"])
            [None, {'code': 'path', 'offset': 2}]
        """,
        make="uricodec.uri._rows:CheckRows",
        constants={"kind": "uri"},
        result="diagnostic",
        fields=_DIAGNOSTIC_FIELDS,
        parameters=(_URI_PRODUCTION, _SAFE_HOST),
        sql=(SqlFunction("uri_check", ("production", "safe_host"), _KEEP),),
        command=Filter("check --kind uri", {"production": "--production", "safe_host": "--safe-host"}),
    ),
    Operation(
        name="check_iri",
        summary="return why each row is not an IRI reference",
        source="RFC 3987 section 2.2.",
        single="iri.check",
        example="""
            >>> check_iri(["/é", "/é "])
            [None, {'code': 'path', 'offset': 2}]
        """,
        make="uricodec.uri._rows:CheckRows",
        constants={"kind": "iri"},
        result="diagnostic",
        fields=_DIAGNOSTIC_FIELDS,
        parameters=(_IRI_PRODUCTION, _SAFE_HOST),
        sql=(SqlFunction("iri_check", ("production", "safe_host"), _KEEP),),
        command=Filter("check --kind iri", {"production": "--production", "safe_host": "--safe-host"}),
    ),
    Operation(
        name="check_urn",
        summary="return why each row is not a URN",
        source="RFC 2141 section 2; RFC 8141 section 2.",
        single="urn.check",
        example="""
            >>> check_urn(["urn:example:a", "urn:example:"])
            [None, {'code': 'nss-empty', 'offset': 12}]
        """,
        make="uricodec.urn._rows:CheckUrnRows",
        result="diagnostic",
        fields=_DIAGNOSTIC_FIELDS,
        parameters=(_RFC,),
        sql=(SqlFunction("urn_check", ("rfc",), _KEEP),),
        command=Filter("check --kind urn", {"rfc": "--rfc"}),
        rows="urns",
        page="guides/urn",
    ),
    Operation(
        name="split_uri",
        summary="return the components of each URI reference",
        source="RFC 3986 section 3.",
        single="uri.split",
        invalid='With "keep", any text is split as RFC 3986 appendix B does.',
        example="""
            >>> split_uri(["//example.org:80/?a"])[0]["port"]
            '80'
            >>> split_uri(["//exa mple.org:x/"], errors="keep")[0]["host"]
            'exa mple.org'
        """,
        make=f"{_MADE}:split",
        constants={"kind": "uri"},
        result="struct",
        fields=_URI_FIELDS,
        policies=_SPLIT,
        sql=(SqlFunction("uri_split"),),
        command=Filter("split --kind uri"),
    ),
    Operation(
        name="split_iri",
        summary="return the components of each IRI reference",
        source="RFC 3987 section 2.2.",
        single="iri.split",
        invalid='With "keep", any text is split as RFC 3986 appendix B does.',
        example="""
            >>> split_iri(["//example.org/é"])[0]["path"]
            '/é'
        """,
        make=f"{_MADE}:split",
        constants={"kind": "iri"},
        result="struct",
        fields=_URI_FIELDS,
        policies=_SPLIT,
        sql=(SqlFunction("iri_split"),),
        command=Filter("split --kind iri"),
    ),
    Operation(
        name="resolve",
        summary="resolve each reference against a base URI",
        source="RFC 3986 section 5.2.",
        single="uri.resolve",
        details="The rows are the references.",
        returns="Text: the targets.",
        invalid='A row is invalid if its base has no scheme (code "scheme"); "keep" returns the reference.',
        example="""
            >>> resolve(["../g", "//h/", None], "http://a/b/c/d;p?q")
            ['http://a/b/g', 'http://h/', None]
            >>> resolve(["c", "c"], ["http://a/b", "/b"], errors="null")
            ['http://a/c', None]
        """,
        make=f"{_MADE}:resolve",
        result="text",
        parameters=(_BASE,),
        sql=(SqlFunction("uri_resolve", ("base",)),),
        command=Filter("resolve", {"base": "--base"}),
        page="guides/resolve",
    ),
    Operation(
        name="relativize",
        summary="return the shortest reference that resolves to each URI",
        source="RFC 3986 section 4.2.",
        single="uri.relativize",
        details="The rows are the targets.",
        returns="Text: the references; the target itself if no reference is shorter.",
        invalid=(
            'A row is invalid if it or its base has no scheme (code "scheme"), or if no reference resolves to it, '
            'because its path has dot segments ("path").'
        ),
        example="""
            >>> relativize(["http://a/b/g", "http://h/", "g", None], "http://a/b/c/d", errors="null")
            ['../g', '//h/', None, None]
        """,
        make=f"{_MADE}:relativize",
        result="text",
        parameters=(_BASE,),
        sql=(SqlFunction("uri_relativize", ("base",)),),
        page="guides/resolve",
    ),
    Operation(
        name="unsplit",
        summary="join components to a URI reference",
        source="RFC 3986 section 5.3.",
        single="uri.unsplit",
        details="The rows are the paths.",
        returns="Text: the references, which `split_uri` splits into the same components. Null if the path is null.",
        invalid=(
            "A row is invalid if the components make no reference (with the codes of `check_uri`), or one that would "
            'be split into others ("components"). Its offset is in what they make; "keep" returns the path.'
        ),
        example="""
            >>> unsplit(["/a", "/b", None], scheme="https", authority="example.org", query=["x=1", None, None])
            ['https://example.org/a?x=1', 'https://example.org/b', None]
            >>> parts = split_uri(["http://example.org/?#a"])[0]
            >>> names = ["path", "scheme", "authority", "query", "fragment"]
            >>> unsplit(*([parts[name]] for name in names))
            ['http://example.org/?#a']
        """,
        make=f"{_MADE}:unsplit",
        result="text",
        parameters=(
            _component("scheme", None, "http", "s", "1"),
            _component("authority", None, "a", "u@[::1]:8", ""),
            _component("query", None, "a=1", "", "#"),
            _component("fragment", None, "f", "", "#"),
        ),
        sql=(SqlFunction("uri_unsplit", ("scheme", "authority", "query", "fragment")),),
    ),
    Operation(
        name="equivalent",
        summary="return whether each URI or IRI is equivalent to another one",
        source="RFC 3986 section 6.1; RFC 3987 section 5.1.",
        single="uri.equivalent",
        invalid=(
            'At level "rfc1630", a row is invalid if a "%" is not followed by two hexadecimal digits; with the policy '
            '"whatwg" or "w3lib", if that rejects it.'
        ),
        example="""
            >>> equivalent(["HTTP://a/%7Eb", "http://a/c", None], "http://a/~b")
            [True, False, None]
            >>> equivalent(["http://a", "http://b"], ["http://a:80/", "http://a/"], level="scheme")
            [True, False]
        """,
        make=f"{_MADE}:equivalent",
        result="verdict",
        page="guides/compare",
        parameters=(_OTHER, _URI_LEVEL, _POLICY),
        sql=(SqlFunction("uri_equivalent", ("other", "level"), _KEEP),),
        needs=("idna",),
    ),
    Operation(
        name="relation",
        summary="return how each URI or IRI is related to another one",
        source="RFC 3986 sections 4.4 and 6.1; RFC 6454 section 4.",
        single="uri.relation",
        returns=(
            'Text: "equal", "equivalent", "same-document", "same-path", "same-origin", "same-host" or "different", as '
            "from `uricodec.uri.relation`."
        ),
        example="""
            >>> relation(["http://a/b#c", "HTTP://A/", "http://b/", None], "http://a/b")
            ['same-document', 'same-origin', 'different', None]
        """,
        make=f"{_MADE}:relation",
        result="text",
        page="guides/compare",
        parameters=(_OTHER, _URI_LEVEL._replace(default="scheme")),
        sql=(SqlFunction("uri_relation", ("other", "level")),),
        needs=("idna",),
    ),
    Operation(
        name="with_query",
        summary="set, drop and keep parameters in the query of each URL",
        source="RFC 3986 section 3.4, appendix B; https://url.spec.whatwg.org/#urlencoded-parsing.",
        single="uri.with_query",
        details=(
            "All other bytes stay. Any text is split as RFC 3986 appendix B does, so only a str with a lone surrogate "
            "is invalid."
        ),
        returns="Text, as from `uricodec.uri.with_query`.",
        example="""
            >>> with_query(["/?utm_source=x&q=%7e&page=1#a", "/", None], {"page": "2"}, drop="utm_*")
            ['/?q=%7e&page=2#a', '/?page=2', None]
        """,
        make="uricodec.uri._with_query:WithQueryRows",
        result="text",
        parameters=(
            Parameter(
                "set",
                "Mapping[str, str | Sequence[str]] | Sequence[tuple[str, str | Sequence[str]]] | str | None",
                None,
                'Names and values, or a query such as "page=2&sort=name". The first field of a name becomes a field '
                "for each of its values, others of that name are dropped; a name that is missing is added at the end.",
                examples=("page=2&é=a b", [("x", "1"), ("q", ["2", "a b"])], "q=&x=%26", {"q": "", "x": "é&"}),
            ),
            Parameter(
                "drop",
                "Collection[str] | str | None",
                None,
                'The names to drop, or a str with commas between them. "utm_*" is all names that begin with "utm_".',
                examples=("q", "p*,é", ["q", "utm_*"]),
            ),
            Parameter(
                "keep",
                "Collection[str] | str | None",
                None,
                "The only names to keep, as for `drop`, besides those of `set`; None: all.",
                examples=("q", "p*,é", []),
            ),
        ),
        sql=(
            SqlFunction("uri_with_query", ("set", "drop", "keep")),
            SqlFunction("uri_drop_query", ("drop",)),
            SqlFunction("uri_keep_query", ("keep",)),
        ),
        command=Filter("query", {"set": "--set", "drop": "--drop", "keep": "--keep"}),
        rows="urls",
        page="guides/url_analytics",
    ),
    Operation(
        name="agreed_host",
        summary="return the host of each URL on which all parsers agree",
        source='RFC 3986 section 3.2; WHATWG URL, "host parsing".',
        single="uri.agreed_host",
        returns=(
            "dicts or structs of scheme, host, port, kind and category, as in `uricodec.uri.Host`, but all are text."
        ),
        invalid=(
            "Invalid are rows in which two parsers may find different hosts, with the codes of "
            "`uricodec.uri.agreed_host`."
        ),
        example="""
            >>> agreed_host(["http://Example.org/a", "https://[::1]:8080/", "http://good@evil.example/"])[1:]
            [{'scheme': 'https', 'host': '::1', 'port': '8080', 'kind': 'ipv6', 'category': 'loopback'}, None]
        """,
        make="uricodec.uri._rows:AgreedHostRows",
        result="struct",
        fields=("scheme", "host", "port", "kind", "category"),
        parameters=_WEB,
        sql=(SqlFunction("uri_agreed_host"),),
        command=Filter(
            "hosts --to jsonl",
            {
                "schemes": "--schemes",
                "userinfo": "--userinfo",
                "trailing_dot": "--trailing-dot",
                "ports": "--ports",
            },
        ),
        rows="web",
        page="guides/ssrf",
        needs=("idna",),
    ),
    _part(
        name="userinfo",
        summary="return the userinfo of each URL, as it is spelled",
        source="RFC 3986 section 3.2.1, appendix B.",
        example="""
            >>> userinfo(["https://me:pw%40@example.org/", "//@h", "//h", None])
            ['me:pw%40', '', None, None]
        """,
    ),
    _part(
        name="host",
        summary="return the host of each URL, as it is spelled",
        source="RFC 3986 section 3.2.2, appendix B.",
        returns=(
            "Text, as from `uricodec.uri.host`; null without an authority. In lines and columns of text, "
            "U+FFFD replaces what is not UTF-8."
        ),
        example="""
            >>> host(["https://me@Example.org:8042/a b", "http://[::1]/", "/a", None])
            ['Example.org', '[::1]', None, None]
        """,
    ),
    _part(
        name="port",
        summary="return the port of each URL, as it is spelled",
        source="RFC 3986 section 3.2.3, appendix B.",
        returns="Text, as from `uricodec.uri.port`; null without a port.",
        example="""
            >>> port(["https://example.org:8042/", "https://example.org:/", "https://example.org/"])
            ['8042', '', None]
        """,
    ),
    _part(
        name="registrable_domain",
        summary="return the registrable domain of each URL",
        source="https://publicsuffix.org/list/; RFC 3986 section 3.2.2, appendix B.",
        returns=(
            "Text, as from `uricodec.uri.registrable_domain`: the public suffix and the label before it; null "
            "without a host, for an address, and if the host is a suffix."
        ),
        example="""
            >>> registrable_domain(["https://www.Example.co.uk/a b", "http://[::1]/", "http://com/", None])
            ['example.co.uk', None, None, None]
        """,
        make=f"{_PARTS}:DomainRows",
        constants={"registrable": True},
        parameters=(_PRIVATE, _SUFFIXES),
        needs=("publicsuffixlist",),
    ),
    _part(
        name="public_suffix",
        summary="return the public suffix of the host of each URL",
        source="https://publicsuffix.org/list/; RFC 3986 section 3.2.2, appendix B.",
        returns="Text, as from `uricodec.uri.public_suffix`; null without a host, and for an address.",
        example="""
            >>> public_suffix(["https://www.Example.co.uk/a b", "http://[::1]/", "http://com/", None])
            ['co.uk', None, 'com', None]
        """,
        make=f"{_PARTS}:DomainRows",
        constants={"registrable": False},
        parameters=(_PRIVATE, _SUFFIXES),
        needs=("publicsuffixlist",),
    ),
    _part(
        name="query_value",
        summary="return the value of a query parameter of each URL, decoded",
        source="RFC 3986 section 3.4, appendix B; https://url.spec.whatwg.org/#urlencoded-parsing.",
        returns=(
            "Text, as from `uricodec.uri.query_value`: the first value of the name, empty if it is blank, "
            "null if the row lacks the name. For several names, dicts or structs of them."
        ),
        example="""
            >>> urls = ["/search?q=caf%C3%A9+au+lait&page=2&page=3", "/search?q", "/"]
            >>> query_value(urls, "q")
            ['café au lait', '', None]
            >>> query_value(urls, ["page", "q"])[0]
            {'page': '2', 'q': 'café au lait'}
        """,
        make=f"{_PARTS}:QueryRows",
        constants=_NOTHING,
        parameters=(_QUERY_NAME,),
        sql=(SqlFunction("uri_query_value", ("name",)),),
    ),
    _part(
        name="query_pairs",
        summary="return the names and values of all query parameters of each URL, decoded",
        source="RFC 3986 section 3.4, appendix B; https://url.spec.whatwg.org/#urlencoded-parsing.",
        returns=(
            "Lists of tuples, as from `uricodec.uri.query_pairs`; in Arrow, lists of structs of name and "
            "value, which a `Column` shows as dicts. Empty without a query."
        ),
        example=r"""
            >>> query_pairs(["/search?q=caf%C3%A9+au+lait&page=2&page=3&x", "/", None])
            [[('q', 'café au lait'), ('page', '2'), ('page', '3'), ('x', '')], [], None]
            >>> query_pairs(b"/?a=1&b\n").to_pylist()
            [[{'name': 'a', 'value': '1'}, {'name': 'b', 'value': ''}]]
        """,
        result="list",
        fields=("name", "value"),
    ),
    _part(
        name="path_segments",
        summary="return the segments of the path of each URL, decoded",
        source="RFC 3986 section 3.3, appendix B.",
        returns="Lists of text, as from `uricodec.uri.path_segments`; empty if the path is.",
        example="""
            >>> path_segments(["https://example.org/caf%C3%A9/a%2Fb/?q", "//example.org/", "//example.org", None])
            [['café', 'a/b', ''], [''], [], None]
        """,
        result="list",
    ),
    Operation(
        name="split_urn",
        summary="return the components of each URN",
        source="RFC 2141 section 2; RFC 8141 section 2.",
        single="urn.parse",
        example="""
            >>> split_urn(["urn:example:a#b"])
            [{'nid': 'example', 'nss': 'a', 'r_component': None, 'q_component': None, 'f_component': 'b'}]
        """,
        make="uricodec.urn._rows:SplitUrns",
        result="struct",
        fields=_URN_FIELDS,
        parameters=(_RFC,),
        sql=(SqlFunction("urn_split", ("rfc",)),),
        rows="urns",
        page="guides/urn",
    ),
    Operation(
        name="match",
        summary="return the longest entry of a set of hosts or prefixes that matches each URL",
        source="RFC 3986 section 3.2.2, appendix B; UTS 46.",
        details="See `is_match` for whether an entry matches.",
        returns="Text: the entry in its normal form, as from `uricodec.uri.HostSet.match`; null if none matches.",
        invalid="No row is invalid. ",
        example="""
            >>> urls = ["https://www.example.com/a", "http://example.net", None]
            >>> match(urls, ["example.com"]), match(urls, ["example.com"], exact=True)
            (['example.com', None, None], [None, None, None])
            >>> from uricodec import uri
            >>> match(urls, uri.PrefixSet(["https://www.example.com/a/"]))
            ['www.example.com/a', None, None]
        """,
        make=f"{_MADE}:match",
        result="component",
        parameters=(_SET, _EXACT),
        rows="hosts",
        page="guides/host_sets",
        needs=("idna",),
    ),
    Operation(
        name="is_match",
        summary="return whether an entry of a set of hosts or prefixes matches each URL",
        source="RFC 3986 section 3.2.2, appendix B; UTS 46.",
        details="See `match` for the entry.",
        returns="bool; null for null.",
        invalid="No row is invalid.",
        example="""
            >>> is_match(["https://www.example.com/a", "http://example.net", None], ["example.com"])
            [True, False, None]
        """,
        make=f"{_MADE}:is_match",
        result="verdict",
        parameters=(_SET, _EXACT),
        rows="hosts",
        page="guides/host_sets",
        needs=("idna",),
    ),
    Operation(
        name="fingerprint",
        summary="return 128 bits for each row, equal if the normal forms are equal",
        source="docs/concepts/fingerprint.md.",
        returns=(
            'bytes of length 16; fixed-size binary in Arrow. An invalid row is null; with errors="keep" it '
            "has the fingerprint of its own bytes, as in `uricodec dedup`."
        ),
        example="""
            >>> a, b = fingerprint(["URN:Example:a", "urn:example:a"], kind="urn")
            >>> len(a), a == b
            (16, True)
        """,
        make=f"{_MADE}:fingerprint",
        result="fingerprint",
        parameters=(
            Parameter(
                "kind",
                "IdentifierKind",
                "bytes",
                'What the rows are: "bytes" (compared as they are), "urn", "uri", "iri" or "web".',
                get_args(types.IdentifierKind),
            ),
            Parameter(
                "level",
                "UriLevel | UrnLevel | None",
                None,
                'What the normal form merges, as in `normalize_urn` and `normalize_uri`; None: "8141" for URNs, "path" '
                'for URIs, "iri" for IRIs, "scheme" for "web".',
            ),
            Parameter(
                "secret",
                "FingerprintKey | str | bytes | None",
                None,
                "The secret. Fingerprints with the same secret can be compared across processes; None: a random secret "
                "of this process.",
            ),
            _POLICY._replace(
                about='What is merged beyond a level, with kind="uri", "iri" or "web": see `normalize_uri`.',
                examples=(),
            ),
        ),
        # An invalid row gets the fingerprint of its own bytes, as in `uricodec dedup`: groups are the same everywhere.
        sql=(SqlFunction("name_fingerprint", ("kind", "level"), _KEEP),),
        rows="urns",
        page="concepts/fingerprint",
    ),
)

OPERATIONS: Mapping[str, Operation] = MappingProxyType(
    {row.name: row._replace(policies=row.policies or _POLICIES[row.result]) for row in _ROWS}
)
