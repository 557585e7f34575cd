"""The performance page and the comparison of tools say what was measured, also where another tool wins."""

import pytest

from asv_bench import page
from asv_bench.peers import leaves, run
from asv_bench.programs.tree import Leaf, Node


def row(tool, ratio, size=10, slope=1.0, program="dot"):
    times = {"ratio": ratio, "steady": ratio, "first": ratio, "slope": slope, "value": 1.0}
    return {"tool": tool, "program": program, "size": size, "operations": 1} | times


def test_a_faster_tool_is_named():
    rows = [row("tapeengine", 3.0), row("JAX scan", 1.5), row("torch", 30.0)]
    rows += [row("tapeengine", 2.0, 100), row("JAX scan", 9.0, 1)]
    assert page.wins(rows) == "* dot 10: JAX scan (rewritten), 2 times as fast in the steady state."


def test_ratios_of_smaller_sizes_are_marked():
    found = page.best([row("tapeengine", 3.0, 1000), row("torch", 30.0, 10)])
    assert "| dot 1000 | 3 | 30 (n=10) |" in page.cost(found, ["tapeengine", "torch"])


def test_missed_limits_are_shown_with_the_distance():
    limits = [
        {"what": "loop", "limit": 3.0, "unit": "x", "value": 4.0, "met": False, "detail": "", "runs": 2, "spread": 1.1},
        {"what": "dot", "limit": 3.0, "unit": "x", "value": 2.0, "met": True, "detail": "", "runs": 2, "spread": 1.0},
    ]
    text = page.targets(limits)
    assert "1 of 2 are met" in text
    assert "| loop | 3 x | 4 | **missed** |  |" in text
    assert "up to 10 %" in text


def test_tools_that_disagree_are_reported():
    assert run.disagreeing([row("a", 1.0), row("b", 1.0), row("c", 1.0)]) == []
    complaints = run.disagreeing([row("a", 1.0), row("b", 1.0), row("c", 1.0, slope=1.001)])
    assert len(complaints) == 1 and complaints[0].startswith("c on dot 10")


def test_rows_of_cases_that_run_again_are_replaced():
    old = [row("a", 1.0), row("a", 2.0, program="tree")]
    assert run.merged(old, [row("a", 3.0)]) == [row("a", 2.0, program="tree"), row("a", 3.0)]


def test_leaves_are_taken_out_and_put_back_in_order():
    structure = ([1.0, 2.0], Node(Leaf(3.0), Leaf(4.0), 5.0), 6)
    assert leaves.leaves(structure) == [1.0, 2.0, 3.0, 4.0, 5.0]
    assert leaves.rebuilt(structure, [2.0, 3.0, 4.0, 5.0, 6.0])[1] == Node(Leaf(4.0), Leaf(5.0), 6.0)
    assert leaves.flat([structure[:2], None]).tolist() == [1.0, 2.0, 3.0, 4.0, 5.0, 0.0]


def test_python_tape_agrees_with_the_engine():
    from asv_bench.peers import engine, python_tape
    from asv_bench.programs.catalogue import PROGRAMS

    for name in ("scalar_loop", "particles", "quaternion", "tree", "many_outputs"):
        program = PROGRAMS[name]
        ours = engine.prepare(program, program.sizes[0])()
        theirs = python_tape.prepare(program, program.sizes[0])()
        assert leaves.total(ours[0]) == pytest.approx(theirs[0], rel=1e-13)
        assert leaves.flat(list(ours[1])) == pytest.approx(leaves.flat(theirs[1]), rel=1e-11, abs=1e-13)
