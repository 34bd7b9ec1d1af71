"""Percent-encoding (RFC 3986 section 2.1).

- _percent: the portable kernels, and the objects that they turn into each other
- _triplets: lossless decoding, idempotent encoding, buffers of the caller
- _rows: the operations on rows
"""
