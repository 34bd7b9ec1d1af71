"""The exceptions: hierarchy, attributes, text, copies."""

import copy
import pickle

import pytest

import uricodec
from uricodec import errors, iri, uri, urn
from uricodec.errors import IriError, UnknownNamespaceError, UriError, UriSyntaxError, UrnError

LOCATED = [UriError, UriSyntaxError, IriError, UrnError]


def test_hierarchy():
    assert UriError.__bases__ == (ValueError,)
    assert UriSyntaxError.__bases__ == IriError.__bases__ == UrnError.__bases__ == (UriError,)
    assert UnknownNamespaceError.__bases__ == (LookupError,)


def test_all_are_public():
    defined = {name for name, value in vars(errors).items() if isinstance(value, type) and name[0] != "_"}
    assert defined == set(errors.__all__) <= set(uricodec.__all__)
    assert all(getattr(uricodec, name) is getattr(errors, name) for name in defined)
    assert all(getattr(errors, name).__module__ == "uricodec.errors" for name in defined)


@pytest.mark.parametrize("kind", LOCATED)
@pytest.mark.parametrize("data", ["100%", b"100%", ""])
def test_attributes_and_text(kind, data):
    error = kind("malformed triplet", data, 3)
    assert (error.reason, error.input, error.offset) == error.args == ("malformed triplet", data, 3)
    assert str(error) == "malformed triplet at offset 3"
    assert repr(error) == f"{kind.__name__}('malformed triplet', {data!r}, 3)"


@pytest.mark.parametrize("kind", LOCATED)
@pytest.mark.parametrize("duplicate", [lambda e: pickle.loads(pickle.dumps(e)), copy.copy, copy.deepcopy])
def test_copies(kind, duplicate):
    error = duplicate(kind("malformed triplet", b"100%", 3))
    assert type(error) is kind
    assert (error.reason, error.input, error.offset) == error.args == ("malformed triplet", b"100%", 3)
    assert str(error) == "malformed triplet at offset 3"


@pytest.mark.parametrize("kind", LOCATED)
def test_all_three_arguments_are_needed(kind):
    for arguments in (), ("reason",), ("reason", "input"), ("reason", "input", 0, 1):
        with pytest.raises(TypeError):
            kind(*arguments)


def test_unknown_namespace():
    error = pickle.loads(pickle.dumps(UnknownNamespaceError("no namespace 'x'")))
    assert type(error) is UnknownNamespaceError
    assert str(error) == "no namespace 'x'"


@pytest.mark.parametrize(
    ("check", "functions", "data"),
    [
        (uri.check, [uri.split, lambda text: uri.query_pairs(text, errors="raise")], "http://[a"),
        (
            iri.check,
            [iri.split, iri.iri_to_uri, iri.uri_to_iri, uri.key, lambda text: uri.resolve("s:", text)],
            "/\ud800",
        ),
        (urn.check, [urn.parse, urn.normalize, lambda text: urn.equivalent("urn:ab:c", text)], "urn:a b"),
    ],
)
def test_codes_are_those_that_check_names(check, functions, data):
    for function in functions:
        with pytest.raises(UriError) as caught:
            function(data)
        assert (caught.value.code, caught.value.offset) == check(data)[:2]


@pytest.mark.parametrize("data", ["a%", b"a%"])
def test_functions_raise_them_with_the_object_that_was_given(data):
    with pytest.raises(UriSyntaxError) as caught:
        uricodec.percent_decode(data, errors="raise")
    assert caught.value.input is data
    assert caught.value.offset == 1


@pytest.mark.parametrize(
    ("given", "offset", "message"),
    [
        ("/a b", 2, "invalid character ' ' in path at offset 2"),
        (b"/a\xff", 2, r"invalid character b'\xff' in path at offset 2"),
        (memoryview(b"/a b"), 2, "invalid character b' ' in path at offset 2"),
        ("/a", 2, "unexpected end in path at offset 2"),
        (None, 2, "invalid character in path at offset 2"),
    ],
)
def test_the_message_names_the_character(given, offset, message):
    error = UriSyntaxError("invalid character in path", given, offset)
    assert (str(error), error.reason) == (message, "invalid character in path")


@pytest.mark.parametrize("function", [uri.check, uri.split, uri.normalize, iri.check, urn.check, urn.parse])
@pytest.mark.parametrize("value", [None, 5])
def test_rejects_other_types_than_text_and_bytes(function, value):
    with pytest.raises(TypeError, match=f"^expected str or a bytes-like object, got {type(value).__name__}$"):
        function(value)


def test_the_character_in_a_message():
    class Text(str):
        def __getitem__(self, index):
            raise AssertionError

    for text in "a b", Text("a b"), b"a b", bytearray(b"a b"), memoryview(b"a b"):
        shown = " " if isinstance(text, str) else b" "
        assert uri.check(text).message == f"invalid character {shown!r} in path at offset 1"
        assert str(UriError("invalid character in path", text, 1)) == uri.check(text).message
    assert str(UriError("invalid character", memoryview(b"a b")[::2], 1)) == "invalid character at offset 1"


def test_a_quoted_error_stays_as_it_is():
    with pytest.raises(
        IriError, match=r"internationalized host: invalid character b?' ' in IRI at offset 1 at offset 7$"
    ):
        iri.iri_to_uri("http://a b/", host="idna", disallowed="encode")
