"""Policies: each step against its reference implementation, and what must hold for all of them."""

import contextlib
import copy
import json
import pickle
import re
from fnmatch import fnmatchcase
from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import policies as reference
from reference.rows import rows_of
from support.tables import each_row

from uricodec import bulk, dedup, uri
from uricodec.errors import UriSyntaxError
from uricodec.uri import Policy, PolicyStep

ALL = Policy(
    level="iri",
    http_is_https=True,
    userinfo="drop",
    strip_www=True,
    session_ids="drop",
    lower_case_path=True,
    shape=True,
    default_documents=("index.html", "default.asp", "é"),
    trailing_slash="drop",
    drop_parameters=("utm_*", "Ref", "é", "a b"),
    query="sort",
    fragment="drop",
)
# Each step by itself, and all.
FIELDS = Policy.__slots__[3:]  # those of steps after the level
STEPS = {name: Policy(**{name: getattr(ALL, name)}) for name in FIELDS}
POLICIES = {name: Policy.ready(name) for name in ("tracking", "crawl", "shape")} | STEPS
POLICIES |= {"empty parameters": Policy(query="drop-empty"), "names": Policy(query="names"), "all": ALL}
# An example of each parameter of the policy "tracking", as it is sent.
TRACKED = (
    *("utm_source", "gclid", "gclsrc", "dclid", "gbraid", "wbraid", "gad_source", "gad_campaignid", "srsltid", "_ga"),
    *("_gl", "fbclid", "fb_action_ids", "fb_action_types", "fb_ref", "fb_source", "igshid", "igsh", "msclkid"),
    *("li_fat_id", "twclid", "ttclid", "epik", "ScCid", "rdt_cid", "yclid", "ysclid", "_openstat", "mtm_campaign"),
    *("pk_campaign", "pk_kwd", "pk_keyword", "pk_source", "pk_medium", "pk_content", "piwik_campaign", "mc_cid"),
    *("mc_eid", "mkt_tok", "_hsenc", "_hsmi", "__hssc", "__hstc", "__hsfp", "hsCtaTracking", "vero_id", "vero_conv"),
    *("oly_anon_id", "oly_enc_id", "_kx", "dm_i", "elqTrackId", "ml_subscriber", "ml_subscriber_hash", "irclickid"),
    *("cjevent", "awc", "zanpid", "s_kwcid", "ef_id", "wickedid", "xtor", "wt_mc"),
)
every_policy = pytest.mark.parametrize("policy", POLICIES.values(), ids=list(POLICIES))


def test_tracking_parameters():
    tracked = "http://a.example/?id=1&" + "&".join(f"{name}=a" for name in TRACKED)
    for policy in "tracking", "crawl":
        assert uri.normalize(tracked, policy=policy) == "http://a.example/?id=1"
    names = Policy.ready("tracking").drop_parameters
    missing = [name for name in names if not any(fnmatchcase(example.lower(), name) for example in TRACKED)]
    assert not missing, f"TRACKED lacks examples of {missing}"


# --- what the steps change --------------------------------------------------------------------------------------------


@each_row(
    ("url", "changes", "wanted"),
    [
        ("http://h/?utm_source=a&id=1&UTM_b", {"drop_parameters": ("utm_*",)}, "http://h/?id=1"),
        ("http://h/?ref=1&refer=2&REF", {"drop_parameters": ("Ref",)}, "http://h/?refer=2"),
        ("http://h/?%75tm_a=1#f", {"drop_parameters": ("utm_*",)}, "http://h/#f"),
        ("http://h/?", {"drop_parameters": ("utm_*",)}, "http://h/?"),
        ("http://h/?a+b=1&A%20b&a%2Bb&%20", {"drop_parameters": ("a b",)}, "http://h/?a%2Bb&%20"),
        ("ftp://h/?a+b=1&A%20b&a%2Bb", {"drop_parameters": ("a b",)}, "ftp://h/?a+b=1&a%2Bb"),
        ("ftp://h/?a+b=1&A%20b&a%2Bb", {"drop_parameters": ("A+b",)}, "ftp://h/?A%20b"),
        ("WSS://h?+a=1&+%20b&b", {"drop_parameters": (" *",)}, "wss://h/?b"),
        ("http://h/?utm%5fa&%5Futm&%", {"drop_parameters": ("UTM_*", "%"), "level": "simple"}, "http://h/?%5Futm"),
        ("http://h/?%C3%A9=1&%c3%89&é", {"drop_parameters": ("é",)}, "http://h/?%C3%89"),
        ("?a&utm_b", {"drop_parameters": ("utm_*",)}, "?a"),
        ("mailto:a@h?utm_b", {"drop_parameters": ("utm_*",)}, "mailto:a@h?utm_b"),
        ("http://h/?b=2&a=2&a=1&&b=1", {"query": "sort"}, "http://h/?a=2&a=1&b=2&b=1"),
        ("http://h/?", {"query": "sort"}, "http://h/"),
        ("http://h/?&b=2&&a=1&b=", {"query": "drop-empty"}, "http://h/?b=2&a=1&b="),
        ("http://h/?#f", {"query": "drop-empty"}, "http://h/#f"),
        ("http://h/?a-b&a=1&a", {"query": "sort"}, "http://h/?a=1&a&a-b"),
        ("urn:a:b?+r?=b&a", {"query": "sort"}, "urn:a:b?+r?=b&a"),
        ("http://h/?b=2&a=2&a&&=1&a=1&c&b", {"query": "names"}, "http://h/?a&b&c"),
        ("http://h/?&=1&#f", {"query": "names"}, "http://h/#f"),
        ("http://h/?utm_a=1&b=1", {"query": "names", "drop_parameters": ("utm_*",)}, "http://h/?b"),
        ("http://h:80/1/a/2", {"shape": True, "http_is_https": True}, "https://h/{int}/a/{int}"),
        ("/1.html?b#c", {"shape": True}, "/{int}.html?b#c"),
        ("1/2/x:3", {"shape": True}, "{int}/{int}/x:3"),
        ("mailto:1@b", {"shape": True}, "mailto:1@b"),
        ("http://a:b/1", {"shape": True}, "http://a:b/1"),
        ("http://h/1;jsessionid=a/;jsessionid=2", {"shape": True, "session_ids": "drop"}, "http://h/{int}/"),
        ("http://h/V1StGXR8_Z5jdHi6B-MYT", {"shape": True, "lower_case_path": True}, "http://h/{token}"),
        ("http://h/7/1.html", {"shape": True, "default_documents": ("{int}.html",)}, "http://h/{int}/"),
        ("http://h/%7Bint%7D/%7Bint%7D%2Fb/%7Bint%7D.gz", {"shape": True}, "http://h/{int}/%7Bint%7D%2Fb/{int}.gz"),
        ("http://h/?a#b", {"query": "drop"}, "http://h/#b"),
        ("http://h/?a#b", {"fragment": "drop"}, "http://h/?a"),
        ("urn:a:b#c", {"fragment": "drop"}, "urn:a:b"),
        ("http://u:p@h/", {"userinfo": "drop"}, "http://h/"),
        ("http://u@h@i/", {"userinfo": "drop"}, "http://u@h@i/"),
        ("http://www.www.h.example/", {"strip_www": True}, "http://h.example/"),
        ("http://WWW.com/", {"strip_www": True}, "http://www.com/"),
        ("http://www.com./", {"strip_www": True}, "http://www.com./"),
        ("http://www.h.example./", {"strip_www": True}, "http://h.example./"),
        ("http://www2.h.example/", {"strip_www": True}, "http://www2.h.example/"),
        ("http://h/", {"http_is_https": True}, "https://h/"),
        ("http://h:80/?a#b", {"http_is_https": True}, "https://h/?a#b"),
        ("http://h:443/", {"http_is_https": True}, "http://h:443/"),
        ("http:/a", {"http_is_https": True}, "http:/a"),
        ("http://h/a;JSessionID=1;b/c;jsessionid=2?PHPSESSID=1", {"session_ids": "drop"}, "http://h/a;b/c"),
        ("http://h/a/..;jsessionid=1", {"session_ids": "drop"}, "http://h/a/..;jsessionid=1"),
        ("http://h/%C3%89%zAB", {"lower_case_path": True}, "http://h/%C3%89%zab"),
        ("http://h/a/index.html", {"default_documents": ("index.html",)}, "http://h/a/"),
        ("http://h/index.html/index.html/", {"default_documents": ["index.html"], "trailing_slash": "drop"}, "http://h/"),
        ("/a/index.html", {"default_documents": ("index.html",)}, "/a/index.html"),
        ("http://h/a//", {"trailing_slash": "drop"}, "http://h/a"),
        ("http://h//", {"trailing_slash": "drop"}, "http://h/"),
        ("http://h/?%C3%89%2D", {"drop_parameters": ["a"], "level": "iri"}, "http://h/?%C3%89-"),
        ("http://bücher.example/é", {"level": "iri"}, "http://xn--bcher-kva.example/%C3%A9"),
    ],
)  # fmt: skip
def test_a_step(url, changes, wanted):
    policy = Policy(**changes)
    assert uri.normalize(url, policy=policy) == wanted
    assert uri.normalize(url.encode(), policy=policy) == wanted.encode()
    assert uri.key(url, policy=policy) == wanted and uri.equivalent(url, wanted, policy=policy)


# --- the reference implementation -------------------------------------------------------------------------------------

PIECES = [
    *("http://", "https://", "HTTP:", "//", "/", "?", "#", ";", ":", "@", "&", "=", "%", "%4", "%2e", "%c3%a9", "%2F"),
    *(".", "..", "/./", "/../", "www.", "WWW.", "h", "h.example", "[::1]", "127.0.0.1", ":80", ":443", "u:p@"),
    *("é", "b\u0301", "~"),
    *("index.html", "/index.html", "default.asp", ";jsessionid=1", "PHPSESSID=2", "&utm_a=1", "?ref=", "&REF", "B"),
    *("mailto:", "data:", "urn:a:", "\u0644", "xn--bcher-kva", "bücher", "aspsessionidab=1", "&b&a", "&&", " "),
    *("ftp://", "ws://", "a+b=1", "&A%20B", "%C3%A9=", "%2b"),
    *("/1", "/2024-10-21", ".html", "jo%40a.example", "V1StGXR8_Z5jdHi6B-myT", "/deadbeef1f", "%7Bint%7D", "%31", "@"),
    *("0192aa6e-7b1c-7cc0-8d3f-1b2c3d4e5f60", "/ffffffff-ffff-ffff-ffff-ffffffffffff"),
]  # fmt: skip
urls = st.lists(st.sampled_from(PIECES), max_size=12).map("".join) | st.text(max_size=20).filter(
    lambda text: not any("\ud800" <= character <= "\udfff" for character in text)
)


def check(url, policy):
    """The reference agrees, a second run changes nothing, and the host stays but for "www"."""
    made = uri.normalize(url, policy=policy)
    assert made == reference.normalize(url, policy)
    assert uri.normalize(made, policy=policy) == made
    if url.isascii() and made != url and url.startswith("http") and not policy.strip_www:
        try:
            before = urlsplit(uri.normalize(url, policy.level)).hostname
        except ValueError:
            return
        assert urlsplit(made).hostname == before


@every_policy
def test_hostile_rows(policy):
    for row in rows_of("uris"):
        made = uri.normalize(row, policy=policy)
        assert made == reference.normalize(row, policy)
        assert uri.normalize(made, policy=policy) == made


@given(url=urls, policy=st.sampled_from(list(POLICIES.values())))
def test_any_url(url, policy):
    check(url, policy)


@given(
    url=urls,
    changes=st.dictionaries(st.sampled_from(FIELDS), st.booleans()),
    level=st.sampled_from(reference.uri_forms.LEVELS),
)
def test_any_policy(url, changes, level):
    policy = Policy(level=level, **{name: getattr(ALL, name) for name in changes if name != "level"})
    try:
        check(url, policy)
    except UriSyntaxError:
        assert level == "rfc1630"


@pytest.mark.slow
@each_row("start", ["?", "http://a.example/?", "http://a.example:/?"])
@each_row("count", [1, 2, 16, 17, 63, 64, 65, 3000])
def test_many_parameters_are_sorted(start, count):
    policy = Policy(query="sort", drop_parameters=("x",))
    names = [f"{i * 7919 % 50}=%C3%A9{i}" for i in range(count)]
    wanted = "&".join(sorted(names, key=lambda each: each.partition("=")[0]))
    end = start.replace(":/?", "/?") + wanted
    assert uri.normalize(start + "&".join(names), policy=policy) == end
    dropped = start + "&&x=1&".join(["x", *names, "X=2&"])
    assert uri.normalize(dropped, policy=policy) == reference.normalize(dropped, policy) == end
    assert bulk.normalize_uri([dropped] * 100, policy=policy) == [end] * 100


# --- the value --------------------------------------------------------------------------------------------------------


@every_policy
def test_policies_are_values(policy):
    same = eval(repr(policy), {"Policy": Policy})
    assert same == policy == pickle.loads(pickle.dumps(policy)) == copy.deepcopy(policy) == policy.replace()
    assert hash(same) == hash(policy) and same != policy.replace(level="simple") and policy != "crawl"
    assert uri.normalize("http://www.h.example/?b&a", policy=same) == uri.normalize(
        "http://www.h.example/?b&a", policy=policy
    )
    with pytest.raises(AttributeError, match="immutable"):
        policy.level = "case"
    with pytest.raises(AttributeError, match="immutable"):
        del policy.level


@each_row(
    ("values", "error", "message"),
    [
        ({"level": "no"}, ValueError, "level must be one of 'simple', .* got 'no'"),
        ({"query": "none"}, ValueError, "query must be one of 'keep', 'sort', .* 'names', got 'none'"),
        ({"strip_www": 1}, TypeError, "strip_www must be a bool, got 1"),
        ({"drop_parameters": "utm_*"}, TypeError, "drop_parameters must be a tuple of str, got 'utm_"),
        ({"drop_parameters": ("a*b",)}, ValueError, "invalid name 'a\\*b' in drop_parameters"),
        ({"drop_parameters": ("",)}, ValueError, "invalid name '' in drop_parameters"),
        ({"drop_parameters": ("\ud800",)}, ValueError, "lone surrogate"),
        ({"drop_parameters": ("a",) * 10_001}, ValueError, "at most 10000 names, got 10001"),
        ({"default_documents": ("a/b",)}, ValueError, "invalid name 'a/b' in default_documents"),
        ({"color": "red"}, TypeError, "color"),
    ],
)
def test_invalid_values(values, error, message):
    with pytest.raises(error, match=message):
        Policy(**values)


def test_no_policy():
    assert uri.normalize("http://H/%2D", policy=None) == "http://h/-" == uri.key("http://H/%2D", policy=None)
    assert uri.equivalent("http://H/%2D", "http://h/-", policy=None)


def test_a_level_and_a_policy():
    for call in (
        lambda: uri.normalize("a", "case", policy="crawl"),
        lambda: uri.normalize("a", level="case", policy="crawl"),
        lambda: bulk.normalize_uri(["a"], "case", "crawl"),
        lambda: bulk.fingerprint(["a"], "uri", "case", policy="crawl"),
        lambda: dedup.unique(["a"], "uri", "case", policy="crawl"),
    ):
        with pytest.raises(ValueError, match="level must not be given with a policy, got 'case'"):
            call()
    for call in (
        lambda: uri.normalize("a", policy="no"),
        lambda: bulk.normalize_uri(["a"], policy="no"),
        lambda: Policy.ready("no"),
    ):
        with pytest.raises(ValueError, match="unknown policy 'no'; choose from tracking, crawl, shape, surt, w3lib"):
            call()
    for call in lambda: uri.normalize("a", policy=5), lambda: bulk.normalize_uri(["a"], policy=5):
        with pytest.raises(TypeError, match="policy must be a Policy or the name of one, got int"):
            call()
    for call in (
        lambda: bulk.fingerprint(["a"], "urn", policy="crawl"),
        lambda: dedup.unique(["a"], "urn", policy="crawl"),
    ):
        with pytest.raises(
            ValueError, match="policy is only supported with kind='uri', kind='iri' and kind='web', got kind='urn'"
        ):
            call()


# --- explanations, files, deduplication -------------------------------------------------------------------------------


@given(url=urls, policy=st.sampled_from(list(POLICIES.values())))
def test_explanations_are_complete(url, policy):
    steps = policy.explain(url)
    before = url
    for step in steps:
        assert isinstance(step, PolicyStep) and step.before == before != step.after
        before = step.after
    assert before == uri.normalize(url, policy=policy)


def test_an_explanation():
    steps = Policy.ready("crawl").explain(b"HTTP://h?b=1&gclid=2&a#f")
    assert [step.step for step in steps] == ["case", "scheme", "drop_parameters", "query", "fragment"]
    assert Policy(level="rfc2396").explain("http://h/%2a")[0].step == "rfc2396"


def toml_file(folder, text):
    pytest.importorskip("tomllib", reason="Python 3.11")
    path = folder / "policy.toml"
    path.write_text(text, "utf-8")
    return path


def test_files(tmp_path):
    path = toml_file(tmp_path, 'base = "crawl"\nstrip_www = true\ndrop_parameters = ["b", "a"]\n')
    assert Policy.from_toml(path) == Policy.ready("crawl").replace(strip_www=True, drop_parameters=("a", "b"))
    assert Policy.from_toml(toml_file(tmp_path, "")) == Policy()
    for text, error, message in (
        ("colour = 1", ValueError, "unknown key 'colour'; choose from base, level"),
        ("level = ", ValueError, "invalid TOML in '.*policy.toml'"),
        ('base = "no"', ValueError, "unknown policy 'no'"),
        ("base = 5", ValueError, "unknown policy 5"),
        ("strip_www = 1", TypeError, "strip_www must be a bool, got 1"),
    ):
        with pytest.raises(error, match=message):
            Policy.from_toml(toml_file(tmp_path, text))


def rules_file(tmp_path, *rules, others=None, **fields):
    """Write a rules file of ClearURLs with a provider for all URLs."""
    path = tmp_path / "data.json"
    provider = {"urlPattern": ".*", "completeProvider": False, "rules": rules, **fields}
    path.write_text(json.dumps({"providers": {**(others or {}), "all": provider}}), "utf-8")
    return path


@pytest.mark.parametrize(
    ("rule", "names"),
    [
        *[("fbclid", "fbclid"), ("hsCtaTracking", "hsctatracking")],
        ("(?:%3F)?utm(?:_[a-z_]*)?", "?utm ?utm_* utm utm_*"),
        *[("ga_[a-z]+?", "ga_*"), ("wt_?z?mc", "wt_mc wt_zmc wtmc wtzmc"), ("[a-c_]?mc", "_mc amc bmc cmc mc")],
        *[("vn(?:_[a-z]*)+", "vn_*"), ("vn(_[a-z]*)*", "vn vn_*"), (r"a\-b\.c|\$d", "$d a-b.c")],
        (r"x[\d\]-]y", "x-y x0y x1y x2y x3y x4y x5y x6y x7y x8y x9y x]y"),
        ("a.*", "a*"),
    ],
)
def test_rules_of_clearurls(tmp_path, rule, names):
    policy = Policy.from_clearurls(rules_file(tmp_path, rule))
    assert policy == Policy(drop_parameters=names.split())
    # Each name, encoded, is one that the expression matches, and so is what begins with a prefix.
    encoded = [name.replace("*", "a").replace("?", "%3F") for name in policy.drop_parameters]
    assert all(re.fullmatch(rule, name, re.IGNORECASE) for name in encoded)


@pytest.mark.parametrize(
    "rule",
    [
        *("[a-z]*ref", "a.b", ".*", "", "(a", "a)", "a{2}", "^a", "a$", "[^a]b", "a=b", "a*", "(?:ab)+", "a(?=b)"),
        "a[b",
        *("(?:a|b[a-z]*)c", "é", r"[a-\d]", "[é]", r"a\b", r"\d\d\d\d", "[b-é]", "(" * 1000, "*", "a\\", "a" * 1001),
    ],
)
def test_rules_of_clearurls_that_match_more_are_left_out(tmp_path, rule):
    with pytest.warns(UserWarning, match="': 1 of the 2 rules for all URLs, which match more than names and prefixes$"):
        assert Policy.from_clearurls(rules_file(tmp_path, rule, "a")) == Policy(drop_parameters=("a",))


def test_files_of_clearurls(tmp_path):
    site = {"urlPattern": "^https?://a\\.example", "rules": ["tag"], "completeProvider": True}
    fields = {"referralMarketing": ["ref"], "rawRules": ["/ref=[^/]*"], "exceptions": ["a", "b"], "redirections": ["c"]}
    path = rules_file(tmp_path, "fbclid", others={"site": site, "other": site}, **fields)
    with pytest.warns(UserWarning, match="left out of '.*data.json': ") as found:
        policy = Policy.from_clearurls(str(path))
    assert str(found[0].message).partition("': ")[2].split("; ") == [
        "parameters of referral marketing (1)",
        "exceptions to the rules for all URLs (2)",
        "raw rules, redirections and blocks for all URLs (2)",
        "the rules of 2 providers for some URLs",
    ]
    assert found[0].filename == __file__
    assert uri.normalize("http://a.example/?FBCLID=1&tag=2&ref", policy=policy) == "http://a.example/?tag=2&ref"
    path.write_text('{"providers": {"all": {"urlPattern": ".*"}}}', "utf-8")
    assert Policy.from_clearurls(path) == Policy()
    for text, message in (
        ("{", "invalid JSON in '.*data.json'"),
        ("\xff", "invalid JSON in"),
        ("[" * 200_000, "invalid JSON in"),
        ("[]", "expected an object with the object 'providers' in"),
        ('{"providers": []}', "expected an object with the object 'providers' in"),
        ('{"providers": {"a": 1}}', "invalid provider 'a' in"),
        ('{"providers": {"a": {}}}', "invalid provider 'a' in"),
        ('{"providers": {"a": {"urlPattern": ".*", "rules": [1]}}}', "invalid provider 'a' in"),
        ('{"providers": {"a": {"urlPattern": "b", "rawRules": null}}}', "invalid provider 'a' in"),
    ):
        path.write_text(text, "latin-1")
        with pytest.raises(ValueError, match=message):
            Policy.from_clearurls(path)
    with pytest.raises(FileNotFoundError):
        Policy.from_clearurls(tmp_path / "no")


def test_deduplication(tmp_path):
    rows = ["http://h/?utm_a=1", "http://h", "http://h/#b", "http://h/?a", "http://H/?a"]
    assert dedup.unique(rows, "uri", policy="crawl") == [rows[0], rows[3]]
    assert dedup.unique(rows, "iri", policy=Policy.ready("tracking")) == [rows[0], rows[2], rows[3]]
    source, groups = tmp_path / "in", tmp_path / "groups"
    source.write_text("\n".join(rows), "utf-8")
    stats = dedup.dedup_files(source, tmp_path / "out", kind="uri", policy="crawl", merged=True, groups=groups)
    assert (tmp_path / "out").read_text("utf-8") == f"{rows[0]}\n{rows[3]}\n"
    assert {name: count for name, count in stats.merged.items() if count} == {
        "case": 1,
        "drop_parameters": 1,
        "fragment": 1,
    }
    assert '"by":"drop_parameters"' in groups.read_text("utf-8")
    assert dedup.estimate_files(source, kind="uri", policy="crawl") == 2
    assert dedup.rules_of("uri", policy=Policy(level="rfc2396", query="sort")) == ("rfc2396", "query")


class Strict(uri.Policy):
    """A subclass."""


def test_subclasses_stay_what_they_are():
    for policy in Strict(level="scheme", query="sort"), Strict.ready("crawl"), Strict._key("surt"):
        again = pickle.loads(pickle.dumps(policy))
        assert type(again) is type(policy) is type(copy.deepcopy(policy)) and again == policy
    assert pickle.loads(pickle.dumps(uri.Policy.ready("surt"))) is uri.Policy.ready("surt")


def test_toml_of_many_levels(tmp_path):
    path = tmp_path / "policy.toml"
    path.write_text("query = " + "[" * 100_000)
    with pytest.raises(ValueError, match="invalid TOML in"):
        uri.Policy.from_toml(path)


@pytest.mark.slow
@pytest.mark.parametrize(
    "unit", ["a.", "'a'.", "a . ", "[a.", "{a.", '"a".b=1\n', "a={b.", "#", "\n", "[[a]]\n", "a=[", '"""']
)
def test_long_toml_ends(tmp_path, unit):
    """In a moment: dotted keys take time that grows with the square of their length."""
    path = tmp_path / "policy.toml"
    for size in 1000, 8000, 64_000, 1_000_000, 2_000_000:
        path.write_text((unit * size)[:size])
        with contextlib.suppress(ValueError):
            uri.Policy.from_toml(path)
    with pytest.raises(ValueError, match=r"more than 1048576 bytes$"):
        uri.Policy.from_toml(path)
    path.write_text("drop_parameters = ['" + "a." * 4097 + "']")
    with pytest.raises(ValueError, match=r"more than 4096 dots$"):
        uri.Policy.from_toml(path)
    path.write_text("drop_parameters = ['" + "a." * 4096 + "']")
    assert uri.Policy.from_toml(path).drop_parameters == ("a." * 4096,)


def rule_of(unit, size):
    return (unit * size)[:size].rstrip("\\")


@pytest.mark.slow
@pytest.mark.parametrize(
    "unit", ["a", "a?", "(a|b)", "[a-z]", "[0-9]", "(?:a|b)?", "(", "[a-", "a|", "[^a]", "\\d", ".*"]
)
def test_long_rules_of_clearurls_end(tmp_path, unit):
    """An expression of more characters than the limit stands for other names; all below it take a moment."""
    path = tmp_path / "rules.json"
    rules = [rule_of(unit, size) for size in (499, 500, 501, 1000, 100_000)] * 20 + ["utm_source"]
    rules += [rule_of("[0-9][0-9]", 10) + "x" * 480]
    path.write_text(json.dumps({"providers": {"all": {"urlPattern": ".*", "rules": rules}}}))
    with pytest.warns(UserWarning, match="rules for all URLs"):
        assert "utm_source" in uri.Policy.from_clearurls(path).drop_parameters
