"""Displays of engines, maps, tapes, programs and checks in notebooks; and progress bars in an executed notebook."""

import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest

import tapeengine as te
import tapeengine.math as math
from tapeengine.html import source
from tapeengine.testing import check_vjp


@te.program
def horner(x: float, c: te.Vec) -> float:
    """A string with a < sign."""
    acc = 0.0
    for a in c:
        acc = acc * x + math.sin(a)
    return acc


def shown(value) -> str:
    """A notebook's display of a value; well-formed, so that nothing is cut off."""
    text = value._repr_html_()
    ET.fromstring(f"<div>{text}</div>")
    return text


def words(text: str) -> str:
    return " ".join(re.sub(r"<[^>]*>", " ", text).split())


def test_an_engine_shows_its_plugins_and_switches():
    engine = te.Engine(max_tape_bytes=10_000)
    assert re.search(r"\bcore\b.* \d+ \d+ ok", words(shown(engine)))
    assert "debug: nans off" in words(shown(engine)) and "10,000" in shown(engine)
    with engine.debug(nans=True):
        assert "debug: nans on debug: records off" in words(shown(engine))


def test_an_engine_shows_what_failed(monkeypatch):
    class Broken:
        @te.hookimpl
        def tapeengine_configure(self, engine):
            raise ValueError("no <device>")

    engine = te.Engine(plugins=["core"])
    from tapeengine.primitive.registry import Origin, PluginFailure, Registry

    failure = PluginFailure(Origin("broken"), "no <device>")
    engine.registry = Registry(engine.registry.contributions, (failure,))
    assert "broken" in shown(engine) and "no &lt;device&gt;" in shown(engine)


def test_a_map_shows_its_spaces():
    _, m = te.linearize(lambda x, y: {"a": x * y}, np.ones(3), 2.0)
    assert "LinearMap, 3 x 4" in shown(m)
    assert str(m.domain) in words(shown(m)).replace("&#x27;", "'")


def test_a_tape_shows_its_picture_and_its_lines():
    view = te.tape(lambda x: x * math.sin(x), 1.0)
    assert "<svg" in shown(view) and "records by operation operation records" in words(shown(view))


def test_a_program_shows_its_source_and_derivative():
    text = shown(horner)
    assert "def horner" in words(text) and "def reverse" in words(text)
    assert text.count("<span") >= 15


def test_a_program_that_has_no_derivative_text_says_so():
    text = shown(te.program(lambda x: x * x))
    assert "# " in text or "def " in text


def test_a_check_shows_a_table():
    assert "adjoint 1 ok" in words(shown(check_vjp(lambda x: x * x, 2.0)))


@pytest.mark.parametrize(
    "text", ["", "x", "a = '''b\nc'''  # d < e\nif a:\n    pass\n", "λ = 1.0\n\n\n", "def f(:\n  '", "\tx\n y"]
)
def test_source_loses_nothing(text):
    assert ET.fromstring(source(text)).itertext() is not None
    assert "".join(ET.fromstring(source(text)).itertext()) == text


CELLS = [
    "import tapeengine as te\nimport numpy as np\nfrom tqdm.auto import tqdm\nte.Engine()",
    "te.linearize(lambda x: np.sin(x) * x[0], np.ones(3))[1]",
    "te.tape(lambda x: x * x + 1.0, 2.0)",
    "@te.program\ndef cube(x: float) -> float:\n    return x * x * x\ncube",
    "from tapeengine.testing import check_vjp\ncheck_vjp(cube, 2.0)",
    "te.grad(lambda x: te.iterate(lambda y: 1.01 * y, 50, x, checkpoints=5, progress=tqdm))(1.0)",
    "te.jacobian(lambda x: np.sin(x) * x[0], progress=tqdm)(np.ones(20)).shape",
    "te.grad(lambda w: sum(te.fork_map(lambda x: w * x, [1.0, 2.0, 3.0], progress=tqdm)))(2.0)",
    "te.vjp(te.vmap(te.stage(lambda x: x * x), progress=tqdm), np.ones(70))[1](np.ones(70))[0].sum()",
]


def test_a_notebook_runs():
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    for needed in ("ipykernel", "tqdm"):
        pytest.importorskip(needed)
    notebook = nbformat.v4.new_notebook(cells=list(map(nbformat.v4.new_code_cell, CELLS)))
    nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
    outputs = [cell.outputs for cell in notebook.cells]
    for found in outputs[:5]:
        assert any("text/html" in output.get("data", {}) for output in found)
    for found, total in zip(outputs[5:], (50, 20, 3, 70)):
        text = "".join(output.get("text", "") or str(output.get("data", "")) for output in found)
        assert f"{total}/{total}" in text
