"""Misuses every class of some modules, and every function of the compiled ones, in a process of its own.

Each step is named before it is taken, so that the last line of the output says what has crashed. See test_misuse.py.
"""

from __future__ import annotations

import copy
import gc
import importlib
import inspect
import itertools
import os
import pickle
import sys
import weakref

ORDINARY = Exception, SystemExit  # the latter is argparse's
INHERITED = [getattr(kind, name) for kind in (object, *ORDINARY) for name in vars(kind)]
LEFT_OUT = {"__class__", "__init_subclass__", "__subclasshook__", "__dict__", "__weakref__", "__doc__", "__module__"}


def say(*words):
    os.write(1, (" ".join(map(str, words)) + "\n").encode())


def attempt(function, *arguments):
    """Call it, and use what it returns if that may be used up."""
    try:
        result = function(*arguments)
        if inspect.isgenerator(result):
            result = list(itertools.islice(result, 10))
        return result
    except ORDINARY:
        return None


def values(subject):
    """Arguments of unexpected types and values."""
    return [None, 0, -1, 1 << 70, b"", b"a%zz\n", "", "\ud800", [], {}, (None,), bytearray(40), subject, object]


def combinations(subject):
    given = values(subject)
    yield ()
    for count in 1, 2, 3, 4:
        yield from itertools.product(given, repeat=count) if count < 3 else zip(*[given] * count, strict=True)
    yield b"%41\n", bytearray(40), None
    yield [b"%41"], subject
    yield None, "", 5


def misuse(subject, name):
    """Everything that can be done with an object without knowing what it is."""
    for function in (
        *(repr, str, hash, len, iter, list, bool, dir, bytes, memoryview, float, sys.getsizeof, weakref.ref),
        *(copy.copy, copy.deepcopy, vars, sorted, reversed, next, abs, format, gc.get_referents),
    ):
        say(name, function.__name__)
        attempt(function, subject)
    say(name, "operators")
    for other in values(subject):
        for function in (
            lambda a, b: a == b,
            lambda a, b: a < b,
            lambda a, b: a | b,
            lambda a, b: a - b,
            lambda a, b: a & b,
            lambda a, b: a + b,
            lambda a, b: a in b,
            lambda a, b: a[b],
            lambda a, b: a.__setitem__(b, b),
            lambda a, b: a.__delitem__(b),
            isinstance,
        ):
            attempt(function, subject, other)
            attempt(function, other, subject)
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        say(name, "pickle", protocol)
        attempt(lambda protocol=protocol: pickle.loads(pickle.dumps(subject, protocol)))
    for attribute in sorted(set(dir(subject)) - LEFT_OUT):
        if attribute.startswith("_") and not attribute.endswith("_"):
            continue  # its own affair
        if getattr(type(subject), attribute, None) in INHERITED:
            continue
        say(name, attribute)
        method = attempt(getattr, subject, attribute)
        if callable(method):
            for arguments in combinations(subject):
                attempt(method, *arguments)
        else:
            for value in values(subject):
                attempt(setattr, subject, attribute, value)
            attempt(delattr, subject, attribute)
    gc.collect()


def good(module):
    """Objects as they should be, of the compiled classes of a module."""
    from uricodec import bulk, bytesets, logs, uri, urn
    from uricodec.logs._formats import compile_format

    def of(name, *arguments):
        return getattr(importlib.import_module(module.__name__), name)(*arguments)

    def names(kind):
        from uricodec._base._fingerprint import FingerprintKey
        from uricodec.urn._rows import NormalizeUrnRows

        return of(kind, NormalizeUrnRows(), FingerprintKey(b"k"))

    def plan(text=True):
        from uricodec._codec._rows import DecodeRows
        from uricodec._rows._tasks import Plan

        return Plan(DecodeRows())

    column = bulk.split_urn(b"urn:example:a\nurn:example:b\nx\n")
    makers = {
        "Array": lambda: column.arrays[0],
        "ByteSet": lambda: of("ByteSet", b"ab"),
        "Cardinality": lambda: of("Cardinality"),
        "CheckRows": lambda: of("CheckRows", "uri", "URI"),
        "CheckUrnRows": lambda: of("CheckUrnRows"),
        "Column": lambda: column,
        "ColumnBatch": lambda: names("ColumnBatch"),
        "DecodeRows": lambda: of("DecodeRows") if module.__name__.endswith("_codec._rows") else plan().rows,
        "EncodeRows": lambda: of("EncodeRows", bytesets.ByteSet(b"ab")),
        "FingerprintKey": lambda: of("FingerprintKey", b"key"),
        "FingerprintBatch": lambda: of("FingerprintBatch", b"one fingerprint."),
        "FirstRows": lambda: of("FirstRows"),
        "Framing": lambda: of("Framing", "csv", b"\n", b",", [(1, 1), (3, None)]),
        "Identifiers": lambda: names("Identifiers"),
        "IriToUriRows": lambda: of("IriToUriRows"),
        "LineBatch": lambda: names("LineBatch"),
        "ListWork": lambda: of("ListWork", plan, "keep", 3),
        "Format": lambda: of("Format", "combined"),
        "LogReader": lambda: of("LogReader", logs.Format("common").programs),
        "NormalizeRows": lambda: of("NormalizeRows"),
        "NormalizeUrnRows": lambda: of("NormalizeUrnRows"),
        "Plan": plan,
        "PolicyRows": lambda: of("PolicyRows", uri.Policy.ready("crawl")),
        "Program": lambda: of("Program", compile_format("combined")[0]),
        "RequoteRows": lambda: of("RequoteRows", bytesets.ByteSet(b"ab")),
        "ResolveRows": lambda: of("ResolveRows", b"http://a/"),
        "SpillBuffers": lambda: of("SpillBuffers"),
        "SplitReferences": lambda: of("SplitReferences", "uri"),
        "SplitUrns": lambda: of("SplitUrns"),
        "Table": lambda: of("Table", 1 << 16),
        "Type": lambda: column.type,
        "URN": lambda: urn.parse("urn:example:a?+b?=c#d"),
        "UriToIriRows": lambda: of("UriToIriRows"),
        "Work": lambda: of("Work", plan, "keep", 3, 1),
    }
    for kind in classes(module):
        if kind.__name__ in makers and is_compiled(module):
            yield kind, makers[kind.__name__]


def states(kind):
    """What an unpickler may be told."""
    reduce = getattr(sys.modules[kind.__module__], f"__pyx_unpickle_{kind.__name__}", None)
    for state in None, (), (None,), (None,) * 4, ([], []), b"", {"a": 1}, ((), {"a": 1}):
        if reduce is not None:
            attempt(reduce, kind, 0, state)
        made = attempt(kind.__new__, kind)
        for setter in "__setstate__", "__setstate_cython__":
            attempt(lambda made=made, state=state, setter=setter: getattr(made, setter)(state))
        if made is not None:
            yield made


def without_init(kind):
    """Instances of which nothing has been initialised."""
    yield "new", attempt(kind.__new__, kind)
    yield "object.__new__", attempt(object.__new__, kind)
    for given in [()], [None], [b""], [None, None], ["a", "b"], [[], []]:
        yield "new", attempt(kind.__new__, kind, *given)
        derived = attempt(type, "Derived", (kind,), {"__init__": lambda self, *_: None})
        if derived is not None:
            yield "derived", attempt(derived, *given)
    outcomes = set()
    for arguments in combinations(kind):
        made = attempt(kind.__new__, kind)
        if made is not None:
            try:
                made.__init__(*arguments)
                outcome = tuple(map(type, arguments))
            except ORDINARY as error:
                outcome = type(error)
            if outcome not in outcomes:
                outcomes.add(outcome)
                yield f"initialised with {len(arguments)} arguments", made


def is_compiled(module):
    return not module.__file__.endswith(".py")


def classes(module):
    return [kind for kind in vars(module).values() if isinstance(kind, type) and kind.__module__ == module.__name__]


def main(*names):
    sys.stdout = sys.stderr = open(os.devnull, "w")  # noqa: SIM115
    modules = [importlib.import_module(name) for name in names]
    gc.collect()
    gc.freeze()  # what is there already is not to be searched in each collection
    for module in modules:
        misuse_module(module)
    say("survived")


def misuse_module(module):
    name = module.__name__
    for kind in classes(module):
        for way, subject in without_init(kind):
            if subject is None:
                continue
            misuse(subject, f"{name}.{kind.__qualname__} {way}")
            say(name, kind.__qualname__, "deleted")
            del subject
        say(name, kind.__qualname__, "states")
        for subject in states(kind):
            misuse(subject, f"{name}.{kind.__qualname__} unpickled")
        gc.collect()
    for function in vars(module).values() if is_compiled(module) else ():
        if callable(function) and not isinstance(function, type) and getattr(function, "__module__", "") == name:
            say(name, function.__name__)
            for arguments in combinations(None):
                attempt(function, *arguments)
    for kind, make in good(module):
        subject = make()
        misuse(subject, f"{name}.{kind.__qualname__} good")
        subject = make()
        for arguments in combinations(subject):
            attempt(subject.__init__, *arguments)
        misuse(subject, f"{name}.{kind.__qualname__} initialised again")
