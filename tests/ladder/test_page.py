"""docs/ladder.md states the numbers that the ladder computes."""

import re
import shlex
from pathlib import Path

import pytest

from asv_bench.ladder import filled
from asv_bench.ladder_costs import COSTS
from tapeengine.__main__ import main
from tapeengine.ladder import chad, dn
from tapeengine.ladder.wn import steps as wn

ROOT = Path(__file__).resolve().parents[2]
LADDER = ROOT / "tapeengine" / "ladder"
PAGE = (ROOT / "docs" / "ladder.md").read_text(encoding="utf-8")


def test_the_tables_are_what_the_steps_count():
    assert filled(PAGE) == PAGE
    assert re.findall("<!-- table: (.*?) -->", PAGE) == list(COSTS)


@pytest.mark.parametrize("session", re.findall(r"```\n\$ python -m tapeengine (.*?)\n(.*?)```", PAGE, re.DOTALL))
def test_the_sessions_print_what_the_page_shows(session, capsys):
    command, shown = session
    assert main(shlex.split(command)) == 0
    assert capsys.readouterr().out == shown


def test_each_step_is_listed_with_its_module():
    listed = re.findall(r"^\| ([a-z ]+) \| [^|]*\d[^|]*\| `(dn|chad|wn)/\w+\.py`", PAGE, re.MULTILINE)
    for folder, steps in {"dn": dn.STEPS, "chad": chad.STEPS, "wn": wn.STEPS}.items():
        assert [step for step, where in listed if where == folder and step in steps] == list(steps)


def test_all_modules_are_named():
    named = set(re.findall(r"`([\w/]+\.py)`", PAGE))
    there = {str(path.relative_to(LADDER)) for path in LADDER.rglob("*.py") if path.name != "__init__.py"}
    assert there - named == set()
    assert {path for path in named if "/" in path or path in there} - {
        "tests/ladder/test_bags.py",
        "asv_bench/ladder_costs.py",
    } <= there


def test_a_module_is_short():
    lengths = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in LADDER.rglob("*.py")}
    assert {str(path): length for path, length in lengths.items() if length > 200} == {}
