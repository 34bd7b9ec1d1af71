"""Hooks into engines: `polars`, `pandas`, `duckdb` and `spark`.

Each offers the operations of `uricodec.bulk` to its engine, and is imported only by the caller:

    import uricodec.integrations.polars
"""


def __dir__() -> list[str]:
    return [name for name in globals() if not name.startswith("_")]
