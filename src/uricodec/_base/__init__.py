"""The base of the package: kernels, conversions between objects and bytes. Knows no rows, grammars or files.

- simd/kernels.h: the contract of the kernels; dispatch.c and isa/: the table of CPU tiers, and their code; bytes16.h,
  utf8_*.h, urn*.h: algorithms that several tiers share; octets.h: what single bytes mean; atomic.h, memory.h,
  fingerprint.h
- _kernels: the table of the kernels in use; ByteSet
- _cpython: all that depends on the layout of CPython's objects and on its version
- _text: conversions between Python objects, bytes and UTF-8
- _atomic: atomic words and lock flags
- _fingerprint: keyed 128-bit fingerprints of identifiers
- extras: optional packages that are missing
- diagnostics: why an identifier is invalid
"""
