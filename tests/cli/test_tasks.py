"""docs/guides/thirty_tasks.md: each task is one command, which prints what the page shows."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/guides/thirty_tasks.md").read_text("utf-8")
TASKS = re.findall(r"^## (\d+)\. (.+)\n\n```console\n\$ (.+)\n((?:.*\n)*?)```$", PAGE, re.MULTILINE)


def test_there_are_thirty():
    assert [int(number) for number, *_ in TASKS] == [*range(1, 31)]
    assert PAGE.count("## ") == PAGE.count("```console") == 30


@pytest.mark.parametrize(("number", "task", "line", "output"), TASKS, ids=[task for _, task, *_ in TASKS])
def test_tasks(number, task, line, output):
    command, _, rest = line.partition(" || ")
    command, _, said = command.partition(" && ")
    assert command.startswith("uricodec ") and rest in {"", "true"} and said in {"", "echo valid"}
    assert not re.search(r"[|;&<>](?=[^']*(?:'[^']*'[^']*)*$)", command), "one command"
    real = f'"{sys.executable}" -m {line}'
    environment = os.environ | {"URICODEC_NO_DOCS_LINKS": "1"}
    done = subprocess.run(real, shell=True, cwd=ROOT, capture_output=True, env=environment, check=True, timeout=60)
    assert done.stdout.decode() == output and done.stderr == b""
    assert output
