"""Values in records: fields between delimiters, CSV (RFC 4180) and JSON (RFC 8259).

- _framing: where records end, which of their values are selected, and the quotes and escapes of CSV and JSON
- _fields: transformation of records from buffer to buffer, with the row engine on their values; one value of each
- formats: the formats of records that commands write, a table
- _templates: lines made of values, such as records of CSV and JSON, or texts of a template
- ends: where the records of a file begin and end
- headers: what a file begins with, and which fields are selected by name or number
"""
