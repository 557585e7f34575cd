"""The comparison of tools: a failing case affects only its own row, and a file holds the rows of one commit."""

import json

import numpy as np
import pytest

from asv_bench.peers import engine, idioms, leaves, python_tape, results, run, typed_programs
from asv_bench.programs.catalogue import PROGRAMS
from asv_bench.programs.tree import Leaf, Node

TAPE = "Python tape"


def row(tool, ratio=2.0, size=10, slope=1.0, program="dot"):
    times = {"ratio": ratio, "steady": ratio, "first": ratio, "first_cpu": ratio, "slope": slope, "value": 1.0}
    return {"tool": tool, "program": program, "size": size, "operations": 1} | times


def measured(tmp_path, *arguments):
    """Run the command on the smallest sizes, and return its exit code and its file."""
    file = tmp_path / "peers.json"
    code = run.main(["--quick", "--no-memory", "--output", str(file), *arguments])
    return code, json.loads(file.read_text())


def test_two_tools_on_two_programs(tmp_path, capsys):
    code, data = measured(tmp_path, "--tools", idioms.OURS, TAPE, "--programs", "multiply", "lse")
    assert code == 0
    assert [(r["program"], r["tool"]) for r in data["rows"]] == [
        ("multiply", idioms.OURS),
        ("multiply", TAPE),
        ("lse", idioms.OURS),
        ("lse", TAPE),
    ]
    assert data["rows"][0]["slope"] == pytest.approx(data["rows"][1]["slope"], rel=1e-14)
    assert data["rows"][3]["refused"] == "works on scalars alone"
    assert "all tools agree" in capsys.readouterr().out
    assert [path.name for path in tmp_path.iterdir()] == ["peers.json"]


BROKEN = """
import os, sys
program = sys.argv[5] if len(sys.argv) > 5 else ""
if program == "dot":
    os.abort()
if program == "tree":
    sys.exit("out of luck")
"""


def test_a_crash_costs_its_own_row_alone(tmp_path, monkeypatch):
    monkeypatch.setattr(run, "START", BROKEN + run.START)
    code, data = measured(tmp_path, "--tools", TAPE, "--programs", "multiply", "dot", "tree", "quaternion")
    found = {r["program"]: r for r in data["rows"]}
    assert code == 0
    assert found["dot"]["error"] == "crashed with SIGABRT"
    assert found["tree"]["error"] == "out of luck"
    assert found["multiply"]["ratio"] > 0.0
    assert found["quaternion"]["ratio"] > 0.0


ENDLESS = """
import asv_bench.peers.case as case
case.measure = lambda *arguments: exec("while True: pass")
case.main(*sys.argv[1:])
"""


def test_a_case_that_takes_too_long_is_ended_and_named(monkeypatch):
    monkeypatch.setattr(run, "START", run.START.split("from asv_bench")[0] + ENDLESS)
    found = run.run_process(TAPE, "measure", "multiply", "1", limit=2.0)
    assert found == {"error": "took more than 2 s of CPU time"}


def test_tools_that_are_missing_or_broken_are_named_and_skipped(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(run, "installed", lambda tool: tool != "XAD")
    broken = "import sys; sys.exit('ImportError: no such symbol') if 'autograd' in sys.argv else None; "
    monkeypatch.setattr(run, "START", broken + run.START)
    code, data = measured(tmp_path, "--tools", TAPE, "XAD", "autograd", "--programs", "multiply")
    printed = capsys.readouterr().out
    assert code == 0
    assert {r["tool"] for r in data["rows"]} == {TAPE}
    assert "XAD is skipped: not installed" in printed
    assert "autograd is skipped: ImportError: no such symbol" in printed


def test_cases_left_when_time_is_over_are_named(tmp_path, capsys):
    code = run.main(["--minutes", "0", "--tools", TAPE, "--programs", "multiply", "--output", str(tmp_path / "p.json")])
    assert code == 1
    assert "not started, time is over: multiply 1 Python tape" in capsys.readouterr().out


def test_sizes_that_would_take_too_long_are_foreseen():
    linear = [row("a", 0.1, 10), row("a", 1.0, 100)]
    assert run.foreseen(linear, 1000) == pytest.approx(10.0 + 60.0)
    quadratic = [row("a", 0.01, 10), row("a", 1.0, 100)]
    assert run.foreseen(quadratic, 1000) == pytest.approx(100.0 + 60.0)
    assert run.foreseen([row("a", 0.0, 10), row("a", 0.0, 100)], 1000) == 0.0


def test_rows_of_the_same_commit_are_kept_and_those_of_the_case_replaced(tmp_path):
    file = tmp_path / "peers.json"
    first = results.Results(file, "abc")
    first.replace("XAD", "tree", [row("XAD", program="tree")])
    first.replace(TAPE, "dot", [row(TAPE), row(TAPE, size=100)])
    second = results.Results(file, "abc")
    second.replace(TAPE, "dot", [row(TAPE, 3.0)])
    again = results.Results(file, "abc")
    assert again.left_out == ""
    assert again.rows == [row(TAPE, 3.0), row("XAD", program="tree")]


@pytest.mark.parametrize(("before", "now"), [("abc", "abd"), ("abc+", "abc+"), ("unknown", "unknown")])
def test_rows_of_another_commit_are_left_out_with_a_word(tmp_path, before, now):
    file = tmp_path / "peers.json"
    results.Results(file, before).replace(TAPE, "dot", [row(TAPE)])
    after = results.Results(file, now)
    assert after.rows == []
    assert after.left_out == f"1 rows of commit {before}, for this is {now}"


def test_a_partial_run_does_not_touch_a_file_of_another_commit(tmp_path, capsys):
    file = tmp_path / "peers.json"
    results.Results(file, "another").replace("XAD", "dot", [row("XAD")])
    text = file.read_text()
    arguments = ["--tools", TAPE, "--programs", "multiply", "--no-memory", "--output", str(file)]
    assert run.main(arguments) == 2
    assert "1 rows of commit another" in capsys.readouterr().out
    assert file.read_text() == text
    assert run.main([*arguments, "--fresh"]) == 0
    assert [r["tool"] for r in json.loads(file.read_text())["rows"]] == [TAPE]


def test_tools_that_disagree_are_reported():
    assert results.disagreeing([row("a"), row("b"), row("c")]) == []
    complaints = results.disagreeing([row("a"), row("b"), row("c", slope=1.001)])
    assert len(complaints) == 1 and complaints[0].startswith("c on dot 10")


def test_every_idiom_says_where_it_is():
    for name, idiom in idioms.IDIOMS.items():
        assert (run.ROOT / "asv_bench" / "peers" / f"{idiom.module}.py").is_file(), name


def test_leaves_are_taken_out_and_put_back_in_order():
    structure = ([1.0, 2.0], Node(Leaf(3.0), Leaf(4.0), 5.0), 6)
    assert leaves.leaves(structure) == [1.0, 2.0, 3.0, 4.0, 5.0]
    assert leaves.rebuilt(structure, [2.0, 3.0, 4.0, 5.0, 6.0])[1] == Node(Leaf(4.0), Leaf(5.0), 6.0)
    assert leaves.flat([structure[:2], None]).tolist() == [1.0, 2.0, 3.0, 4.0, 5.0, 0.0]


def test_lists_of_floats_become_arrays():
    weights, (matrix, bias) = leaves.stacked(([1.0, 2.0], ([[1.0, 2.0]], [3.0])))
    assert weights.tolist() == [1.0, 2.0] and matrix.tolist() == [[1.0, 2.0]] and bias.tolist() == [3.0]


@pytest.mark.parametrize("tool", [python_tape, typed_programs], ids=["tape", "typed"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_both_frontends_and_the_python_tape_agree(name, tool):
    program = PROGRAMS[name]
    if tool.TOOLS[0].refusal(program) or (name, tool) == ("det", typed_programs):
        pytest.skip("refused, or evaluated for seconds")
    size = program.sizes[0]
    ours = engine.prepare(program, size)()
    theirs = tool.prepare(program, size)()
    assert leaves.total(ours[0]) == pytest.approx(leaves.total(theirs[0]), rel=1e-12)
    np.testing.assert_allclose(leaves.flat(list(theirs[1])), leaves.flat(list(ours[1])), rtol=1e-10, atol=1e-12)
