"""The continuous algebraic Riccati equation A^T X + X A - X G X + Q = 0, with G = B R^-1 B^T.

Its differential is Lyapunov's equation C^T dX + dX C = -dF with the closed loop C = A - G X, where dF is the change of
the left side at constant X. For the vjp, L solves the transposed equation C L + L C^T = -ct, and dF is transposed.
"""

from typing import Any

import numpy
import scipy

import tapeengine.numpy as np
from tapeengine.errors import UnsupportedError
from tapeengine.primitive import Primitive, Rule, Sample, patterns
from tapeengine.primitive.builders import unbroadcast
from tapeengine_scipy._callables import plain_value
from tapeengine_scipy._passing import beside
from tapeengine_scipy._values import floating, is_complex
from tapeengine_scipy.linalg._batches import over_batches
from tapeengine_scipy.linalg.sylvester import SYLVESTER


def _symmetric(x: Any) -> Any:
    return (x + x.T) / 2


def _primal(a: Any, b: Any, q: Any, r: Any, *, balanced: bool = True) -> Any:
    return scipy.linalg.solve_continuous_are(a, b, _symmetric(q), _symmetric(r), balanced=balanced)


def _gain(b: Any, r: Any) -> Any:
    """B R^-1."""
    return np.linalg.solve(_symmetric(r), b.T).T


def _solved(f: Any, out: Any, a: Any, b: Any, r: Any, transposed: bool) -> Any:
    loop = a - _gain(b, r) @ b.T @ out
    return SYLVESTER(*((loop, loop.T) if transposed else (loop.T, loop)), -f)


def _change(arg: str, t: Any, out: Any, b: Any, r: Any) -> Any:
    if arg == "a":
        return t.T @ out + out @ t
    if arg == "q":
        return _symmetric(t)
    gain = _gain(b, r)
    if arg == "b":
        return -out @ (t @ gain.T + gain @ t.T) @ out
    return out @ gain @ _symmetric(t) @ gain.T @ out


def _changed_back(arg: str, f: Any, out: Any, b: Any, r: Any) -> Any:
    if arg == "a":
        return out @ f.T + out.T @ f
    if arg == "q":
        return _symmetric(f)
    gain, inner = _gain(b, r), out.T @ f @ out.T
    return -(inner + inner.T) @ gain if arg == "b" else _symmetric(gain.T @ inner @ gain)


def _vjp(arg: str) -> Rule:
    def vjp(ct: Any, space: Any, out: Any, a: Any, b: Any, r: Any) -> Any:
        return unbroadcast(_changed_back(arg, _solved(ct, out, a, b, r, True), out, b, r), space)

    return Rule(vjp, (f"{arg}_space", "out", "a", "b", "r"))


def _jvp(arg: str) -> Rule:
    def jvp(t: Any, space: Any, out: Any, a: Any, b: Any, r: Any) -> Any:
        return unbroadcast(_solved(_change(arg, t, out, b, r), out, a, b, r, False), space)

    return Rule(jvp, ("out_space", "out", "a", "b", "r"))


def _sample(generator: numpy.random.Generator) -> Sample:
    a, b, q, r = (generator.standard_normal(shape) for shape in ((3, 3), (3, 2), (3, 3), (2, 2)))
    return Sample((a, b, q @ q.T + numpy.eye(3), r @ r.T + numpy.eye(2)))


CARE: Primitive = Primitive(
    "scipy.linalg.solve_continuous_are",
    _primal,
    vjp={arg: _vjp(arg) for arg in "abqr"},
    jvp={arg: _jvp(arg) for arg in "abqr"},
    samples=lambda: (_sample,),
    pattern=patterns.core,
    doc="A^T X + X A - X B R^-1 B^T X + Q = 0; dX by Lyapunov's equation of the closed loop",
)


@beside("scipy.linalg.solve_continuous_are")
def solve_continuous_are(a: Any, b: Any, q: Any, r: Any, e: Any = None, s: Any = None, balanced: bool = True) -> Any:
    """Solve the continuous algebraic Riccati equation; see `scipy.linalg.solve_continuous_are`.

    Examples
    --------
    >>> import numpy as np
    >>> one = np.eye(1)
    >>> solve_continuous_are(0 * one, one, 4 * one, one)
    array([[2.]])
    """
    if e is not None or s is not None or any(map(is_complex, (a, b, q, r))):
        raise UnsupportedError("solve_continuous_are: e, s and complex matrices are not differentiated")
    return _solved_alone(*(np.atleast_2d(floating(x)) for x in (a, b, q, r)), balanced)


@over_batches(2, 2, 2, 2)
def _solved_alone(a: Any, b: Any, q: Any, r: Any, balanced: bool) -> Any:
    for x in map(plain_value, (q, r)):
        if numpy.linalg.norm(x - x.T, 1) > 100 * numpy.spacing(numpy.linalg.norm(x, 1)):
            raise ValueError("q and r must be symmetric")
    return CARE(a, b, q, r, balanced=balanced)
