"""What all other rooms stand on. Knows no rows, no grammar and no file.

- simd/kernels.h: the contract of the kernels; dispatch.c and isa/: the table of CPU tiers and their intrinsics;
  octets16.h, utf8_*.h, urns.h: algorithms that tiers share; atomic.h, memory.h, fingerprint.h
- _kernels: the kernel table in use; ByteSet
- _text: inline functions between Python objects and bytes
- _utf8: the portable UTF-8 kernels; str from UTF-8, with U+FFFD for what is ill-formed
- _atomic: what threads share without a lock
- _fingerprint: 128 bits for an identifier, under a key
"""
