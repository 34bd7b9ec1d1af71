"""The operations on columns and lines: one table, OPERATIONS.

`uricodec.bulk` takes its operations and policies from this table. The methods for Polars and pandas, the functions of
Spark and SQL, and the calls that tests and the fuzz target make are generated from it. test_registry.py and
test_docs.py compare it with the signatures of `bulk`, the parser of the command line and the table in docs/columns.md.

This module imports nothing of the package. An operation is loaded when it is first used.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

__all__ = ["OPERATIONS", "Command", "Operation", "Parameter", "SqlFunction"]

_NOTHING: Mapping[str, Any] = MappingProxyType({})


class Parameter(NamedTuple):
    """A parameter of an operation.

    Attributes:
        name (str): The name, everywhere but on the command line.
        default (Any): The default of `bulk`, SQL and the integrations.
        choices (tuple[Any, ...]): All values; empty: not limited.
        examples (tuple[Any, ...]): Values that make a difference, for tests, if choices is empty.
    """

    name: str
    default: Any
    choices: tuple[Any, ...] = ()
    examples: tuple[Any, ...] = ()


class SqlFunction(NamedTuple):
    """A function of SQL.

    Attributes:
        name (str): The name.
        parameters (tuple[str, ...]): The parameters after the column, all of them text. Trailing ones are optional.
        fixed (Mapping[str, Any]): The values of parameters, and of `errors`, that this function fixes.
    """

    name: str
    parameters: tuple[str, ...] = ()
    fixed: Mapping[str, Any] = _NOTHING


class Command(NamedTuple):
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
        summary (str): What the operation does with a row, for the documentation.
        make (str): "module:name" of the RowOperation, or of a function that returns what `bulk/_operations.py` expects.
        constants (Mapping[str, Any]): Arguments for it besides the parameters.
        result (str): The result for a row: "text", "verdict" (bool), "diagnostic" (None, or why the row is invalid),
            "struct" (components) or "fingerprint" (16 bytes).
        fields (tuple[str, ...]): The field names of a diagnostic or a struct.
        parameters (tuple[Parameter, ...]): The parameters, in their order in `bulk`.
        policies (tuple[str, ...]): The values of `errors`, the default first. "drop" is for lines and records only,
            because the length of a list or a column is fixed.
        sql (tuple[SqlFunction, ...]): The functions of SQL.
        command (Command | None): The filter of the command line.
        rows (str): tests/data/rows/NAME.txt, the edge cases for tests.
        page (str): docs/NAME.md, the page that explains the operation.
        needs (tuple[str, ...]): Optional libraries that the operation imports.
    """

    name: str
    summary: str
    make: str
    result: str
    policies: tuple[str, ...]
    rows: str
    page: str
    constants: Mapping[str, Any] = _NOTHING
    fields: tuple[str, ...] = ()
    parameters: tuple[Parameter, ...] = ()
    sql: tuple[SqlFunction, ...] = ()
    command: Command | None = None
    needs: tuple[str, ...] = ()


# --- values that rows share -------------------------------------------------------------------------------------------

# With "keep", an invalid text is its own result, and its verdict is false. "keep" makes no sense for a struct, whose
# components would be unknown, nor "null" for a diagnostic, where null means that the row is valid.
_TEXT = ("keep", "null", "raise", "drop")
_CODEC = (*_TEXT, "replace")
_UNQUOTE = ("replace", "keep", "null", "raise", "drop")
_VERDICT = ("keep", "null", "raise")
_DIAGNOSTIC = ("keep", "raise")
_STRUCT = ("null", "raise", "drop")
_FINGERPRINT = ("null", "keep", "raise")

# In SQL, `is_*` are false for invalid rows and `*_check` return the reason, whatever policy other functions use.
_KEEP = MappingProxyType({"errors": "keep"})

_DIAGNOSTIC_FIELDS = ("code", "offset")
_URI_FIELDS = ("scheme", "authority", "userinfo", "host", "port", "path", "query", "fragment")
_URN_FIELDS = ("nid", "nss", "r_component", "q_component", "f_component")

_SAFE = Parameter("safe", "/", examples=("", "/:é"))
_PLUS = Parameter("plus", False, (False, True))
_URI_LEVEL = Parameter("level", "path", ("simple", "case", "percent", "path", "scheme", "iri", "rfc2396", "rfc1630"))
_URN_LEVEL = Parameter("level", "8141", ("bytes", "2141", "8141", "namespace", "functional"))
_URI_PRODUCTION = Parameter("production", "URI-reference", ("URI-reference", "URI", "absolute-URI", "relative-ref"))
_IRI_PRODUCTION = Parameter("production", "IRI-reference", ("IRI-reference", "IRI", "absolute-IRI", "irelative-ref"))
_SPEC = Parameter("spec", "8141", ("2141", "8141", "any"))
_LEVEL_OR_SPEC = Parameter("spec", None, (None, *_SPEC.choices))

_MADE = "uricodec.bulk._operations"


# --- the table --------------------------------------------------------------------------------------------------------

_ROWS = (
    Operation(
        name="quote",
        summary="percent-encode, as urllib.parse.quote does",
        make=f"{_MADE}:quote",
        result="text",
        parameters=(_SAFE, _PLUS),
        policies=_CODEC,
        sql=(SqlFunction("uri_encode", ("safe",)), SqlFunction("form_encode", fixed={"plus": True, "safe": ""})),
        command=Command("encode", {"safe": "--safe", "plus": "--plus"}),
        rows="percent",
        page="framing",
    ),
    Operation(
        name="requote",
        summary="percent-encode what is not encoded yet",
        make=f"{_MADE}:requote",
        result="text",
        parameters=(Parameter("safe", ":/?#[]@!$&'()*+,;=", examples=("", "/:é")),),
        policies=_CODEC,
        sql=(SqlFunction("uri_requote"),),
        command=Command("requote", {"safe": "--safe"}),
        rows="percent",
        page="framing",
    ),
    Operation(
        name="unquote",
        summary="decode, as urllib.parse.unquote does",
        make=f"{_MADE}:unquote",
        result="text",
        parameters=(_PLUS,),
        policies=_UNQUOTE,
        sql=(SqlFunction("uri_decode"), SqlFunction("form_decode", fixed={"plus": True})),
        rows="percent",
        page="drop_in",
    ),
    Operation(
        name="percent_decode",
        summary="decode, and lose nothing",
        make=f"{_MADE}:percent_decode",
        result="text",
        parameters=(_PLUS,),
        policies=_CODEC,
        sql=(SqlFunction("percent_decode"),),
        command=Command("decode", {"plus": "--plus"}),
        rows="percent",
        page="framing",
    ),
    Operation(
        name="iri_to_uri",
        summary="turn an IRI into a URI",
        make="uricodec.uri._rows:IriToUriRows",
        result="text",
        parameters=(
            Parameter("disallowed", "raise", ("raise", "encode")),
            Parameter("host", "percent", ("percent", "idna")),
        ),
        policies=_TEXT,
        sql=(SqlFunction("iri_to_uri"),),
        command=Command("encode --iri", {"disallowed": "--disallowed", "host": "--host"}),
        rows="uris",
        page="uri",
        needs=("idna",),
    ),
    Operation(
        name="uri_to_iri",
        summary="turn a URI into an IRI",
        make="uricodec.uri._rows:UriToIriRows",
        result="text",
        parameters=(Parameter("host", "keep", ("keep", "unicode")),),
        policies=_TEXT,
        sql=(SqlFunction("uri_to_iri"),),
        command=Command("decode --iri", {"host": "--host"}),
        rows="uris",
        page="uri",
        needs=("idna",),
    ),
    Operation(
        name="normalize_uri",
        summary="bring a URI or IRI into normal form",
        make="uricodec.uri._rows:NormalizeRows",
        result="text",
        parameters=(_URI_LEVEL,),
        policies=_TEXT,
        sql=(SqlFunction("uri_normalize", ("level",)),),
        command=Command("normalize --kind uri", {"level": "--level"}),
        rows="uris",
        page="uri",
        needs=("idna",),
    ),
    Operation(
        name="normalize_urn",
        summary="bring a URN into normal form",
        make="uricodec.urn._rows:NormalizeUrnRows",
        result="text",
        parameters=(_URN_LEVEL, _LEVEL_OR_SPEC),
        policies=_TEXT,
        sql=(SqlFunction("urn_normalize", ("level",)), SqlFunction("urn_key", ("level",))),
        command=Command("normalize --kind urn", {"level": "--level", "spec": "--spec"}),
        rows="urns",
        page="urn",
    ),
    Operation(
        name="is_valid_uri",
        summary="whether it is a URI reference",
        make="uricodec.uri._rows:CheckRows",
        constants={"kind": "uri"},
        result="verdict",
        parameters=(_URI_PRODUCTION,),
        policies=_VERDICT,
        sql=(SqlFunction("is_uri", ("production",), _KEEP),),
        rows="uris",
        page="uri",
    ),
    Operation(
        name="is_valid_iri",
        summary="whether it is an IRI reference",
        make="uricodec.uri._rows:CheckRows",
        constants={"kind": "iri"},
        result="verdict",
        parameters=(_IRI_PRODUCTION,),
        policies=_VERDICT,
        sql=(SqlFunction("is_iri", ("production",), _KEEP),),
        rows="uris",
        page="uri",
    ),
    Operation(
        name="is_valid_urn",
        summary="whether it is a URN",
        make="uricodec.urn._rows:CheckUrnRows",
        result="verdict",
        parameters=(_SPEC,),
        policies=_VERDICT,
        sql=(SqlFunction("is_urn", ("spec",), _KEEP),),
        rows="urns",
        page="urn",
    ),
    Operation(
        name="check_uri",
        summary="why it is not a URI reference",
        make="uricodec.uri._rows:CheckRows",
        constants={"kind": "uri"},
        result="diagnostic",
        fields=_DIAGNOSTIC_FIELDS,
        parameters=(_URI_PRODUCTION,),
        policies=_DIAGNOSTIC,
        sql=(SqlFunction("uri_check", ("production",), _KEEP),),
        command=Command("check --kind uri", {"production": "--production"}),
        rows="uris",
        page="uri",
    ),
    Operation(
        name="check_iri",
        summary="why it is not an IRI reference",
        make="uricodec.uri._rows:CheckRows",
        constants={"kind": "iri"},
        result="diagnostic",
        fields=_DIAGNOSTIC_FIELDS,
        parameters=(_IRI_PRODUCTION,),
        policies=_DIAGNOSTIC,
        sql=(SqlFunction("iri_check", ("production",), _KEEP),),
        command=Command("check --kind iri", {"production": "--production"}),
        rows="uris",
        page="uri",
    ),
    Operation(
        name="check_urn",
        summary="why it is not a URN",
        make="uricodec.urn._rows:CheckUrnRows",
        result="diagnostic",
        fields=_DIAGNOSTIC_FIELDS,
        parameters=(_SPEC,),
        policies=_DIAGNOSTIC,
        sql=(SqlFunction("urn_check", ("spec",), _KEEP),),
        command=Command("check --kind urn", {"spec": "--spec"}),
        rows="urns",
        page="urn",
    ),
    Operation(
        name="split_uri",
        summary="the components of a URI reference",
        make="uricodec.uri._rows:SplitReferences",
        constants={"kind": "uri"},
        result="struct",
        fields=_URI_FIELDS,
        policies=_STRUCT,
        sql=(SqlFunction("uri_split"),),
        command=Command("split --kind uri"),
        rows="uris",
        page="uri",
    ),
    Operation(
        name="split_iri",
        summary="the components of an IRI reference",
        make="uricodec.uri._rows:SplitReferences",
        constants={"kind": "iri"},
        result="struct",
        fields=_URI_FIELDS,
        policies=_STRUCT,
        sql=(SqlFunction("iri_split"),),
        command=Command("split --kind iri"),
        rows="uris",
        page="uri",
    ),
    Operation(
        name="split_urn",
        summary="the components of a URN",
        make="uricodec.urn._rows:SplitUrns",
        result="struct",
        fields=_URN_FIELDS,
        parameters=(_SPEC,),
        policies=_STRUCT,
        sql=(SqlFunction("urn_split", ("spec",)),),
        rows="urns",
        page="urn",
    ),
    Operation(
        name="fingerprint",
        summary="128 bits that are the same for equal normal forms",
        make=f"{_MADE}:fingerprint",
        result="fingerprint",
        parameters=(
            Parameter("kind", "bytes", ("bytes", "urn", "uri", "iri")),
            Parameter("level", None),
            Parameter("key", None),
        ),
        policies=_FINGERPRINT,
        # The fingerprint of an invalid row is that of its bytes, as for `uricodec dedup`: the same groups everywhere.
        sql=(SqlFunction("name_fingerprint", ("kind", "level"), _KEEP),),
        rows="urns",
        page="fingerprint",
    ),
)

OPERATIONS: Mapping[str, Operation] = MappingProxyType({row.name: row for row in _ROWS})
