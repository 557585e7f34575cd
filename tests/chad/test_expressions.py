"""Expressions as users write them: a program gives the value, cotangents and exceptions of Python, or refuses."""

import itertools
import math
from typing import Any

import numpy as np
import pytest
from chad.written_functions import defined

import tapeengine
import tapeengine.math as traced_math
from tapeengine import chad as te
from tapeengine.errors import TapeEngineError

ENGINE = tapeengine.Engine()
HEADER = "def f(x: float, y: float, n: int, xs: te.Vec, ys: te.Vec, m: te.Array[te.Vec]):"
SCALARS = """
math.log(x, y)  math.log(x, 2)  math.log(n, 2) * x  math.log(0.0 * x, 2)  math.log(x, 1)
x // 0.3  -x // 0.3  x // y  x % y  -x % 0.7  divmod(x, y)[0]  divmod(-x, 0.3)[1]  x // n  n // 2 * x  -n % 3 * x
x ** n  x ** -1  (-x) ** 2  n ** -1 * x  x ** y  0.0 ** x  2 ** n * x  (-x) ** 0.5
x and y  x or y  n and x  n or x  x > 1 and y  (x > 1 or n) * y  not x  (x and n) or y  0.0 * x or y
[[x, y]] if n > 0 else []  [] if n > 0 else [[x]]
y if x and n else x  y if not (x or n) else 2 * x  x if 0 < n <= 3 else y  x if x < y < 2 else y
sum([x, y], 0.1)  sum(xs, y)  sum(xs, start=y)  sum(v for v in xs if v > 0)  sum(a * b for a, b in zip(xs, ys))
max(xs)  max(xs, default=y)  min(x, n)  max(x, y, 0.5)  math.prod(xs)  math.prod(v * x for v in xs)
math.dist(xs, ys)  math.dist([x, y], [y])  math.hypot(x, y)  math.copysign(x, -y)  math.fmod(x, y)
xs[n]  xs[-1]  xs[int(x)]  xs[1:]  xs[::-1]  xs[::2]  [v * x for v in xs][n]  len(xs) * x  m[n][0]  m[n]
any(v > 0 for v in xs) * x  all(v > 0 for v in xs) * x  any(1 / v > 0 for v in xs) * x
int(x * 10) * y  round(x) * y  math.floor(x) * y  math.ceil(-x) * y  float(n) * x  bool(x) * y  abs(-n) * x
x is y  type(x)  math.fsum(xs)  x + True  math.sqrt(-x)  math.exp(1000 * x)  1 / (n - n) * x  x / 0.0
"""
ARRAYS = """
xs*ys  xs+ys  xs/ys  xs-y  xs*x  xs**2  xs**ys  xs//0.3  xs%0.3  -xs  np.mod(xs,0.3)  np.remainder(x,y)
xs@ys  m@xs  xs@m  m@m  m.T@m  m*xs  m+xs[:,None]  np.dot(xs,ys)  np.outer(xs,ys)  np.trace(m@m)
np.sum(m)  np.sum(m,axis=0)  np.sum(m,axis=1)  np.mean(xs)  np.max(xs)  np.max(m,axis=0)  np.prod(xs)  np.cumsum(xs)
np.where(xs>0,xs,ys)  np.maximum(xs,ys)  np.clip(xs,-0.5,0.5)  np.abs(xs)  np.tanh(xs)  np.hypot(xs,ys)
np.linalg.norm(xs)  np.ones(n)*x  np.full(n,x)  np.zeros(n)+x  np.zeros((n,2))  np.arange(n)*x  np.linspace(x,y,4)
np.concatenate([xs,ys])  np.concatenate((m,m))  np.concatenate((m,m),axis=1)  np.stack([xs,ys])  np.stack([xs,xs])
np.vstack([xs,ys])  np.hstack([xs,ys])  np.array([x,y])*np.array([y])  np.array([xs,xs])*x  np.choose([0,1],[xs,ys])
xs[xs>0]  xs[[0,-1]]  m[[0,1]]  m[:,0]  m[0,1]  m[1:]  np.diag(xs)  np.diag(m)  np.sort(xs)  np.diff(xs)
np.sum((xs[:,None]-xs[None,:])**2)  np.exp(xs)/np.sum(np.exp(xs))  xs.max()-xs.min()  float(xs[0])*x  xs.size*x
m@m.T  m.T  m.shape[1]*x  m.size*x
"""
NUMBERS = ((0.6, -0.4, 2), (-0.9, 0.3, -1), (2.0, 1.0, 0), (0.5, 2.5, 3))
M = np.array([[0.5, -0.3, 0.2], [0.1, 0.9, -0.4], [0.7, 0.3, 1.1]])
VECTORS = (
    (np.array([0.2, -0.9, 0.5]), np.array([1.0, -2.0, 0.25]), M),
    (np.array([0.2]), np.array([1.0, -2.0, 0.25]), M[:2]),
    (np.zeros(0), np.zeros(0), M[:, :2]),
    (np.array([0.0, 0.4]), np.array([0.3, 0.7]), M[:1]),
    (np.ones(3), np.zeros(3), M[:0]),
)


def functions(expression: str) -> tuple[Any, Any]:
    """A function as it is written, and with the modules through which dual numbers run."""
    text = f"{HEADER}\n    return {expression}\n"
    return defined(text, te=te, math=math, np=np), defined(text, te=te, math=traced_math, np=tapeengine.numpy)


def numbers(value: Any) -> list[float]:
    if isinstance(value, list | tuple):
        return [v for part in value for v in numbers(part)]
    return [] if value is None else np.ravel(value).astype(float).tolist()


def direction(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return np.full(value.shape, 0.7) if value.dtype == float else None
    if isinstance(value, list | tuple):
        return type(value)(map(direction, value))
    return 0.7 if isinstance(value, float) else None


def outcome(run: Any) -> Any:
    """What a run gives; the type of what it raises, and None where the engine refuses."""
    try:
        with np.errstate(all="ignore"):
            return run()
    except TapeEngineError:
        return None
    except Exception as error:
        return type(error)


def derived(f: Any, primals: tuple[Any, ...]) -> Any:
    def run() -> Any:
        value, back = ENGINE.vjp(f, *primals)
        return value, numbers(back(direction(value)))

    return outcome(run)


def close(a: Any, b: Any) -> bool:
    return len(a) == len(b) and np.allclose(a, b, rtol=1e-12, atol=1e-13, equal_nan=True)


def compare(expression: str, of_numpy: bool) -> None:
    written, traced = functions(expression)
    program = outcome(lambda: te.program(written))
    assert not isinstance(program, type), program
    if program is None:
        return
    for some, vectors in itertools.product(NUMBERS, VECTORS):
        primals = (*some, *(v if of_numpy else v.tolist() for v in vectors))
        plain, found = outcome(lambda primals=primals: written(*primals)), derived(program, primals)
        if found is None:
            continue
        if isinstance(plain, type) or isinstance(found, type):
            assert found is plain, (primals, found, plain)
            continue
        assert close(numbers(found[0]), numbers(plain)), (primals, found[0], plain)
        if np.size(plain):
            assert np.shape(found[0]) == np.shape(plain)
        expected = derived(traced, primals)
        if expected is not None:
            assert close(found[1], expected[1]), (primals, found[1], expected[1])


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("expression", SCALARS.replace("\n", "  ").strip().split("  "))
def test_of_numbers_and_lists(expression: str) -> None:
    compare(expression, of_numpy=False)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("expression", ARRAYS.replace("\n", "  ").strip().split("  "))
def test_of_arrays(expression: str) -> None:
    compare(expression, of_numpy=True)
