"""Errors of calls of SciPy itself advise a counterpart only where it has a rule."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.special
from scipy import spatial, stats
from scipy.spatial.transform import Rotation
from scipy.special import cython_special

import tapeengine as te
import tapeengine_scipy.spatial

CALLS: list[Callable[[Any], Any]] = [
    lambda x: Rotation.from_rotvec(x).as_matrix().sum(),
    lambda x: spatial.cKDTree(np.eye(3)).query(x)[0],
    lambda x: tapeengine_scipy.spatial.cKDTree(np.eye(3)).query(x)[0],
    lambda x: scipy.special.factorial(x[0]),
    lambda x: stats.gennorm.logpdf(0.3, x[0]),
    lambda x: stats.gaussian_kde(np.arange(5.0))(x[0])[0],
    lambda x: stats.spearmanr(x, [1.0, 3.0, 2.0])[0],
]
POINT = np.array([0.1, 0.2, 0.3])


def told(error: Exception) -> str:
    return " ".join([str(error), *getattr(error, "__notes__", [])])


@pytest.mark.parametrize("number", range(len(CALLS)))
@pytest.mark.parametrize("change", [lambda f: f, te.lift])
def test_a_function_without_a_rule_is_not_advised(number: int, change: Any) -> None:
    assert np.isfinite(CALLS[number](POINT))
    with pytest.raises((TypeError, AttributeError, te.errors.TapeEngineError)) as caught:
        te.grad(change(CALLS[number]))(POINT)
    text = told(caught.value)
    assert "no derivative rule" in text and "which has derivatives" not in text and "_passing" not in text
    assert change is not te.lift or "lift the program" not in text


def test_a_function_with_a_rule_is_advised() -> None:
    with pytest.raises(te.errors.DroppedDerivativeError, match=r"Import it from tapeengine_scipy\.stats, which has"):
        te.grad(lambda x: stats.norm.logpdf(0.3, x))(0.5)


@pytest.mark.parametrize("change", [lambda f: f, te.lift])
def test_code_of_cython_gets_a_note(change: Any) -> None:
    with pytest.raises(TypeError) as caught:
        te.grad(change(lambda x: cython_special.gamma(x)))(2.5)
    assert "takes plain numbers only" in told(caught.value)
