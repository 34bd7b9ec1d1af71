"""Values in records: fields between delimiters, CSV (RFC 4180) and JSON (RFC 8259).

- _quoting: how values stand in CSV and JSON
- _framing: what a record is, and which values of it are selected
- _fields: records from buffer to buffer, with the row engine on their values
"""
