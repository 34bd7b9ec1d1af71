"""What hooks into engines share: the operations on columns, what comes out of each, and their names in SQL."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from uricodec import bulk
from uricodec._core._uri_operations import FIELDS as URI_FIELDS
from uricodec._core._urn_rows import FIELDS as URN_FIELDS
from uricodec.errors import UriError

FAULT = ("code", "offset")

# Of a row that is refused, so much is shown.
SHOWN = 200


class Operation(NamedTuple):
    """An operation of `uricodec.bulk`.

    Attributes:
        function (Callable): It: the column, its own arguments, and those that all of them take.
        result (str): What comes out of a row: "text", "verdict" (bool), "fault" (None, or code and offset), "split"
            (components), or "fingerprint" (16 octets).
        fields (tuple[str, ...]): The names of what a "fault" or a "split" consists of.
    """

    function: Callable[..., Any]
    result: str
    fields: tuple[str, ...] = ()


OPERATIONS = {
    "quote": Operation(bulk.quote, "text"),
    "requote": Operation(bulk.requote, "text"),
    "unquote": Operation(bulk.unquote, "text"),
    "iri_to_uri": Operation(bulk.iri_to_uri, "text"),
    "uri_to_iri": Operation(bulk.uri_to_iri, "text"),
    "normalize_uri": Operation(bulk.normalize_uri, "text"),
    "normalize_urn": Operation(bulk.normalize_urn, "text"),
    "is_valid_uri": Operation(bulk.is_valid_uri, "verdict"),
    "is_valid_iri": Operation(bulk.is_valid_iri, "verdict"),
    "is_valid_urn": Operation(bulk.is_valid_urn, "verdict"),
    "check_uri": Operation(bulk.check_uri, "fault", FAULT),
    "check_iri": Operation(bulk.check_iri, "fault", FAULT),
    "check_urn": Operation(bulk.check_urn, "fault", FAULT),
    "split_uri": Operation(bulk.split_uri, "split", URI_FIELDS),
    "split_iri": Operation(bulk.split_iri, "split", URI_FIELDS),
    "split_urn": Operation(bulk.split_urn, "split", URN_FIELDS),
    "fingerprint": Operation(bulk.fingerprint, "fingerprint"),
}


class SqlFunction(NamedTuple):
    """An operation as a function of SQL.

    Attributes:
        operation (str): Which.
        arguments (tuple[str, ...]): What the function takes besides the column: arguments of the operation, all of them
            text; the last ones may be left out.
        given (Mapping[str, Any]): Arguments that are settled. They win over what all functions have in common.
    """

    operation: str
    arguments: tuple[str, ...] = ()
    given: Mapping[str, Any] = MappingProxyType({})


# As names of columns are, so are these: a verb behind what it is about, or `is_`.
SQL_FUNCTIONS = {
    "uri_decode": SqlFunction("unquote"),
    "uri_encode": SqlFunction("quote", ("safe",)),
    "uri_requote": SqlFunction("requote"),
    "form_decode": SqlFunction("unquote", (), {"plus": True}),
    "form_encode": SqlFunction("quote", (), {"plus": True, "safe": ""}),
    "iri_to_uri": SqlFunction("iri_to_uri"),
    "uri_to_iri": SqlFunction("uri_to_iri"),
    "uri_normalize": SqlFunction("normalize_uri", ("level",)),
    "urn_normalize": SqlFunction("normalize_urn", ("level",)),
    "urn_key": SqlFunction("normalize_urn", ("level",)),
    "is_uri": SqlFunction("is_valid_uri", ("production",)),
    "is_iri": SqlFunction("is_valid_iri", ("production",)),
    "is_urn": SqlFunction("is_valid_urn", ("spec",)),
    "uri_check": SqlFunction("check_uri", ("production",)),
    "iri_check": SqlFunction("check_iri", ("production",)),
    "urn_check": SqlFunction("check_urn", ("spec",)),
    "uri_split": SqlFunction("split_uri"),
    "iri_split": SqlFunction("split_iri"),
    "urn_split": SqlFunction("split_urn", ("spec",)),
    # A name that is refused is one by itself, as for `uricodec dedup`: the same groups everywhere, under the same key.
    "name_fingerprint": SqlFunction("fingerprint", ("kind", "level"), {"errors": "keep"}),
}


def of_a_piece(name: str, error: UriError) -> ValueError:
    """The error of an engine that hands over a column in pieces: it shows the row, of which nobody has the number.

    Args:
        name (str): Of the function, as the engine has it.
        error (UriError): Of the operation, with the number of the row in its piece.

    >>> of_a_piece("uri_decode", UriError("row 7: malformed triplet", "100%", 3))
    ValueError("uri_decode: malformed triplet at position 3 of '100%'")
    """
    text: Any = error.input
    at = error.position
    start = max(min(at - SHOWN // 2, len(text) - SHOWN), 0)
    shown = f"{'...' * (start > 0)}{text[start : start + SHOWN]!r}{'...' * (start + SHOWN < len(text))}"
    return ValueError(f"{name}: {error.reason.partition(': ')[2]} at position {at} of {shown}")
