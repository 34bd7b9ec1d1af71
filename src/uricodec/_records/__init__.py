"""Values in records: fields between delimiters, CSV (RFC 4180) and JSON (RFC 8259).

- _quoting: values in CSV fields and JSON strings
- _framing: where records end, and which of their values are selected
- _fields: transformation of records from buffer to buffer, with the row engine on their values
"""
