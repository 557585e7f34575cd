"""Shapes that are lists, as numpy accepts them beside tuples and numbers."""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tapeengine as te

V = np.array([0.5, -1.0, 2.0, 3.5])


def zeros(x: float, v: Any) -> Any:
    made = np.zeros([2, 2])
    made[0, 1] = x * v[0]
    return made


def one_axis(x: float, v: Any) -> Any:
    made = np.ones([3])
    made[1] = x
    return made * v[:3]


def full(x: float, v: Any) -> Any:
    return np.full([2, 4], x) * v


def of_lengths(x: float, v: Any) -> Any:
    made = np.empty([len(v), len(v)])
    for i in range(len(v)):
        for j in range(len(v)):
            made[i, j] = v[i] * x + v[j]
    return made


def method(x: float, v: Any) -> Any:
    return v.reshape([2, 2]) * x


def function(x: float, v: Any) -> Any:
    return np.reshape(v, [2, -1]) @ np.ones([2]) * x


def made_elsewhere(x: float, v: Any) -> Any:
    shape = []
    for _ in range(2):
        shape.append(2)
    return np.zeros(shape) + x * v[1]


def a_name(x: float, v: Any) -> Any:
    shape = [2, len(v)]
    return np.ones(shape) * x * v


PROGRAMS: tuple[Callable[[float, Any], Any], ...] = (
    zeros, one_axis, full, of_lengths, method, function, made_elsewhere, a_name,
)  # fmt: skip


@pytest.mark.filterwarnings("ignore:.*runs without native code:RuntimeWarning")
@pytest.mark.parametrize("backend", [None, "machine", "native"])
@pytest.mark.parametrize("program", PROGRAMS)
def test_they_mean_what_numpy_means(program: Callable[..., Any], backend: Any) -> None:
    wanted, of_plain = te.vjp(te.lift(program), 1.5, V)
    value, back = te.vjp(te.program(program, backend=backend), 1.5, V)
    np.testing.assert_array_equal(value, program(1.5, V))
    assert type(value) is type(wanted)
    cotangent = np.cos(np.arange(value.size)).reshape(value.shape)
    for found, plain in zip(back(cotangent), of_plain(cotangent), strict=True):
        np.testing.assert_allclose(found, plain, rtol=1e-13, atol=1e-14)


@pytest.mark.parametrize("program", [zeros, one_axis, full, of_lengths, method])
def test_a_list_in_the_text_is_compiled(program: Callable[..., Any]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        te.vjp(te.program(program, backend="native"), 1.5, V)
