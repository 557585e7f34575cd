"""Calls that numpy refuses raise the same class of error for traced arrays."""

from __future__ import annotations

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
    assert wanted in (ValueError, TypeError, ZeroDivisionError, numpy._core._exceptions._UFuncNoLoopError)
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
    ]
    for program in programs:
        value = te.vjp(lambda x, program=program: program(np, x), X)[0]
        assert value.dtype == program(numpy, X).dtype
        assert numpy.array_equal(value, program(numpy, X))


def test_conjugate_takes_an_output() -> None:
    def program(x: Any) -> Any:
        z, out = x * (1.0 + 2.0j), np.zeros(3, complex)
        assert z.conjugate(out) is out
        return out.imag

    value, back = te.vjp(program, X)
    assert value.tolist() == [-2.0, -4.0, -6.0]
    assert back(numpy.ones(3))[0].tolist() == [-2.0, -2.0, -2.0]
