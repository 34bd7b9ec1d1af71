"""Columns of records as Arrow data, with pyarrow."""

from typing import Any

from uricodec.logs._columns import convert_columns
from uricodec.logs._records import NAMES, texts_of

# The columns of convert_columns() after those of NAMES: values of lists, flags and their texts, parameters.
PARAMETER, VALUE, ADDRESS, EXTRA_NAME, EXTRA_VALUE, FLAG_LIST, FLAG_TEXT, PARAMS = range(len(NAMES), len(NAMES) + 8)


class Columns:
    """What converts lines to columns, as the `state` of a chunk."""

    convert = staticmethod(convert_columns)


def schema(params: list[str], flags: bool) -> Any:
    """Return the schema of the batches.

    Args:
        params (list[str]): The parameters that have a column of their own.
        flags (bool): Whether records have flags.
    """
    import pyarrow as pa  # type: ignore[import-untyped,import-not-found,unused-ignore]

    parameter = pa.struct([pa.field("name", pa.string(), False), pa.field("value", pa.string(), False)])
    texts = pa.list_(pa.field("item", pa.string(), False))
    special = {
        "query": pa.list_(pa.field("item", parameter, False)),
        "status": pa.int64(),
        "bytes_sent": pa.int64(),
        "duration": pa.float64(),
        "forwarded_for": texts,
        "extra": pa.map_(pa.string(), pa.field("value", pa.string(), False)),
        "flags": texts,
    }
    decoded = (name.decode("utf-8", "replace") for name in texts_of("params", params))
    names = [*NAMES, *(f"param.{name}" for name in decoded), *(["flags"] if flags else [])]
    return pa.schema([(name, special.get(name, pa.string())) for name in names])


def batch(columns: list[tuple[int, bytes, bytes, bytes]], params: list[str], flags: bool) -> Any:
    """Return a record batch of the columns of convert_columns()."""
    import pyarrow as pa  # type: ignore[import-untyped,import-not-found,unused-ignore]

    def array(at: int, kind: Any) -> Any:
        rows, valid, ends, data = columns[at]
        buffers = [pa.py_buffer(valid) if valid else None, pa.py_buffer(data)]
        if kind == pa.string():
            buffers.insert(1, pa.py_buffer(ends))
        return pa.Array.from_buffers(kind, rows, buffers)

    def lists(at: int, kind: Any, values: Any) -> Any:
        rows, valid, ends, _ = columns[at]
        return pa.Array.from_buffers(kind, rows, [pa.py_buffer(valid), pa.py_buffer(ends)], children=[values])

    def pairs(at: int, fields: Any) -> Any:
        return pa.StructArray.from_arrays([array(at, pa.string()), array(at + 1, pa.string())], fields=fields)

    kinds = schema(params, flags)
    arrays = []
    for i, field in enumerate(kinds):
        if field.name == "query":
            arrays.append(lists(i, field.type, pairs(PARAMETER, list(field.type.value_type))))
        elif field.name == "forwarded_for":
            arrays.append(lists(i, field.type, array(ADDRESS, pa.string())))
        elif field.name == "extra":
            arrays.append(lists(i, field.type, pairs(EXTRA_NAME, [field.type.key_field, field.type.item_field])))
        elif field.name == "flags":
            arrays.append(lists(FLAG_LIST, field.type, array(FLAG_TEXT, pa.string())))
        else:
            arrays.append(array(i if i < len(NAMES) else PARAMS + i - len(NAMES), field.type))
    return pa.RecordBatch.from_arrays(arrays, schema=kinds)
