#!/usr/bin/env bash
# The tests on a core that GCC's AddressSanitizer and UndefinedBehaviorSanitizer watch:
#
#   tools/sanitize.sh [ARGUMENT ...]    pytest's arguments; without any, the tests of all compiled code
#
# PYTHON (default: python) needs headers, setuptools, Cython and what the tests need. All output is below build/sanitize.
#
# Python runs with both runtimes and with malloc in place of its own allocator, which would hide what is read beyond an
# object. The processes that tests start inherit this. ASan writes a file for each report, so none is lost in a process
# that was meant to fail; UBSan, which cannot do that next to ASan, aborts the process.
set -euo pipefail
cd "$(dirname "$0")/.."
work=$PWD/build/sanitize python=${PYTHON:-python}

# The compiler is wrapped, as its last options hold: many a Python brings -fwrapv, which defines what overflows, and
# -DNDEBUG, without which the assertions in Python's headers are checked, too.
flags="-O1 -g -UNDEBUG -fno-wrapv -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=undefined"
mkdir -p "$work"
printf '#!/bin/sh\nexec gcc "$@" %s\n' "$flags" >"$work/cc"
chmod +x "$work/cc"
CC=$work/cc LDSHARED="$work/cc -shared" "$python" setup.py -q build --build-lib "$work/lib" \
    --build-temp "$work/objects" >"$work/build.log" 2>&1 || { tail -n 40 "$work/build.log" && exit 1; }

rm -rf "$work/reports" && mkdir "$work/reports"
# Leaks are not checked: Python itself does not free all memory at exit. A failed allocation is not an error: tests
# request too much on purpose.
export ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1:quarantine_size_mb=64:log_path=$work/reports/report
export UBSAN_OPTIONS=print_stacktrace=1:abort_on_error=1
export PYTHONPATH=$work/lib PYTHONMALLOC=malloc PYTHONDONTWRITEBYTECODE=1 URICODEC_EXAMPLES=${URICODEC_EXAMPLES:-20}
preload="$(gcc -print-file-name=libasan.so) $(gcc -print-file-name=libubsan.so)"

# Commands run the same core in processes of their own, which takes long. The mark `process` is for tests of the memory
# of a process: a sanitizer reserves terabytes of addresses, and keeps what is freed.
if [ $# -eq 0 ]; then
    set -- tests -n "$(nproc)" --dist loadfile -m "not long and not process" --ignore tests/cli --ignore tests/test_docs.py
fi
status=0
# --capture=sys leaves the standard error of the process, where UBSan writes.
LD_PRELOAD=$preload "$python" -m pytest -q -p no:cacheprovider --capture=sys "$@" || status=$?

if grep -l 'ERROR: AddressSanitizer' "$work"/reports/* 2>/dev/null | xargs -r cat | grep .; then status=1; fi
exit "$status"
