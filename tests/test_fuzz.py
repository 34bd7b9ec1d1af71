"""The targets of fuzz/ without a fuzzer: on their seeds and on any octets; and that they can fail."""

import ast
import functools
import importlib
import inspect
import sys
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.marks import few_examples

import uricodec
from uricodec._base import _kernels
from uricodec.bulk import _operations

FUZZ = Path(__file__).parent.parent / "fuzz"
sys.path += [str(FUZZ), str(FUZZ / "seeds")]

from unpack import seeds  # noqa: E402

TARGETS = sorted(path.stem for path in (FUZZ / "targets").glob("*.py"))
PUBLIC = [
    "",
    "parse",
    "uri",
    "uri.legacy_schemes",
    "iri",
    "urn",
    "urn.conversions",
    "bulk",
    "logs",
    "dedup",
    "bytesets",
]
PUBLIC = [f"uricodec.{name}".rstrip(".") for name in [*PUBLIC, "urn.namespaces"]]
# Classes that are looked at as functions are. All others come out of functions, or are errors.
CLASSES = ["ByteSet", "Column", "Deduplicator", "InvalidRows", "DedupStats", "URN"]


def module_of(name):
    if name == "arrow":
        pytest.importorskip("pyarrow")
    return importlib.import_module(f"targets.{name}")


def covers_of(name):
    """What a target says that it calls; read without importing it."""
    for statement in ast.parse((FUZZ / "targets" / f"{name}.py").read_text("utf-8")).body:
        if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == "COVERS":
            return eval(ast.unparse(statement.value), {"_operations": _operations})
    raise AssertionError(name)


def words_of(module):
    """What its dictionaries hold."""
    for name in module.DICTIONARIES.split():
        for line in (FUZZ / "dictionaries" / f"{name}.dict").read_text("ascii").splitlines():
            yield ast.literal_eval(f"b{line}")


every_target = pytest.mark.parametrize("name", TARGETS)


@pytest.mark.slow
@every_target
def test_seeds(name):
    """Also on the portable and the best tier, which the first octet of an input selects."""
    module = module_of(name)
    for seed in [b"", *seeds(name)]:
        module.target(seed)
        for i in 0, len(uricodec.cpu_tiers()) - 1:
            module.target(b"%d" % i + seed[1:])


@pytest.mark.slow
@every_target
@few_examples
@given(data=st.data())
def test_any_bytes(name, data):
    module = module_of(name)
    words = st.sampled_from(list(words_of(module)))
    head = data.draw(st.binary(max_size=12))
    module.target(head + b"".join(data.draw(st.lists(words | st.binary(max_size=3), max_size=12))))


# --- that nothing is left out -----------------------------------------------------------------------------------------


def public_names():
    """The module and the name of each function, and of each class of CLASSES; `dedup` has one of `bulk`."""
    for module in map(importlib.import_module, PUBLIC):
        for name in module.__all__:
            found = getattr(module, name)
            is_function = callable(found) and not inspect.isclass(found) and hasattr(found, "__name__")
            if module.__name__ != "uricodec.bulk" and getattr(found, "__module__", "") == "uricodec.bulk":
                continue
            if (is_function and name != "Validator") or name in CLASSES:
                yield module.__name__, name


def test_every_public_function_has_a_target():
    covered = {(module, name) for target in TARGETS for module, names in covers_of(target).items() for name in names}
    missing = set(public_names()) - covered
    assert not missing, f"COVERS of the targets in fuzz/targets lack {missing}"


# --- that each target can fail ----------------------------------------------------------------------------------------


def wrong(value):
    """Another value of that type, or of none."""
    changes = [(bool, lambda: not value), (int, lambda: value + 1), (str, lambda: value + "x")]
    changes += [(bytes, lambda: value + b"x"), (list, lambda: [*value, "x"]), (dict, lambda: {**value, "x": "x"})]
    for kind, change in changes:
        if type(value) is kind:
            return change()
    if inspect.isgenerator(value):
        return iter([*value, "x"])
    return object() if value is None else None


def broken(function, answers):
    """A function that answers wrongly, or one that does nothing."""

    @functools.wraps(function)
    def call(*arguments, **options):
        return wrong(function(*arguments, **options)) if answers else None

    return call


def inputs_of(name):
    """The seeds of a target with one or another first choice."""
    for seed in seeds(name):
        for choice in range(len(getattr(module_of(name), "CALLS", "8 octets"))):
            yield seed[:2] + b"%c" % (0x30 + choice) + seed[3:]


@contextmanager
def replaced(name, module, attribute, value):
    """A function is replaced where it is defined and in a target."""
    target, owner, before = module_of(name), importlib.import_module(module), _kernels.cpu_tier()
    function = getattr(owner, attribute)
    with pytest.MonkeyPatch.context() as patch:
        for where in owner, target:
            if getattr(where, attribute, None) is function:
                patch.setattr(where, attribute, value(function))
        try:
            yield
        finally:
            patch.undo()
            _kernels.use_tier(before)
            uricodec.uninstall()


@functools.cache
def callers_of(name):
    """The inputs that lead to a call of each function, if it is no class."""
    callers, called = {}, set()

    def noted(key, function):
        @functools.wraps(function)
        def call(*arguments, **options):
            called.add(key)
            return function(*arguments, **options)

        return call

    with ExitStack() as stack:
        for module, names in covers_of(name).items():
            for each in names:
                if not inspect.isclass(getattr(importlib.import_module(module), each)):
                    callers[module, each] = []
                    stack.enter_context(replaced(name, module, each, functools.partial(noted, (module, each))))
        for octets in inputs_of(name):
            called.clear()
            module_of(name).target(octets)
            for key in called:
                callers[key].append(octets)
    return callers


def is_noticed(name, module, attribute, answers):
    """Whether a target fails on one of its inputs when a function is broken."""
    inputs = callers_of(name).get((module, attribute)) or inputs_of(name)
    with replaced(name, module, attribute, lambda function: broken(function, answers)):
        try:
            for octets in inputs:
                module_of(name).target(octets)
        except Exception:
            return True
    return False


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "module", "attribute"),
    [(name, module, each) for name in TARGETS for module, names in covers_of(name).items() for each in names],
)
def test_a_broken_function_is_noticed(name, module, attribute):
    """So it is called, and what it answers is looked at. One that gives nothing back does nothing if it is broken."""
    assert is_noticed(name, module, attribute, True) or is_noticed(name, module, attribute, False)
