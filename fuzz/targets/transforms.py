"""`uricodec.urn.conversions`: a rejected input contains the reported fault, and every other one converts back."""

import re
from uuid import UUID

from common import is_refusal, outcome, run, text_of

from uricodec import urn
from uricodec.errors import UrnError
from uricodec.urn import conversions

DICTIONARIES = "urn"
COVERS = {
    "uricodec.urn.conversions": [
        *["from_isbn", "from_oid", "from_public_id", "from_uuid", "isbn_10", "isbn_13"],
        *["to_isbn", "to_oid", "to_public_id", "to_uuid"],
    ],
}


def isbn(draw):
    """Any text, or nine digits with their check digit."""
    text = text_of(draw.octets())
    nine = "".join(re.findall("[0-9]", text))[:9].rjust(9, "0")
    weighted = sum((10 - i) * int(digit) for i, digit in enumerate(nine))
    ten = nine + "0123456789X"[-weighted % 11]
    total = sum(int(digit) * (3 if i % 2 else 1) for i, digit in enumerate("978" + nine))
    thirteen = f"978{nine}{-total % 10}"
    assert conversions.isbn_13(ten) == thirteen == conversions.isbn_13(thirteen)
    assert conversions.isbn_10(thirteen) == ten == conversions.isbn_10(ten)
    name = conversions.from_isbn(ten)
    assert name == f"urn:isbn:{ten}" and conversions.to_isbn(name) == ten
    wrong = f"{nine}{'0' if ten[-1] != '0' else '1'}"
    for function in conversions.from_isbn, conversions.isbn_13, conversions.isbn_10:
        assert outcome(function, wrong) == (UrnError, 0)
    name = outcome(conversions.from_isbn, text)
    if is_refusal(name):
        assert is_refusal(outcome(conversions.isbn_13, text))
        return
    digits = text.replace("-", "").upper()
    assert name == "urn:isbn:" + text and conversions.to_isbn(name.encode()) == digits
    assert conversions.isbn_13(text)[3:12] == digits[-10:-1]
    assert urn.equivalent(name, "urn:isbn:" + conversions.isbn_13(text), "functional")


def oid(draw):
    text = text_of(draw.octets())
    arcs = (len(text) % 3, *map(ord, text[:20]))
    arcs = (arcs[0], *(arc % 40 if arcs[0] < 2 and i == 0 else arc for i, arc in enumerate(arcs[1:])))
    if len(arcs) > 1:
        name = conversions.from_oid(arcs)
        assert name == "urn:oid:" + ".".join(map(str, arcs)) and conversions.to_oid(name) == arcs
    name = outcome(conversions.from_oid, text)
    if is_refusal(name):
        found = outcome_of_urn(conversions.to_oid, f"urn:oid:{text}")
        assert is_refusal(found) or urn.parse(f"urn:oid:{text}").nss != text  # but for components, or empty ones
        return
    assert name == "urn:oid:" + text
    try:
        assert conversions.to_oid(name) == tuple(map(int, text.split(".")))
    except ValueError:
        assert len(text) > 4000  # more digits than int() takes


def outcome_of_urn(function, name):
    """As outcome(), of a str that need not be UTF-8."""
    try:
        return function(name)
    except UrnError as error:
        return type(error), error.offset


def uuid(draw):
    octets = draw.octets()
    number = UUID(bytes=octets[:16].ljust(16, b"\0"))
    name = conversions.from_uuid(number)
    assert name == number.urn and conversions.to_uuid(name) == number
    assert conversions.to_uuid(name.upper().encode()) == number
    text = "urn:uuid:" + text_of(octets)
    found = outcome_of_urn(conversions.to_uuid, text)
    if not is_refusal(found):
        assert str(found) == text[9:].lower()


def public_id(draw):
    text = text_of(draw.octets())
    name = outcome(conversions.from_public_id, text)
    if is_refusal(name):
        assert not text.strip(" \t\r\n") or not re.fullmatch(r"[ \t\r\na-zA-Z0-9'()+,./:=?;!*#@$_%-]*", text)
    else:
        assert conversions.to_public_id(name) == re.sub("[ \t\r\n]+", " ", text).strip(" ")
    name = "urn:publicid:" + text
    found = outcome_of_urn(conversions.to_public_id, name)
    if not is_refusal(found):
        assert conversions.from_public_id(found) == urn.normalize(name, rfc="any")


OPERATIONS = (isbn, oid, uuid, public_id)


def target(data):
    run(OPERATIONS, data)
