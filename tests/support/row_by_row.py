"""What the functions of `uricodec.bulk` should give: a loop over the rows, with the functions for single values."""

import urllib.parse
from functools import partial
from operator import attrgetter

from reference import codec as naive
from reference import urls as naive_urls
from reference import urn_forms as naive_urn_forms

import uricodec
from uricodec import iri, percent_decode, requote, uri, urn
from uricodec.bulk._operations import OPERATIONS
from uricodec.bytesets import RFC3986_UNRESERVED
from uricodec.errors import UriError, UriSyntaxError

# The functions for one value.
SINGLE = {row.name: attrgetter(row.single)(uricodec) for row in OPERATIONS.values() if row.single}
# Those of operations that read parts of any text.
ANY_TEXT = {name: function for name, function in SINGLE.items() if OPERATIONS[name].result in {"component", "list"}}


def decoded(row, plus):
    """What unquote's strict reading gives, or what is wrong."""
    if isinstance(row, bytes):
        return urllib.parse.unquote_to_bytes(row.replace(b"+", b" ") if plus else row)
    return percent_decode(row, plus=plus, errors="raise")


def any_parts(row):
    """The components of any text; None of a str that has a surrogate."""
    try:
        octets = row if isinstance(row, bytes) else row.encode()
    except UnicodeEncodeError:
        return None
    found = [part if part is None or isinstance(row, bytes) else part.decode() for part in naive_urls.split(octets)]
    return dict(zip(OPERATIONS["split_uri"].fields, found, strict=True))


# What the operations that keep or replace only the invalid part of a row make of it.
PARTS = {
    ("unquote", "keep"): lambda row, plus=False: percent_decode(row, plus=plus),
    ("unquote", "replace"): lambda row, plus=False: (
        urllib.parse.unquote_plus(row) if plus else urllib.parse.unquote(row)
    ),
    ("percent_decode", "keep"): percent_decode,
    ("percent_decode", "replace"): lambda row, **plus: percent_decode(row, errors="replace", **plus),
    **{(name, "keep"): function for name, function in ANY_TEXT.items()},
    ("split_uri", "keep"): any_parts,
    ("split_iri", "keep"): any_parts,
    ("requote", "keep"): requote,
    ("requote", "replace"): lambda row, **safe: requote(row, errors="replace", **safe),
}


def line(name, text, errors, safe=None, plus=False):
    """One line: the result by "keep" or "replace", and the first fault, (code, offset) or None."""
    if name in {"unquote", "percent_decode"}:
        return naive.decode_row(text, errors, "keep" if name == "unquote" else None, plus=plus)
    if safe is None:
        safe = OPERATIONS[name].parameters[0].default
    kept = {octet for octet in range(256) if octet in RFC3986_UNRESERVED} | {*safe.encode("ascii", "ignore")}
    return naive.encode_row(text, errors, naive.form_set(kept) if plus else kept, name == "requote", plus)


def lines(name, rows, errors, /, **how):
    """As column(), for lines."""
    if name not in {"quote", "requote", "unquote", "percent_decode"}:
        return text_lines(name, rows, errors, **how)
    done = [line(name, row, "keep" if errors in {"null", "raise"} else errors, **how) for row in rows]
    faults = [(number, fault[1]) for number, (_, fault) in enumerate(done) if fault]
    if errors == "raise" and faults:
        raise UriSyntaxError("rejected", rows[faults[0][0]], faults[0][1])
    return [None if fault and errors == "null" else made for made, fault in done], faults


def text_lines(name, rows, errors, /, **how):
    """Lines that are text: one that is not UTF-8 is invalid, if nothing else is wrong with it; but not for browsers."""
    made, faults = column(name, rows, errors, **how)
    if how.get("policy") == "whatwg":
        return made, faults
    places = dict(faults)
    for number, row in enumerate(rows):
        try:
            row.decode()
        except UnicodeDecodeError as error:
            if number not in places:
                places[number] = error.start
                made[number] = row if errors == "keep" else None
    return made, sorted(places.items())


def fault_of(check, row, **how):
    found = check(row, **how)
    return None if found is None else {"code": found.code, "offset": found.offset}


def parts(name, whole):
    return {field: getattr(whole, field) for field in OPERATIONS[name].fields}


def like(row, value):
    """A value for all rows, as the row needs it."""
    if isinstance(row, str) == isinstance(value, str) or value is None:
        return value
    return value.encode() if isinstance(value, str) else value.decode()


def set_of(entries):
    return uri.HostSet(entries) if isinstance(entries, list) else entries


def default_production(level, policy, errors):
    """What a row must match where no production is given: none is invalid if it is kept, or by a normal form alone."""
    if errors == "keep" or level == "rfc1630" or policy in {"w3lib", "whatwg"}:
        return "any"
    return "IRI-reference" if policy or level == "iri" else "URI-reference"


def normalized(row, level, policy, production):
    module = iri if production in {"IRI-reference", "IRI", "absolute-IRI", "irelative-ref"} else uri
    if production != "any" and (fault := module.check(row, production)):
        raise UriSyntaxError(fault.message, row, fault.offset)
    return uri.normalize(row, level, policy=policy)


# name of the operation -> function of a row (str or bytes) and its arguments, for strict options. The function for one
# value, unless the table has another.
def validated(row, rfc):
    """What urn.validate() says against a row; the place of a fault is that of the reference."""
    fault = fault_of(urn.check, row, rfc=rfc)
    if fault is not None:
        return fault
    found = urn.validate(row, rfc)
    if found.ok is not False:
        return None
    expected = naive_urn_forms.fault_of(row, rfc)
    assert (expected.code == "check-digit") is found.reason.startswith("wrong check")
    return expected._asdict()


ROWS = SINGLE | {
    "quote": lambda row, safe="/", plus=False: (
        urllib.parse.quote_plus(row, safe) if plus else urllib.parse.quote(row, safe)
    ),
    "requote": lambda row, **safe: requote(row, errors="raise", **safe),
    "unquote": lambda row, plus=False: decoded(row, plus),
    "percent_decode": lambda row, plus=False, encoding=None: percent_decode(row, plus, "raise", encoding),
    "check_urn": lambda row, rfc="8141": fault_of(urn.check, row, rfc=rfc),
    "validate_urn": lambda row, rfc="8141": validated(row, rfc),
    "split_urn": lambda row, rfc="8141": parts("split_urn", urn.parse(row, rfc)),
    "check_uri": lambda row, production="URI-reference", safe_host=False: fault_of(
        uri.check, row, production=production, safe_host=safe_host
    ),
    "check_iri": lambda row, production="IRI-reference", safe_host=False: fault_of(
        iri.check, row, production=production, safe_host=safe_host
    ),
    "normalize_uri": lambda row, level="path", policy=None, production=None, errors="keep": normalized(
        row, level, policy, production or default_production(level, policy, errors)
    ),
    "split_uri": lambda row: parts("split_uri", uri.split(row)),
    "split_iri": lambda row: parts("split_iri", iri.split(row)),
    "agreed_host": lambda row, **how: {
        name: str(part) for name, part in parts("agreed_host", uri.agreed_host(row, **how)).items()
    },
    **{name: partial(function, errors="raise") for name, function in ANY_TEXT.items()},
    "resolve": lambda row, base: uri.resolve(like(row, base), row),
    "relativize": lambda row, base: uri.relativize(like(row, base), row),
    "unsplit": lambda row, **given: uri.unsplit(
        [row if name == "path" else like(row, given.get(name)) for name in uri.Components._fields]
    ),
    "equivalent": lambda row, other, level="path", policy=None: uri.equivalent(row, other, level, policy=policy),
    "relation": lambda row, other, level="scheme": uri.relation(row, other, level),
    "match": lambda row, set, exact=False: set_of(set).match(row, exact=exact),
    "is_match": lambda row, set, exact=False: set_of(set).match(row, exact=exact) is not None,
    "shape": uri.shape,
    "with_query": lambda row, **given: uri.with_query(row, given.pop("set", None), **given),
}


# Each operation with each value of its parameters.
CALLS = [(name, OPERATIONS[name].required) for name in ROWS] + [
    (name, {**OPERATIONS[name].required, parameter.name: value})
    for name in ROWS
    for parameter in OPERATIONS[name].parameters
    for value in parameter.choices or parameter.examples
    if value not in (parameter.default, OPERATIONS[name].required.get(parameter.name))
]


def policies(name):
    """The policies of lists and columns that do not raise."""
    return [policy for policy in OPERATIONS[name].policies if policy not in {"drop", "raise"}]


def column(name, rows, errors, /, **how):
    """The results of a list, and the rows that are rejected: (row, position). The first error with errors="raise"."""
    function = ROWS[name]
    how |= {"errors": errors} if name == "normalize_uri" else {}
    result, rejected = [], []
    for number, row in enumerate(rows):
        if row is None:
            result.append(None)
            continue
        try:
            made = function(row, **how)
        except UriError as error:
            rejected.append((number, error.offset))
            if errors == "raise":
                raise
            kept = False if OPERATIONS[name].result == "verdict" else row
            made = PARTS[name, errors](row, **how) if (name, errors) in PARTS else kept if errors == "keep" else None
        if isinstance(row, bytes) and isinstance(made, str):
            made = made.encode()
        if isinstance(row, bytes) and isinstance(made, dict) and OPERATIONS[name].result == "struct":
            made = {key: value.encode() if isinstance(value, str) else value for key, value in made.items()}
        result.append(made)
    return result, rejected
