"""IRIs: `uricodec.iri` against the grammar of RFC 3987 and the reference conversions."""

import unicodedata

from common import GIVEN, brief, exact, is_refusal, octets_of, outcome, run, same_on_every_tier, text_of
from reference import iri as naive_iri
from reference import uri as naive_uri

from uricodec import iri, uri
from uricodec._url import _hosts
from uricodec.errors import IriError

DICTIONARIES = "percent uri"
COVERS = {"uricodec.iri": ["check", "is_valid", "split", "unsplit", "iri_to_uri", "uri_to_iri"]}

ABSENT = b"\x1a"
OF_UNICODE = ("utf-8", "utf-16-le", "utf-7")
ENCODINGS = (*OF_UNICODE, "latin-1", "windows-1258", "shift_jis", "euc_jp")


def grammar(draw):
    """check, is_valid, split and unsplit."""
    given = draw.one(GIVEN)(draw.octets())
    plain = given if isinstance(given, str) else bytes(given)
    for production in naive_uri.IRI_PRODUCTIONS:
        want = naive_uri.check(plain, production, True)
        assert brief(iri.check(given, production)) == want
        assert iri.is_valid(given, production) is (want is None)
    want = iri.check(given, "IRI-reference")
    found = outcome(iri.split, given)
    if want is not None:
        assert found == (IriError, want.offset)
        return
    text = given if isinstance(given, str) else plain.decode()
    if not isinstance(given, str):
        assert iri.unsplit(found) == plain
        found = iri.split(text)
    assert found == naive_uri.split(text) and iri.unsplit(found) == text
    if found.authority is not None:
        assert (found.userinfo, found.host, found.port) == naive_uri.split_authority(found.authority)
        assert found.host_kind == naive_uri.host_kind(found.host)
    if text.isascii():
        assert uri.check(text) is None


def components(draw):
    """unsplit of any components."""
    octets = [None if part == ABSENT else part for part in draw.parts(5)]
    octets[2] = octets[2] or b""
    parts = [part if part is None else text_of(part) for part in octets]
    whole = naive_uri.unsplit(parts)
    fault = naive_uri.check(whole, "IRI-reference", True)
    made = outcome(iri.unsplit, parts)
    if fault is None and naive_uri.split(whole) == tuple(parts):
        assert made == whole and iri.unsplit(octets) == whole.encode()
    else:
        assert is_refusal(made) and made[0] is IriError and is_refusal(outcome(iri.unsplit, octets))
        assert fault is None or made[1] == fault.offset


def to_uri(draw):
    """Compare iri_to_uri with its reference; the result is ASCII, and a URI does not change."""
    make, disallowed = draw.one(GIVEN), draw.one(("raise", "encode"))
    given = make(draw.octets())
    plain = given if isinstance(given, str) else bytes(given)
    made = outcome(iri.iri_to_uri, given, disallowed=disallowed)
    assert exact(made) == exact(outcome(naive_iri.iri_to_uri, plain, disallowed))
    if not is_refusal(made):
        assert made.isascii() and iri.iri_to_uri(made) is made
    hosted = same_on_every_tier(iri.iri_to_uri, given, disallowed=disallowed, host="idna")
    if is_refusal(hosted):
        return
    assert not is_refusal(made) and hosted.isascii() and iri.iri_to_uri(hosted, host="idna") == hosted
    before, after = apart(made), apart(hosted)
    assert before[0] == after[0] and before[2:] == after[2:]
    if is_ascii_host(before[1]):
        assert made == hosted


def apart(given):
    return naive_uri.split(octets_of(given).decode("latin-1"))


def is_ascii_host(authority):
    return authority is None or "%" not in authority


def in_encodings(draw):
    """iri_to_uri of bytes in an encoding, and of text that is not known to be in NFC."""
    encoding, written, disallowed = draw.one(ENCODINGS), draw.flag(), draw.one(("raise", "encode"))
    octets = draw.octets()
    made = outcome(iri.iri_to_uri, octets, encoding, disallowed, "percent", written)
    try:
        text = octets.decode(encoding)
    except UnicodeDecodeError as error:
        assert made == (IriError, error.start)
        return
    composed = unicodedata.normalize("NFC", text) if written or encoding not in OF_UNICODE else text
    want = outcome(naive_iri.iri_to_uri, composed, disallowed)
    assert is_refusal(made) if is_refusal(want) else made == want.encode()


def to_iri(draw):
    """Compare uri_to_iri with its reference; converted back it is equivalent, and a second call changes nothing."""
    given = draw.one(GIVEN)(draw.octets())
    plain = given if isinstance(given, str) else bytes(given)
    made = outcome(iri.uri_to_iri, given)
    assert exact(made) == exact(outcome(naive_iri.uri_to_iri, plain))
    hosted = same_on_every_tier(iri.uri_to_iri, given, host="unicode")
    if is_refusal(made):
        assert is_refusal(hosted)
        return
    assert iri.uri_to_iri(made) is made
    there = iri.iri_to_uri(given)
    assert naive_iri.same(text_of(octets_of(iri.iri_to_uri(made))), text_of(octets_of(there)))
    if not is_refusal(hosted):
        before, after = apart(made), apart(hosted)
        assert before[0] == after[0] and before[2:] == after[2:]


def hosts(draw):
    """Compare hosts in A-labels and in characters with the functions that ask `idna`."""
    host = "".join(character for character in text_of(draw.octets()) if character not in "/?#@:[]%")
    text = f"//{host}"
    if is_refusal(outcome(naive_iri.iri_to_uri, text)) or is_refusal(outcome(naive_iri.uri_to_iri, text)):
        return
    for function, judge, host_name, is_given in (
        (iri.iri_to_uri, _hosts.to_ascii, "idna", not host.isascii()),
        (iri.uri_to_iri, _hosts.to_unicode, "unicode", not host.isascii() or "xn--" in host.lower()),
        (iri.uri_to_iri, _hosts.to_safe, "safe", not host.isascii() or "xn--" in host.lower()),
    ):
        try:
            want = f"//{judge(host)}" if is_given else text
        except ValueError:
            want = (IriError, 2)
        assert outcome(function, text, host=host_name) == want


OPERATIONS = (grammar, components, to_uri, in_encodings, to_iri, hosts)


def target(data):
    run(OPERATIONS, data)
