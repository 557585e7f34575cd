"""Programs of first-time users: correct in lifted code, and otherwise correct or refused with a hint."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import pytest
from users import engineering, idioms, sciences, statistics_and_money

import tapeengine as te
from tapeengine.errors import TapeEngineError

HERE = {module.__name__: module for module in (sciences, engineering, statistics_and_money)}
SCIPY = "users.with_scipy"
#: An undetermined derivative is refused: a matrix function of a matrix with equal eigenvalues, written with vectors.
REFUSED = {"phylogeny": "eigenvalues are equal"}
#: Solvers stop at a tolerance, and stop elsewhere if they get the engine's gradient instead of differences.
INEXACT = {"inner_optimum": 1e-6, "epidemic": 1e-6}
AT = (np.array([0.7, 1.3, 0.4, 2.1]), 0.9)
#: These inspect classes, which outside lifted code are the engine's (docs/lift.md).
LOOKING = {"argument_checks"}


def leaves(tree: Any) -> Iterator[np.ndarray]:
    if isinstance(tree, dict):
        tree = list(tree.values())
    if isinstance(tree, (list, tuple)):
        for item in tree:
            yield from leaves(item)
    else:
        yield np.asarray(tree, dtype=float).ravel()


def flat(tree: Any) -> np.ndarray:
    return np.concatenate(list(leaves(tree)))


def moved(tree: Any, numbers: Iterator[float]) -> Any:
    """The same structure with other numbers."""
    if isinstance(tree, dict):
        return {key: moved(value, numbers) for key, value in tree.items()}
    if isinstance(tree, (list, tuple)):
        return type(tree)(moved(value, numbers) for value in tree)
    if isinstance(tree, np.ndarray):
        return np.array([next(numbers) for _ in range(tree.size)]).reshape(tree.shape)
    return next(numbers)


def difference(f: Callable[..., Any], at: Any, v: np.ndarray, h: float) -> float:
    """The derivative of the plain program along v, by a fourth-order difference."""
    x = flat(at)

    def along(t: float) -> float:
        return float(f(*moved(at, iter((x + t * v).tolist()))))

    return (8.0 * (along(h) - along(-h)) - (along(2.0 * h) - along(-2.0 * h))) / (12.0 * h)


def check(plain: Callable[..., Any], program: Callable[..., Any], at: Any, inexact: float = 1e-14) -> None:
    """The value equals the plain program's, and the derivative one of two differences, as kinks need a small step."""
    x = flat(at)
    v = np.random.default_rng(0).normal(size=x.size) * np.where(x == 0.0, 0.1, np.abs(x))
    value, backpropagator = te.vjp(program, *at)
    assert float(value) == pytest.approx(float(plain(*at)), rel=inexact)
    found = flat(backpropagator(np.ones_like(value)[()] if isinstance(value, np.generic) else 1.0)) @ v
    wide, narrow = (difference(plain, at, v, h) for h in (2e-4, 1e-6))
    assert abs(found - wide) <= max(2e-7, inexact) * max(1.0, abs(wide)) or abs(found - narrow) <= 1e-7 * max(
        1.0, abs(narrow)
    )
    assert abs(found) > 0.0
    tangent = te.jvp(program, at, moved(at, iter(v.tolist())))[1]
    assert float(tangent) == pytest.approx(found, rel=max(1e-11, inexact))


def named(modules: dict[str, Any]) -> list[Any]:
    return [(module, name) for module in modules.values() for name in module.PROGRAMS]


def check_program(module: Any, name: str) -> None:
    plain, at = module.PROGRAMS[name]
    check(plain, te.lift(module).PROGRAMS[name][0], at, INEXACT.get(name, 1e-14))


@pytest.mark.parametrize(("module", "name"), named(HERE), ids=lambda x: x if isinstance(x, str) else "")
def test_lifted_programs(module: Any, name: str) -> None:
    if name not in REFUSED:
        check_program(module, name)
        return
    with pytest.raises(TapeEngineError, match=REFUSED[name]):
        check_program(module, name)


@pytest.mark.parametrize(
    "name",
    "epidemic fitted_curve heat_with_sparse_matrices root through_points distributions filtered radial_basis "
    "inner_optimum quadrature".split(),
)
def test_lifted_programs_with_scipy(name: str) -> None:
    pytest.importorskip("tapeengine_scipy")
    check_program(importlib.import_module(SCIPY), name)


@pytest.mark.parametrize("name", idioms.IDIOMS)
def test_lifted_idioms(name: str) -> None:
    check(idioms.IDIOMS[name], te.lift(idioms).IDIOMS[name], AT)


def right_or_refused(run: Callable[[], None]) -> None:
    """Failures are the engine's error, which says what to write, or numpy's with a note that does."""
    try:
        run()
    except TapeEngineError as error:
        assert "tapeengine" in str(error) and "site-packages" not in str(error)
    except TypeError as error:
        assert any("tapeengine.lift(" in note for note in getattr(error, "__notes__", ()))


@pytest.mark.parametrize("name", sorted(idioms.IDIOMS.keys() - LOOKING))
def test_idioms_as_they_are(name: str) -> None:
    right_or_refused(partial(check, idioms.IDIOMS[name], idioms.IDIOMS[name], AT))


@pytest.mark.parametrize(("module", "name"), named(HERE), ids=lambda x: x if isinstance(x, str) else "")
def test_programs_as_they_are(module: Any, name: str) -> None:
    """The location in an error is in the program, not in a library that it calls."""
    program, at = module.PROGRAMS[name]
    right_or_refused(partial(check, program, program, at))
