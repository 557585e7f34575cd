"""Operands that are no numbers, and missing operands: an error as in the plain program, never a crash."""

import operator

import numpy as np
import pytest

import tapeengine as te
import tapeengine.numpy as tnp

UFUNCS = [getattr(np, name) for name in sorted(set(dir(np))) if isinstance(getattr(np, name), np.ufunc)]
ODD = {
    "None": None,
    "text": "ab",
    "object": object(),
    "list of None": [None, 1.0, 2.0],
    "mapping": {1: 2.0},
    "ellipsis": ...,
}
PRIMALS = {
    "number": 2.0,
    "float64": np.array([1.0, 2.0, 3.0]),
    "matrix": np.array([[1.0, 2.0], [3.0, 4.0]]),
    "float32": np.array([1.0, 2.0, 3.0], np.float32),
    "no axes": np.array(2.0),
}


def fails(f, *args):
    """Whether a call raises an error, as it must if an operand is no number."""
    try:
        f(*args)
    except Exception as error:
        assert not isinstance(error, (SystemError, AssertionError)), error
        return True
    return False


@pytest.mark.parametrize("what", ODD)
@pytest.mark.parametrize("primal", PRIMALS)
def test_a_binary_ufunc_of_what_is_no_number_raises_as_numpy_does(what, primal):
    odd, x = ODD[what], PRIMALS[primal]
    for ufunc in UFUNCS:
        if ufunc.nin != 2:
            continue
        for f in (lambda f, v: f(v, odd), lambda f, v: f(odd, v)):
            if not fails(f, ufunc, x):
                continue
            assert fails(te.vjp, lambda v, f=f, u=ufunc: f(u, v), x), ufunc
            assert fails(te.vjp, lambda v, f=f, u=ufunc: f(getattr(tnp, u.__name__), v), x), ufunc


@pytest.mark.parametrize("primal", PRIMALS)
def test_a_ufunc_of_too_few_operands_raises_as_numpy_does(primal):
    for ufunc in UFUNCS:
        if ufunc.nin == 2:
            assert fails(te.vjp, ufunc, PRIMALS[primal]), ufunc
            assert fails(te.vjp, getattr(tnp, ufunc.__name__), PRIMALS[primal]), ufunc


def test_operators_with_none_raise():
    for name in ("add", "sub", "mul", "truediv", "pow", "matmul", "mod", "floordiv"):
        for form in (f"__{name}__", f"__r{name}__", f"__i{name}__"):
            if hasattr(te.Array, form):
                assert fails(te.vjp, lambda v, form=form: getattr(v, form)(None), PRIMALS["float64"]), form


NUMBERS = [1.5, 1.5j, np.float64(1.5), np.float32(1.5), np.complex128(1.5j), np.complex64(1.5j)]
OTHERS = [1.5, *NUMBERS[2:], 2, True, np.int8(2), None, [1.5, 2.0], (1.5,), {}, object(), np.ones(2), np.array(1.5)]
BETWEEN = [operator.matmul, operator.imatmul, operator.eq, operator.ne, operator.lt, operator.ge, operator.and_]


@pytest.mark.parametrize("other", OTHERS, ids=lambda x: f"{type(x).__name__}{x if np.isscalar(x) else np.shape(x)}")
@pytest.mark.parametrize("number", NUMBERS, ids=lambda x: type(x).__name__)
@pytest.mark.parametrize("use", BETWEEN)
def test_operators_of_numbers_that_give_no_number(use, number, other):
    """Outcomes of comparisons have the plain class; `@` is a TypeError for numbers, and a ValueError for arrays."""
    for program in (lambda x: use(x, other), lambda x: use(other, x), lambda x: use(x, x)):
        try:
            wanted = program(number)
        except Exception as error:
            with pytest.raises(next(kind for kind in (ValueError, TypeError) if isinstance(error, kind))):
                te.vjp(program, number)
            continue
        found = te.vjp(program, number)[0]
        assert type(found) is type(wanted)
        np.testing.assert_array_equal(found, wanted)
