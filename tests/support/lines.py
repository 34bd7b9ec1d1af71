"""Lines in buffers through the codec's operations, as the command line has them."""

from uricodec import ByteSet
from uricodec._codec._rows import NO_CONTROL, DecodeRows, EncodeRows
from uricodec._rows._tasks import transform_lines
from uricodec.errors import UriSyntaxError


def decode_lines(src, dst, plus=False, raw=False, errors="keep", end=b"\n", free=NO_CONTROL):  # noqa: PLR0913, PLR0917
    """Decode lines into dst; returns the size of the result. An invalid one is raised with its offset in src."""
    return _run(DecodeRows(plus, not raw, None if raw else free), src, dst, end, errors)


def encode_lines(src, dst, safe, plus=False, end=b"\n", errors="keep"):  # noqa: PLR0913, PLR0917
    """Encode lines, but for their terminators, into dst; returns the size of the result."""
    return _run(EncodeRows(safe if type(safe) is bytes else safe | end, plus), src, dst, end, errors)


def capacity_for(src, errors="keep", encode=False):
    """How large dst must be."""
    return (EncodeRows(ByteSet()) if encode else DecodeRows()).capacity(len(src), errors)


def _run(rows, src, dst, end, errors):
    read, found = transform_lines(src, dst, rows, end, errors, 0)
    if errors == "raise" and found.invalid:
        fault = found.faults[-1]
        raise UriSyntaxError(rows.reasons[rows.code_names.index(fault.code)], src, fault.start + fault.offset)
    if read < len(src):
        raise ValueError(f"dst is too small: {len(dst)} bytes")
    return found.written
