"""Format strings of Envoy, and so of Istio, Contour and Gloo.

Source: Envoy, "Access logging": command operators.
"""

import re
from collections.abc import Iterable

from uricodec.logs._directives import (
    AFTER_HOST,
    ENDPOINT,
    EPOCHS,
    REQUEST_HEADERS,
    UNITS,
    Directive,
    Family,
    Field,
    Token,
    extra,
    standard,
    time_directive,
)

ENVOY = {
    "START_TIME": standard("time"),
    "START_TIME_LOCAL": standard("time"),
    "PROTOCOL": standard("protocol"),
    "RESPONSE_CODE": standard("status"),
    "BYTES_SENT": standard("bytes_sent"),
    "DURATION": standard("duration", 0, UNITS["ms"]),
    "DOWNSTREAM_REMOTE_ADDRESS": ENDPOINT,
    "DOWNSTREAM_REMOTE_ADDRESS_WITHOUT_PORT": standard("client"),
    "DOWNSTREAM_DIRECT_REMOTE_ADDRESS": Directive(Field("client", "endpoint"), 1),
    "DOWNSTREAM_DIRECT_REMOTE_ADDRESS_WITHOUT_PORT": standard("client", 1),
}
# Others that do not begin with UPSTREAM_ or DOWNSTREAM_.
# fmt: off
ENVOY_EXTRAS = frozenset((
    "ACCESS_LOG_TYPE", "BYTES_RECEIVED", "BYTES_RETRANSMITTED", "CEL", "COMMON_DURATION", "CONNECTION_ID",
    "CONNECTION_TERMINATION_DETAILS", "CUSTOM_FLAGS", "DYNAMIC_METADATA", "EMIT_TIME", "EMIT_TIME_LOCAL",
    "ENVIRONMENT", "FILTER_CHAIN_NAME", "FILTER_STATE", "GRPC_STATUS", "GRPC_STATUS_NUMBER", "HOSTNAME",
    "LOCAL_REPLY_BODY", "METADATA", "PACKETS_RETRANSMITTED", "PATH", "QUERY_PARAM", "QUERY_PARAMS", "REQ",
    "REQ_WITHOUT_QUERY", "REQUEST_DURATION", "REQUEST_HEADERS_BYTES", "REQUEST_HEADER_BYTES", "REQUEST_TX_DURATION",
    "REQUESTED_SERVER_NAME", "RESP", "RESPONSE_CODE_DETAILS", "RESPONSE_DURATION", "RESPONSE_FLAGS",
    "RESPONSE_FLAGS_LONG", "RESPONSE_HEADERS_BYTES", "RESPONSE_HEADER_BYTES", "RESPONSE_TRAILERS_BYTES",
    "RESPONSE_TX_DURATION", "ROUNDTRIP_DURATION", "ROUTE_NAME", "STREAM_ID", "TLS_JA3_FINGERPRINT", "TRACE_ID",
    "TRAILER", "UNIQUE_ID", "VIRTUAL_CLUSTER_NAME",
))
# fmt: on
# Headers of HTTP/2 and of Envoy that are fields, or have other names in its documentation.
ENVOY_HEADERS = {
    ":method": standard("method"),
    ":path": standard("target"),
    ":authority": standard("vhost"),
    "x-envoy-original-path": standard("target"),
    "x-envoy-upstream-service-time": extra("upstream_service_time"),
    "x-request-id": extra("request_id"),
}
JOINED = (([{"%REQ(:AUTHORITY)%"}, {"%REQ(:PATH)%", "%REQ(X-ENVOY-ORIGINAL-PATH?:PATH)%"}], AFTER_HOST),)


class Envoy(Family):
    """A format string of Envoy, and so of Istio, Contour and Gloo."""

    pattern = r"%(?:%|(?P<name>[A-Z][A-Z0-9_]+)(?:\((?P<argument>[^)]*)\))?(?::\d+)?%)"
    escapes = "none"
    joined = JOINED

    def names(self) -> Iterable[str]:
        return [f"%{name}%" for name in sorted({*ENVOY, *ENVOY_EXTRAS})]

    def tokens(self, found: re.Match[str], offset: int) -> list[Token]:
        name, argument, written = found["name"], found["argument"], found[0]
        if name is None:
            return [Token("%", offset)]
        if "TIME" in name and name.removesuffix("_LOCAL") in ("START_TIME", "EMIT_TIME"):
            return self._time(name, argument, written, offset)
        if name == "COMMON_DURATION" and (whole := re.fullmatch("DS_RX_BEG:DS_TX_END:([mun]s)", argument or "")):
            directive = standard("duration", 1, UNITS[whole[1]])
        elif name in ("REQ", "RESP", "TRAILER", "REQ_WITHOUT_QUERY") and argument:
            directive = self._header(name, argument)
        elif name == "PATH":
            directive = standard("path" if argument and argument.startswith("NQ") else "target")
        elif name in ENVOY:
            directive = ENVOY[name]
        elif name in ENVOY_EXTRAS or name.startswith(("UPSTREAM_", "DOWNSTREAM_")):
            directive = extra(argument or name.lower())
        else:
            return self.unknown(written, offset)
        return [Token(written, offset, directive, argument or name.lower())]

    @staticmethod
    def _header(name: str, argument: str) -> Directive:
        # "X?Y": X, or Y if there is no X.
        names = argument.lower().split("?")
        known = [ENVOY_HEADERS.get(each) or REQUEST_HEADERS.get(each) for each in names]
        directive = next(filter(None, known), None) if name != "TRAILER" else None
        if name == "RESP" and directive and not (directive.field.name or "").startswith("extra."):
            directive = None
        if name == "REQ_WITHOUT_QUERY" and directive == standard("target"):
            directive = standard("path")
        return directive or extra(argument)

    @staticmethod
    def _time(name: str, argument: str | None, written: str, offset: int) -> list[Token]:
        pattern = re.sub(
            "%([1-9]?)f", lambda found: "123456789"[: int(found[1] or 9)], argument or "%Y-%m-%dT%H:%M:%S.%3fZ"
        )
        pattern = pattern.replace("%s", EPOCHS["sec"])
        before, time, after = time_directive(pattern, written, offset)
        directive = ENVOY.get(name) or extra(name.lower(), "time")
        return [before, time._replace(directive=directive, name=name.lower()), after]
