"""Classes of path segments: examples, and a reference implementation of regular expressions."""

import random
import string

from hypothesis import given
from hypothesis import strategies as st
from reference import shapes as reference
from support.tables import each_row

from uricodec._url._shapes import class_of

CLASSES = {
    "int": ["0", "1234.html", "0007.tar.gz", "1.parquet"],
    "uuid": ["0192aa6e-7b1c-7cc0-8d3f-1b2c3d4e5f60.png", "FFFFFFFF-ffff-FFFF-ffff-FFFFFFFFFFFF"],
    "date": ["2024-10-21", "2024-02-31.log.gz"],
    "hex": ["5f4dcc3b5aa765d61d8327deb882cf99.min.js", "0A1B2C3D", "0123456789abc"],
    "email": ["jo.doe@example.org", "me+x@163.com", "o'neil@sub-1.example.museum"],
    "token": [
        *("V1StGXR8_Z5jdHi6B-myT", "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9", "u2gk0v3ls5nq7ioqtb6vkg1pf4"),
        *("bot110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw", "01ARZ3NDEKTSV4RRFFQ69G5FAV", "getTop10ByTopicId"),
        *("kXuukcHY3dIKfCGyMwr_AU8IYds=.woff2", "0x52908400098527886E0F7030069857D2E4169EE7"),
    ],
    None: [
        *("", ".", ".1", "index.html", "1.2", "12 34", "\u0661", "1234.x1y2z3", "1234.extension", "v2"),
        *("FFFFFFFF-ffff-FFFF-ffff-FFFFFFFFFFFG", "2024-13-01", "2024-10-32", "2024/10/21", "deadbeef", "a1b2c3d4e"),
        *("logo@2x.png", "vue@3.4.js", "@jo@example.org", "a@b", "a@b.c", "a@b..com", "@example.org", "é@example.org"),
        *("BidContainerPopUp2", "F-16_fighters_of_the_1980s", "V1StGXR8_Z5jdH!6B-myT", "V1StGXR8_Z5jdHi"),
        *("List_of_Pok\u00e9mon_2013-2014_X7", "{int}", "{token}.html", "ISO_3166-1_alpha-2"),
    ],
}


@each_row(("segment", "want"), [(each, name) for name, segments in CLASSES.items() for each in segments])
def test_classes(segment, want):
    assert class_of(segment.encode()) == reference.class_of(segment.encode())
    assert class_of(segment.encode())[0] == want


PIECES = st.sampled_from(
    [
        *(b"1", b"2024", b"-10-2", b"a", b"B", b"abc", b"Abc", b"xyz", b"Q7", b"deadbeef", b"0", b"_", b"-", b"="),
        *(b".", b"@", b".html", b".gz", b".1", b".parquet", b"2x.png", b".com", b"\xff", b"\n", b"%", b"{int}"),
        *(b"0192aa6e-7b1c-7cc0-8d3f-1b2c3d4e5f60", b"V1StGXR8", b"CONCACAF", b"McLaren", b"getTop"),
    ]
)


@given(st.lists(PIECES, max_size=12).map(b"".join) | st.binary(max_size=40))
def test_the_reference(segment):
    assert class_of(segment) == reference.class_of(segment)


def test_what_is_drawn_at_random():
    # 9 of 10 identifiers of 16 characters, and nearly all longer ones, are found: some have no digit, or few turns.
    draw = random.Random(7)
    letters = string.ascii_letters + string.digits
    for alphabet, size, least in [
        *((letters + "-_", 22, 0.93), (letters + "-_", 43, 0.99), (letters, 16, 0.9), (letters, 32, 0.99)),
        *((string.digits + string.ascii_lowercase[:22], 26, 0.99), (string.ascii_uppercase + "234567", 26, 0.92)),
    ]:
        drawn = ["".join(draw.choices(alphabet, k=size)).encode() for _ in range(2000)]
        assert sum(class_of(each)[0] in ("token", "hex") for each in drawn) >= least * len(drawn)
        assert all(class_of(each) == reference.class_of(each) for each in drawn)
