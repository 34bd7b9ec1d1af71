"""All that can be run: `nox -l` lists it, `nox` runs lint, types and tests, `nox -s NAME -- ARGUMENTS` one session.

Sessions install dependency groups of pyproject.toml, in the versions of uv.lock, and one wheel of the package, which is
built once for all of them. Times are of two idle cores, without this wheel, which takes 2 minutes more.

`nox -P 3.13 -s tests` takes another Python than the one that runs nox.
"""

import json
import os
import shutil
from pathlib import Path
from xml.etree import ElementTree

import nox

nox.needs_version = ">=2025.5"
nox.options.sessions = ["lint", "types", "tests"]
nox.options.default_venv_backend = "uv"
nox.options.error_on_external_run = True

SLOWLY = {"PYTEST_TIMEOUT": "3000"}  # for compilers' instruments
WHEELS = {}  # a tag like cpython-311-x86_64-linux-gnu -> its wheel

# Python takes the GIL back for a module that does not do without.
NO_GIL = """
import importlib, pkgutil, sys, uricodec
for module in pkgutil.walk_packages(uricodec.__path__, "uricodec."):
    try:
        importlib.import_module(module.name)
    except ModuleNotFoundError as error:
        assert not error.name.startswith("uricodec"), error
    assert not sys._is_gil_enabled(), module.name
"""
# Tests without a signal, a file or a clock of their own, which can run in 8 threads at once.
IN_THREADS = [
    "tests/test_bytesets.py",
    "tests/test_errors.py",
    "tests/test_security.py",
    "tests/_base/test_fingerprint.py",
    "tests/_codec/test_triplets.py",
    "tests/iri/test_conversion.py",
    "tests/parse/test_quote.py",
    "tests/uri/test_components.py",
    "tests/uri/test_normalize.py",
    "tests/uri/test_legacy_schemes.py",
    "tests/uri/test_resolve.py",
    "tests/urn/test_conversions.py",
    "tests/urn/test_parse.py",
    "tests/urn/test_vectors.py",
]

# Of each package that is tested with the drop-in: what its tests need, and which of them use URLs.
DOWNSTREAM = {
    "requests": ("pytest-httpbin==2.1.0 httpbin~=0.10.0 pytest-mock trustme PySocks", "tests"),
    "urllib3": (
        "trustme quart hypercorn quart-trio pytest-timeout pytest-socket anyio trio httpx tornado",
        "-p no:timeout -W ignore::pytest.PytestUnknownMarkWarning test/test_util.py test/test_response.py"
        " test/test_poolmanager.py test/test_retry.py test/test_fields.py",
    ),
    "werkzeug": (
        "ephemeral-port-reserve pytest-timeout pytest-xprocess cryptography watchdog",
        "tests --ignore=tests/test_serving.py",
    ),
    "flask": ("asgiref python-dotenv pytest<9", "tests"),
    "starlette": ("httpx httpx2 anyio trio itsdangerous jinja2 python-multipart pyyaml", "tests"),
    "w3lib": ("hypothesis", "tests --ignore=tests/benchmarks --hypothesis-seed=0"),
    "scrapy": (
        "testfixtures pexpect sybil pytest-twisted",
        "tests/test_linkextractors.py tests/test_utils_url.py tests/test_http_request.py"
        " tests/test_robotstxt_interface.py",
    ),
    "rdflib": ("html5rdf networkx pytest-subtests", "test/test_namespace test/test_graph test/test_parsers"),
}


def install(session, *groups, package=True):
    """Install dependency groups, and the package."""
    options = [f"--group={group}" for group in groups]
    environment = {"UV_PROJECT_ENVIRONMENT": session.virtualenv.location}
    session.run_install(
        "uv", "sync", "-q", "--locked", "--no-install-project", "--no-default-groups", *options, env=environment
    )
    if package:
        session.install("-q", "--no-deps", wheel(session))


def wheel(session):
    """Return the path of a wheel for the Python of a session. The first session builds it."""
    code = "import sysconfig; print(sysconfig.get_config_var('EXT_SUFFIX').split('.')[1])"
    python = session.run("python", "-c", code, silent=True, log=False).strip()
    if python not in WHEELS:
        folder = Path("build/wheel", python)
        shutil.rmtree(folder, ignore_errors=True)
        session.run("uv", "build", "-q", "--wheel", "--python", session.virtualenv.location, "-o", str(folder))
        (WHEELS[python],) = folder.glob("*.whl")
    return str(WHEELS[python])


@nox.session
def lint(session):
    """Run ruff, cython-lint, codespell and zizmor, as pre-commit does on each commit: 20 seconds."""
    session.install("-q", "pre-commit>=4")  # it installs the others, in the versions of its file
    session.run("pre-commit", "run", "--all-files", "--show-diff-on-failure", *session.posargs)


@nox.session
def types(session):
    """Check stubs, typical uses and the types of all public names, and stubs against modules: 1 minute."""
    install(session, "test", "types")
    session.run("pyright")
    session.run("mypy", "--strict", "tests/types")
    options = ["--ignoreexternal", "--outputjson"]  # its exit status counts uricodec.cli, which is not for callers
    report = session.run("pyright", "--verifytypes", "uricodec", *options, silent=True, success_codes=[0, 1])
    symbols = [each for each in json.loads(report)["typeCompleteness"]["symbols"] if each["isExported"]]
    symbols = [each for each in symbols if not each["name"].startswith("uricodec.cli")]
    untyped = [each["name"] for each in symbols if not each["isTypeKnown"] or each["isTypeAmbiguous"]]
    session.log(f"{len(symbols) - len(untyped)} of {len(symbols)} public names have types")
    if untyped or not symbols:
        session.error(f"without a type: {untyped}")
    session.run(
        "stubtest", "uricodec", "--allowlist", "tests/types/stubtest.txt", "--mypy-config-file", "pyproject.toml"
    )


@nox.session
def tests(session):
    """Run the tests, as the README's command does: 4 minutes; `-- --fast`: 80 seconds."""
    install(session, "test")
    session.run("pytest", *session.posargs)


@nox.session
def sdist(session):
    """Build the sdist, unpack it, build the package from it, and run the fast tests there: 3 minutes."""
    install(session, "test", package=False)
    folder = Path("build/sdist")
    shutil.rmtree(folder, ignore_errors=True)
    session.run("uv", "build", "-q", "--sdist", "-o", str(folder))
    (archive,) = folder.glob("*.tar.gz")
    shutil.unpack_archive(archive, folder)
    with session.chdir(str(archive).removesuffix(".tar.gz")):
        session.install("-q", "--no-deps", ".")
        session.run("pytest", "-q", *(session.posargs or ["--fast"]))


@nox.session
def interop(session):
    """Run the tests with other libraries, and all examples of the documentation: 4 minutes."""
    install(session, "test", "interop")
    for arguments in [session.posargs] if session.posargs else [["-m", "interop and not long"], ["tests/test_docs.py"]]:
        session.run("pytest", "-q", *arguments)


@nox.session
def spark(session):
    """Run the tests with Spark, and its examples: 3 minutes; needs Java 17 or newer."""
    install(session, "test", "spark")
    environment = {"PYSPARK_PYTHON": str(Path(session.bin).resolve() / "python")}
    session.run("pytest", "-q", "-m", "not long", "tests/integrations/test_spark.py", env=environment)
    session.run("pytest", "-q", "tests/test_docs.py", "-k", "spark", env=environment)


@nox.session
def recipes(session):
    """Run the recipes for Dask, Ray and Daft, which Python 3.15 has no wheels of: 2 minutes."""
    install(session, "test", "recipes")
    session.run("pytest", "-q", "tests/test_docs.py", "-k", "recipes", env={"RAY_AUTH_MODE": "disabled"})


@nox.session
def docs(session):
    """Build the documentation, in build/html: 1 minute."""
    install(session, "docs", "test")
    session.run("sphinx-build", "-q", "-W", "--keep-going", "docs", "build/html", *session.posargs)


@nox.session
def coverage(session):
    """Show which lines of Python, Cython and C no test runs: an hour; needs gcc and Java 17."""
    install(session, "build", "test", "interop", "coverage")
    session.install("-q", "pyspark[sql]>=4.1", "pandas<3")
    session.run("python", "tools/coverage.py", *session.posargs, env=SLOWLY)


@nox.session
def sanitize(session):
    """Run the tests with AddressSanitizer and UndefinedBehaviorSanitizer: an hour; needs gcc."""
    install(session, "build", "test", "interop")
    session.run("bash", "tools/sanitize.sh", *session.posargs, external=True, env=SLOWLY)


@nox.session
def free_threaded(session):
    """Run the tests without the GIL, then some in 8 threads at once: 10 minutes; `nox -P 3.14t`.

    With TSAN=1, only tests of threads: for a Python and a package that are built with ThreadSanitizer.
    """
    install(session, "test", "free-threaded")
    session.run("python", "-W", "error", "-c", NO_GIL)
    if os.environ.get("TSAN"):
        tests = ["tests/test_threads.py", "tests/_counting/test_table.py", "tests/_io/test_workers.py"]
        session.run("pytest", "-q", "-s", *tests, env=SLOWLY)
        return
    session.run("pytest", "-q", "-n", "2", "-m", "not long and not process", *(session.posargs or ["tests"]))
    threads = ["--parallel-threads=8", "-o", "thread_unsafe_fixtures=fences", "-k", "not linear"]
    session.run("pytest", "-q", *threads, *IN_THREADS, env={"URICODEC_EXAMPLES": "2"})


@nox.session
def mutants(session):
    """Show which of 250 small random faults no test notices: an hour; needs gcc."""
    install(session, "build", "test")
    for arguments in [session.posargs] if session.posargs else [["build"], ["run", "tests"]]:
        session.run("python", "tools/mutants.py", *arguments)


@nox.session(venv_backend="none")
def fuzz(session):
    """Fuzz each target for a minute: 20 minutes; needs clang. `-- TARGET SECONDS`: one target."""
    session.run("bash", "fuzz/run", *(session.posargs or ["all", "60"]), external=True)


@nox.session
def differential(session):
    """Compare with other programs and slow references on random inputs: 40 minutes. `-- hosts`: one subject."""
    install(session, "test", "differential")
    for arguments in [session.posargs] if session.posargs else [["hosts"], ["whatwg"], ["redact"], ["logs"]]:
        session.run("python", "tools/differential.py", *arguments)


@nox.session
def cross(session):
    """Compile for systems that no runner has, and run the kernels there: an hour; emulators: see tools/cross.py."""
    install(session, "cross", package=False)
    session.run("python", "tools/cross.py", *session.posargs)


@nox.session
def release(session):
    """Build the sdist and a wheel of this machine, as a release has them, in dist, and check both: 3 minutes."""
    install(session, "release", package=False)
    shutil.rmtree("dist", ignore_errors=True)
    options = nox.project.load_toml()["tool"]["cibuildwheel"]["linux"]["environment"]
    session.run("python", "-m", "build", "--no-isolation", "--outdir", "dist", env=options)
    wheels = [str(path) for path in Path("dist").glob("*.whl")]
    session.run("python", "tools/check_release.py", "--sbom", *wheels)
    session.run("auditwheel", "repair", "-w", "dist", *wheels)
    for path in wheels:
        Path(path).unlink()
    session.run("python", "tools/check_release.py", *(str(path) for path in Path("dist").glob("*.whl")))
    session.run("twine", "check", "--strict", *(str(path) for path in Path("dist").iterdir()))


@nox.session
@nox.parametrize("name", list(DOWNSTREAM), ids=list(DOWNSTREAM))
def downstream(session, name):
    """Run the tests of another package without and with the drop-in, for the same outcomes: 5 minutes."""
    needs, tests = DOWNSTREAM[name]
    session.install("-q", "pip", "pytest", "idna", name, *needs.split())
    session.install("-q", "--no-deps", wheel(session))
    folder = Path(session.create_tmp())
    session.run("python", "-m", "pip", "download", "-q", "--no-deps", "--no-binary", name, "-d", str(folder), name)
    (archive,) = folder.glob("*.tar.gz")
    shutil.unpack_archive(archive, folder)
    session.chdir(str(archive).removesuffix(".tar.gz"))
    differ = None
    for _ in range(2):  # some tests depend on time or order: what differs once must differ again
        found = {}
        for plugin in [], ["-p", "uricodec.pytest_plugin"]:
            options = ["-q", "-p", "no:cacheprovider", "--junitxml=report.xml", *plugin, *tests.split()]
            session.run("pytest", *options, success_codes=[0, 1], env={"PYTHONHASHSEED": "0"}, silent=True)
            for case in ElementTree.parse("report.xml").iter("testcase"):
                kinds = [child.tag for child in case if child.tag in {"failure", "error", "skipped"}]
                outcome = found.setdefault(f"{case.get('classname')}::{case.get('name')}", [])
                outcome.append(kinds[0] if kinds else "passed")
        now = {f"{test}: {each}" for test, each in found.items() if len(each) != 2 or each[0] != each[1]}
        differ = now if differ is None else differ & now
        if not differ:
            break
    if not found or differ:
        session.error("\n".join(sorted(differ)) or "no test ran")
