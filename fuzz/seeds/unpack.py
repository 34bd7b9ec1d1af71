"""The seeds of a target, literals in the lines of TARGET.txt, as the files that libFuzzer wants: TARGET DIRECTORY."""

import ast
import sys
from pathlib import Path


def seeds(target):
    """A list of bytes."""
    lines = Path(__file__).with_name(f"{target}.txt").read_text("ascii").splitlines()
    return list(map(ast.literal_eval, lines))


if __name__ == "__main__":
    target, directory = sys.argv[1:]
    Path(directory).mkdir(parents=True, exist_ok=True)
    for number, seed in enumerate(seeds(target)):
        Path(directory, f"seed-{number}").write_bytes(seed)
