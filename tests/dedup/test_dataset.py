"""unique_dataset: rows of Parquet files against a list of all rows, what files keep, and that nothing else stays."""

import builtins
import decimal
import os
import random
import sys
from datetime import datetime
from pathlib import Path

import pytest
from support.command import run

from uricodec import dedup, uri, urn
from uricodec._io.files import FileError
from uricodec._rows._engine import RowOperation
from uricodec.dedup import _dataset_files, _dataset_output
from uricodec.dedup._identifiers import ColumnBatch
from uricodec.dedup._options import paths_of
from uricodec.errors import UriError, UrnError

pytestmark = pytest.mark.interop
pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
pq = pytest.importorskip("pyarrow.parquet", reason="pyarrow was built without Parquet")

TINY = 1  # byte of memory: a table has some hundred identifiers anyway


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def write(path, urls, kind=None, **options):
    """Write a file whose rows have numbers of their own."""
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    write.row = getattr(write, "row", 0) + len(urls)
    rows = range(write.row - len(urls), write.row)
    pq.write_table(pa.table({"row": rows, "url": pa.array(urls, kind or pa.string())}), path, **options)


def read(path, column="row"):
    return pq.ParquetFile(path).read()[column].to_pylist()


def files_below(folder):
    return sorted(str(path.relative_to(folder)) for path in Path(folder).rglob("*") if path.is_file())


def name_of(text, kind, level):
    """The normal form of a text, and whether it is valid."""
    try:
        if kind == "bytes":
            return text, True
        return urn.normalize(text, level or "8141") if kind == "urn" else uri.normalize(text, level or "path"), True
    except UriError:
        return text, False


def firsts(urls, kind, level, errors):
    """For each row, whether it is written; and the number of invalid rows."""
    seen, found, invalid = set(), [], 0
    for url in urls:
        name, valid = (None, True) if url is None else name_of(url, kind, level)
        invalid += not valid
        is_kept = valid or errors == "keep"
        found.append(is_kept and name not in seen)
        if is_kept:
            seen.add(name)
    return found, invalid


def some_urls(rows, seed=3):
    chance = random.Random(seed)
    spellings = ["http://example.com/%d", "HTTP://Example.COM/a/../%d", "urn:example:%d", "URN:Example:%d#f", "urn:%d"]
    return [
        None if chance.random() < 0.02 else chance.choice(spellings) % chance.randrange(rows // 3) for _ in range(rows)
    ]


# --- rows -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("kind", "level"), [("uri", None), ("uri", "scheme"), ("urn", None), ("bytes", None)])
@pytest.mark.parametrize("memory", [None, TINY])
@pytest.mark.parametrize(("errors", "exact"), [("keep", False), ("keep", True), ("drop", False)])
def test_rows_agree_with_the_reference(kind, level, memory, errors, exact):
    places = ["date=2026-01-01/0.parquet", "date=2026-01-01/1.parquet", "date=2026-01-02/0.parquet", "z.parquet"]
    urls = some_urls(6000)
    for i, place in enumerate(places):
        write(f"in/{place}", urls[1500 * i : 1500 * (i + 1)], row_group_size=400)
    write("in/empty.parquet", [])
    told = []
    done = dedup.unique_dataset(
        "in", "url", "out", kind=kind, level=level, memory=memory, errors=errors, exact=exact, on_progress=told.append
    )
    found, invalid = firsts(urls, kind, level, errors)
    assert files_below("out") == sorted([*places, "empty.parquet"])
    for i, place in enumerate(places):
        expected = pq.read_table(f"in/{place}", partitioning=None).filter(found[1500 * i : 1500 * (i + 1)])
        assert pq.read_table(f"out/{place}", partitioning=None) == expected
    assert (done.rows, done.written, done.unique, done.invalid) == (6000, sum(found), sum(found), invalid)
    assert done.duplicates == 6000 - sum(found) - (invalid if errors == "drop" else 0)
    assert (done.spilled > 0) == (memory == TINY)
    assert {each.phase for each in told} >= {"read", "write"} and told[-1].total > 0


def test_counts_where_a_file_has_no_rows():
    write("in/0.parquet", ["a", "b", "a"], row_group_size=400)
    write("in/1.parquet", [], row_group_size=400)
    dedup.unique_dataset("in", "url", "out", kind="bytes", report="counts")
    assert [pq.read_table(f"out/{i}.parquet")["count"].to_pylist() for i in range(2)] == [[2, 1], []]


TYPES = ["string", "large_string", "binary", "large_binary", "dictionary", "string_view", "binary_view", "null"]


@pytest.mark.parametrize("name", TYPES)
def test_types_of_the_column(name):
    kind = pa.dictionary(pa.int32(), pa.string()) if name == "dictionary" else getattr(pa, name)()
    urls = ["http://a/b", "HTTP://a/b", None, "http://a/c", None, "http://a/./c"] if name != "null" else [None] * 6
    try:
        write("in.parquet", urls, kind, row_group_size=4)
    except pa.ArrowNotImplementedError:
        pytest.skip("this version of pyarrow does not write views")
    done = dedup.unique_dataset("in.parquet", "url", "out", kind="uri")
    table = pq.read_table("out/in.parquet")
    assert table.schema == pq.read_schema("in.parquet")
    urls = [url if url is None or "binary" not in name else url.encode() for url in urls]
    assert table["url"].to_pylist() == ([urls[0], None, urls[3]] if name != "null" else [None])
    assert done.written == len(table)


def test_a_link_before_two_dots(tmp_path):
    """Without following the link, the two files have one name; one of them would be left out."""
    for name in "f.parquet", "other/f.parquet":
        (tmp_path / name).parent.mkdir(exist_ok=True)
        pq.write_table(pa.table({"url": [name]}), tmp_path / name)
    (tmp_path / "other/folder").mkdir()
    try:
        os.symlink(tmp_path / "other/folder", tmp_path / "link")
    except OSError:
        pytest.skip("links are not allowed here")
    with pytest.raises(FileError, match="has the same place in the output as another file"):
        dedup.unique_dataset([str(tmp_path / "f.parquet"), f"{tmp_path}/link/../f.parquet"], "url", "out", kind="bytes")
    paths = [str(tmp_path / "f.parquet"), f"{tmp_path}/other/../f.parquet"]
    assert dedup.unique_dataset(paths, "url", "out", kind="bytes").rows == 1


@pytest.mark.parametrize("place", [0, 1])
def test_a_name_that_is_also_a_path(place):
    """The column "a.b", and not the member b of the column a."""
    columns = [("a", pa.array([{"b": "x"}] * 3)), ("url", pa.array(["x"] * 3))]
    columns.insert(2 * place, ("a.b", pa.array(["x", "y", "x"])))
    table = pa.table(dict(columns))
    pq.write_table(table, "in.parquet")
    assert dedup.unique_dataset("in.parquet", "a.b", "out", kind="bytes").unique == 2
    assert pq.read_table("out/in.parquet") == table.slice(0, 2)


def test_levels_and_policies():
    write("in.parquet", ["http://a/?utm_source=x", "http://a", "http://b/", "http://b"])
    for i, (written, options) in enumerate([(2, {"policy": "crawl"}), (3, {"level": "scheme"}), (4, {})]):
        assert (
            dedup.unique_dataset("in.parquet", "url", f"out{i}", kind="uri", secret="k", **options).written == written
        )


def test_links_to_folders_are_not_followed(tmp_path):
    """A few that lead to each other are an endless number of paths."""
    for i in range(30):
        tmp_path.joinpath("in", f"part={i}").mkdir(parents=True)
        for link in "a", "b":
            tmp_path.joinpath("in", f"part={i}", link).symlink_to(tmp_path / "in" / f"part={(i + 1) % 30}")
    tmp_path.joinpath("data.parquet").touch()
    tmp_path.joinpath("in", "part=7", "link.parquet").symlink_to(tmp_path / "data.parquet")
    assert list(_dataset_files.walk(str(tmp_path / "in"))) == [str(tmp_path / "in" / "part=7" / "link.parquet")]


def test_sizes_of_batches_and_row_groups(monkeypatch):
    """They do not change the rows. A row group has as many rows as the largest of the input, or so many bytes."""
    urls = some_urls(600)
    write("in.parquet", urls, row_group_size=100)
    found, _ = firsts(urls, "uri", None, "keep")
    for batch, group in [(1 << 20, 1 << 30), (1, 1 << 30), (1000, 600)]:
        monkeypatch.setattr(_dataset_files, "BATCH_BYTES", batch)
        monkeypatch.setattr(_dataset_output, "GROUP_BYTES", group)
        if batch == 1:
            monkeypatch.setattr(_dataset_files, "BATCH_ROWS", 7)
        out = f"out{batch}"
        dedup.unique_dataset("in.parquet", "url", out, kind="uri")
        assert pq.read_table(f"{out}/in.parquet") == pq.read_table("in.parquet").filter(found)
        about = pq.ParquetFile(f"{out}/in.parquet").metadata
        sizes = [about.row_group(i).num_rows for i in range(about.num_row_groups)]
        if group == 600:
            assert len(sizes) > 10
        else:
            assert sizes[:-1] == [100] * (sum(found) // 100)


def test_values_that_are_larger_than_they_are_encoded():
    """From the second row group on, batches have the size that they should have."""
    pq.write_table(
        pa.table({"url": [f"http://a/{i % 3}" + 5000 * "b" for i in range(9000)]}), "in", row_group_size=4500
    )
    file = _dataset_files.DatasetFile("in", "in", "url", ColumnBatch(RowOperation(), dedup.FingerprintKey()))
    sizes = [column.nbytes for column, _, _ in file.columns()]
    assert sizes[0] == 4096 * 5014 and max(sizes[2:]) <= _dataset_files.BATCH_BYTES and sum(sizes) == 9000 * 5014
    assert dedup.unique_dataset("in", "url", "out", kind="uri").written == 3


# --- what files keep --------------------------------------------------------------------------------------------------


def test_metadata_and_compression_are_kept():
    rows = 100
    columns = {
        "url": pa.array([f"http://h/{i // 2}" for i in range(rows)]),
        "time": pa.array([datetime(2026, 1, 1)] * rows, pa.timestamp("ns", "Europe/Berlin")),
        "price": pa.array([decimal.Decimal("1.10")] * rows, pa.decimal128(9, 2)),
        "links": pa.array([["a"], []] * 50, pa.list_(pa.field("item", pa.large_string()))),
        "kind": pa.array(["a", "b"] * 50).dictionary_encode(),
        "pair": pa.array([{"a": 1, "b": None}] * rows, pa.struct([("a", pa.int8()), ("b", pa.string())])),
    }
    fields = [pa.field(name, column.type, metadata={"PARQUET:field_id": "7"}) for name, column in columns.items()]
    fields[0] = fields[0].with_nullable(False)
    table = pa.table(list(columns.values()), pa.schema(fields, {"of": "ours"}))
    codecs = {"url": "zstd", "time": "gzip", "price": "snappy", "links.list.item": "none", "kind": "zstd"}
    pq.write_table(
        table,
        "in.parquet",
        row_group_size=30,
        compression=codecs,
        use_compliant_nested_type=False,
        store_decimal_as_integer=True,
        write_page_index=True,
        sorting_columns=[pq.SortingColumn(0)],
    )
    dedup.unique_dataset("in.parquet", "url", "out", kind="uri")
    before, after = pq.ParquetFile("in.parquet"), pq.ParquetFile("out/in.parquet")
    assert after.read() == table.filter([True, False] * 50)
    assert after.schema_arrow.equals(before.schema_arrow, check_metadata=True)
    assert after.schema.equals(before.schema)
    assert after.metadata.metadata == before.metadata.metadata
    old, new = before.metadata.row_group(0), after.metadata.row_group(0)
    assert new.sorting_columns == old.sorting_columns
    for i in range(old.num_columns):
        assert new.column(i).compression == old.column(i).compression
        assert new.column(i).has_column_index


def test_files_without_a_schema_of_arrow():
    """As Spark writes them: also with timestamps that do not fit into 64 bits of nanoseconds."""
    times = pa.array([datetime(9999, 12, 31, 1), datetime(1, 1, 1), None, datetime(2026, 1, 1)], pa.timestamp("us"))
    table = pa.table({"url": ["http://a", "HTTP://a", "http://b", "http://c"], "time": times})
    pq.write_table(table, "in.parquet", store_schema=False, use_deprecated_int96_timestamps=True)
    dedup.unique_dataset("in.parquet", "url", "out", kind="uri")
    before, after = pq.ParquetFile("in.parquet"), pq.ParquetFile("out/in.parquet", coerce_int96_timestamp_unit="us")
    assert after.read()["time"].to_pylist() == [times[0].as_py(), None, times[3].as_py()]
    assert after.schema.equals(before.schema) and after.metadata.metadata is None


def test_dictionaries_do_not_pile_up(monkeypatch):
    """The rows of a column with dictionaries are written with their row group."""
    monkeypatch.setattr(_dataset_files, "BATCH_ROWS", 10)
    kind = pa.dictionary(pa.int32(), pa.string())
    write("in.parquet", [f"http://a/{i % 60}" for i in range(100)], kind, row_group_size=25)
    dedup.unique_dataset("in.parquet", "url", "out", kind="uri")
    about = pq.ParquetFile("out/in.parquet").metadata
    assert [about.row_group(i).num_rows for i in range(about.num_row_groups)] == [25, 25, 10]
    assert len(set(read("out/in.parquet", "url"))) == 60


def test_sorted_row_groups_stay_sorted():
    order = [pq.SortingColumn(0)]
    tables = [pa.table({"url": urls}) for urls in (["b", "b", "d"], ["a", "b", "e"])]
    with pq.ParquetWriter("in.parquet", tables[0].schema, sorting_columns=order) as writer:
        for table in tables:
            writer.write_table(table)
    dedup.unique_dataset("in.parquet", "url", "out", kind="bytes")
    file = pq.ParquetFile("out/in.parquet")
    assert [file.read_row_group(i)["url"].to_pylist() for i in range(file.num_row_groups)] == [["b", "d"], ["a", "e"]]
    assert [*file.metadata.row_group(1).sorting_columns] == order


def test_a_file_that_keeps_all_rows_is_copied():
    write("in/a.parquet", ["http://a", "http://b"])
    write("in/b.parquet", ["http://a", "http://c"])
    dedup.unique_dataset("in", "url", "out", kind="uri")
    assert Path("out/a.parquet").read_bytes() == Path("in/a.parquet").read_bytes()
    assert read("out/b.parquet", "url") == ["http://c"]


# --- paths ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("paths", "written"),
    [
        ("in", "b d=1/_h=1/a d=1/a d=2/a"),
        (["in/d=2", "in/d=1"], "d=2/a d=1/_h=1/a d=1/a"),
        ("in/d=2", "d=2/a"),
        ("in/d=1/_h=1/a", "d=1/_h=1/a"),
        (Path("in/b"), "b"),
        (["in/d=2/a", "in/b"], "d=2/a b"),
        (["in/b", "in", "./in/b"], "b d=1/_h=1/a d=1/a d=2/a"),
        (["in/d=1/a", "in/_meta"], "d=1/a _meta"),
        (["link/d=2", "other/x"], "link/d=2/a other/x"),
        (["in/d=2/../d=1/a"], "d=1/a"),
    ],
)
def test_paths(paths, written):
    """They are read in this order: all files have the same URL, so the first one keeps it."""
    for path in ("d=1/a", "d=1/_h=1/a", "d=2/a", "b", "_meta", ".hidden", "_folder/a", "../other/x"):
        write(f"in/{path}", ["http://a"])
    os.symlink("in", "link")
    names = written.split()
    dedup.unique_dataset(paths, "url", "out", kind="uri")
    assert files_below("out") == sorted(names)
    assert [name for name in names if read(f"out/{name}")] == names[:1]
    found = _dataset_files.find_files(paths_of(paths))
    assert [place for _, place in found] == names


# --- what fails -------------------------------------------------------------------------------------------------------


def damage(path):
    data = bytearray(Path(path).read_bytes())
    data[4:200] = bytes(196)
    Path(path).write_bytes(data)


def two_columns(path):
    pq.write_table(pa.table([["a"], ["b"]], names=["url", "url"]), path)


def a_name_not_in_utf8(path):
    pq.write_table(pa.table({"url": ["a"], "name": ["b"]}), path)
    Path(path).write_bytes(Path(path).read_bytes().replace(b"name", b"nam\xe9"))


BAD = {
    "no file": (lambda path: None, "No such file or directory"),
    "text": (lambda path: Path(path).write_text("no Parquet"), "Parquet"),
    "nothing": (lambda path: Path(path).write_text(""), "Parquet file size is 0 bytes"),
    "truncated": (lambda path: Path(path).write_bytes(Path("in/0.parquet").read_bytes()[:-20]), "Parquet"),
    "damaged": (lambda path: (write(path, some_urls(500)), damage(path)), ""),
    "other column": (
        lambda path: pq.write_table(pa.table({"link": ["a"], "n": [1]}), path),
        "no column 'url'; the columns are 'link', 'n'",
    ),
    "nested": (lambda path: pq.write_table(pa.table({"a": [{"url": "x"}]}), path), "no column 'url'"),
    "two": (two_columns, "several columns 'url'"),
    "name": (a_name_not_in_utf8, "can't decode byte 0xe9"),
    "numbers": (lambda path: write(path, [1], pa.int64()), "column 'url' must be text or bytes, got int64"),
    "lists": (lambda path: write(path, [["a"]], pa.list_(pa.string())), "must be text or bytes, got list"),
    "structs": (lambda path: write(path, [{"a": "b"}], pa.struct([("a", pa.string())])), "must be text or bytes"),
    "empty folder": (os.mkdir, "folder has no files"),
}


@pytest.mark.parametrize("name", BAD)
def test_inputs_that_fail(name):
    """The one in the middle. Its name is in the message, and nothing is written."""
    make, said = BAD[name]
    for i in 0, 2:
        write(f"in/{i}.parquet", some_urls(500, i))
    make("in/1.parquet")
    before = sorted(os.listdir("."))
    with pytest.raises(FileError) as caught:
        dedup.unique_dataset([f"in/{i}.parquet" for i in range(3)], "url", "out", kind="uri")
    assert str(caught.value).startswith("in/1.parquet: ") and said in str(caught.value)
    assert "\n" not in str(caught.value) and sorted(os.listdir(".")) == before


def test_a_file_that_is_damaged_after_the_column():
    """The second pass finds that."""
    table = pa.table({"url": ["http://a"] * 500 + ["http://b"] * 500, "text": [os.urandom(100) for _ in range(1000)]})
    pq.write_table(table, "in.parquet", compression="zstd", use_dictionary=False)
    chunk = pq.ParquetFile("in.parquet").metadata.row_group(0).column(1)
    data = bytearray(Path("in.parquet").read_bytes())
    data[chunk.data_page_offset : chunk.data_page_offset + 300] = b"\xff" * 300
    Path("in.parquet").write_bytes(data)
    with pytest.raises(FileError, match=r"^in\.parquet: "):
        dedup.unique_dataset("in.parquet", "url", "out", kind="uri")
    assert os.listdir(".") == ["in.parquet"]


@pytest.mark.parametrize(("phase", "changed"), [("read", "a"), ("write", "a"), ("write", "b"), ("write", "c")])
def test_a_file_that_changes(phase, changed):
    """While it is read, or before the second pass reads it, or copies it."""
    write("in/a", ["http://a", "http://a"])
    write("in/b", ["http://b"])
    write("in/c", ["http://c", "http://a"])

    def change(progress):
        if progress.phase == phase:
            os.utime(f"in/{changed}", (1, 1))

    with pytest.raises(FileError, match=f"in/{changed}: file was changed while it was read"):
        dedup.unique_dataset("in", "url", "out", kind="uri", on_progress=change)
    assert os.listdir(".") == ["in"]


def test_an_invalid_row_is_named():
    write("in/0.parquet", ["urn:a1:b"] * 3)
    write("in/1.parquet", ["urn:a1:b", None, "urn:a1:c", "url:x"], row_group_size=2)
    with pytest.raises(UrnError) as caught:
        dedup.unique_dataset("in", "url", "out", kind="urn", errors="raise")
    assert str(caught.value) == 'in/1.parquet: row 3: expected "urn:" at offset 2' and caught.value.input == "url:x"
    assert os.listdir(".") == ["in"]


def test_outputs_that_fail():
    write("in/d=1/a.parquet", ["http://a"] * 3)
    write("full/a.parquet", ["http://a"])
    for output, said in [
        ("in", "output folder 'in' is inside the input 'in'"),
        ("in/d=1/new", "output folder 'in/d=1/new' is inside the input 'in'"),
        ("full", "output folder 'full' is not empty"),
    ]:
        with pytest.raises(ValueError, match=said):
            dedup.unique_dataset("in", "url", output, kind="uri")
    for output, said in [("full/a.parquet", "Not a directory"), ("none/out", "No such file or directory")]:
        with pytest.raises(FileError, match=f"^{output}: {said}"):
            dedup.unique_dataset("in", "url", output, kind="uri")
    dedup.unique_dataset("in/d=1/a.parquet", "url", "in/new", kind="uri")  # beside the file
    assert files_below("in") == ["d=1/a.parquet", "new/d=1/a.parquet"]


@pytest.mark.parametrize("options", [{"kind": "x"}, {"kind": "uri", "memory": "x"}, {"kind": "uri", "errors": "null"}])
def test_wrong_options(options):
    with pytest.raises(ValueError, match=r"'x'|errors must be"):
        dedup.unique_dataset("in", "url", "out", **options)
    with pytest.raises(ValueError, match="expected at least one path"):
        dedup.unique_dataset([], "url", "out", kind="uri")


@pytest.mark.parametrize("phase", ["read", "write"])
def test_an_interrupt_leaves_nothing(phase):
    write("in.parquet", some_urls(500))

    def interrupt(progress):
        if progress.phase == phase:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        dedup.unique_dataset("in.parquet", "url", "out", kind="uri", on_progress=interrupt)
    assert os.listdir(".") == ["in.parquet"]


@pytest.mark.skipif(not hasattr(os, "statvfs") or not os.path.exists("/dev/full"), reason="no full device")
def test_a_full_disk(monkeypatch):
    write("in.parquet", some_urls(500))
    real = pa.OSFile
    monkeypatch.setattr(pa, "OSFile", lambda path, mode="rb": real("/dev/full" if mode == "wb" else path, mode))
    with pytest.raises(FileError, match=r"^out/in\.parquet: .*No space left on device"):
        dedup.unique_dataset("in.parquet", "url", "out", kind="uri")
    assert os.listdir(".") == ["in.parquet"]


def without_pyarrow(monkeypatch):
    real = builtins.__import__

    def fail(name, *arguments):
        if name.partition(".")[0] == "pyarrow":
            raise ModuleNotFoundError("No module named 'pyarrow'", name="pyarrow")
        return real(name, *arguments)

    monkeypatch.setattr(builtins, "__import__", fail)


def test_without_pyarrow(monkeypatch):
    without_pyarrow(monkeypatch)
    with pytest.raises(ModuleNotFoundError, match="pyarrow is not installed: pip install 'uricodec"):
        dedup.unique_dataset("in", "url", "out", kind="uri")
    status, _, said = run("dedup", "--kind", "uri", "--parquet", "-f", "url", "in", "-o", "out")
    assert (status, said) == (
        2,
        "uricodec: --parquet: pyarrow is not installed\n\nhint: pip install 'uricodec[arrow]'\n",
    )


# --- the command line -------------------------------------------------------------------------------------------------


def test_the_command():
    write("in/d=1/a.parquet", ["http://a/?utm_source=x", "http://a", "http://b"])
    write("in/d=2/a.parquet", ["http://b"])
    command = ["dedup", "--policy", "crawl", "--parquet", "-f", "url"]
    status, output, said = run(*command, "in/d=1/a.parquet", "in/d=2/a.parquet", "-o", "out/", "--stats")
    assert (status, output) == (0, b"") and '"rows": 4, "unique": 2, "duplicates": 2' in said
    assert {name: len(read(f"out/{name}")) for name in files_below("out")} == {"d=1/a.parquet": 2, "d=2/a.parquet": 0}
    assert pq.ParquetFile("out/d=2/a.parquet").metadata.num_row_groups == 1  # some versions read no file without any
    assert run(*command, "in", "-o", "one", "--memory", "1M", "--exact", "--progress")[0] == 0
    assert read("one/d=1/a.parquet") == read("out/d=1/a.parquet")


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        ("-f url -o out", 2, "--parquet: cannot read standard input\n\nhint: name Parquet files"),
        ("-f url in", 2, "--parquet: --output is required\n\nhint: -o DIR names the folder to write"),
        ("in -o out", 2, "--parquet: not allowed without --field"),
        ("-f url --null-data in -o out", 2, "--parquet: not allowed with --null-data"),
        ("-f url in -o in/x", 2, "is inside the input 'in'\n\nhint: give --output a new folder"),
        ("-f row in -o out", 3, "in/a.parquet: column 'row' must be text or bytes, got int64"),
        ("-f x in -o out", 3, "in/a.parquet: no column 'x'; the columns are 'row', 'url'"),
        ("-f url none -o out", 3, "none: No such file or directory"),
        ("-f url --errors raise in -o out", 1, "in/a.parquet: row 0: expected"),
    ],
)
def test_the_command_rejects_wrong_options(arguments, status, said):
    write("in/a.parquet", ["http://a"])
    found, output, message = run("dedup", "--kind", "urn", "--parquet", *arguments.split())
    assert (found, output) == (status, b"") and said in message
    assert os.listdir(".") == ["in"]


@pytest.mark.skipif(sys.platform == "win32", reason="no such names")
def test_names_beyond_unicode():
    path = os.fsdecode(b"in/\xff.parquet")
    write("in/0.parquet", ["http://a", "http://a"])
    os.rename("in/0.parquet", path)
    dedup.unique_dataset("in", "url", "out", kind="uri")
    assert files_below("out") == [os.path.basename(path)]
