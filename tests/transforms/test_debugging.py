"""The debug switch, the view of a tape, progress, and the command show."""

import dataclasses
import itertools
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tapeengine as te
import tapeengine.math as tm
import tapeengine.numpy as tnp
from tapeengine._core.sweeps import linear
from tapeengine.errors import NotFiniteError
from tapeengine.transforms.inspection.source_lines import Line
from tapeengine.transforms.inspection.tape_view import Cost, TapeView


def root_of_zero(x: Any) -> Any:
    y = x * 2.0
    z = tm.sqrt(y - y)  # the partial is infinite
    return z * 0.0 + x


def log_of_zero(x: Any) -> Any:
    y = x - x
    z = tnp.log(y)  # the values are
    return tnp.sum(z)


def overflow(x: Any) -> Any:
    y = x * 1e200  # its cotangent overflows
    return [y, x]


def line_with(comment: str) -> int:
    lines = Path(__file__).read_text().splitlines()
    return next(i for i, line in enumerate(lines, 1) if line.endswith(f"# {comment}"))


@pytest.fixture
def engine() -> te.Engine:
    return te.Engine()


def test_a_partial_that_is_not_finite_is_named(engine: te.Engine) -> None:
    with engine.debug(nans=True), pytest.raises(NotFiniteError) as caught:
        engine.grad(root_of_zero)(3.0)
    message = str(caught.value)
    assert f"{__file__}:{line_with('the partial is infinite')} in root_of_zero" in message
    assert "sqrt of 0.0" in message and "inf" in message
    assert engine.grad(root_of_zero)(3.0) == 1.0  # debug is off again: a linear map sends zero to zero


@pytest.mark.filterwarnings("ignore:divide by zero")
@pytest.mark.parametrize("transform", ["grad", "jacfwd"])
def test_an_array_that_is_not_finite_is_named(engine: te.Engine, transform: str) -> None:
    with engine.debug(nans=True), pytest.raises(NotFiniteError, match=r"log gives -inf at \[0\]") as caught:
        getattr(engine, transform)(log_of_zero)(np.ones(2))
    assert f":{line_with('the values are')} in log_of_zero" in str(caught.value)


def test_a_cotangent_that_is_not_finite_is_named(engine: te.Engine) -> None:
    with engine.debug(nans=True):
        _value, backpropagator = engine.vjp(overflow, 1.0)
        assert backpropagator([1.0, 1.0]) == (1e200,)
        with pytest.raises(NotFiniteError, match="cotangent") as caught:
            backpropagator([1e200, 1.0])
    assert f":{line_with('its cotangent overflows')} in overflow" in str(caught.value)


def test_the_switch_keeps_lines_of_records(engine: te.Engine) -> None:
    with engine.debug(records=True):
        _value, backpropagator = engine.vjp(root_of_zero, 3.0)
    operations = {record[1]: record[0] for record in backpropagator.tape.records()}
    assert backpropagator.line(operations["sqrt"]).number == line_with("the partial is infinite")
    assert backpropagator.line(operations["add"]).text == "return z * 0.0 + x"
    assert not hasattr(engine.vjp(root_of_zero, 3.0)[1], "line")


def test_results_are_the_same_with_the_switch_on(engine: te.Engine) -> None:
    def program(x: Any) -> Any:
        return tnp.sum(tnp.sin(x) * x[0])

    x = np.array([0.3, 0.4])
    expected = engine.value_and_grad(program)(x), engine.hessian(program)(x)
    with engine.debug(nans=True, records=True):
        found = engine.value_and_grad(program)(x), engine.hessian(program)(x)
    np.testing.assert_array_equal(found[0][1], expected[0][1])
    np.testing.assert_array_equal(found[1], expected[1])


def spring(x: Any, v: Any, steps: int) -> Any:
    for _ in range(steps):
        force = -2.0 * tm.sin(x)
        v = v + 0.1 * force
        x = x + 0.1 * v
    return x * v


def test_counts_by_operation_and_line() -> None:
    view = te.tape(spring, 1.0, 0.0, 10)
    assert len(view) == 61 == sum(view.by_operation.values()) == sum(view.by_line.values())
    assert view.by_operation == {"sin": 10, "mul": 31, "add": 20}
    texts = {line.text: count for line, count in view.by_line.items()}
    assert texts["force = -2.0 * tm.sin(x)"] == 20 and texts["return x * v"] == 1
    assert view.nbytes == 25 * len(view)


def test_the_profile_adds_up() -> None:
    view = te.tape(spring, 1.0, 0.0, 50)
    costs = view.profile()
    assert sum(cost.records for cost in costs) == len(view)
    assert all(cost.bytes == 25 * cost.records and cost.forward >= 0 and cost.reverse >= 0 for cost in costs)
    assert "force = -2.0 * tm.sin(x)" in view.table() and "records" in view.table()


def test_the_dearest_lines_come_first(monkeypatch: pytest.MonkeyPatch) -> None:
    view = te.tape(spring, 1.0, 0.0, 1)
    view.recorder.segments = [dataclasses.replace(s, seconds=float(k)) for k, s in enumerate(view.recorder.segments)]
    monkeypatch.setattr(linear, "reverse_times", lambda *given: [float(50 * k % 70) for k in range(len(given[-1]))])
    totals = [cost.forward + cost.reverse for cost in view.profile()]
    assert totals == sorted(totals, reverse=True) and len(set(totals)) > 3


def test_the_table_shows_the_costs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    view = te.tape(spring, 1.0, 0.0, 10)
    code = "".join(chr(ord("a") + k % 26) for k in range(80))  # which is cut after 60 characters
    (tmp_path / "long.py").write_text(f"{code}\n")
    line, seconds = Line(str(tmp_path / "long.py"), 1, "f"), [(1e-6, 5e-6), (4e-6, 2.5e-7)]
    monkeypatch.setattr(TapeView, "profile", lambda self: [Cost(line, 4, 1000, *times) for times in seconds])
    rows = [row.split() for row in view.table().splitlines()]
    assert rows[1] == ["long.py:1", "4", "1,000", "1.0", "us", "5.0", "us", code[:60]]
    assert rows[2] == ["long.py:1", "4", "1,000", "4.0", "us", "0.2", "us", code[:60]]


def weighted(x: Any) -> Any:
    y = WEIGHTS @ x
    return tnp.dot(y, tnp.sum(tnp.outer(y, x), axis=1)) + tnp.sum(y)


WEIGHTS = np.arange(1200.0).reshape(40, 30)


def test_the_profile_counts_the_arrays_that_records_keep() -> None:
    """The weights and x once each, the two sums of 40, and the outer product's operands, which are views of these."""
    view = te.tape(weighted, np.ones(30))
    costs = {cost.line.text: cost for cost in view.profile()}
    first = costs["y = WEIGHTS @ x"]
    assert WEIGHTS.nbytes <= first.bytes - 25 * first.records <= WEIGHTS.nbytes + 8 * 30
    kept = sum(cost.bytes - 25 * cost.records for cost in costs.values())
    assert WEIGHTS.nbytes + 8 * (30 + 40 + 40) <= kept <= WEIGHTS.nbytes + 8 * (30 + 3 * 40 + 40 * 30)
    assert f"{25 * len(view) + kept:,}" in view.table().splitlines()[-1]


def test_parents_of_sums_and_products_by_kernels() -> None:
    tape = te.vjp(weighted, np.ones(30))[1].tape
    names = {id: linear.operation(tape, id) for id, *_ in tape.records()}
    parents = {names[id]: [names[p] for p in found] for id, found in linear.array_parents(tape).items()}
    first, last = (id for id, name in names.items() if name == "product of arrays")
    assert "sum of arrays" in names.values() and parents["product of arrays"] == ["product of arrays", "sum of arrays"]
    assert parents["sum of arrays"] == ["product of arrays"] and first < last


def test_sizes_are_the_same_everywhere() -> None:
    view = te.tape(weighted, np.ones(30))
    for shown in (repr(view), view.svg(), view.to_dot(), view.table().splitlines()[-1]):
        assert f"{view.nbytes:,}" in shown


def test_a_picture_names_lines_partials_and_the_result() -> None:
    text = te.tape(spring, 1.0, 0.5, 2).svg()
    for line in ("force = -2.0 * tm.sin(x)", "return x * v", "line "):
        assert line in text
    assert re.search(rf"[> ]{np.cos(1.0):.4g}[< ]", text) and text.count('class="result"') == 1
    assert "prefers-color-scheme:dark" in text


def test_loops_are_folded_unless_records_are_asked_for() -> None:
    view = te.tape(spring, 1.0, 0.0, 20)
    assert view.svg().count('rx="3"') == 5 and view.svg(fold=300).count('rx="3"') > 100


@pytest.mark.parametrize(("steps", "boxes"), [(3, 21), (1000, 5)])
def test_pictures_show_records_or_lines(steps: int, boxes: int) -> None:
    """18 records, one product and two inputs; or four lines and the inputs."""
    view = te.tape(spring, 1.0, 0.0, steps)
    picture = ElementTree.fromstring(view.svg())
    frames = [part for part in picture.iter("{http://www.w3.org/2000/svg}rect") if part.get("rx")]
    assert len(frames) == boxes
    dot = view.to_dot()
    assert dot.startswith("digraph tape {") and dot.count("[label=") >= boxes and dot.count("->") >= boxes - 2


def test_colours_of_groups_come_again_without_that_of_the_inputs() -> None:
    from tapeengine.transforms.inspection.svg import PAIRS, square

    last = len(PAIRS) - 1
    found = [square(0.0, 0.0, 1.0, 1.0, group) for group in range(2 * last + 1)]
    assert found[1 : last + 1] == found[last + 1 :] and len(set(found)) == len(PAIRS)
    assert [re.findall(r'class="g(\d+)"', text) for text in found[: last + 1]] == [[str(k)] for k in range(len(PAIRS))]


def test_a_picture_has_an_arc_for_each_parent_between_their_rows() -> None:
    from tapeengine.transforms.inspection.drawing import graph_of
    from tapeengine.transforms.inspection.svg import CHARACTER, HEIGHT, MARGIN, STRIPE, to_svg

    graph = graph_of(te.tape(spring, 1.0, 0.0, 20), 300)
    picture = ElementTree.fromstring(to_svg(graph))
    space = "{http://www.w3.org/2000/svg}"
    tops = [float(part.attrib["y"]) for part in picture.iter(f"{space}rect") if part.get("rx")]
    assert all(b - a > HEIGHT for a, b in itertools.pairwise(tops))
    middle = dict(zip(graph.vertices, [top + HEIGHT / 2 for top in tops], strict=True))
    wanted = [(middle[p], middle[n]) for n, vertex in graph.vertices.items() for p in vertex.parents]
    points = [re.findall(r"[\d.]+", part.attrib["d"]) for part in picture.iter(f"{space}path")]
    assert [(float(xy[1]), float(xy[-1])) for xy in points] == wanted
    right = max(float(xy[2]) * 0.75 + float(xy[0]) * 0.25 for xy in points)
    assert right <= float(picture.attrib["width"]) and "hsl(" not in to_svg(graph)
    for xy in points:  # an arc reaches three quarters of the way to its control points, which lie beside its ends
        assert xy[0] == xy[-2] and xy[2] == xy[4] and (xy[3], xy[5]) == (xy[1], xy[7])
        reach = 0.75 * (float(xy[2]) - float(xy[0]))
        assert reach == pytest.approx(8 + 2.5 * np.sqrt(float(xy[7]) - float(xy[1])), abs=0.1)
    for row in picture.iter(f"{space}g"):
        words = [(float(part.attrib["x"]), part.text or "") for part in row.iter(f"{space}text")]
        assert all(x > MARGIN + STRIPE for x, _ in words)
        assert all(x + CHARACTER * len(text) < y for (x, text), (y, _) in itertools.pairwise(words))
    lowest = max(float(part.attrib["y"]) for part in picture.iter(f"{space}text"))
    assert 0 < float(picture.attrib["height"]) - lowest <= HEIGHT


def test_progress_adds_up_to_the_records() -> None:
    _value, backpropagator = te.vjp(spring, 1.0, 0.0, 500)
    done: list[int] = []
    found = te.backpropagate(backpropagator, 1.0, done.append, parts=7)
    assert found == backpropagator(1.0)
    assert sum(done) == len(backpropagator.tape) and len(done) == 7


def test_progress_with_arrays() -> None:
    _value, backpropagator = te.vjp(lambda x: tnp.sum(tnp.sin(x) * x[0]), np.array([0.1, 0.7]))
    found = te.backpropagate(backpropagator, 1.0, lambda n: None, parts=3)
    np.testing.assert_array_equal(found[0], backpropagator(1.0)[0])


def test_the_command_shows_a_tape(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text("import tapeengine.math as tm\n\ndef f(x, ys):\n    return tm.sin(x) * ys[0] + ys[1]\n")
    command = [sys.executable, "-m", "tapeengine", "show", f"{program}:f", "0.5", "[1.0, 2.0]"]
    picture = tmp_path / "tape.svg"
    done = subprocess.run([*command, "--svg", str(picture)], capture_output=True, text=True, check=True)
    assert "return tm.sin(x) * ys[0] + ys[1]" in done.stdout and "sin 1" in done.stdout
    assert ElementTree.parse(picture).getroot().tag.endswith("svg")
    wrong = subprocess.run([*command[:4], f"{program}:g"], capture_output=True, text=True)
    assert wrong.returncode == 2 and "has no function 'g'; it has f" in wrong.stderr


@pytest.mark.parametrize(("program", "primal"), [(lambda n: 2 * n, 3), (lambda x: x, 1.0), (lambda x: 2.0, np.ones(2))])
def test_a_tape_without_records_has_views(program, primal):
    view = te.tape(program, primal)
    assert len(view) == 0 and view.by_line == {} and view.profile() == []
    assert view.table().split()[-2:] == ["0", "0"]
    assert "<svg" in view.svg() and "<svg" in view._repr_html_() and view.to_dot().startswith("digraph")
