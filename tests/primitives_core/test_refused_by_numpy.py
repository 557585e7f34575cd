"""Calls that numpy refuses raise the same class of error for traced arrays."""

from __future__ import annotations

import re
import warnings
from typing import Any

import numpy
import pytest

import tapeengine as te
import tapeengine.numpy as np

X = numpy.array([1.0, 2.0, 3.0])
CALLS: dict[str, Any] = {
    "matvec": lambda np, x: np.matvec(np.ones((2, 1)) * x[0], np.sum(x)),
    "vecmat": lambda np, x: np.vecmat(np.sum(x), np.ones((1, 2)) * x[0]),
    "vecdot": lambda np, x: np.vecdot(np.ones((3, 1)) * x[0], np.sum(x)),
    "vecdot on the left": lambda np, x: np.vecdot(np.sum(x), x),
    **{
        f"{name} bad": lambda np, x, name=name: getattr(np.fft, name)(x, norm="bad")
        for name in ("hfft", "ihfft", "fft")
    },
    **{f"{name} Ortho": lambda np, x, name=name: getattr(np.fft, name)(x, norm="Ortho") for name in ("hfft", "irfft")},
    "pow with modulus": lambda np, x: pow(x, 2, 3),
    "sort kind and stable": lambda np, x: np.sort(x, kind="stable", stable=True),
    "sort not stable": lambda np, x: np.sort(x, kind="quicksort", stable=False),
    "method sort": lambda np, x: (x * 1.0).sort(kind="stable", stable=True),
    "einsum below": lambda np, x: np.einsum(x, [-1], x, [-1], []),
    "einsum above": lambda np, x: np.einsum(x, [52]),
    "where of two": lambda np, x: np.where(x > 1.0, x),
    "where of one choice": lambda np, x: np.where(np.sum(x), x[0]),
    **{
        f"{name} of a number": lambda np, x, name=name: getattr(np, name).accumulate(np.sum(x))
        for name in ("add", "multiply", "maximum", "subtract", "hypot")
    },
    **{
        f"{name} of complex numbers": lambda np, x, name=name, n=n: getattr(np, name).accumulate(x[:n] * 1j)
        for name in ("logaddexp", "hypot", "arctan2")
        for n in (0, 1, 3)
    },
    "average": lambda np, x: np.average(np.reshape(x, (1, 3))[:0], axis=1),
    "average of nothing": lambda np, x: np.average(x[:0], axis=0, weights=x[:0]),
    **{
        f"{name} of a matrix": lambda np, x, name=name: getattr(np, name)(np.outer(x, x), [1.0, 2.0])
        for name in ("polymul", "polydiv")
    },
    "polymul with a matrix": lambda np, x: np.polymul([1.0, 2.0], np.outer(x, x)),
    "polyder of a matrix": lambda np, x: np.polyder(np.outer(x, x)),
    "sort by fields": lambda np, x: np.sort(x, order="f0"),
    "pinv of two tolerances": lambda np, x: np.linalg.pinv(np.outer(x, x), 0.1, rtol=0.1),
    "cov of half a degree": lambda np, x: np.cov(x, ddof=0.5),
    "histogram2d of matrices": lambda np, x: np.histogram2d(np.outer(x, x), np.outer(x, x)),
    "histogramdd of a list of a matrix": lambda np, x: np.histogramdd([np.outer(x, x)]),
    "meshgrid": lambda np, x: np.meshgrid(x, x, indexing="x"),
    **{f"convolve in mode {mode}": lambda np, x, mode=mode: np.convolve(x, x, mode) for mode in (-1, 3, 4, 7)},
    "quantiles of nothing": lambda np, x: np.quantile(x[:0], [0.1, 0.5]),
    "quantiles by a cube": lambda np, x: np.percentile(x, numpy.ones((2, 2, 2))),
    "repeat by numbers": lambda np, x: np.repeat(x, x),
    "repeat by a matrix": lambda np, x: np.repeat(x, [[1]]),
    "cross along a tuple": lambda np, x: np.cross(x, x, (0,)),
    "choose below": lambda np, x: np.choose(-1, [x]),
    "pad by a mode without values": lambda np, x: np.pad(x, 1, mode="edge", constant_values=1.0),
    "pad of a number": lambda np, x: np.pad(np.sum(x), -1),
    "block of uneven depths": lambda np, x: np.block([[x], x]),
    "dot into every other place": lambda np, x: np.dot(x, numpy.eye(3), out=np.zeros(6)[::2]),
    "dot into a matrix in another order": lambda np, x: np.dot(np.outer(x, x), numpy.eye(3), out=np.zeros((3, 3)).T),
    "copy": lambda np, x: np.array(x, copy="always"),
    "ndmin": lambda np, x: np.array(x, ndmin=65),
    "ndmin of a list": lambda np, x: np.array([x[0]], ndmin=65),
}


def error_of(program: Any) -> Any:
    try:
        program()
    except Exception as error:
        return type(error)
    return None


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", CALLS)
def test_the_class_of_the_error_is_numpys(name: str) -> None:
    wanted = error_of(lambda: CALLS[name](numpy, X))
    assert wanted in (ValueError, TypeError, IndexError, ZeroDivisionError, numpy._core._exceptions._UFuncNoLoopError)
    found = error_of(lambda: te.vjp(lambda x: CALLS[name](np, x), X))
    assert found is not None
    assert issubclass(found, wanted) or (issubclass(wanted, TypeError) and issubclass(found, TypeError))


def test_dtypes() -> None:
    programs: list[Any] = [
        lambda np, x: np.poly(x.astype("f4")),
        lambda np, x: np.poly(x.astype("F")),
        lambda np, x: np.sort_complex(x.astype("f4")),
        lambda np, x: np.sort_complex(x.astype("F")),
        lambda np, x: np.sort_complex(x),
        *(
            lambda np, x, name=name, char=char, keep=keep: getattr(np, name).reduce(x[:0].astype(char), keepdims=keep)
            for name in ("hypot", "logaddexp", "add", "multiply")
            for char in "fd"
            for keep in (False, True)
        ),
    ]
    for program in programs:
        value = te.vjp(lambda x, program=program: program(np, x), X)[0]
        assert value.dtype == program(numpy, X).dtype
        assert type(value) is type(program(numpy, X))
        assert numpy.array_equal(value, program(numpy, X))


def test_conjugate_takes_an_output() -> None:
    def program(x: Any) -> Any:
        z, out = x * (1.0 + 2.0j), np.zeros(3, complex)
        assert z.conjugate(out) is out
        return out.imag

    value, back = te.vjp(program, X)
    assert value.tolist() == [-2.0, -4.0, -6.0]
    assert back(numpy.ones(3))[0].tolist() == [-2.0, -2.0, -2.0]


WARNED: dict[str, Any] = {
    "polyfit": lambda np, x: np.polyfit(x, x, 5),
    "cross": lambda np, x: np.cross(x[:2], x[:2]),
    "cross of two and three": lambda np, x: np.cross(x[:2], x),
    "fftn without axes": lambda np, x: np.fft.fftn(np.reshape(x, (1, 3)), s=(2, 2)),
    "fftn with None": lambda np, x: np.fft.fftn(np.reshape(x, (1, 3)), s=(None, 2), axes=(0, 1)),
    "rfft2 with None": lambda np, x: np.fft.rfft2(np.reshape(x, (1, 3)), s=(None, 2)),
    "irfftn without axes": lambda np, x: np.fft.irfftn(np.reshape(x, (1, 3)), s=(2, 2)),
}


@pytest.mark.parametrize("name", WARNED)
def test_warnings_are_numpys(name: str) -> None:
    def warned(program: Any) -> set[type]:
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            program()
        return {one.category for one in found}

    try:
        wanted = warned(lambda: WARNED[name](numpy, X))
    except ValueError as error:  # cross products of two components, from numpy 2.5 on
        with pytest.raises(ValueError, match=re.escape(str(error))):
            te.vjp(lambda x: WARNED[name](np, x), X)
    else:
        assert warned(lambda: te.vjp(lambda x: WARNED[name](np, x), X)) == wanted != set()


def test_the_rank_of_a_least_squares_problem_is_numpys() -> None:
    a = numpy.array([[0.0, 1, 0, 1, 2, 0], [0, 2, 0, 0, 1, 0], [1, 0, 1, 0, 0, 4], [0, 0, 0, 2, 3, 0]]).T.copy()
    for matrix in (a, a[:, :2], numpy.ones((4, 2)), numpy.zeros((3, 2)), a[:0], a.T):
        for rcond in (-1, None, 0.5):
            b = numpy.ones(len(matrix))
            found = te.vjp(lambda a, b, rcond=rcond: numpy.linalg.lstsq(a, b, rcond)[2], matrix, b)[0]
            plain = numpy.linalg.lstsq(matrix, b, rcond)[2]
            assert found == plain
            assert type(found) is type(plain)
