"""URIs: `uricodec.uri` against the grammar of RFC 3986 and a reference, and `uricodec.uri.legacy_schemes`."""

from functools import partial

from common import GIVEN, brief, exact, is_refusal, octets_of, outcome, run, text_of
from reference import agreed_host as naive_host
from reference import host_sets as naive_sets
from reference import policies, uri_find, urls, whatwg
from reference import redact as naive_redact
from reference import repair as naive_repair
from reference import uri as naive_uri
from reference import uri_forms as forms

from uricodec import iri, uri
from uricodec._search._find import copy_urls, find_part
from uricodec.bulk import _operations
from uricodec.errors import AmbiguousUrlError, IriError, UriSyntaxError
from uricodec.uri import legacy_schemes

DICTIONARIES = "percent uri"
COVERS = {
    "uricodec.uri": [
        *["check", "is_valid", "split", "unsplit", "normalize", "key", "equivalent", "resolve", "relativize"],
        *[row.name for row in _operations.OPERATIONS.values() if row.result in {"component", "list"} and row.single],
        *["agreed_host", "address_category", "find", "extract", "redact", "redact_text", "with_query", "relation"],
        *["repair", "explain_repair", "shape", "HostSet", "PrefixSet"],
    ],
    "uricodec.uri.legacy_schemes": ["parse"],
}

SHORT = 40  # of texts for which all references are tried
ABSENT = b"\x1a"


def first_surrogate(given):
    """Return where a str cannot be encoded; None if it can, or is bytes already."""
    if not isinstance(given, str):
        return None
    return next((i for i, character in enumerate(given) if "\ud800" <= character <= "\udfff"), None)


def grammar(draw):
    """check, is_valid, split and unsplit."""
    given, production = draw.one(GIVEN)(draw.octets()), draw.one(naive_uri.PRODUCTIONS)
    for production in naive_uri.PRODUCTIONS:
        want = naive_uri.check(octets_of(given) if not isinstance(given, str) else given, production)
        assert brief(uri.check(given, production)) == want
        assert uri.is_valid(given, production) is (want is None)
    want = uri.check(given)
    found = outcome(uri.split, given)
    if want is not None:
        assert found == (UriSyntaxError, want.offset)
        return
    text = given if isinstance(given, str) else bytes(given).decode()
    if not isinstance(given, str):
        assert all(part is None or type(part) is bytes for part in found)
        assert uri.unsplit(found) == bytes(given)
        found = uri.split(text)
    assert found == naive_uri.split(text) and uri.unsplit(found) == text
    if found.authority is not None:
        assert (found.userinfo, found.host, found.port) == naive_uri.split_authority(found.authority)
        assert found.host_kind == naive_uri.host_kind(found.host)


def components(draw):
    """unsplit of any components: the result splits into the same components, or an error is raised."""
    as_text = draw.flag()
    octets = [None if part == ABSENT else part for part in draw.parts(5)]
    octets[2] = octets[2] or b""
    parts = [part if part is None else part.decode("latin-1") for part in octets]
    whole = naive_uri.unsplit(parts)
    made = outcome(uri.unsplit, parts if as_text else octets)
    fault = naive_uri.check(whole)
    if fault is None and naive_uri.split(whole) == tuple(parts):
        assert made == (whole if as_text else whole.encode("latin-1"))
    else:
        assert is_refusal(made) and made[0] is UriSyntaxError
        assert fault is None or made[1] == fault.offset


def normal_forms(draw):
    """normalize, key and equivalent, at each level."""
    make, level = draw.one(GIVEN), draw.one(forms.LEVELS)
    first, second = draw.parts(2)
    given, other = make(first), draw.one(GIVEN)(second)
    form = outcome(uri.normalize, given, level)
    if first_surrogate(given) is not None:
        assert is_refusal(form) and (form[1] == first_surrogate(given) or level == "rfc1630")
        return
    assert exact(form) == exact(outcome(forms.normalize, like_bytes(given), level))
    assert exact(outcome(uri.key, given, level)) == exact(form)
    if is_refusal(form):
        return
    assert uri.normalize(form, level) is form
    before, after = forms.parse(forms.as_text(like_bytes(given))), forms.parse(forms.as_text(form))
    assert [part is None for part in before] == [part is None for part in after]
    if first_surrogate(other) is None:
        same = outcome(uri.equivalent, given, other, level)
        if level != "rfc1630":
            assert same is forms.equivalent(like_bytes(given), like_bytes(other), level)
        assert uri.equivalent(given, form, level) is True
        assert uri.relation(given, form, level) in {"equal", "equivalent"}


def like_bytes(given):
    return given if isinstance(given, str) else bytes(given)


def resolved(draw):
    """resolve and relativize."""
    make, strict = draw.one(GIVEN), draw.flag()
    base, ref = map(make, draw.parts(2))
    if first_surrogate(base) is not None or first_surrogate(ref) is not None:
        assert is_refusal(outcome_of_two(uri.resolve, base, ref, strict))
        return
    assert uri.relation(base, ref) == forms.relation(like_bytes(base), like_bytes(ref))
    target = outcome_of_two(uri.resolve, base, ref, strict)
    assert exact(target) == exact(outcome(forms.resolve, like_bytes(base), like_bytes(ref), strict))
    if is_refusal(target):
        return
    for goal in target, ref:
        relative = outcome_of_two(uri.relativize, base, goal)
        if is_refusal(relative):
            assert forms.parse(forms.as_text(like_bytes(goal))).scheme is None or uri.resolve(base, goal) != goal
            continue
        assert uri.resolve(base, relative) == goal
        if len(base) + len(goal) < SHORT and forms.parse(forms.as_text(like_bytes(base))).scheme is not None:
            best = forms.shortest(forms.as_text(like_bytes(base)), forms.as_text(like_bytes(goal)))
            assert len(forms.as_text(relative)) == best


def outcome_of_two(function, *arguments):
    """As outcome(), of an error in either of two texts."""
    try:
        return function(*arguments)
    except UriSyntaxError as error:
        assert any(error.input is argument for argument in arguments[:2])
        assert 0 <= error.offset <= len(error.input)
        return type(error), error.offset


def by_scheme(draw):
    """legacy_schemes.parse: a dict or a syntax error; the same for bytes as for text; and the input is a URI."""
    octets = draw.octets()
    found, of_text = outcome(legacy_schemes.parse, octets), outcome(legacy_schemes.parse, text_of(octets))
    if is_refusal(found):
        assert is_refusal(of_text)
        return
    if not is_refusal(of_text):
        assert as_octets(of_text) == found
    rest = octets[4:] if octets[:4].lower() == b"url:" else octets
    assert ("prefixed" in found) is (rest != octets)
    plain = rest.replace(b'"', b"'")
    apart = uri.split(plain)
    assert found["scheme"] == apart.scheme.lower()
    assert found.get("fragment", b"").replace(b'"', b"'") == (apart.fragment or b"")
    if "host" in found and apart.host:
        assert found["host"].replace(b'"', b"'") == uri_decoded(apart.host).replace(b'"', b"'")
    if apart.scheme.lower() in {b"http", b"https"}:
        assert found["path"].replace(b'"', b"'") == apart.path
        assert found["port"] == (int(apart.port) if apart.port else {b"http": 80, b"https": 443}[found["scheme"]])


def uri_decoded(octets):
    from urllib.parse import unquote_to_bytes

    return unquote_to_bytes(octets)


def as_octets(found):
    if isinstance(found, str):
        return found.encode()
    if isinstance(found, dict):
        return {key: value if key == "kind" else as_octets(value) for key, value in found.items()}  # which is ours
    return type(found)(map(as_octets, found)) if isinstance(found, (list, tuple)) else found


def values(draw):
    """The functions that read parts of any text, under each policy."""
    make, errors = draw.one(GIVEN), draw.one(("keep", "null", "raise"))
    octets = draw.octets()
    given = make(octets)
    text, names = isinstance(given, str), ["q", "", "é", "\ufffd"]
    row = octets
    if text:  # a surrogate is U+FFFD
        row = "".join("\ufffd" if "\ud800" <= each <= "\udfff" else each for each in given).encode()
    fault = iri.check(given)
    plain = [row.name for row in _operations.OPERATIONS.values() if row.result in {"component", "list"} and row.single]
    plain.remove("query_value")
    for name, arguments in *[(each, ()) for each in plain], ("query_value", ("q",)), ("query_value", (names,)):
        found = outcome(getattr(uri, name), given, *arguments, errors=errors)
        if fault is not None and errors != "keep":
            assert found == (None if errors == "null" else (IriError, fault.offset))
            continue
        want = getattr(urls, name)(row, text, *arguments)
        if type(want) is list:
            assert {type(part) for item in found for part in ([item] if name == "path_segments" else item)} <= {
                str if text else bytes
            }
            assert as_octets(found) == want
        elif arguments == (names,):
            want = dict(zip(names, want, strict=True))
            assert {key: value if value is None else octets_of(value) for key, value in found.items()} == want
        else:
            assert type(found) is type(None if want is None else "" if text else b"")
            assert found == (want.decode() if text and want is not None else want)


def web_host(draw):
    """agreed_host and address_category: the host, or the code and the offset, of the reference."""
    allow, given = draw.flag(), draw.octets().decode("utf-8", "surrogateescape")
    options = {"userinfo": "allow", "trailing_dot": "allow"} if allow else {}
    want = naive_host.agreed_host(given, **options)
    try:
        host = uri.agreed_host(given, **options)
        found = host.scheme, host.host, host.port, host.kind, host.category
    except AmbiguousUrlError as error:
        assert error.input is given
        found = error.code, error.offset
    if len(found) < 5 or naive_host.IPADDRESS_IS_NEW:
        assert found == want
    if len(found) == 5 and found[3] != "name":
        assert uri.address_category(found[1]) == found[4]


def found_in_text(draw):
    """find, on a whole text and on its parts."""
    size = draw.number() + 1
    text = draw.octets()

    def plain_part(*arguments):
        spans, _, rest = find_part("plain", *arguments)
        return spans, rest

    assert (
        uri.find(text) == uri.find(memoryview(text)) == uri_find.find(text) == uri_find.by_parts(plain_part, text, size)
    )
    lines = uri_find.lines(text)
    assert uri_find.by_copies(partial(copy_urls, "plain"), text, max(map(len, lines), default=0) + size) == lines
    for content in "json", "html":
        assert (uri.find(text, content), uri.extract(text, content)) == uri_find.find_with_escapes(text, content)


def redacted(draw):
    """redact and redact_text: the reference's bytes, and nothing left to redact unless that ended something."""
    make, nested = draw.one(GIVEN), draw.flag()
    names = draw.one(("default", "extended", ("code", "x-*"), "*"))
    paths = draw.one(((), "/a/{*},tokens", ("/b*/", "/*/{*}")))
    given = make(draw.octets())
    octets = given.encode("utf-8", "surrogatepass") if isinstance(given, str) else octets_of(given)
    for name in "redact", "redact_text":
        function = getattr(uri, name)
        found = function(given, names, nested, paths)
        assert type(found) is (str if isinstance(given, str) else bytes)
        as_bytes = found.encode("utf-8", "surrogatepass") if isinstance(found, str) else found
        assert as_bytes == getattr(naive_redact, name)(octets, names, nested, paths)
        assert paths or b'"' in octets or b"%22" in octets or function(found, names, nested) is found


def repaired(draw):
    """repair against the reference; a second repair changes nothing, and steps lead to the result."""
    make = draw.one(GIVEN)
    octets = draw.octets()[:100]  # the reference takes quadratic time
    text = make(octets)
    if first_surrogate(text) is not None:
        assert is_refusal(outcome(uri.repair, text))
        return
    row = text.encode() if isinstance(text, str) else octets
    want = naive_repair.repaired(row)
    if isinstance(want, tuple):
        assert is_refusal(outcome(uri.repair, text)) and is_refusal(outcome(uri.explain_repair, text))
        return
    made = uri.repair(text)
    assert octets_of(made) == want and uri.is_valid(made) and uri.repair(made) is made
    steps = uri.explain_repair(text)
    assert octets_of(steps[-1].after if steps else text) == want


def edited_query(draw):
    """with_query against fields one after the other; what is not meant stays, and a second time changes nothing."""
    make, given = draw.one(GIVEN), {}
    if draw.flag():
        given["set"] = draw.one(["q=1&é=a b", {"": "", "a": "&"}, "q="])
    for name in "drop", "keep":
        if draw.flag():
            given[name] = draw.one(["*", "q", ["a*", ""], "é,b"])
    octets = draw.octets()
    text = make(octets)
    if first_surrogate(text) is not None:
        assert is_refusal(outcome(uri.with_query, text, **given))
        return
    row = text.encode() if isinstance(text, str) else octets
    want = urls.with_query(row, given.get("set"), given.get("drop"), given.get("keep"))
    made = uri.with_query(text, **given)
    assert octets_of(made) == want and isinstance(made, str) is isinstance(text, str)
    if "keep" not in given and "set" not in given:
        assert octets_of(uri.with_query(made, **given)) == want


def shaped(draw):
    """shape: the reference's text, which is its own shape."""
    given, query = draw.one(GIVEN)(draw.octets()), draw.one(("names", "drop", "keep"))
    made = outcome(uri.shape, given, query)
    if first_surrogate(given) is not None:
        assert is_refusal(made) and made[1] == first_surrogate(given)
        return
    policy = uri.Policy(shape=True, query=query, fragment="drop")
    assert exact(made) == exact(policies.normalize(like_bytes(given), policy))
    assert uri.shape(made, query) is made


def sets(draw):
    """HostSet and PrefixSet of any entries, against any text: what the reference finds."""
    make, exact, is_host = draw.one(GIVEN), draw.flag(), draw.flag()
    text, lines = draw.parts(2)
    kind = uri.HostSet if is_host else uri.PrefixSet
    entry_of, match = (
        (naive_sets.host_entry, naive_sets.match_host)
        if is_host
        else (naive_sets.prefix_entry, naive_sets.match_prefix)
    )
    lines = lines.split(b"\n")
    wanted = {entry for line in lines if (entry := entry_of(line))}
    made = kind([line for line in lines if entry_of(line)])
    assert {entry.encode() for entry in made} == wanted and len(made) == len(wanted)
    read = kind.read(b"\n".join(lines))
    assert all(line in made for line in read if line in made) and read.report.lines >= read.report.understood
    given = make(text)
    octets = given.encode("utf-8", "replace") if isinstance(given, str) else octets_of(given)
    if first_surrogate(given) is not None:
        octets = "".join("\ufffd" if "\ud800" <= each <= "\udfff" else each for each in given).encode()
    found = made.match(given, exact=exact)
    assert found is None or isinstance(found, str) is isinstance(given, str)
    assert (found and octets_of(found)) == match(wanted, octets, exact)


def of_browsers(draw):
    """normalize and check as browsers do, with a base and without: the reference's href, or its fault."""
    make = draw.one(GIVEN)
    base, octets = draw.parts(2)
    base = None if base == ABSENT else base
    if base is not None and isinstance(whatwg.href_or_fault(base), tuple):
        assert is_refusal(outcome(uri.normalize, octets, policy="whatwg", base=base))
        base = None
    given = make(octets)
    text = uri_text(given)
    want = whatwg.href_or_fault(text, base)
    diagnostic = uri.check(given, "whatwg", base=base)
    assert uri.is_valid(given, "whatwg", base=base) is (diagnostic is None)
    if isinstance(want, tuple):
        offset = diagnostic.offset
        if isinstance(given, str):
            offset = len(uri_text(given[:offset]))
        assert (diagnostic.code, offset) == want
        assert is_refusal(outcome(uri.normalize, given, policy="whatwg", base=base))
        return
    made = uri.normalize(given, policy="whatwg", base=base)
    assert diagnostic is None and octets_of(made) == want and isinstance(made, str) is isinstance(given, str)
    assert uri.normalize(made, policy="whatwg") is made


def uri_text(given):
    """Return bytes, or the UTF-8 of a str with U+FFFD for its lone surrogates."""
    if not isinstance(given, str):
        return bytes(given)
    return "".join("\ufffd" if "\ud800" <= each <= "\udfff" else each for each in given).encode()


OPERATIONS = (
    grammar,
    components,
    normal_forms,
    resolved,
    by_scheme,
    values,
    web_host,
    found_in_text,
    redacted,
    edited_query,
    repaired,
    sets,
    of_browsers,
    shaped,
)


def target(data):
    run(OPERATIONS, data)
