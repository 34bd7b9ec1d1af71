"""Compression formats of files, by their first bytes: gzip, bzip2, xz and Zstandard."""

# Frames of Zstandard that are skipped: this magic number after one of 16 letters (RFC 8878 section 3.1.2).
SKIPPABLE = b"\x2a\x4d\x18"

# First bytes of a file -> format. bzip2: the block size, then the magic number of the first block or of an empty file.
MAGIC = {
    b"\x1f\x8b": "gzip",
    **{b"BZh%d1AY&SY" % size: "bzip2" for size in range(1, 10)},
    **{b"BZh%d\x17rE8P\x90" % size: "bzip2" for size in range(1, 10)},
    b"\xfd7zXZ\x00": "xz",
    b"\x28\xb5\x2f\xfd": "zstd",
    **{bytes([byte]) + SKIPPABLE: "zstd" for byte in range(0x50, 0x60)},
}
LONGEST = max(map(len, MAGIC))


def format_of(data):
    """Return the compression format of data that begins with `data` (bytes-like); None if it is not compressed.

    >>> format_of(b"BZh91AY&SY"), format_of(b"BZh is text")
    ('bzip2', None)
    """
    head = bytes(data[:LONGEST])
    return next((name for magic, name in MAGIC.items() if head.startswith(magic)), None)


def may_be(data):
    """Return whether `data` (bytes-like), the first bytes of a file, are too few to detect its compression format."""
    head = bytes(data)
    return any(magic != head and magic.startswith(head) for magic in MAGIC)


def begins_with(data, form):
    """Return whether `data` (bytes-like), perhaps only a part of the magic number, can begin data in a format.

    >>> begins_with(b"\\x1f", "gzip"), begins_with(b"tail", "gzip")
    (True, False)
    """
    head = bytes(data[:LONGEST])
    return any(head.startswith(magic[: len(head)]) for magic, name in MAGIC.items() if name == form)
