"""Percent-encoding (RFC 3986 section 2.1).

- _percent: encoding and decoding of str and bytes
- _triplets: lossless decoding, idempotent encoding, and functions that write to the caller's buffers
- _charsets: encodings other than UTF-8, as tables
- _rows: the operations for the row engine
"""
