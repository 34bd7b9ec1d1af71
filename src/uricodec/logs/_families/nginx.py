"""log_format of nginx, and of nginx Unit; presets have its notation, too.

Sources: nginx, ngx_http_log_module and the index of variables; nginx Unit, "Access Log".
"""

import re

from uricodec.logs._directives import (
    AFTER_HOST,
    ENDPOINT,
    FIELDS,
    REQUEST_HEADERS,
    TARGET_DECODED,
    UNITS,
    Directive,
    Family,
    Field,
    Token,
    extra,
    standard,
)

NGINX = {
    **{name: standard(name) for name in FIELDS},
    **{f"duration_{unit}": standard("duration", 0, UNITS[unit]) for unit in ("ms", "us", "ns")},
    "client_endpoint": Directive(Field("client", "endpoint")),
    "port_number": Directive(Field("extra.port", "number")),
    "rest_number": Directive(Field("extra.rest", "number")),
    "minute_number": Directive(Field("extra.request_minute", "number")),
    "count_number": Directive(Field("extra.request_count", "number")),
    "concurrency_number": Directive(Field("extra.request_concurrency", "number")),
    "query_with_mark": Directive(Field("query", "query")),
    "duration_integer_ms": Directive(Field("duration", "number", UNITS["ms"])),
    "ignored": Directive(Field(None, "word")),
    "site": Directive(Field("vhost", "site")),
    "request_cut": Directive(Field("request", "cut")),
    "user_word": Directive(Field("user", "word")),
    "remote_addr": standard("client"),
    "the_real_ip": standard("client", 1),  # ingress-nginx
    "proxy_protocol_addr": standard("client", 2),
    "remote_user": standard("user"),
    "time_iso8601": standard("time"),
    "time_local": standard("time"),
    "msec": standard("time"),
    "request_method": standard("method"),
    "request_uri": standard("target"),
    "uri": standard("path_decoded"),
    "document_uri": standard("path_decoded"),
    "args": standard("query"),
    "query_string": standard("query"),
    "server_protocol": standard("protocol"),
    "body_bytes_sent": standard("bytes_sent"),
    "bytes_sent": standard("bytes_sent", 1),
    "http_referer": standard("referer"),
    "http_user_agent": standard("user_agent"),
    "http_x_forwarded_for": standard("forwarded_for"),
    "proxy_add_x_forwarded_for": standard("forwarded_for", 1),
    "host": standard("vhost"),
    "http_host": standard("vhost", 1),
    "server_name": standard("vhost", 2),
    "request_time": standard("duration"),
    "request_line": standard("request"),  # nginx Unit
    # GitLab: without the values of secret parameters.
    "filtered_request_uri": standard("target"),
    "filtered_http_referer": standard("referer"),
}
HOSTS = {"$host", "$http_host", "$server_name"}
JOINED = (
    ([{"$uri", "$document_uri"}, {"$is_args"}, {"$args", "$query_string"}], TARGET_DECODED),
    ([HOSTS, {"$request_uri"}], AFTER_HOST),
    ([{"$scheme"}, {"://"}, HOSTS, {"$request_uri"}], AFTER_HOST),
    ([{"$remote_addr"}, {":"}, {"$remote_port"}], ENDPOINT),
    ([{"$upstream_host"}, {"$upstream_uri"}], extra("upstream_url")),
)


class Nginx(Family):
    """log_format of nginx. A name that is not known is a variable of the user's."""

    sign = "$"
    joined = JOINED
    pattern = r"(?a)\$(?:\{(?P<braces>\w+)\}|(?P<name>\w+))"

    def tokens(self, found: re.Match[str], offset: int) -> list[Token]:
        name = found["braces"] or found["name"]
        kind = "list" if name.startswith("upstream_") else "word"
        known = NGINX.get(name)
        if known is None and name.startswith("header_"):  # nginx Unit
            known = REQUEST_HEADERS.get(name[7:].replace("_", "-"))
        return [Token(found[0], offset, known or extra(name, kind), name)]
