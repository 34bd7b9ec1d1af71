"""Fields of groups: networks, hosts and domains of referers, segments of paths; against naive readings."""

import collections
import io
import json
import random

import pytest
from reference import logs as naive
from support.command import output_of

from uricodec import logs
from uricodec.logs._groups import split_names

GROUPS = (
    *("client:/24", "client:/24,/48", "client:/0,/0", "client:/32,/128", "client:/19,/61"),
    *("referer:host", "referer:domain", "path:1", "path:2", "path:3", "path:shape"),
)

CLIENTS = [
    "192.0.2.1",
    "192.0.2.255",
    "10.1.2.3",
    "255.255.255.255",
    "0.0.0.0",
    "::",
    "::1",
    "2001:db8:1:2::77",
    "host.example",
    "2001:DB8:0:ffff:1::2",
    "fe80::1:2:3:4",
    "::ffff:10.1.2.3",
    "::ffff:a01:203",
    "::10.1.2.3",
    "1.2.3",
    "1.2.3.256",
    "1:2",
]
REFERERS = [
    "-",
    "https://example.org",
    "http://www.example.co.uk/a?b#c",
    "https://u:p@A.Example.COM:8080/",
    "foo",
    "//x.y/z",
    "http://192.0.2.1/",
    "http://[2001:db8::1]:80/a",
    "android-app://com.example/",
    "http:///",
    "http://com/",
    "/local",
    "http://a.b.kawasaki.jp/",
    "http://city.kawasaki.jp./?",
    "https://example.org?x",
    "about:blank",
    "http://a@b@c.net#d",
]
PIECES = ["/", "//", "a", "b%2Fc", "%C3%A9", "%ff", "..", "%", "long-segment", "?q=1/2/3", "+"]
PIECES += ["/1", "/2", "/20%32%34", ".html", "/jo%40example.org/", "/V1StGXR8_Z5jdHi6B-myT", "/%2512", "%22"]


def drawn_lines(chance, count):
    for _ in range(count):
        path = "/" * (chance.random() < 0.9) + "".join(chance.choices(PIECES, k=chance.randrange(8)))
        yield (
            f'{chance.choice(CLIENTS)} - - [01/Jan/2025:12:00:00 +0000] "GET {path or "*"} HTTP/1.1" 200 512 '
            f'"{chance.choice(REFERERS)}" "agent"\n'
        )


def values_of(data, names):
    """The values of groups of all records, naively."""
    records = [
        dict(zip(("client", "target", "path", "referer"), row, strict=True))
        for row in zip(
            *logs.columns(data, "combined", fields=["client", "target", "path", "referer"]).values(), strict=True
        )
    ]
    return {name: [naive.field_of(record, name) for record in records] for name in names}


@pytest.fixture(scope="module")
def data():
    pytest.importorskip("publicsuffixlist")
    return "".join(drawn_lines(random.Random(1), 3000)).encode()


def test_columns(tier, data):
    wanted = values_of(data, GROUPS)
    assert logs.columns(data, "combined", fields=GROUPS) == wanted
    assert len(set(wanted["referer:domain"])) > 4 < len(set(wanted["client:/24,/48"]))


@pytest.mark.interop
def test_arrow(data):
    pytest.importorskip("pyarrow")
    assert logs.to_arrow(data, "combined", fields=GROUPS).read_all().to_pydict() == values_of(data, GROUPS)


def test_counts_and_conditions(data):
    wanted = values_of(data, GROUPS)
    for name in GROUPS:
        counts = collections.Counter(wanted[name])
        assert {row[name]: row["count"] for row in logs.count(data, [name], "combined")} == counts
        for value in list(counts)[:3]:
            if value:
                found = logs.columns(data, "combined", fields=[name], where=[f"{name}={value}"])
                assert found[name] == [value] * counts[value]
    assert logs.columns(data, "combined", fields=["path"], where=["referer:host="])["path"] == [
        path for path, host in zip(values_of(data, ["path"])["path"], wanted["referer:host"], strict=True) if not host
    ]


@pytest.mark.parametrize("threads", ["1", "3"])
def test_command_line(tmp_path, data, threads):
    path = tmp_path / "access.log"
    path.write_bytes(data * 20)
    wanted = values_of(data, GROUPS)
    rows = list(zip(*wanted.values(), strict=True))
    made = output_of("log", "--format", "combined", "--fields", ",".join(GROUPS), "-j", threads, path)
    assert [tuple(json.loads(line).values()) for line in made.splitlines()] == rows * 20
    made = output_of("log", "--format", "combined", "--count", ",".join(GROUPS), "-j", threads, path)
    found = {tuple(values): count for *values, count in (json.loads(line).values() for line in made.splitlines())}
    assert found == {row: 20 * count for row, count in collections.Counter(rows).items()}
    made = output_of("log", "--format", "combined", "--fields", "client:/24,/48,path:1", "--to", "csv", path)
    assert made.startswith(b'"client:/24,/48",path:1\n')


def test_other_formats(data):
    """Of records of JSON, with the same values."""
    fields = "client", "target", "referer"
    lines = zip(*logs.columns(data, "combined", fields=fields).values(), strict=True)
    objects = "".join(json.dumps(dict(zip(fields, line, strict=True))) + "\n" for line in lines).encode()
    format = logs.Format(map={field: field for field in fields})
    names = [name for name in GROUPS if not name.startswith("path")]
    assert logs.columns(io.BytesIO(objects), format, fields=names) == values_of(data, names)


@pytest.mark.parametrize(
    "name", ["client:/33", "client:/24,/129", "client:24", "client:", "path:0", "path:100", "referer:x"]
)
def test_wrong_names(name):
    with pytest.raises(ValueError, match=r"expected up to 32 bits|unknown field"):
        logs.columns(b"", "combined", fields=[name])
    with pytest.raises(ValueError, match="a Record has no 'client:/8'"):
        logs.parse(b"", "combined", fields=["client:/8"])


def test_names_between_commas():
    assert split_names("client:/24,/48,client:/8,path:2,/x") == ["client:/24,/48", "client:/8", "path:2", "/x"]


def test_many_groups_of_one_path():
    path = "/" + "\x01" * 3000 + "/1" * 40
    line = f'192.0.2.1 - - [01/Jan/2025:12:00:00 +0000] "GET {path} HTTP/1.1" 200 512\n'
    names = [f"path:{count}" for count in range(60, 90)] + ["path:shape"]
    made = output_of("log", "--format", "common", "--fields", ",".join(names), stdin=line.encode())
    shape = "/" + "\x01" * 3000 + "/{int}" * 40
    assert json.loads(made) == dict.fromkeys(names, path) | {"path:shape": shape}
