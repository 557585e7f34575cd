"""Distributions of `scipy.stats` without rules in lifted code: SciPy's on plain numbers; they refuse traced ones."""

from __future__ import annotations

from typing import Any

import pytest

import tapeengine as te
from tapeengine.errors import UnsupportedError

stats = pytest.importorskip("scipy.stats")
with_rules = pytest.importorskip("tapeengine_scipy.stats").__all__

KINDS = (stats.rv_continuous, stats.rv_discrete)
NAMES = [name for name in dir(stats) if isinstance(getattr(stats, name), KINDS) and name not in with_rules]
TIMES = {"fisk": (0.5, 2.5), "rayleigh": (0.5,), "loguniform": (0.5, 0.1, 1.5), "randint": (2, 1, 5)}


def located(name: str, x: float) -> Any:
    found = getattr(stats, name)
    return found.mean(*[0.4 * x] * found.numargs, loc=x)


def frozen(name: str, x: float) -> Any:
    found = getattr(stats, name)
    return found(*[0.4 * x] * found.numargs, loc=x).mean()


def asked(name: str) -> Any:
    import scipy.stats
    from scipy.stats import rv_continuous, rv_discrete

    found = getattr(scipy.stats, name)
    return found.name, found.numargs, found.shapes, isinstance(found, rv_continuous), isinstance(found, rv_discrete)


@pytest.mark.parametrize("name", NAMES)
def test_traced_parameters_are_refused(name: str) -> None:
    assert te.lift(asked)(name) == asked(name)
    for program in map(te.lift, (located, frozen)):
        with pytest.raises(UnsupportedError, match=rf"scipy.stats.{name}(\.mean)? is not differentiated"):
            te.grad(lambda x, program=program: program(name, x))(2.5)


@pytest.mark.parametrize("name", TIMES)
def test_plain_parameters_have_scipys_values(name: str) -> None:
    def program(x: float) -> Any:
        found = getattr(stats, name)
        x, *shapes = [x, *TIMES[name][1:]]
        return (found.pdf if hasattr(found, "pdf") else found.pmf)(x, *shapes) + found(*shapes).cdf(x)

    assert te.lift(program)(TIMES[name][0]) == program(TIMES[name][0])
    value, slope = te.value_and_grad(te.lift(lambda y: y * program(TIMES[name][0])))(3.0)
    assert (value, slope) == (3.0 * program(TIMES[name][0]), program(TIMES[name][0]))
