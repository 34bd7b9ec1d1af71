"""Hooks into engines: `polars`, `duckdb`, `pandas` and `spark`. Each imports its engine, and nobody imports them.

All of them offer the operations of `uricodec.bulk`, by the table in `_operations`.
"""
