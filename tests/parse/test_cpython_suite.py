"""The interpreter's own tests of urllib.parse, run against `uricodec.parse` in a process of their own.

Each suite runs twice, with the stdlib and with the drop-in in its place: what passes with the one must pass with the
other. Two tests ask for the identity of the stdlib's functions and are waived: test_all and test___all__.
"""

import importlib.util
import json
import subprocess
import sys
from functools import cache

import pytest

SUITES = "test.test_urlparse", "test.test_urllib"
WAIVED = "test_all", "test___all__"

# Argument 1: the suite. 2: what stands in for urllib.parse: "stdlib", "drop-in" (uricodec.parse is urllib.parse),
# "installed" (uricodec.install()), or the name of a function of the drop-in's that is to go wrong. 3: sys.path.
RUNNER = """
import importlib, json, sys, types, unittest, warnings
suite, candidate = sys.argv[1:3]
sys.path[:] = json.loads(sys.argv[3])
import urllib.parse as real

if candidate == "installed":
    import uricodec
    uricodec.install()
elif candidate != "stdlib":
    import uricodec.parse as module
    if candidate != "drop-in":
        mutant = types.ModuleType("mutant")
        mutant.__dict__.update({name: getattr(module, name) for name in dir(module)})
        right = getattr(module, candidate)
        def wrong(*arguments, **keywords):
            result = right(*arguments, **keywords)
            return result[:-1] if result else result
        setattr(mutant, candidate, wrong)
        module = mutant
    # Whoever holds a function of the stdlib's is imported anew.
    held = {id(getattr(real, name)) for name in real.__all__} | {id(real)}
    for name, other in list(sys.modules.items()):
        if not name.startswith(("uricodec", "urllib.parse", "__main__")) and held & set(map(id, vars(other).values())):
            if name != "urllib":
                del sys.modules[name]
    sys.modules["urllib.parse"] = sys.modules["urllib"].parse = module

outcomes = {}

class Result(unittest.TestResult):
    def addSuccess(self, test):
        outcomes.setdefault(test.id(), "ok")

    def addFailure(self, test, error):
        outcomes[test.id()] = self._exc_info_to_string(error, test)

    def addSubTest(self, test, subtest, error):
        if error is not None:
            self.addFailure(test, error)

    addError = addFailure

from test import support
support.use_resources = []
http = getattr(importlib.import_module(suite), "urlopen_HttpTests", None)
if http:  # takes a second, to ask http.client about each control character
    http.test_url_path_with_control_char_rejected = None
tests = unittest.defaultTestLoader.loadTestsFromName(suite)
if candidate not in ("stdlib", "installed"):
    assert sys.modules["urllib.parse"] is module
    assert sys.modules[suite].urllib.parse is module
with warnings.catch_warnings():
    warnings.simplefilter("default")
    tests.run(Result())
print("outcomes", json.dumps(outcomes))
"""


@cache
def outcomes(suite, candidate, folder):
    """What became of each test that was not skipped: "ok" or a traceback."""
    command = [sys.executable, "-c", RUNNER, suite, candidate, json.dumps(sys.path)]
    process = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300, cwd=folder)
    last = process.stdout.rpartition("outcomes ")[2]
    assert process.returncode == 0 and last, process.stderr
    return json.loads(last)


def broken(suite, candidate, folder):
    """The tests that pass with the stdlib and do not with the candidate."""
    expected, found = outcomes(suite, "stdlib", folder), outcomes(suite, candidate, folder)
    assert list(expected.values()).count("ok") > 40
    return {
        name: found.get(name, "did not run")
        for name, outcome in expected.items()
        if outcome == "ok" and found.get(name) != "ok" and name.rpartition(".")[2] not in WAIVED
    }


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    if importlib.util.find_spec("test") is None or not all(map(importlib.util.find_spec, SUITES)):
        package = f"libpython{sys.version_info[0]}.{sys.version_info[1]}-testsuite"
        pytest.skip(f"this Python lacks CPython's tests: install {package} (Debian) or python3-test (Fedora)")
    return tmp_path_factory.mktemp("cpython")


@pytest.mark.slow
@pytest.mark.parametrize("suite", SUITES)
@pytest.mark.parametrize("candidate", ["drop-in", "installed"])
def test_suite(suite, candidate, folder):
    failures = broken(suite, candidate, folder)
    assert not failures, "\n\n".join(f"{name}\n{text}" for name, text in failures.items())


@pytest.mark.slow
@pytest.mark.parametrize(("suite", "function"), [("test.test_urlparse", "urljoin"), ("test.test_urllib", "quote")])
def test_a_wrong_function_is_found(suite, function, folder):
    assert len(broken(suite, function, folder)) >= 3


@pytest.mark.slow
def test_no_more_than_two_tests_are_waived(folder):
    for suite in SUITES:
        expected, found = outcomes(suite, "stdlib", folder), outcomes(suite, "drop-in", folder)
        waived = [name for name in expected if name.rpartition(".")[2] in WAIVED and found.get(name) != "ok"]
        assert len(waived) <= 2, waived
