"""The programs of the gallery: short, correct, drawn, and each with a picture, a time and an entry in the index."""

import ast
import json
import sys
from pathlib import Path

import numpy as np
import pytest

import tapeengine as te
from tapeengine.forms import flatten, map_leaves, unflatten

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from docs.gallery import pages  # noqa: E402


def test_all_programs_are_in_the_index() -> None:
    found = {path.stem for path in pages.HERE.glob("*.py")} - {"pages"}
    index = (pages.HERE / "index.md").read_text(encoding="utf-8")
    assert found == set(pages.NAMES)
    assert all(f"]({name}.md)" in index and f"![]({name}.svg)" in index for name in found)
    assert set(json.loads(pages.TIMES.read_text(encoding="utf-8"))) == found


@pytest.mark.parametrize("name", pages.NAMES)
def test_a_program_is_short(name: str) -> None:
    source = (pages.HERE / f"{name}.py").read_text(encoding="utf-8")
    assert len(source.splitlines()) < 80
    assert ast.get_docstring(ast.parse(source))


@pytest.mark.parametrize("name", pages.NAMES)
def test_a_program_finds_what_it_looks_for(name: str) -> None:
    pytest.importorskip("scipy")
    here = pages.module(name)
    found = here.solve()
    assert here.right(found)
    pytest.importorskip("matplotlib")
    pages.figure(name, found)


@pytest.mark.parametrize("name", pages.NAMES)
def test_a_derivative_is_that_of_differences(name: str) -> None:
    """Along one direction: the tangent against central differences, and the cotangents against the tangent."""
    pytest.importorskip("scipy")
    here = pages.module(name)
    structures = te.default_engine().structures
    leaves, steps = flatten(structures, here.PRIMALS)
    random = np.random.default_rng(11)
    along = [random.normal(size=np.shape(leaf)) for leaf in leaves]

    def at(distance: float) -> np.ndarray:
        moved = [leaf + distance * d for leaf, d in zip(leaves, along)]
        return np.hstack([np.ravel(x) for x in flatten(structures, here.program(*unflatten(steps, moved)))[0]])

    tangents = unflatten(steps, [d if d.shape else float(d) for d in along])
    value, tangent = te.jvp(here.program, here.PRIMALS, tangents)
    flat = np.hstack([np.ravel(x) for x in flatten(structures, tangent)[0]])
    difference = (at(1e-6) - at(-1e-6)) / 2e-6
    assert np.linalg.norm(flat - difference) < 1e-5 * max(np.linalg.norm(flat), 1.0)
    weights = map_leaves(structures, lambda x: x * 0 + 0.7, value)
    cotangents = flatten(structures, te.vjp(here.program, *here.PRIMALS)[1](weights))[0]
    pulled = sum(np.vdot(c, d) for c, d in zip(cotangents, along))
    assert abs(pulled - 0.7 * flat.sum()) < 1e-11 * max(np.abs(flat).sum(), 1.0)
    if hasattr(here, "fast"):
        again = flatten(structures, te.vjp(here.fast, *here.PRIMALS)[1](weights))[0]
        scale = max(np.abs(np.hstack([np.ravel(c) for c in cotangents])))
        assert all(np.allclose(a, c, rtol=1e-12, atol=1e-13 * scale) for a, c in zip(again, cotangents, strict=True))


def test_pictures_are_small_and_adapt() -> None:
    for path in ROOT.glob("docs/**/*.svg"):
        if "_build" not in path.parts:
            text = path.read_text(encoding="utf-8")
            assert "prefers-color-scheme:dark" in text, path
            assert len(text) < 100_000, path
