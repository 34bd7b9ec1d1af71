"""Values in records: fields between delimiters, CSV (RFC 4180) and JSON (RFC 8259)."""
