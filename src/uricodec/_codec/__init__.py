"""Percent-encoding (RFC 3986 section 2.1): single values, lossless decoding, and the operations on rows."""
