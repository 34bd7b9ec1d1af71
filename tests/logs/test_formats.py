"""Format strings and presets as programs: what the documentation of the products shows, errors, and the samples.

tests/reference/log_formats.py reads lines by these programs; random formats are in tests/reference/log_strategies.py.
"""

import json
import re
from configparser import ConfigParser
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference.log_strategies import cases
from support import log_programs as naive
from support.samples import EXPECTED
from support.tables import each_row

from uricodec.logs._directives import FIELDS, Field
from uricodec.logs._formats import Text, W3c, compile_format, compile_section
from uricodec.logs._mappings import Json, compile_mapping
from uricodec.logs._presets import BUILT_IN, built_in, preset_names, sections

ROOT = Path(__file__).parents[2]
NAMES = preset_names()


def steps_of(format):
    """The steps of a format as text: literals in quotes, fields as "name kind unit"."""
    [program] = compile_format(format)
    return [step if isinstance(step, bytes) else " ".join(map(str, step)).removesuffix(" 0") for step in program.steps]


def fields_of(format):
    return [step for step in steps_of(format) if isinstance(step, str)]


# --- Apache -----------------------------------------------------------------------------------------------------------


def test_the_formats_of_apaches_documentation():
    """mod_log_config, "Examples"."""
    common = ["client address", b" ", "extra.ident word", b" ", "user text", b" [", "time time", b'] "']
    common += ["request quoted", b'" ', "status number", b" ", "bytes_sent number"]
    combined = [b' "', "referer quoted", b'" "', "user_agent quoted", b'"']
    assert steps_of(r"%h %l %u %t \"%r\" %>s %b") == common
    assert steps_of(r"%v %h %l %u %t \"%r\" %>s %b") == ["vhost word", b" ", *common]
    assert steps_of(r"%h %l %u %t \"%r\" %>s %b \"%{Referer}i\" \"%{User-agent}i\"") == [*common, *combined]
    assert steps_of("%{Referer}i -> %U") == ["referer word", b" -> ", "path_decoded text"]
    assert steps_of("%{User-agent}i") == ["user_agent text"]
    assert compile_format("%h %s")[0][1:] == ("backslash", False, 3)


@each_row(
    ("directive", "field"),
    [
        ("%a", "client address"),
        ("%{c}a", "client address"),
        ("%A", "extra.local_address text"),
        ("%B", "bytes_sent number"),
        ("%{id}C", "extra.id text"),
        ("%D", "duration decimal -6"),
        ("%{HOME}e", "extra.HOME text"),
        ("%f", "extra.filename text"),
        ("%H", "protocol text"),
        ("%I", "extra.bytes_received text"),
        ("%k", "extra.keepalive_requests text"),
        ("%L", "extra.log_id text"),
        ("%m", "method text"),
        ("%{mod_php_memory_usage}n", "extra.mod_php_memory_usage text"),
        ("%{Content-Type}o", "extra.Content-Type text"),
        ("%O", "bytes_sent number"),
        ("%p", "extra.port text"),
        ("%{remote}p", "extra.remote_port text"),
        ("%P", "extra.pid text"),
        ("%{tid}P", "extra.tid text"),
        ("%q", "query query"),
        ("%R", "extra.handler text"),
        ("%s", "status number"),
        ("%<s", "status number"),
        ("%S", "extra.bytes_transferred text"),
        ("%T", "duration decimal"),
        ("%Tf", "duration decimal"),  # aiohttp
        ("%{ms}T", "duration decimal -3"),
        ("%{us}T", "duration decimal -6"),
        ("%{s}T", "duration decimal"),
        ("%{Host}i", "vhost text"),
        ("%{host}i", "vhost text"),
        ("%{X-Forwarded-For}i", "forwarded_for list"),
        ("%{X-Request-ID}i", "extra.X-Request-ID text"),
        ("%V", "vhost text"),
        ("%X", "extra.connection_status text"),
        ("%^FB", "extra.time_to_first_byte text"),
        ("%{Trailer}^ti", "extra.Trailer text"),
        ("%{SSL_PROTOCOL}x", "extra.SSL_PROTOCOL text"),
        ("%400,501{User-agent}i", "user_agent text"),
        ("%!200,304,302{Referer}i", "referer text"),
        ("%{sec}t", "time time"),
        ("%{end:msec}t", "time time"),
        ("%{%Y-%m-%d %H:%M:%S}t", "time time"),
    ],
)
def test_each_directive_of_apache(directive, field):
    assert fields_of(directive) == [field]


def test_the_best_directive_has_the_name():
    assert fields_of("%s %>s") == ["extra.%s number", "status number"]
    assert fields_of("%T %D %{ms}T") == ["extra.%T decimal", "duration decimal -6", "extra.%{ms}T decimal"]
    assert fields_of("$remote_addr ${ua} $status") == ["client address", "extra.ua word", "status number"]
    assert fields_of("${ip} ${ua} ${status}") == ["client address", "user_agent text", "status number"]
    assert fields_of("%{r}a %a %s") == ["extra.%{r}a address", "client address", "status number"]
    assert fields_of("%h %a %b %O") == [*("client address", "extra.%a address", "bytes_sent number", "extra.%O number")]
    assert fields_of("%{Etag}i %{Etag}o|%{Etag}n") == ["extra.Etag word", "extra.%{Etag}o word", "extra.%{Etag}n text"]
    assert fields_of("$bytes_sent $body_bytes_sent") == ["extra.bytes_sent number", "bytes_sent number"]
    assert fields_of("$server_name $http_host $host") == [
        *("extra.server_name word", "extra.http_host word", "vhost text")
    ]
    assert fields_of("$a $a") == ["extra.a word", "None text"]


def test_directives_that_are_one_value():
    assert fields_of("%m %U%q %H") == ["method word", "target_decoded word", "protocol text"]
    assert fields_of("$uri$is_args$args $status") == ["target_decoded word", "status number"]
    assert fields_of("$scheme://$host$request_uri $status") == ["target after_host", "status number"]
    assert fields_of("[%{%d/%b/%Y %T}t.%{msec_frac}t %{%z}t] %s") == ["time time", "status number"]
    assert fields_of("%{%F}t %{%T}t %h") == ["time time", "client address"]
    assert fields_of("%{sec}t.%{usec_frac}t") == ["time time"]
    assert fields_of("%t %{sec}t") == ["time time", "extra.%{sec}t time"]


def test_a_time_whose_end_is_unknown_is_split():
    assert fields_of("%{%d %b}t %h") == ["extra.%{%d}t word", "extra.%{%b}t word", "client address"]


# --- nginx ------------------------------------------------------------------------------------------------------------

MAIN = r"""log_format  main  '$remote_addr - $remote_user [$time_local] "$request" '
                      '$status $body_bytes_sent "$http_referer" '
                      '"$http_user_agent" "$http_x_forwarded_for"';
"""


def test_the_directive_of_nginx_conf():
    assert steps_of(MAIN) == [
        *("client address", b" - ", "user text", b" [", "time time", b'] "', "request quoted", b'" '),
        *("status number", b" ", "bytes_sent number", b' "', "referer quoted", b'" "', "user_agent quoted", b'" "'),
        *("forwarded_for quoted", b'"'),
    ]
    commented = "".join(f"    #{line}\n" for line in MAIN.splitlines())
    assert compile_format(commented) == compile_format(MAIN)


def test_the_escapes_of_nginx():
    assert compile_format("log_format a '$status';")[0].escapes == "backslash"
    assert compile_format("log_format a escape=none $status;")[0].escapes == "none"
    [program] = compile_format("""log_format a escape=json '{"ip":"$remote_addr","s":$status,' '"t":"$msec"}';""")
    assert program.escapes == "json"
    assert [step for step in program.steps if isinstance(step, bytes)] == [b'{"ip":"', b'","s":', b',"t":"', b'"}']
    assert compile_format('{"a":"$args"}')[0].escapes == "json"


def test_other_variables():
    assert fields_of("$upstream_addr ${request_id}|$uri?$args|$msec $request_time $my_variable") == [
        *("extra.upstream_addr list", "extra.request_id word", "path_decoded word", "query word", "time time"),
        *("duration decimal", "extra.my_variable text"),
    ]


# --- HAProxy, Envoy, Python, uWSGI ------------------------------------------------------------------------------------


@each_row(
    ("directive", "field"),
    [
        # HAProxy, Configuration Manual: Custom log format
        ("%ci", "client address"),
        ("%ci:%cp", "client endpoint"),
        ("%si:%sp", "extra.server_address text"),
        ("%ST", "status number"),
        ("%B", "bytes_sent number"),
        ("%U", "extra.bytes_received text"),
        ("%Ta", "duration decimal -3"),
        ("%Tt", "duration decimal -3"),
        ("%Tu", "duration decimal -3"),
        ("%TR", "extra.request_timer text"),
        ("%Tr", "extra.response_timer text"),
        ("%HM", "method text"),
        ("%HU", "target text"),
        ("%HP%HQ", "target text"),
        ("%HPO", "path text"),
        ("%HQ", "query query"),
        ("%HV", "protocol text"),
        ("%r", "request text"),
        ("%t", "time time"),
        ("%tr", "time time"),
        ("%trg", "time time"),
        ("%Ts", "time time"),
        ("%ft", "extra.frontend text"),
        ("%tsc", "extra.termination_state text"),
        ("%CC", "extra.captured_request_cookie text"),
        ("%ID", "extra.unique_id text"),
        ("%[src]", "client address"),
        ("%[req.hdr(User-Agent),lower]", "user_agent text"),
        ("%[hdr(host)]", "vhost text"),
        ("%[pathq]", "target text"),
        ("%[capture.req.hdr(0)]", "extra.capture.req.hdr(0) text"),
        ("%{+Q}[req.fhdr(X-Forwarded-For)]", "forwarded_for quoted"),
        # Envoy, "Access logging": command operators
        ("%START_TIME%", "time time"),
        ("%START_TIME(%Y-%m-%d %H:%M:%S.%3f)%", "time time"),
        ("%START_TIME(%s.%3f)%", "time time"),
        ("%EMIT_TIME%", "extra.emit_time time"),
        ("%REQ(:METHOD)%", "method text"),
        ("%REQ(:PATH)%", "target text"),
        ("%REQ(X-ENVOY-ORIGINAL-PATH?:PATH)%", "target text"),
        ("%REQ_WITHOUT_QUERY(X-ENVOY-ORIGINAL-PATH?:PATH)%", "path text"),
        ("%REQ(:AUTHORITY)%", "vhost text"),
        ("%REQ(USER-AGENT):20%", "user_agent text"),
        ("%REQ(referer)%", "referer text"),
        ("%REQ(X-FORWARDED-FOR)%", "forwarded_for list"),
        ("%REQ(X-REQUEST-ID)%", "extra.request_id text"),
        ("%REQ(A?B):20%", "extra.A?B text"),
        ("%RESP(X-ENVOY-UPSTREAM-SERVICE-TIME)%", "extra.upstream_service_time text"),
        ("%RESP(Content-Type)%", "extra.Content-Type text"),
        ("%RESP(:PATH)%", "extra.:PATH text"),
        ("%PROTOCOL%", "protocol text"),
        ("%RESPONSE_CODE%", "status number"),
        ("%BYTES_SENT%", "bytes_sent number"),
        ("%BYTES_RECEIVED%", "extra.bytes_received text"),
        ("%DURATION%", "duration decimal -3"),
        ("%DOWNSTREAM_REMOTE_ADDRESS%", "client endpoint"),
        ("%DOWNSTREAM_REMOTE_ADDRESS_WITHOUT_PORT%", "client address"),
        ("%UPSTREAM_HOST%", "extra.upstream_host text"),
        ("%DYNAMIC_METADATA(a:b)%", "extra.a:b text"),
        # gunicorn, "Settings": access_log_format
        ("%(h)s", "client address"),
        ("%(u)s", "user text"),
        ("%(r)s", "request text"),
        ("%(t)s", "time time"),
        ("%(U)s?%(q)s", "target_decoded text"),
        ("%(q)s", "query text"),
        ("%(s)s", "status number"),
        ("%(b)s", "bytes_sent number"),
        ("%(f)s", "referer text"),
        ("%(a)s", "user_agent text"),
        ("%(T)s", "duration decimal"),
        ("%(M)s", "duration decimal -3"),
        ("%(D)s", "duration decimal -6"),
        ("%(L)s", "duration decimal"),
        ("%({x-forwarded-for}i)s", "forwarded_for list"),
        ("%({X-Request-Id}o)s", "extra.X-Request-Id text"),
        ("%({RAW_URI}e)s", "target text"),
        # Uvicorn, and Python, logging: LogRecord attributes
        ("%(client_addr)s", "client endpoint"),
        ("%(request_line)s", "request text"),
        ("%(asctime)s", "time time"),
        ("%(process)d", "extra.process text"),
        ("%(levelname)-8s", "extra.levelname text"),
        # uWSGI, "Formatting uWSGI requests logs"
        ("%(addr)", "client address"),
        ("%(uri)", "target text"),
        ("%(proto)", "protocol text"),
        ("%(uagent)", "user_agent text"),
        ("%(rsize)", "bytes_sent number"),
        ("%(size)", "bytes_sent number"),
        ("%(micros)", "duration decimal -6"),
        ("%(msecs)", "duration decimal -3"),
        ("%(ltime)", "time time"),
        ("%(ctime)", "time time"),
        ("%(time)", "time time"),
        ("%(hsize)", "extra.hsize text"),
        ("%(var.HTTP_X_FORWARDED_FOR)", "forwarded_for list"),
        ("%(var.REQUEST_ID)", "extra.var.REQUEST_ID text"),
    ],
)
def test_each_directive_of_other_servers(directive, field):
    # A directive that only one family has.
    start = "%(core) " if directive.endswith(")") else "" if directive.startswith("%(") else "%{+X}lc "
    start = "" if re.fullmatch(r"%[A-Z].*%", directive) else start
    assert fields_of(start + directive)[len(start.split()) :] == [field]


@each_row(
    ("directive", "field"),
    [
        ("%>a", "client address"),
        ("%>A", "client address"),
        ("%>p", "extra.client_port text"),
        ("%>a:%>p", "client endpoint"),
        ("%<a:%<p", "extra.peer text"),
        ("%<A", "extra.peer text"),
        ("%ts", "time time"),
        ("%ts.%03tu", "time time"),
        ("%tS", "time time"),
        ("%tg", "time time"),
        ("%{%Y-%m-%d %H:%M:%S}tl", "time time"),
        ("%6tr", "duration decimal -3"),
        ("%dt", "extra.dns_time text"),
        ("%{Referer}>h", "referer text"),
        ("%>h{Referer}", "referer text"),
        ('%"{User-Agent}>ha', "user_agent text"),
        ('"%{X-Forwarded-For}>h"', "forwarded_for quoted"),
        ("%{X-Forwarded-For}>h", "extra.X-Forwarded-For text"),
        ("%{Cookie:;id}>h", "extra.Cookie:;id text"),
        ("%{Server}<h", "extra.Server text"),
        ("%[>h", "extra.request_headers text"),
        ("%[un", "user text"),
        ("%#ul", "user text"),
        ("%'ue", "user text"),
        ("%Hs", "status number"),
        ("%03>Hs", "status number"),
        ("%<Hs", "extra.server_status text"),
        ("%Ss", "extra.result text"),
        ("%rm", "method text"),
        ("%>ru", "target text"),
        ("%rp", "target text"),
        ("%>rd", "vhost text"),
        ("HTTP/%rv", "protocol text"),
        ("%rm %ru HTTP/%rv", "request text"),
        ("%>rm %>ru HTTP/%>rv", "request text"),
        ("%rv", "extra.http_version text"),
        ("%<st", "bytes_sent number"),
        ("%>st", "extra.bytes_received text"),
        ("%http::<st", "bytes_sent number"),
        ("%icap::<st", "extra.icap::<st text"),
        ("%ssl::>sni", "extra.ssl::>sni text"),
        ("%{id}note", "extra.id text"),
    ],
)
def test_each_code_of_squid(directive, field):
    """squid.conf: logformat."""
    assert fields_of("%sn " + directive)[1:] == [field]


@each_row(
    ("directive", "field"),
    [
        (":remote-addr", "client address"),
        (":remote-user", "user text"),
        (":date", "time time"),
        (":date[web]", "time time"),
        (":date[iso]", "time time"),
        (":url", "target text"),
        ("HTTP/:http-version", "protocol text"),
        (":method :url HTTP/:http-version", "request text"),
        (":res[content-length]", "bytes_sent number"),
        (":res[Content-Type]", "extra.Content-Type text"),
        (":req[Host]", "vhost text"),
        (":req[content-length]", "extra.content-length text"),
        (":referrer", "referer text"),
        (":response-time[0]", "duration decimal -3"),
        (":total-time", "duration decimal -3"),
        (":id", "extra.id text"),
        (":user[name]", "extra.user[name] text"),
    ],
)
def test_each_token_of_morgan(directive, field):
    """README: tokens."""
    assert fields_of(":method - " + directive)[1:] == [field]


def test_what_servers_write_around_values():
    """HAProxy: quotes of what is a string; gunicorn: "[" and "]" of a time, "<" and ">" of a pid."""
    assert steps_of(r"%{+Q}o\ %ci\ %{-Q}b\ %ST\ %r") == [
        *(b'"', "client address", b'" ', "extra.backend word", b" ", "status number", b' "', "request quoted", b'"')
    ]
    assert steps_of("%(t)s %(p)s") == [b"[", "time time", b"] <", "extra.pid word", b">"]
    assert steps_of("%(levelprefix)s %(client_addr)s") == [b"INFO:     ", "client endpoint"]
    found = [
        [step for step in program.steps if isinstance(step, bytes)] for program in compile_format("%ST %hr %hs %r")
    ]
    assert found == [[b" {", b"} {", b"} "], [b" {", b"} "], [b" "]]


@each_row(
    ("format", "escapes"),
    [
        ("%ci %ST", "hash"),
        ("%START_TIME% %RESPONSE_CODE%", "none"),
        ("%(h)s %(s)s", "backslash"),
        ("%(addr) %(status)", "backslash"),
        ("%>a %ru %>Hs", "none"),
        ('%>a "%ru" %>Hs', "backslash"),
        (':status ":url"', "none"),
    ],
)
def test_escapes_of_other_servers(format, escapes):
    assert {program.escapes for program in compile_format(format)} == {escapes}


# --- all strings ------------------------------------------------------------------------------------------------------


@each_row(
    ("format", "steps"),
    [
        ("%h\t%s", ["client address", b"\t", "status number"]),
        (r"%h\t%s\n", ["client address", b"\t", "status number"]),
        ("$status;$request;\n", ["status number", b";", "request text", b";"]),
        ("'$request' ($http_a)", [b"'", "request text", b"' (", "extra.http_a word", b")"]),
        ("100%% %s", [b"100% ", "status number"]),
        ("100% $status", [b"100% ", "status number"]),
        ("$50 %h %s", [b"$50 ", "client address", b" ", "status number"]),
        ('LogFormat "%h \\"%r\\"" x', ["client address", b' "', "request quoted", b'"']),
        ("CustomLog logs/a '%h' env=!b", ["client address"]),
        ('CustomLog "logs/a b" \\\n  "%h \\\n%s"', ["client address", b" ", "status number"]),
        ("# LogFormat '%h'", ["client address"]),
        ("$status $rest", ["status number", b" ", "extra.rest text"]),
        ("$client |  $status", ["client address", b" |  ", "status number"]),
        ('log-format "%ci\\ %ST"', ["client address", b" ", "status number"]),
        ("log-format %ci\\ [%t]\\ %ST", ["client address", b" [", "time time", b"] ", "status number"]),
        ("access_log_format = '%(h)s %(s)s'", ["client address", b" ", "status number"]),
        ('--access-logformat "%(h)s %(s)s"', ["client address", b" ", "status number"]),
        ('text_format: "%PROTOCOL% %RESPONSE_CODE%\\n"', ["protocol word", b" ", "status number"]),
        ("logformat = %(addr) %(status)", ["client address", b" ", "status number"]),
        ("logformat %h a", ["client address"]),
        ("logformat a  %>a %>Hs", ["client address", b" ", "status number"]),
        ("%ts.%tu %ru", ["time time", b".", "extra.subsecond word", b" ", "target text"]),
        ("%ts %tl %un", ["time time", b" ", "extra.%tl time", b" ", "user text"]),
        ("%-9>a %>Hs", ["client address", b"  ", "status number"]),
        ("%>Hs %9>a", ["status number", b"  ", "client address"]),
        ("%>Hs %-9>a|", ["status number", b" ", "client address", b"|"]),
        ('[%tl] "%rm %ru HTTP/%rv"', [b"[", "time time", b'] "', "request quoted", b'"']),
        (
            "%rm %ru HTTP/%rv %mt",
            [
                *("method word", b" ", "target word", b" ", "protocol word", b" ", "extra.content_type text"),
            ],
        ),
        ("%>a %l %>u", ["client address", b" ", "extra.ident word", b" ", "user text"]),  # Apache
        ("%h %Dus", ["client address", b" ", "duration decimal -6", b"us"]),
        (
            "%b %ST %ts %tr",
            [
                *("extra.backend word", b" ", "status number", b" ", "extra.termination_state word", b" ", "time time"),
            ],
        ),
        ("morgan(':method :url')", ["method word", b" ", "target text"]),
        ('app.use(morgan(":method :url", {}))', ["method word", b" ", "target text"]),
        (":method :a :url:b", ["method word", b" :a ", "target text", b":b"]),
        ("%h :status", ["client address", b" :status"]),
    ],
)
def test_forms_of_a_string(format, steps):
    assert steps_of(format) == steps


def test_where_a_line_may_end():
    [program] = compile_format('$client $status$optional "$referer"$rest')
    assert (program.optional, program.open_end, len(program.steps)) == (3, True, 6)


@each_row(
    ("format", "message"),
    [
        ("combind", "unknown format 'combind'; did you mean 'combined' or 'vhost_combined'?"),
        ("", "unknown format ''; choose from common, combined, "),
        ("hello world", "no directives in the format 'hello world'"),
        ("%h %Q", "unknown directive '%Q' at offset 3 of the format"),
        ("%h %", "unknown directive '%' at offset 3 of the format"),
        ("$status $", "unknown directive '$' at offset 8 of the format"),
        ("%h %{x}T", "unknown directive '%{x}T' at offset 3 of the format"),
        ("%s %{x", "unclosed '{' at offset 4 of the format"),
        ("$a ${x", "unclosed '{' at offset 4 of the format"),
        ("%s %e", "directive '%e' at offset 3 of the format needs a name: '%{NAME}e'"),
        ("%s %h%l", "'%l' at offset 5 of the format follows '%h' without a separator"),
        (r"%s\t%h%l", "'%l' at offset 6 of the format follows '%h' without a separator"),
        ('LogFormat "%h \\"%r%s\\""', "'%s' at offset 18 of the format follows '%r' without a separator"),
        ("$host$status", "'$status' at offset 5 of the format follows '$host' without a separator"),
        ("%h\n%s", "newline at offset 2 of the format; a record is one line"),
        ("log_format a '$status", "unclosed quote at offset 13 of the format"),
        ("escape=xml '$status'", "invalid escape 'xml' at offset 7; choose from default, json, none"),
        ("LogFormat ", "missing format string at offset 9"),
        ('LogFormat "%h %q\u201d a', "missing format string at offset 9; write '\"' instead of '\u201d' at offset 16"),
        ("#Fields: date time c-ip", "'#Fields:' is not a format; write this line before the lines of the log"),
        ("%ci [%t] %STX", "unknown directive '%STX' at offset 9 of the format; did you mean '%ST'"),
        ("%ci %{+Q}zz", "unknown directive '%{+Q}zz' at offset 4 of the format; choose from %B, %CC, "),
        (r"%ci\ %zz\ %ST", "unknown directive '%zz' at offset 5 of the format"),
        (
            "[%START_TIME%] %RESPONSE_CODES%",
            "unknown directive '%RESPONSE_CODES%' at offset 15 of the format; did you mean '%RESPONSE_CODE%' or",
        ),
        ("%(h)s %(user)s", "unknown directive '%(user)s' at offset 6 of the format; did you mean '%(u)s'"),
        ("%(uri) %(statuss)", "unknown directive '%(statuss)' at offset 7 of the format; did you mean '%(status)' or"),
        ("%(h)s%(s)s", "'%(s)s' at offset 5 of the format follows '%(h)s' without a separator"),
        ("%PROTOCOL%%DURATION%", "'%DURATION%' at offset 10 of the format follows '%PROTOCOL%' without a separator"),
        ("%a %un %Hs %rm %ru", "unknown directive '%a' at offset 0 of the format; did you mean '%>a'"),
        ("%ts %h %>a", "unknown directive '%h' at offset 4 of the format; did you mean "),
        ("logformat a %ts %zz", "unknown directive '%z' at offset 16 of the format; choose from %>a, "),
        ("%un %/{A}>h", "unknown directive '%/' at offset 4 of the format; "),
        ("%un%rm", "'%rm' at offset 3 of the format follows '%un' without a separator"),
        ("%un %{A>h", "unclosed '{' at offset 5 of the format"),
        (":date[xml] :url", "unknown directive ':date[xml]' at offset 0 of the format; did you mean ':date["),
        (":method:url", "':url' at offset 7 of the format follows ':method' without a separator"),
        ("app.use(morgan('tiny'))", "no directives in the format 'tiny'"),
        (
            '{"a":"%PROTOCOL%","b":"x%RESPONSE_CODES%"}',
            "unknown directive '%RESPONSE_CODES%' at offset 24 of the format",
        ),
        ('{"a":"%RESPONSE_FLAGS%"}', "no member of the format is a field, such as %START_TIME% or %RESPONSE_CODE%"),
        ('{"a|b":"%PROTOCOL%"}', "invalid name 'a|b' of a member"),
        ('{\n"a": %PROTOCOL%\n}', "invalid object at offset 0 of the format; expected JSON, or flat YAML"),
        ("json_format: {a: '%PROTOCOL%'}", "invalid object at offset 13 of the format; expected JSON, or flat YAML"),
        ('json_format:\n a: "%PROTOCOL%"\n b:\n  c: "%DURATION%"', "invalid object at offset 14 of the format; "),
        ("[%PROTOCOL%]\na: b", "newline at offset 12 of the format; a record is one line"),
        ("%{+json}o %ci %ST", "no names in the format; expected some such as %(client)ci"),
        ("%{+json}o %(a)zz", "unknown directive '%(a)zz' at offset 10 of the format"),
        ("$status x$optional", "'$optional' at offset 9 of the format must follow a field"),
    ],
)
def test_errors(format, message):
    with pytest.raises(ValueError) as error:
        compile_format(format)
    assert str(error.value).startswith(message)


PIECES = [
    *("%ts", ".%03tu", "%6tr", "%>a", "%[un", "%rm ", "%ru ", "HTTP/%rv", '%"{A}>h', "%-9mt", "logformat a ", ":url"),
    *(":date", ":method ", ":url ", "HTTP/:http-version", ":x[a]", ":", '{"a":', '"%DURATION%"', "}", "b: "),
    *("json_format:", "%{+json}o ", "%(c)", "%(d)ST", ","),
    *("%ci", "%cp", ":", "%ST", "%hr", "%hs", "%{+Q}o ", "%[src]", "%(h)s", "%(t)s", "%(asctime)s", "%(uri)"),
    *("%(ctime)", "%PROTOCOL%", "%START_TIME%", "%REQ(A?B):20%", "%START_TIME(%s)%", "%(status_code)s", "%(p)s", "  "),
    *("%h", "%>s", "%{X}i", "%t", "%{%d %b}t", "%{sec}t", "%{msec_frac}t", "%U", "%q", "%%", "%", "{", "}", "%^", "%{"),
    *("$status", "${a}", "$", "$uri", "$is_args", "$args", "$rest", "$optional", "$time", " ", " ", " ", "|", '"', "'"),
    *(
        "\\", "\n", "\t", "\\n", '\\"', "log_format a ", "escape=json ", "LogFormat ", ";", "#", "[", "]", "é", "0",
        "\0",
    ),
]  # fmt: skip


@given(st.lists(st.sampled_from(PIECES), max_size=12).map("".join))
def test_any_string_is_a_format_or_invalid(format):
    try:
        programs = compile_format(format)
    except ValueError as error:
        found = re.search(r"at offset (\d+)", str(error))
        assert found is None or int(found[1]) <= len(format)
        return
    for program in programs:
        if isinstance(program, Json):
            assert any(field.name in FIELDS for _, field in program.members) and program.rest
            continue
        check_steps(program)
        assert any(isinstance(step, Field) for step in program.steps)


def check_steps(program):
    """Literals and fields alternate, and no field of a record comes twice."""
    kinds = [isinstance(step, bytes) for step in program.steps]
    assert all(a != b for a, b in pairwise(kinds)) and b"" not in program.steps
    names = [step.name for step in program.steps if isinstance(step, Field) and step.name is not None]
    assert len({*names}) == len(names)
    assert 0 < program.optional <= len(program.steps)


# --- mappings ---------------------------------------------------------------------------------------------------------


def test_a_mapping():
    pairs = [("path", "request.uri"), ("duration.ms", "took | elapsed"), ("extra.pod", "k8s.pod"), ("client", "ip")]
    assert compile_mapping(pairs) == Json(
        (
            (("request", "uri"), Field("path", "text")),
            (("took",), Field("duration", "decimal", -3)),
            (("elapsed",), Field("duration", "decimal", -3)),
            (("k8s", "pod"), Field("extra.pod", "text")),
            (("ip",), Field("client", "address")),
        ),
        False,
    )
    assert compile_mapping([("client.endpoint", "a")]).members[0][1] == Field("client", "endpoint")


@pytest.mark.parametrize(
    ("pair", "message"),
    [
        (("staus", "a"), "unknown field 'staus'; did you mean 'status' or 'extra.staus'?"),
        (("ip", "a"), "unknown field 'ip'; choose from client, user, "),
        (("path.ms", "a"), "unknown field 'path.ms'; did you mean 'path' or 'extra.path.ms'?"),
        (("path", ""), "invalid path '' for 'path'; expected names separated by dots"),
        (("path", "a..b"), "invalid path 'a..b' for 'path'; "),
    ],
)
def test_errors_of_a_mapping(pair, message):
    with pytest.raises(ValueError) as error:
        compile_mapping([pair])
    assert str(error.value).startswith(message)


def test_an_empty_mapping_is_invalid():
    with pytest.raises(ValueError, match="the mapping has no fields"):
        compile_mapping([])


# --- presets ----------------------------------------------------------------------------------------------------------


def test_each_preset_has_an_example_and_a_row_in_the_guide():
    assert {path.stem for path in (ROOT / "examples/logs").iterdir()} == {*NAMES}
    guide = (ROOT / "docs/guides/logs.md").read_text("utf-8")
    rows = guide.partition("\n| format | written by |")[2].partition("\n\n")[0].splitlines()
    assert {name for row in rows for name in re.findall("`(.*?)`", row.split("|")[1])} == {*NAMES}


@each_row("name", NAMES)
def test_a_preset_compiles(name):
    programs = compile_format(name)
    assert len({type(program) for program in programs}) == 1
    for program in programs:
        if isinstance(program, Text):
            check_steps(program)
            found = [step.name for step in program.steps if isinstance(step, Field)]
            assert {"time", "status", "extra.clock"} & {*found}
        elif isinstance(program, Json):
            found = [field.name for _, field in program.members]
        else:
            assert isinstance(program, W3c) and program.fields
            continue
        assert all(
            name is None or name in {*FIELDS, "date", "target_decoded"} or name.startswith("extra.") for name in found
        )


@each_row("name", NAMES)
def test_the_sample_of_a_preset(name):
    """The expected records were checked against the documentation that presets.ini names."""
    state, records = {}, []
    for line in (ROOT / f"examples/logs/{name}.log").read_bytes().splitlines():
        record = naive.record(line, name, state)
        if record is not naive.DIRECTIVE:
            assert not isinstance(record, naive.Invalid), record
            records.append(naive.shown(record, name))
    expected = EXPECTED[name]
    assert records == [json.loads(line) for line in expected] and len(records) in {3, 10}


def readings(line):
    """A line in which percent-encoding, "+" for a space, and escapes of texts are undone or not."""
    changes = [unquote, lambda text: text.replace("+", " "), lambda text: re.sub(r'\\(["\\/])', r"\1", text)]
    changes += [lambda text: text.replace("\\x22", '"'), lambda text: text.replace('""', '"')]
    found = {line}
    for _ in range(4):
        found |= {change(text) for text in found for change in changes}
    return found


def values_of(value):
    if isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from values_of(inner)
    elif value not in (None, "") and str(value).isprintable():
        yield str(value)


@each_row("name", NAMES)
def test_values_of_samples_are_in_their_lines(name):
    """What nobody has computed: each text and number of the expected records stands in the line."""
    lines = (ROOT / f"examples/logs/{name}.log").read_text("utf-8").splitlines()
    records = EXPECTED[name]
    lines = [line for line in lines if not line.startswith(("#", '"time_micros"'))]
    for line, text in zip(lines, records, strict=True):
        record = json.loads(text)
        found, time, duration = readings(line), record.pop("time"), record.pop("duration", None)
        del record["target"]  # of which path and query are parts
        record["protocol"] = (record["protocol"] or "").removeprefix("HTTP/")  # some log the version alone
        assert [value for value in values_of(record) if not any(value in reading for reading in found)] == []
        if time:
            seconds = datetime.fromisoformat(time[:19] + "+00:00").timestamp()
            assert time[11:19] in line or str(int(seconds)) in line
        written = f"{duration or 0:.9f}".replace(".", "").strip("0")
        assert written in line.replace(".", "") or re.search("[0-9][hm][0-9]", line)


def test_sections():
    text = '# a comment\n[mine]\nformat =\n    $client "$request"\n    $client\n\n[j]\npath = a.b\nrest = yes\n'
    mine, j = sections(text).values()
    assert [len(program.steps) for program in compile_section(mine)] == [4, 1]
    assert compile_section(j) == [Json(((("a", "b"), Field("path", "text")),), True)]


def test_presets_are_an_ini_file():
    """sections() reads of the form what presets.ini has."""
    parser = ConfigParser(delimiters=("=",), comment_prefixes=("#",), interpolation=None, default_section="")
    parser.optionxform = str
    parser.read(BUILT_IN, "utf-8")
    assert {name: dict(parser[name]) for name in parser.sections()} == built_in()


@each_row(
    ("text", "message"),
    [
        ("format = $a$b", r"'\$b' at offset 2 of the format follows '\$a' without a separator"),
        ("format = $a\nescapes = xml", r"invalid escapes 'xml'; choose from backslash, json, none"),
        ("format = $a\nfoo = 1", r"unknown key 'foo'; choose from format, escapes"),
        ("dialect = w3c", r"invalid dialect 'w3c'; choose from cloudfront, iis"),
        ("dialect = iis\nx = 1", r"unknown key 'x'; choose from dialect, fields"),
        ("path = a\nrest = true", r"invalid rest 'true'; choose from yes, no"),
        ("foo = a", r"unknown field 'foo'"),
        ("", r"the mapping has no fields"),
    ],
)
def test_errors_of_a_section(text, message):
    with pytest.raises(ValueError, match=message):
        compile_section(sections(f"[a]\n{text}\n")["a"])


# --- the reference implementation -------------------------------------------------------------------------------------


@pytest.mark.slow
@given(cases())
def test_lines_of_servers_are_read_back(case):
    assert naive.record(case.line, case.format) == case.record


CASES = [json.loads(line) for line in (ROOT / "tests/data/log_cases.jsonl").read_text("utf-8").splitlines()]


@each_row("case", CASES)
def test_cases(case):
    """A case has the fields of the record that it is about, or the field that cannot be read and the offset."""
    record = naive.record(case["line"].encode(), case["format"], **case.get("options", {}))
    if "invalid" in case:
        assert record == tuple(case["invalid"])
    else:
        assert {name: record[name] for name in case["record"]} == case["record"]
