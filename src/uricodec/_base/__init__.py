"""The base of the package: kernels, conversions between objects and bytes. Knows no rows, grammars or files.

- simd/kernels.h: the contract of the kernels; dispatch.c and isa/: the table of CPU tiers, and their vector code;
  octets16.h, utf8_*.h, urn*.h: algorithms that several tiers share; atomic.h, memory.h, fingerprint.h
- _kernels: the table of the kernels in use; ByteSet
- _text: inline functions between Python objects and bytes
- _utf8: the portable UTF-8 kernels; conversion of UTF-8 to str, with U+FFFD for ill-formed sequences
- _atomic: atomic words and lock flags
- _fingerprint: keyed 128-bit fingerprints of identifiers
- diagnostics: why an identifier is invalid
"""
