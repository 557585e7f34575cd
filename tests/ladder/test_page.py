"""docs/ladder.md states what the ladder computes."""

import re
import shlex
from pathlib import Path

import pytest

from asv_bench.ladder import filled
from tapeengine.__main__ import main
from tapeengine.ladder.dn import STEPS

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "ladder.md").read_text(encoding="utf-8")


def test_the_tables_are_what_the_steps_count():
    assert filled(PAGE) == PAGE
    assert PAGE.count("<!-- table:") == 5


@pytest.mark.parametrize("session", re.findall(r"```\n\$ python -m tapeengine (.*?)\n(.*?)```", PAGE, re.DOTALL))
def test_the_sessions_print_what_the_page_shows(session, capsys):
    command, shown = session
    assert main(shlex.split(command)) == 0
    assert capsys.readouterr().out == shown


def test_each_step_is_listed_with_its_module():
    listed = re.findall(r"^\| ([a-z ]+) \| \d[^|]*\| `(dn/\w+\.py)`", PAGE, re.MULTILINE)
    assert [step for step, _ in listed] == list(STEPS)
    assert all((ROOT / "tapeengine" / "ladder" / path).exists() for _, path in listed)
