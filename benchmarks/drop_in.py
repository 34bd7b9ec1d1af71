"""The drop-in beside urllib.parse, and inside whole operations of real libraries. See compare.py."""

import base64
import importlib
import json
import random
import sys
import urllib.parse
from collections import OrderedDict, deque
from collections.abc import Mapping
from functools import partial
from importlib.metadata import version
from itertools import cycle
from statistics import median
from time import process_time

from corpus import WORDS
from programs import options

import uricodec
from uricodec import parse
from uricodec.parse._install import install_functions

COUNT = 1000  # distinct inputs


class SafeText(str):
    """A subclass like Django's SafeString: it overrides nothing that urllib.parse calls."""

    __slots__ = ()

    def __html__(self):
        return self


class Headers(Mapping):
    """A mapping that is no dict."""

    def __init__(self, pairs):
        self.data = dict(pairs)

    def __getitem__(self, name):
        return self.data[name]

    def __iter__(self):
        return iter(self.data)

    def __len__(self):
        return len(self.data)


# --- inputs -----------------------------------------------------------------------------------------------------------

rng = random.Random("drop-in")


def words(count, between=" "):
    return between.join(rng.choices(WORDS, k=count))


def path():
    return f"/{words(rng.randint(2, 4), '/')}/{words(1)}.html?{words(1)}={rng.randrange(10**6)}#{words(1)}"


def many(make):
    return [make() for _ in range(COUNT)]


def field(encoding):
    return f"{words(1)}={urllib.parse.quote_plus(words(3) + rng.choice('éèüöñ'), encoding=encoding)}"


def query(encoding="utf-8"):
    return "&".join(field(encoding) for _ in range(4))


TEXTS = many(lambda: f"{words(7)}?{rng.choice(WORDS)}"[:60])
LATIN = many(lambda: f"{words(3)} {rng.choice('éèüöñ')}{words(3)}")
QUOTED = [urllib.parse.quote(text) for text in TEXTS]
LATIN_QUOTED = [urllib.parse.quote(text, encoding="latin-1") for text in LATIN]
URLS = many(lambda: f"https://www.{words(1)}-{words(1)}.example.com{path()}")
IPV6 = many(lambda: f"http://[2001:db8:{rng.getrandbits(16):x}::{rng.getrandbits(16):x}]:8080{path()}")
IDN = many(lambda: f"https://www.bücher-{words(1)}.example{path()}")
PARAMS = many(lambda: f"https://www.{words(1)}.example.com/{words(2, '/')};id={rng.randrange(10**6)}?q={words(1)}#a")
REFERENCES = many(lambda: rng.choice(("../{}/{}", "/{}/{}.css", "{}.html?q={}", "?{}={}", "./{}#{}")).format(
    words(1), rng.randrange(10**6)))  # fmt: skip
SMALL = many(lambda: "&".join(f"{rng.choice('abcdefgh')}={rng.randrange(10)}" for _ in range(15)))
PAIRS = many(lambda: [("q", words(3)), ("page", rng.randrange(1000)), ("lang", words(1)), ("sort by", words(1))])
BYTE_PAIRS = [[(name.encode(), str(value).encode()) for name, value in pairs] for pairs in PAIRS]
LATIN_PAIRS = [[("q", text), ("name", text[:9])] for text in LATIN]


def octets(texts):
    return [text.encode() for text in texts]


def subclass(texts):
    return list(map(SafeText, texts))


def apart(urls):
    return list(map(urllib.parse.urlsplit, urls))


# As requests passes them: no parameters, and neither query nor fragment where the URL has none.
PREPARED = [[*part[:3], None, part.query or None, part.fragment or None] for part in apart(URLS)]

LATIN_1, WITH_LISTS = {"encoding": "latin-1"}, {"doseq": True}
DJANGO = {"keep_blank_values": True, "encoding": "utf-8", "max_num_fields": 1000}
KINDS = [
    *[(f"{name}", "str", [URLS]) for name in ("urlsplit", "urlparse", "urldefrag")],
    *[(f"{name}", "bytes", [octets(URLS)]) for name in ("urlsplit", "urlparse", "urldefrag")],
    *[(f"{name}", "IPv6", [IPV6]) for name in ("urlsplit", "urlparse", "urldefrag")],
    *[(f"{name}", "host beyond ASCII", [IDN]) for name in ("urlsplit", "urlparse", "urldefrag")],
    *[(f"{name}", "subclass of str", [subclass(URLS)]) for name in ("urlsplit", "urlparse", "urldefrag")],
    ("urlparse", "`;params`", [PARAMS]),
    ("urldefrag", "`;params`", [PARAMS]),
    ("urljoin", "str", [URLS, REFERENCES]),
    ("urljoin", "bytes", [octets(URLS), octets(REFERENCES)]),
    ("urljoin", "IPv6", [IPV6, REFERENCES]),
    ("urljoin", "beyond ASCII", [IDN, [f"{text}é" for text in REFERENCES]]),
    ("urljoin", "`;params`", [PARAMS, [f"{text};b" for text in REFERENCES]]),
    ("urljoin", "subclass of str", [URLS, subclass(REFERENCES)]),
    ("urljoin", "blanks, line ends", [URLS, [f" {text}\n" for text in REFERENCES]]),
    ("urlsplit", "blanks, line ends", [[f" {url}\n" for url in URLS]]),
    ("urlunparse", "None (requests)", [PREPARED]),
    ("urlunsplit", "str", [apart(URLS)]),
    ("urlunsplit", "bytes", [apart(octets(URLS))]),
    ("parse_qsl", "str", [many(query)]),
    ("parse_qsl", "60 B, 15 fields", [SMALL]),
    ("parse_qsl", "empty (Django)", [[""] * COUNT], DJANGO),
    ("parse_qsl", "a field (Django)", [many(lambda: f"page={rng.randrange(10**6)}")], DJANGO),
    ("parse_qsl", "koi8-r", [many(partial(query, "utf-8"))], {"encoding": "koi8-r"}),
    ("parse_qsl", "bytes", [octets(SMALL)]),
    ("parse_qsl", "subclass of str", [subclass(many(query))]),
    ("parse_qsl", "latin-1", [many(partial(query, "latin-1"))], LATIN_1),
    ("parse_qs", "str", [many(query)]),
    ("parse_qs", "bytes", [octets(SMALL)]),
    ("parse_qs", "latin-1", [many(partial(query, "latin-1"))], LATIN_1),
    ("quote", "str", [TEXTS]),
    ("quote", "bytes", [octets(TEXTS)]),
    ("quote", "subclass of str", [subclass(TEXTS)]),
    ("quote", "latin-1", [LATIN], LATIN_1),
    ("quote_plus", "subclass of str", [subclass(TEXTS)]),
    ("unquote", "str", [QUOTED]),
    ("unquote", "bytes", [octets(QUOTED)]),
    ("unquote", "subclass of str", [subclass(QUOTED)]),
    ("unquote", "latin-1", [LATIN_QUOTED], LATIN_1),
    ("unquote", "cp1252", [LATIN_QUOTED], {"encoding": "cp1252"}),
    ("unquote", "shift_jis", [LATIN_QUOTED], {"encoding": "shift_jis"}),
    ("unquote", "not UTF-8", [LATIN_QUOTED]),
    ("unquote_plus", "subclass of str", [subclass(QUOTED)]),
    ("unquote_to_bytes", "str", [QUOTED]),
    ("unquote_to_bytes", "bytes", [octets(QUOTED)]),
    ("urlencode", "dict", [list(map(dict, PAIRS))]),
    ("urlencode", "pairs", [PAIRS]),
    ("urlencode", "pairs of bytes", [BYTE_PAIRS]),
    ("urlencode", "OrderedDict", [list(map(OrderedDict, PAIRS))]),
    ("urlencode", "Mapping", [list(map(Headers, PAIRS))]),
    ("urlencode", "`encoding=`", [LATIN_PAIRS], LATIN_1),
    ("urlencode", "`doseq=True`", [[{"q": [a for _, a in pairs], "n": 1} for pairs in PAIRS]], WITH_LISTS),
    ("hostname, port", "after `install()`", [apart(URLS)]),
    ("username, password", "after `install()`", [apart(URLS)]),
    ("geturl", "after `install()`", [apart(URLS)]),
]


# --- measurements -----------------------------------------------------------------------------------------------------


def host_and_port(result):
    return result.hostname, result.port


def user_and_password(result):
    return result.username, result.password


ATTRIBUTES = {
    "hostname, port": host_and_port,
    "username, password": user_and_password,
    "geturl": lambda result: result.geturl(),
}


def consume(call, columns):
    deque(map(call, *columns), maxlen=0)


def seconds(call, columns):
    start = process_time()
    consume(call, columns)
    return process_time() - start


def in_turns(*calls, rounds=15, pick=min):
    """The times that several calls return, in turns."""
    times = [[call() for call in calls] for _ in range(rounds)]
    return [pick(column) for column in zip(*times, strict=True)]


def with_drop_in(call):
    with uricodec.install(rebind=True):
        return call()


def measure(function, columns, options):
    """Nanoseconds per call of urllib.parse and of the drop-in."""
    if function in ATTRIBUTES:
        call = ATTRIBUTES[function]
        expected = list(map(call, *columns))
        if with_drop_in(lambda: list(map(call, *columns))) != expected:
            raise SystemExit(f"{function}: other outputs than urllib.parse's")
        found = in_turns(lambda: seconds(call, columns), lambda: with_drop_in(lambda: seconds(call, columns)))
    else:
        theirs, ours = [partial(getattr(module, function), **options) for module in (urllib.parse, parse)]
        if list(map(repr, map(ours, *columns))) != list(map(repr, map(theirs, *columns))):
            raise SystemExit(f"{function}: other outputs than urllib.parse's")

        def clear():
            urllib.parse.clear_cache()
            parse.clear_cache()

        clear()
        found = in_turns(lambda: (clear(), seconds(theirs, columns))[1], lambda: (clear(), seconds(ours, columns))[1])
    return [time / len(columns[0]) * 1e9 for time in found]


def measured_kinds(chosen=()):
    for function, kind, columns, *more in KINDS:
        name = f"{function}, {kind}"
        if not chosen or any(text in name for text in chosen):
            yield function, kind, *measure(function, columns, more[0] if more else {})


# --- applications -----------------------------------------------------------------------------------------------------


def botocore_body():
    """The body of an SQS request: JSON of 40 KB, urlencoded."""
    from botocore.awsrequest import AWSRequest

    message = json.dumps([{"id": rng.randrange(10**6), "text": words(5)} for _ in range(1000)])[:40_000]
    body = {"Action": "SendMessage", "MessageBody": message, "Version": "2012-11-05"}
    return lambda: AWSRequest("POST", "https://sqs.example.com/", data=body).prepare().body


def presigned(**options):
    import botocore.session

    client = botocore.session.get_session().create_client(
        "s3", region_name="eu-west-1", aws_access_key_id="a", aws_secret_access_key="b", **options
    )
    names = deque(many(lambda: f"{words(2, '/')}/{words(2)}.txt"))

    def presign():
        names.rotate()
        return client.generate_presigned_url("get_object", Params={"Bucket": "bucket", "Key": names[0]})

    return presign


def s3_presign():
    """A presigned S3 URL."""
    return presigned()


def s3_presign_with_token():
    """A presigned S3 URL, signature version 4, with a session token of 600 bytes."""
    from botocore.config import Config

    token = base64.b64encode(rng.randbytes(600)).decode()
    return presigned(config=Config(signature_version="s3v4"), aws_session_token=token)


def starlette_request():
    """Query parameters, URL and cookies of a request."""
    from starlette.requests import Request

    queries = deque(octets(many(query)))

    def request():
        queries.rotate()
        scope = {
            "type": "http", "method": "GET", "path": "/a/b", "query_string": queries[0], "scheme": "https",
            "server": ("example.com", 443), "headers": [(b"host", b"example.com"), (b"cookie", b"a=1; b=%20")],
        }  # fmt: skip
        found = Request(scope)
        return found.query_params.multi_items(), found.url.path, found.url.hostname, found.cookies

    return request


def django_request():
    """A request through the test client to a view that reads its query and reverses a URL."""
    import django
    from django.conf import settings

    if not settings.configured:
        settings.configure(
            ALLOWED_HOSTS=["*"], ROOT_URLCONF=__name__, SECRET_KEY="-", USE_TZ=False, LOGGING_CONFIG=None, DATABASES={}
        )
        django.setup()
    from django.http import HttpResponse
    from django.test import RequestFactory
    from django.urls import path as route
    from django.urls import resolve, reverse

    def view(request, name):
        return HttpResponse(f"{reverse('view', args=[name + ' ü'])} {sorted(request.GET.items())}")

    globals()["urlpatterns"] = [route("a/<str:name>/", view, name="view")]
    factory, queries = RequestFactory(), deque(many(query))

    def request():
        queries.rotate()
        found = factory.get(f"/a/caf%C3%A9/?{queries[0]}")
        match = resolve(found.path_info)
        return match.func(found, **match.kwargs).content

    return request


def flask_request():
    """A request through the test client to a view that reads its query and builds a URL."""
    from flask import Flask, request, url_for

    application = Flask(__name__)

    @application.route("/a/<name>")
    def view(name):
        return url_for("view", name=name, **request.args)

    client, queries = application.test_client(), deque(many(query))

    def call():
        queries.rotate()
        return client.get(f"/a/caf%C3%A9?{queries[0]}").data

    return call


def requests_prepare():
    """A prepared GET request with parameters."""
    from requests import Request

    parameters, urls = deque(map(dict, PAIRS)), deque(URLS)

    def prepare():
        parameters.rotate()
        urls.rotate()
        return Request("GET", urls[0], params=parameters[0]).prepare().url

    return prepare


def scrapy_links():
    """All links of a page of 200."""
    from scrapy.http import HtmlResponse
    from scrapy.linkextractors import LinkExtractor

    body = "".join(f'<a href="{text}">x</a>' for text in REFERENCES[:200])
    response, extractor = HtmlResponse(URLS[0], body=body.encode(), encoding="utf-8"), LinkExtractor()
    return lambda: [link.url for link in extractor.extract_links(response)]


APPLICATIONS = [
    ("botocore", s3_presign, 200),
    ("botocore", s3_presign_with_token, 200),
    ("Flask", flask_request, 50),
    ("Django", django_request, 200),
    ("requests", requests_prepare, 200),
    ("Scrapy", scrapy_links, 2),
    ("starlette", starlette_request, 200),
    ("botocore", botocore_body, 30),
]


def listener(results):
    """A function to put around those of the drop-in: it keeps results and exceptions."""
    nested = []

    def listen(_, function):
        def listening(*arguments, **options):
            if nested:
                return function(*arguments, **options)
            nested.append(function)
            result = error = None
            try:
                result = function(*arguments, **options)
                return result
            except Exception as raised:
                error = raised
                raise
            finally:
                nested.clear()
                results.append((result, error))

        return listening

    return listen


def player(results):
    """A function that gives one result after the other, whatever its arguments are."""
    following = cycle(results).__next__

    def play(*arguments, **options):
        result, error = following()
        if error:
            raise error.with_traceback(None)  # which would grow
        return result

    return play


def without_urllib(run):
    """A function that measures `run` as if urllib.parse took no time: its results are those of a run before."""
    results = []
    with install_functions(True, listener(results)):
        run()
    play, silence = player(results), player([(None, None)])

    def measured():
        with install_functions(True, lambda *_: play):
            return run() - seconds(silence, [results])

    return measured


def measured_applications(chosen=()):
    for library, make, times in APPLICATIONS:
        if chosen and not any(text in f"{library} {make.__doc__}" for text in chosen):
            continue
        try:
            importlib.import_module(library.lower())
        except ImportError:
            print(f"{library} is not installed", file=sys.stderr)
            continue
        call = make()
        run = partial(seconds, lambda _, call=call: call(), [range(times)])
        ways = run, partial(with_drop_in, run), without_urllib(run)
        found = in_turns(*ways, rounds=45, pick=median)
        found = [time / times * 1e6 for time in found]
        yield f"{library} {version(library.lower())}", make.__doc__.rstrip("."), *found


def drop_in(arguments):
    """The drop-in beside urllib.parse: kinds of calls, and whole operations of libraries.

    All inputs of a kind are distinct, and both sides get the same ones in turns, round by round. A figure is the
    smallest of 15 rounds, in nanoseconds per call with the loop that calls; every output is compared with
    urllib.parse's first. With --applications, it is the median of 45, in microseconds per operation before and after
    `install(rebind=True)`; "at most" is what it would be if urllib.parse took no time. Libraries that are not installed
    are left out. --lines and --rounds are not used.
    """
    parser = options(drop_in, COUNT)
    parser.add_argument("--applications", action="store_true")
    given = parser.parse_args(arguments)
    names = [given.only] if given.only else []
    if given.applications:
        print(f"{'before':>9}{'after':>9}{'times':>7}{'at most':>9}  operation (µs)")
        for library, operation, theirs, ours, least in measured_applications(names):
            figures = f"{theirs:9.1f}{ours:9.1f}{theirs / ours:7.2f}{theirs / min(ours, least):9.2f}"
            print(f"{figures}  {library}: {operation}", flush=True)
        return
    print(f"{'urllib':>8}{'ours':>8}{'times':>8}  call (ns)")
    for function, kind, theirs, ours in measured_kinds(names):
        print(f"{theirs:8.0f}{ours:8.0f}{theirs / ours:8.2f}  {function}, {kind}", flush=True)
