"""Percent-encoding (RFC 3986 section 2.1), and IP addresses.

- _percent: the portable kernels, and encoding and decoding of str and bytes
- _triplets: lossless decoding, idempotent encoding, and functions that write to the caller's buffers
- _addresses: IPv4 and IPv6 addresses as text and as numbers
- _charsets: encodings other than UTF-8, as tables
- _rows: the operations for the row engine
"""
