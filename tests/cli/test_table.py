"""Tables of counts: what fits into which width."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from uricodec.cli.table import CountTable, fitted, shown_number, table_of, width_of

ROWS = [(["192.0.2.7"], 6120, []), (["2001:db8::1"], 1530, []), (["a" * 200], 1, [])]


def test_as_it_looks():
    assert CountTable(["client"]).lines(ROWS, 10_000, 214) == [
        "count   share                        client",
        "6,120  61.2 %  ████████████████████  192.0.2.7",
        "1,530  15.3 %  █████                 2001:db8::1",
        "    1  <0.1 %  ▏                     " + "a" * 42 + "…",
        "2,349  23.5 %                        214 others",
    ]


def test_as_it_looks_in_ascii():
    assert CountTable(["client"], encoding="ascii").lines([*ROWS[:2], (["é\U0001f600"], 9, [])], 7659) == [
        "count   share                        client",
        "6,120  79.9 %  ####################  192.0.2.7",
        "1,530  20.0 %  #####                 2001:db8::1",
        "    9   0.1 %  #                     \\xe9\\U0001f600",
    ]
    [_, *lines] = CountTable(["k"], width=40, encoding="ascii").lines(ROWS, 10_000)
    assert lines[-1].endswith("a...") and len(lines[-1]) == 40


@pytest.mark.parametrize("encoding", ["utf-8", "ascii", "latin-1", "cp437", "no-such"])
def test_tables_can_be_encoded(encoding):
    keys = ["日本", "é", "█", "\U0001f600", b"\xff\xc3", "\udc80", "\ud800", "\x1b[2J\n\t\0", "\u202e", "\\"]
    for line in CountTable(["k"], ["sum"], 80, encoding).lines([([key], 1, [1]) for key in keys], 10):
        line.encode("ascii" if encoding == "no-such" else encoding)


def test_escapes():
    keys = ["a\\b", "a\\\n", b"\xff", b"\xc3\xa9", "\x1b[31m", "\x9b", "\u202e", "\u200b", "\ud800", "é\x7f"]
    lines = CountTable(["k"]).lines([([key], 1, []) for key in keys], 10)[1:]
    assert [line.split("  ")[-1] for line in lines] == [
        *(r"a\b", r"a\\\n", r"\xff", "é", r"\x1b[31m", r"\x9b", r"\u202e", r"\u200b", r"\ud800", r"é\x7f")
    ]


texts = st.one_of(st.text(max_size=30), st.binary(max_size=30), st.sampled_from(["日" * 40, "e\u0301" * 30, "x" * 300]))
numbers = st.one_of(st.none(), st.integers(-(2**127), 2**127), st.floats(allow_infinity=False))


@given(
    rows=st.integers(1, 3).flatmap(
        lambda columns: st.lists(
            st.tuples(
                st.lists(texts, min_size=columns, max_size=columns),
                st.integers(1, 10**12),
                st.lists(numbers, min_size=2, max_size=2),
            ),
            min_size=1,
            max_size=6,
        )
    ),
    width=st.integers(1, 200),
    others=st.integers(0, 10**9),
    encoding=st.sampled_from(["utf-8", "ascii"]),
)
def test_every_line_fits(rows, width, others, encoding):
    names = ["key", "日本", "c"][: len(rows[0][0])]
    table = CountTable(names, ["sum", "p99"], width, encoding)
    lines = table.lines(rows, sum(count for _, count, _ in rows) + others, others)
    assert len(lines) == 1 + len(rows) + bool(others)
    assert max(map(width_of, lines)) <= width
    assert all(line.isprintable() for line in lines)


def test_bars_give_way_to_keys():
    keys = [([("k" * 30)] * 2, 10, [])]
    assert "█" in CountTable(["a", "b"], width=60).lines(keys, 10)[1]
    assert "█" not in CountTable(["a", "b"], width=24).lines(keys, 10)[1]


NUMBERS = ["sum.bytes_sent", "p50.duration", "p90.duration", "p99.duration", "max.duration", "rate.status>=500"]


def test_the_share_goes_first():
    """Then the bars; keys keep what they need, up to a half of the width, and at 200 columns bars grow."""
    rows = [(["/" + "k" * 60], 1234, [723441, 0.12, 0.5, 2.5, 90, 0.25]), (["/a"], 12, [5, 1e-5, None, 0.5, 3600, 0])]
    wide, usual = (CountTable(["path"], NUMBERS, width).lines(rows, 1300) for width in (200, 80))
    assert usual == [
        "count     sum     p50     p90     p99      max    rate  path",
        "1,234  706 KB  120 ms  500 ms   2.5 s  1.5 min  25.0 %  /kkkkkkkkkkkkkkkkkkkkkk…",
        "   12     5 B   10 us          500 ms      1 h   0.0 %  /a",
    ]
    assert "█" * 40 in wide[1] and "94.9 %" in wide[1] and wide[1].endswith("k" * 60)
    for size, wanted in (1, (36, True, 17)), (3, (36, False, 9)), (4, (39, False, 0)):
        few = [(keys, count, numbers[:size]) for keys, count, numbers in rows]
        [_, line, _] = CountTable(["path"], NUMBERS[:size], 80).lines(few, 1300)
        assert (line.count("k"), "94.9 %" in line, line.count("█")) == wanted
    assert CountTable([], ["sum.bytes_sent"]).lines([([], 5, [2**30])], 5) == [
        "count    share   sum",
        "    5  100.0 %  1 GB",
    ]


def test_bars_are_in_proportion():
    lines = CountTable(["k"]).lines([(["x"], count, []) for count in (160, 80, 40, 1, 0)], 281)[1:]
    assert [line[14:36].strip() for line in lines] == ["█" * 20, "█" * 10, "█" * 5, "▏", ""]


def test_nothing_to_show():
    assert CountTable(["k"]).lines([], 0) == ["count  share                        k"]


@given(wanted=st.lists(st.integers(0, 100), min_size=1, max_size=5), space=st.integers(-5, 300))
def test_fitted_widths(wanted, space):
    found = fitted(wanted, space)
    assert all(width <= want for width, want in zip(found, wanted, strict=True))
    if sum(wanted) > max(space, len(wanted)):
        assert sum(found) == max(space, len(wanted))
        cut = [width for width, want in zip(found, wanted, strict=True) if width < want]
        assert max(cut) - min(cut) <= 1 and all(width <= min(cut) + 1 for width in found)
    else:
        assert found == wanted


def test_numbers_are_rounded_and_grouped():
    given_numbers = [None, float("nan"), 0, -5, 2**70, 0.5, 999.99, 1000.0, 1e30, -0.0001, 1e-9]
    assert list(map(shown_number, given_numbers)) == [
        *("", "", "0", "-5", "1,180,591,620,717,411,303,424", "0.5", "1000", "1,000"),
        *("1,000,000,000,000,000,019,884,624,838,656", "-0.0001", "1e-09"),
    ]


def test_the_terminal(monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    assert max(map(len, table_of(["client"], ROWS, 10_000, 0).decode().splitlines())) == 40
