"""The order of values: numbers and times against fractions, and which forms are read."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference.dedup import UNIT, order_of
from support.tables import each_row

from uricodec._counting._order import orders_of


def orders(values):
    """Return where values stand, as the reference does."""
    found, unordered = orders_of(values)
    words = memoryview(found).cast("Q").tolist()
    result = [
        None if (high, low) == (0, 0) else (high - 2**63) * UNIT + low
        for high, low in zip(words[::2], words[1::2], strict=True)
    ]
    assert result.count(None) == unordered
    return result


EXAMPLES = {
    # numbers
    "0": 0,
    "-0": 0,
    "+7": 7 * UNIT,
    " 12\t": 12 * UNIT,
    "1.": UNIT,
    ".5": UNIT // 2,
    "-.5": -UNIT // 2,
    "-1.25": -UNIT * 5 // 4,
    "1e3": 1000 * UNIT,
    "15e-1": UNIT * 3 // 2,
    "1.5E+2": 150 * UNIT,
    ".05e1": UNIT // 2,
    "0.00005": UNIT // 20000,
    "5e-19": 5,
    "5e-20": 0,
    "-5e-20": 0,
    "0.12345678901234567899": 1234567890123456789,
    "0e99999999999999999999": 0,
    "1e-99999999999999999999": 0,
    "1e-9999999999999999999": 0,
    "9223372036854775807": (2**63 - 1) * UNIT,
    "-9223372036854775807": (1 - 2**63) * UNIT,
    "00000000000000000000000000000000001": UNIT,
    # times
    "1970-01-01": 0,
    "1970-01-02T00:00": 86400 * UNIT,
    "1969-12-31T23:59:59.5Z": -UNIT // 2,
    "2000-02-29 12:30:15,25 +01:30": order_of("2000-02-29T11:00:15.25"),
    "2026-01-01T00:00:00-0530": order_of("2026-01-01T05:30"),
    "2026-01-01T00:00:00+05": order_of("2025-12-31T19:00"),
    "2026-01-01 00:00:00 UTC": order_of("2026-01-01"),
    "2016-12-31t23:59:60z": order_of("2017-01-01"),
    "0000-01-01": order_of("0000-01-01"),
    "9999-12-31T23:59:59.999999999": order_of("9999-12-31T23:59:59.999999999"),
}
UNREADABLE = [
    *("", " ", "-", ".", "+.", "1e", "1e+", "1.2.3", "0x10", "1_000", "1,5", "nan", "inf", "true", "null", "1 2", "٣"),
    *("9223372036854775808", "-9223372036854775808", "-9223372036854775807.5", "1e19"),
    *("1e99999999999999999999", "1e9999999999999999999", f"1e{10**300}"),
    *("2026-1-1", "2026-13-01", "2026-00-01", "2026-01-00", "2026-02-29", "1900-02-29", "2026-04-31", "20260101T00Z"),
    *(
        "2026-01-01T", "2026-01-01T24:00", "2026-01-01T00:60", "2026-01-01T00:00:61", "2026-01-01T00:00:00.",
        "x026-01-01",
    ),
    *("2026-01-01Z", "2026-01-01T00:00+24:00", "2026-01-01T00:00+0", "2026-01-01T00:00+01:", "2026-01-01T00:00  Z"),
    *("2026-01-01T0:00", "2026-01-01x00:00", "2026-01-01T00:00:00+01:60", "2026-01-01T00", "2026-01-01T00:00UTC+1"),
]  # fmt: skip


@each_row("text", EXAMPLES)
def test_values_are_read_by_their_kinds(text):
    assert orders([text.encode()]) == [EXAMPLES[text]] == [order_of(text)]


@each_row("text", UNREADABLE)
def test_unreadable_values_are_rejected(text):
    assert orders([text.encode()]) == [None] == [order_of(text)]


def test_no_values():
    assert orders([]) == []
    assert orders([None, b"1", None]) == [None, UNIT, None]


@pytest.mark.slow
@given(
    st.lists(st.from_regex(r"\A *[+-]?[0-9]{0,22}\.?[0-9]{0,24}(e[+-]?[0-9]{1,3})?\Z") | st.text("0123456789-+.eTZ: "))
)
def test_numbers_are_in_numeric_order(texts):
    assert orders([text.encode() for text in texts]) == [order_of(text) for text in texts]


DAY, CLOCK, ZONE = (
    "[0-9]{4}-[01][0-9]-[0-3][0-9]",
    r"[0-2][0-9]:[0-6][0-9](:[0-6][0-9](\.[0-9]{0,21})?)?",
    "[+-][0-2][0-9]",
)


@pytest.mark.slow
@given(st.lists(st.from_regex(rf"\A{DAY}([T ]{CLOCK} ?(Z|UTC|{ZONE}(:?[0-6][0-9])?)?)?\Z")))
def test_times(texts):
    assert orders([text.encode() for text in texts]) == [order_of(text) for text in texts]


def test_columns_of_arrow():
    pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    values = ["1", None, "x", "1970-01-02", ""]
    for kind in pa.string(), pa.large_string(), pa.binary():
        column = pa.chunked_array([pa.array(values[:2], kind), pa.array(values[2:], kind)])
        found, unordered = orders_of(column)
        assert (found, unordered) == orders_of([None if each is None else each.encode() for each in values])


def test_wrong_types():
    with pytest.raises(TypeError):
        orders_of(["1"])
