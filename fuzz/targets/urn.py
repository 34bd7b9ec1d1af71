"""URNs: `uricodec.urn` against the grammars and rules of its reference implementations, and the table of namespaces."""

import copy
import pickle
import re

from common import BETWEEN, GIVEN, brief, exact, is_refusal, octets_of, outcome, run, text_of
from reference import urn as naive

from uricodec import urn
from uricodec.errors import UnknownNamespaceError, UrnError
from uricodec.urn import namespaces

DICTIONARIES = "percent urn"
COVERS = {
    "uricodec.urn": [
        *["check", "is_valid", "rfcs", "parse", "normalize", "key", "equivalent"],
        *[
            "find",
            "encode_nss",
            "decode_nss",
            "display",
            "validate",
            "lookup",
            "nid_class",
            "register_namespace",
            "URN",
        ],
    ],
    "uricodec.urn.namespaces": ["lookup", "nid_class", "register_namespace"],
}

RFCS = ("2141", "8141", "any")
OWN = "x-fuzz"  # the namespace that is registered
OWN_RULES = {"base": "base", "nss": "nss-fold", "segment": "seg1-fold", "hyphen": "nbn", "drop-hyphens": "isbn"}
OWN_RULES |= {"except-params": "ietf", "only-ul": "smpte", "imei": "imei", "newsml": "newsml"}


def plain(given):
    return given if isinstance(given, str) else bytes(given)


def grammar(draw):
    """check, is_valid, specs and parse; what a URN says of itself."""
    given = draw.one(GIVEN)(draw.octets())
    assert urn.rfcs(given) == naive.rfcs(plain(given))
    for rfc in RFCS:
        fault = naive.check(plain(given), rfc)
        assert brief(urn.check(given, rfc)) == fault and urn.is_valid(given, rfc) is (fault is None)
        name = outcome(urn.parse, given, rfc)
        if fault is not None:
            assert name == (UrnError, fault.offset) == outcome(urn.URN, given, rfc)
            continue
        want = naive.parse(plain(given), rfc)
        assert (name.nid, name.nss, name.r_component, name.q_component, name.f_component, name.rfc) == want
        text = text_of(octets_of(given))
        assert str(name) == text and name.rfcs == urn.rfcs(text) and urn.rfcs(name) == name.rfcs
        assert name.normalized == naive.normalize(text, want.rfc, want.rfc)
        for other in urn.URN(text, rfc), copy.copy(name), pickle.loads(pickle.dumps(name)):
            assert other == name and hash(other) == hash(name) and not other < name and other <= name


def normal_forms(draw):
    """normalize, key and equivalent; a normal form does not change again."""
    make, level, rfc = draw.one(GIVEN), draw.one(naive.LEVELS), draw.one((None, *RFCS))
    first, second = draw.parts(2)
    given, other = make(first), make(second)
    form = outcome(urn.normalize, given, level, rfc)
    assert exact(form) == exact(outcome(naive.normalize, plain(given), level, rfc))
    assert outcome(urn.key, given, level, rfc) == form
    if is_refusal(form):
        return
    assert urn.normalize(form, level, rfc) is form and urn.equivalent(given, form, level, rfc) is True
    if urn.is_valid(other, rfc or ("2141" if level == "2141" else "8141")):
        same = naive.equivalent(plain(given), plain(other), level, rfc)
        assert urn.equivalent(given, other, level, rfc) is same
        assert (urn.key(given, level, rfc) == urn.key(other, level, rfc)) is same


def found_in_text(draw):
    """find, with the terminators of RFC 2141 and with others."""
    octets, terminators = draw.parts(2)
    assert urn.find(octets) == urn.find(memoryview(octets)) == naive.find(octets)
    if terminators:
        assert urn.find(octets, terminators) == naive.find(octets, terminators)
    for start, stop in urn.find(octets):
        assert urn.is_valid(octets[start:stop], "2141")


def nss(draw):
    """encode_nss and decode_nss."""
    make, reserved = draw.one(GIVEN[:2]), draw.one(("", ":", ":;-", "%"))
    given = make(draw.octets())
    made = outcome(urn.encode_nss, given, reserved)
    if isinstance(given, str) and not given.isascii() and any("\ud800" <= c <= "\udfff" for c in given):
        assert is_refusal(made)
    else:
        assert exact(made) == exact(outcome(naive.encode_nss, given, reserved))
        if not is_refusal(made):
            assert urn.decode_nss(made) == given
    found = outcome(urn.decode_nss, given)
    try:
        want = outcome(naive.decode_nss, given)
    except UnicodeDecodeError:
        assert is_refusal(found)
    else:
        assert exact(found) == exact(want)


def displayed(draw):
    """display: nothing is lost, and nothing can hide."""
    given = draw.one(GIVEN)(draw.octets())
    shown = outcome(urn.display, given)
    if not urn.is_valid(given, "any"):
        assert is_refusal(shown)
        return
    canonical = urn.display(given, canonical=True)
    assert shown == naive.display(plain(given)) and shown.isprintable()
    assert canonical == text_of(octets_of(naive.normalize(plain(given), "2141", "any")))
    assert "".join(c if c.isascii() else urn.encode_nss(c) for c in shown) == canonical


def namespace(draw):
    """validate, lookup, nid_class and register_namespace."""
    rule, replace, ok = draw.one([*namespaces.RULES]), draw.flag(), draw.one((True, None, "wrong"))
    given = draw.octets()
    registered(rule, ok)
    text = given.decode("latin-1")
    nid = text.partition(BETWEEN.decode())[0]
    for module in urn, namespaces:
        try:
            row = module.lookup(nid)
            assert row.nid == nid.lower() and namespaces.NAMESPACES[row.nid] is row
        except UnknownNamespaceError:
            assert nid.lower() not in namespaces.NAMESPACES or not nid.isascii()
        kind = module.nid_class(nid)
        assert kind == class_of(nid)
        try:
            module.register_namespace(nid, "no rule", replace=replace)
            raise AssertionError("no error")
        except UrnError as error:
            assert error.offset <= len(nid) and not re.fullmatch("[A-Za-z0-9][A-Za-z0-9-]{,31}", nid)
        except ValueError:
            pass
    found = outcome(urn.validate, given)
    if is_refusal(found):
        assert not urn.is_valid(given, "any")
        return
    name = urn.parse(given, "any")
    lower = name.nid.lower()
    assert (found.nid_class, found.known) == (class_of(name.nid), lower in namespaces.NAMESPACES)
    assert (found.reason == "") is (found.ok is True)
    if lower == OWN:
        assert found.ok == (ok if ok != "wrong" else False)


def class_of(nid):
    """RFC 8141 section 5.1."""
    lower = nid.lower() if nid.isascii() else nid
    digits = lower[4:]
    if lower.startswith("urn-") and digits.isascii() and digits.isdigit() and digits[0] != "0":
        return "informal"
    if lower.startswith("x-"):
        return "experimental"
    if lower in namespaces.NAMESPACES:
        return "formal"
    letters = lower[:2].isascii() and lower[:2].isalpha() and lower[:2].islower() and len(lower) > 2
    short = len(lower) in {1, 2} and lower.isascii() and lower.isalnum()
    if short or lower == "urn" or lower.startswith("urn-") or (letters and lower[2] == "-"):
        return "reserved"
    return "unknown"


def registered(rule, ok):
    """A rule added at run time takes effect with the next call."""
    module = urn if ok else namespaces
    row = module.register_namespace(OWN.upper(), rule, lambda _: ok, replace=True)
    assert namespaces.NAMESPACES[OWN] is row and row.nid == OWN
    nss = "A-B:c%2Fx-D"
    naive.RULES[OWN] = OWN_RULES[rule]  # for the inputs to come, too
    want = naive.RULE[OWN_RULES[rule]](nss)
    assert urn.normalize(f"URN:{OWN}:{nss}", "namespace") == f"urn:{OWN}:{want}"


OPERATIONS = (grammar, normal_forms, found_in_text, nss, displayed, namespace)


def target(data):
    run(OPERATIONS, data)
