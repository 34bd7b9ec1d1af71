"""The ways of servers to write directives: a module has the tables of one server, or of some that are alike."""

import re

from uricodec.logs._directives import JAVA_TIME, Family
from uricodec.logs._families.apache import Apache
from uricodec.logs._families.caddy import Caddy
from uricodec.logs._families.envoy import Envoy
from uricodec.logs._families.glassfish import GlassFish
from uricodec.logs._families.go import Echo, Fiber
from uricodec.logs._families.haproxy import HAPROXY_JSON, Haproxy
from uricodec.logs._families.java import LOGBACK_OWN, Logback, Tomcat, Undertow
from uricodec.logs._families.morgan import Morgan
from uricodec.logs._families.nginx import Nginx
from uricodec.logs._families.php_fpm import PhpFpm
from uricodec.logs._families.python import Python, Uwsgi
from uricodec.logs._families.squid import SQUID_CODES, Squid
from uricodec.logs._families.traffic_server import TrafficServer

# What Squid's codes have that no other has: "%ts" and "%tr" are HAProxy's, too, and Apache has "%>a".
SQUID_OWN = (
    r"%(?:\[(?![^\s\]]{0,999}\])|[\"'#])?-?\d*(?:\.\d+)?"
    r"(?:(?:\{[^}]{0,999}\})?(?:(?:http|icap|adapt|ssl|tls)::\S"
    rf"|(?!ts|tr|st|[<>][aAphv]\b)(?:{SQUID_CODES})(?!\w))|\{{[^}}]{{0,999}}\}}[<>]h\b)"
)
CADDY_OWN = r"(?<!\$)\{(?:(?:request|resp_headers)>[^{}\s]+|common_log|ts)\}"
ECHO_OWN = r"\$\{(?:time_(?:rfc3339|unix|custom)\w*|latency_human|bytes_out|header:[^}]*)\}"
FIBER_OWN = r"\$\{(?:ips?|ua|latency|bytesSent|reqHeader:[^}]*)\}"
GLASSFISH_OWN = (
    r"%(?:client\.(?:name|dns)|auth-user-name|datetime|response\.length|http-(?:method|uri)|headers?\.[\w-]+)%"
)
# What only one of the families with "%" has.
OWN = (
    (TrafficServer.pattern, TrafficServer),
    (GLASSFISH_OWN, GlassFish),
    (LOGBACK_OWN, Logback),
    (r"%r%Q|%m %r|%\{(?i:mill?i|micro|seconds|kilo|mega)\w*\}[dM]", PhpFpm),
    (HAPROXY_JSON, Haproxy),
    (SQUID_OWN, Squid),
    (rf"%\{{[^+}}-][^}}]*\}}[rs](?![a-zA-Z])|%F\b|%\{{X-AUSERNAME\}}o|{JAVA_TIME}", Tomcat),
    (r"%(?:\{(?:[ciopqrs]|time),|\{[A-Z_]{4,}\}(?![A-Za-z^<>]))", Undertow),
    (r"%\([\w.{}:-]+\)[-#0 +]*\d*(?:\.\d+)?[sdifr]", Python),
    (r"%\([\w.]+\)", Uwsgi),
    (r"%[A-Z][A-Z0-9_]{2,}(?:\([^)]*\))?(?::\d+)?%", Envoy),
    (r"%(?:\{[+-][^}]*\}|\[|(?:ci|cp|ft|tsc|tr[gl]|ST|TR|T[acwt]|H[MUPVQ])\b)", Haproxy),
    (r"%\d*(?:ts|tr|st)\b", Squid),
)


def family_of(text: str) -> type[Family]:
    """Return the family that a format string is of.

    >>> family_of("%ci:%cp [%t] %ST"), family_of('%h %t "%r" %>s')
    (<class 'uricodec.logs._families.haproxy.Haproxy'>, <class 'uricodec.logs._families.apache.Apache'>)
    """
    if "%" not in text and re.search(CADDY_OWN, text):
        return Caddy
    if not re.search(r"\$\w", text):  # of nginx, whose users may name a variable ${ua}
        if re.search(ECHO_OWN, text):
            return Echo
        if re.search(FIBER_OWN, text):
            return Fiber
    variables = len(re.findall(Nginx.pattern, text))
    if "%" not in text and not variables and re.search(r"(?a):(?:method|url|status)(?![-\w])", text):
        return Morgan
    if (variables and variables >= len(re.findall(Apache.pattern, text))) or "%" not in text:
        return Nginx
    return next((family for pattern, family in OWN if re.search(pattern, text)), Apache)
