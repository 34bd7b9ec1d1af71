"""logformat of Squid.

Source: Squid, squid.conf, of 3.0 to 7.
"""

import re
from collections.abc import Iterable
from typing import NoReturn

from uricodec.logs._directives import (
    ENDPOINT,
    EPOCHS,
    FRACTIONS,
    UNITS,
    VERSION,
    Directive,
    Family,
    Token,
    extra,
    header,
    in_column,
    standard,
    time_directive,
)

SQUID = {
    ">a": standard("client"),
    ">a:%>p": ENDPOINT,
    ">A": standard("client", 1),
    ">p": extra("client_port"),
    ">eui": extra("client_eui"),
    ">la": extra("local_address"),
    ">lp": extra("local_port"),
    ">nfmark": extra("client_nfmark"),
    ">qos": extra("client_qos"),
    ">handshake": extra("client_handshake"),
    "la": extra("local_address"),
    "lp": extra("local_port"),
    "<a": extra("peer"),
    "<a:%<p": extra("peer"),
    "<A": extra("peer"),
    "<p": extra("peer_port"),
    "<la": extra("server_local_address"),
    "<lp": extra("server_local_port"),
    "<nfmark": extra("server_nfmark"),
    "<qos": extra("server_qos"),
    "ts": standard("time"),
    "tS": standard("time", 1),
    "tl": standard("time"),
    "tg": standard("time"),
    "tu": extra("subsecond"),
    "tr": standard("duration", 0, UNITS["ms"]),
    "dt": extra("dns_time"),
    "<pt": extra("peer_response_time"),
    "<tt": extra("server_response_time"),
    ">h": extra("request_headers"),
    ">ha": extra("adapted_request_headers"),
    "<h": extra("reply_headers"),
    "un": standard("user"),
    "ul": standard("user", 1),
    "ue": standard("user", 2),
    "us": standard("user", 3),
    "ui": extra("ident"),
    "credentials": extra("credentials"),
    ">Hs": standard("status"),
    "Hs": standard("status", 1),
    "<Hs": extra("server_status"),
    "Ss": extra("result"),
    "Sh": extra("hierarchy"),
    "mt": extra("content_type"),
    "rm": standard("method"),
    ">rm": standard("method", 1),
    "<rm": extra("server_method"),
    "ru": standard("target"),
    ">ru": standard("target", 1),
    "rp": standard("target", 2),
    ">rp": standard("target", 3),
    "<ru": extra("server_url"),
    "<rp": extra("server_path"),
    ">rs": extra("scheme"),
    "<rs": extra("server_scheme"),
    ">rd": standard("vhost", 1),
    "<rd": extra("server_domain"),
    ">rP": extra("port"),
    "<rP": extra("server_port"),
    "rv": VERSION,
    ">rv": VERSION,
    ">v": VERSION,
    "<rv": extra("server_http_version"),
    "<st": standard("bytes_sent"),
    ">st": extra("bytes_received"),
    "st": extra("bytes_total"),
    "<bs": extra("server_body_bytes"),
    "<sH": extra("reply_high_offset"),
    "<sS": extra("reply_object_size"),
    "<sh": extra("reply_header_bytes"),
    ">sh": extra("request_header_bytes"),
    "et": extra("acl_tag"),
    "ea": extra("acl_log"),
    "sn": extra("sequence_number"),
    "err_code": extra("error_code"),
    "err_detail": extra("error_detail"),
    "note": extra("note"),
}
SQUID_CODES = "|".join(sorted(SQUID, key=len, reverse=True))


class Squid(Family):
    """logformat of Squid. In a format with quotes, values have backslashes before these."""

    pattern = (
        r"%(?:%|(?P<sign>[\"\[#'])?(?P<left>-)?(?P<zero>0)?(?P<width>\d*)(?:\.(?P<most>\d+))?(?:\{(?P<before>[^}]*)\})?"
        rf"(?:(?P<other>(?:icap|adapt|ssl|tls)::[<>]?\w+)|(?:http::)?(?P<code>{SQUID_CODES}))(?:\{{(?P<after>[^}}]*)\}})?)"
    )
    escapes = "none"

    def names(self) -> Iterable[str]:
        return [*map("%{}".format, SQUID), "%{NAME}>h", "%{NAME}<h"]

    def unknown(self, written: str, offset: int) -> NoReturn:
        if f">{written[1:]}" in SQUID:
            raise ValueError(
                f"unknown directive {written!r} at offset {offset} of the format; did you mean '%>{written[1:]}'?"
            )
        super().unknown(written, offset)

    def tokens(self, found: re.Match[str], offset: int) -> list[Token]:
        code, other, written = found["code"], found["other"], found[0]
        if '"' in found.string:
            self.escapes = "backslash"
        if code is None and other is None:
            return [Token("%", offset)]
        argument = found["before"] or found["after"]
        around = found.string[found.start() - 1 : found.start()], found.string[found.end() : found.end() + 1]
        if code in ("tl", "tg"):
            return time_directive(argument or "%d/%b/%Y:%H:%M:%S %z", written, offset)
        if code is None:
            token = Token(written, offset, extra(other), written)
        elif argument and code in (">h", ">ha", "<h", "note"):
            token = Token(written, offset, self._header(code, argument, '"' in around or found["sign"] == '"'), written)
        else:
            token = Token(written, offset, SQUID[code], written, self._time(found))
        has_spaces = found["width"] and (found["left"] or not (found["zero"] or code == "tr"))
        return in_column(token, found) if has_spaces else [token]

    @staticmethod
    def _header(code: str, argument: str, is_quoted: bool) -> Directive:
        directive = header(argument) if code in (">h", ">ha") else extra(argument)
        if directive.field.kind == "list" and not is_quoted:
            return extra(argument)  # "203.0.113.7,%2010.0.0.1"
        return directive._replace(rank=1) if code == ">ha" else directive

    @staticmethod
    def _time(found: re.Match[str]) -> str:
        """Return the pattern of a time. Milliseconds are a fraction if they have three digits."""
        if found["code"] == "tu":
            is_fraction = found["zero"] and found["width"] == "3" and found["most"] in (None, "3")
            return FRACTIONS["msec_frac"] if is_fraction else ""
        return {"ts": EPOCHS["sec"], "tS": "1700000000.123"}.get(found["code"], "")
