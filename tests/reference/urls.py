"""The reference implementation of values in URLs: the expression of RFC 3986 appendix B, on bytes."""

import ipaddress
import re
from functools import cache, partial
from importlib.resources import files
from urllib.parse import parse_qsl, quote, quote_plus

from reference.codec import characters, decode, ill_formed

# RFC 3986 appendix B, with the scheme by the grammar of section 3.1; "." is any byte.
COMPONENTS = re.compile(rb"^(([A-Za-z][A-Za-z0-9+.-]*):)?(//([^/?#]*))?([^?#]*)(\?([^#]*))?(#(.*))?", re.DOTALL)
SUBCOMPONENTS = re.compile(rb"(?P<host>\[[^]]*\]?|[^:]*)[^:]*(:(?P<port>.*))?", re.DOTALL)


def as_text(value, text):
    """A value as UTF-8, with U+FFFD for what is not."""
    return value.decode("utf-8", "replace").encode() if text and value is not None else value


def subcomponent(row, name):
    authority = COMPONENTS.match(row)[4]
    return None if authority is None else SUBCOMPONENTS.fullmatch(authority.rpartition(b"@")[2])[name]


def userinfo(row, text):
    before, at, _ = (COMPONENTS.match(row)[4] or b"").rpartition(b"@")
    return as_text(before, text) if at else None


# What a host without "//" before it begins with: neither a delimiter nor a scheme. A port follows a host with a dot.
BARE = re.compile(
    rb"(?:[A-Za-z][A-Za-z0-9+-]*\.[A-Za-z0-9+.-]*|localhost):[0-9]+(?![^/?#])|(?![A-Za-z][A-Za-z0-9+.-]*:)[^/?#:]"
)


def is_address(row):
    """Whether the row is an IPv6 address without brackets; ipaddress reads zones, too."""
    try:
        return b"%" not in row and ipaddress.ip_address(row.decode("ascii")).version == 6
    except ValueError:
        return False


def with_authority(row):
    """A row that may begin with a host as a URL."""
    if is_address(row):
        return b"//[" + row + b"]"
    return b"//" + row if BARE.match(row) else row


def host(row, text, bare=False):
    return as_text(subcomponent(with_authority(row) if bare else row, "host"), text)


def port(row, text):
    return as_text(subcomponent(row, "port"), text)


def split(row):
    """The components of any text: scheme, authority, userinfo, host, port, path, query, fragment."""
    found = COMPONENTS.match(row)
    parts = userinfo(row, False), subcomponent(row, "host"), subcomponent(row, "port")
    return found[2], found[4], *parts, found[5], found[7], found[9]


def is_form(row):
    """Whether "+" is a blank in the query: a form is sent to these, or to a relative reference."""
    return (COMPONENTS.match(row)[2] or b"http").lower() in {b"http", b"https", b"ws", b"wss"}


def in_encoding(value, encoding):
    """A value as UTF-8 that may be in another encoding."""
    if not ill_formed(value):
        return value
    return "".join("\ufffd" if text is None else text for _, _, text in characters(value, encoding)).encode()


def query_pairs(row, text, plus=None, encoding=None):
    """The names and values of a query, decoded."""
    plus = is_form(row) if plus is None else plus
    made = partial(in_encoding, encoding=encoding) if encoding else partial(as_text, text=text)
    pairs = [pair.partition(b"=") for pair in (COMPONENTS.match(row)[7] or b"").split(b"&") if pair]
    return [tuple(made(decode(part, plus=plus)) for part in (name, value)) for name, _, value in pairs]


def path_segments(row, text):
    """The segments of a path, decoded."""
    path = COMPONENTS.match(row)[5]
    segments = path.removeprefix(b"/").split(b"/") if path else []
    return [as_text(decode(segment), text) for segment in segments]


def query_value(row, text, name, plus=None, encoding=None):
    """The first value of a name; of several names, a tuple."""
    found = dict(query_pairs(row, text, plus, encoding)[::-1])
    return found.get(name.encode()) if isinstance(name, str) else tuple(found.get(each.encode()) for each in name)


def a_label(label):
    """A label in ASCII, with its letters in lower case."""
    ascii_lower = "".join(each.lower() if each.isascii() else each for each in label)
    return ascii_lower if label.isascii() else "xn--" + ascii_lower.encode("punycode").decode()


@cache
def rules(private):
    """The rules of the Public Suffix List that is installed, as tuples of labels."""
    text = files("publicsuffixlist").joinpath("public_suffix_list.dat").read_text("utf-8")
    if not private:
        text = text.partition("===BEGIN PRIVATE DOMAINS===")[0]
    lines = [line.split()[0] for line in text.splitlines() if line.strip() and not line.startswith("//")]
    return frozenset(tuple(map(a_label, line.split("."))) for line in lines)


def suffix_labels(labels, listed):
    """How many labels are the public suffix: those of the longest rule. The name after a "*." is a suffix, too."""
    for first in range(len(labels)):
        name = tuple(labels[first:])
        if (f"!{name[0]}", *name[1:]) in listed:
            return len(name) - 1
        if name in listed or ("*", *name) in listed or (len(name) > 1 and ("*", *name[1:]) in listed):
            return len(name)
    return 1


def is_ignored(character):
    """Whether UTS 46 maps a character to nothing."""
    import idna

    try:
        return idna.uts46_remap(character) == ""
    except idna.IDNAError:
        return False


def mapped(name, most):
    """A host beyond ASCII as UTS 46 maps it, if that is possible, and the result has at most `most` bytes."""
    import idna

    try:
        text = "".join(c for c in name.decode() if c.isascii() or not is_ignored(c))
        labels = re.split("[.\u3002\uff0e\uff61]", text)
        if name.isascii() or len(".".join(labels).encode()) > 16 * 253:
            return name
        changed = {label: idna.uts46_remap(label, std3_rules=False) for label in labels if not label.isascii()}
    except ValueError:
        return name
    if any(re.search(r"[\0- /?#@:\[\]\\%]", label) for label in changed.values()):
        return name
    result = ".".join(changed.get(label, label) for label in labels).encode()
    return result if 0 < len(result) <= min(most, 2 * 16 * 253) else name


def domain(row, text, extra, private, bare):
    """The public suffix and as many labels before it."""
    found = host(row, False, bare)
    if found is None or found.startswith(b"["):
        return None
    labels = mapped(found, 3 * len(row)).removesuffix(b".").lower().split(b".")
    if b"" in labels or re.fullmatch(rb"[0-9]+|0x[0-9a-f]*", labels[-1]):
        return None
    size = extra + suffix_labels([a_label(each.decode("utf-8", "surrogateescape")) for each in labels], rules(private))
    return as_text(b".".join(labels[-size:]), text) if size <= len(labels) else None


def registrable_domain(row, text, private=False, bare=False):
    return domain(row, text, 1, private, bare)


def public_suffix(row, text, private=False, bare=False):
    return domain(row, text, 0, private, bare)


# --- other parameters -------------------------------------------------------------------------------------------------


def names_of(given):
    """Names as a list; None stays."""
    if given is None:
        return None
    return [name.encode() for name in (given.split(",") if isinstance(given, str) and given else given)]


def is_meant(name, names):
    return any(name == each or (each[-1:] == b"*" and name.startswith(each[:-1])) for each in names)


def pairs_to_set(given):
    """The names and values to set, one by one, and the names, which may have no values."""
    if isinstance(given, str):
        given = parse_qsl(given, keep_blank_values=True)
    pairs, names = [], []
    for name, values in given.items() if isinstance(given, dict) else given or ():
        names.append(name.encode())
        pairs += [(name.encode(), value) for value in ([values] if isinstance(values, str) else values)]
    return pairs, names


def with_query(row, given=None, drop=None, keep=None, space=None):
    """The fields between "&", one after the other."""
    plus = is_form(row)
    encode = quote_plus if space == "+" or (space is None and plus) else quote
    pairs, names = pairs_to_set(given)
    drop, keep = names_of(drop) or [], names_of(keep)
    head, hash_, fragment = row.partition(b"#")
    start, mark, query = head.partition(b"?")
    made, seen = [], set()
    for field in query.split(b"&") if mark and (query or not names) else []:
        spelled = field.partition(b"=")[0]
        name = decode(spelled, plus=plus)
        if name in names:
            if name not in seen:
                made += [spelled + b"=" + encode(value, safe="").encode() for each, value in pairs if each == name]
            seen.add(name)
        elif not is_meant(name, drop) and (keep is None or is_meant(name, keep)):
            made.append(field)
    for name, value in pairs:
        if name not in seen:
            made.append(encode(name, safe="").encode() + b"=" + encode(value, safe="").encode())
    return start + (b"?" + b"&".join(made) if made else b"") + hash_ + fragment
