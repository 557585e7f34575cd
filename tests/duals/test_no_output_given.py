"""`out=None`, in each function and method that takes it, is as no `out`: the forms in which libraries pass it on."""

import inspect
from typing import Any

import numpy as np
import pytest

import tapeengine as te

X, V = np.array([[0.5, 2.0, 0.3], [1.0, 0.7, 0.9]]), np.array([0.3, 0.2, 0.9])
CALLS = ((X,), (V,), (X, 1), (V, V), (X, 0.3), (V, 0.1, 0.6), (V, [V, V]))


def takes_out(function: Any) -> bool:
    """Whether a function has a parameter `out`; methods and ufuncs of C show it in their first line."""
    try:
        return "out" in inspect.signature(function).parameters
    except (TypeError, ValueError):
        return "out=" in (function.__doc__ or "")[:400]


FUNCTIONS = [n for n in dir(np) if callable(f := getattr(np, n)) and not isinstance(f, type) and takes_out(f)]
METHODS = [n for n in dir(np.ndarray) if not n.startswith("_") and takes_out(getattr(np.ndarray, n))]


def compared(plain: Any, args: Any) -> bool:
    """Compare the traced call with and without `out=None` where numpy accepts both."""
    try:
        with np.errstate(all="ignore"):
            plain(*args, out=None)
            expected = te.vjp(lambda x: plain(x, *args[1:]), args[0])[0]
    except Exception:
        return False
    with np.errstate(all="ignore"):
        found = te.vjp(lambda x: plain(x, *args[1:], out=None), args[0])[0]
    np.testing.assert_array_equal(found, expected, strict=True)
    return True


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions(name: str) -> None:
    found = [compared(getattr(np, name), args) for args in CALLS]
    assert any(found) or name in NOT_CALLED


#: Functions of whole numbers or of special arguments, which none of the calls fits.
NOT_CALLED = {
    *("bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_count", "bitwise_invert", "bitwise_left_shift", "invert"),
    *("bitwise_not", "bitwise_right_shift", "left_shift", "right_shift", "gcd", "lcm", "isnat", "ldexp", "compress"),
    *("einsum", "choose", "matvec", "vecmat", "arange", "frompyfunc"),
    *("divmod", "frexp", "modf", "is_busday", "busday_offset", "busday_count"),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", METHODS)
def test_methods(name: str) -> None:
    calls = ((V,), (V, 0), (V, 0.1, 0.6), (V, [0, 1]), (V, V), (V, [True, False, True]), (V, [1, 2, 0]))
    found = [compared(lambda x, *a, **o: getattr(x, name)(*a, **o), args) for args in calls]
    assert any(found) or name in {"choose", "trace", "byteswap"}


def test_clip_by_position() -> None:
    assert te.grad(lambda x: x.clip(0.1, 0.6, None).sum())(V).tolist() == [1.0, 1.0, 0.0]
    assert te.grad(lambda x: np.clip(x, 0.1, 0.6, None).sum())(V).tolist() == [1.0, 1.0, 0.0]
