"""The algebraic Riccati equations, in continuous time A^T X + X A - K^T R K + Q = 0, with the gain K = R^-1 B^T X,
and in discrete time A^T X A - X - K^T M K + Q = 0, with K = M^-1 B^T X A and M = R + B^T X B.

The differential is Lyapunov's equation, of its time, of the closed loop C = A - B K: C^T dX + dX C = -dF, or
dX - C^T dX C = dF, where dF is the change of the left side at constant X. With Z = X, or Z = X C in discrete time,

    dF = dA^T Z + Z^T dA - K^T dB^T Z - Z^T dB K + K^T dR K + dQ.

For the vjp, L solves Lyapunov's equation of C^T for the cotangent, and dF is transposed.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

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


class _Time(NamedTuple):
    """What the equations of one time have of their own."""

    #: K of the solution, A, B and R.
    gain: Callable[..., Any]
    #: Z of the solution and the closed loop.
    product: Callable[..., Any]
    #: The solution of Lyapunov's equation of a matrix.
    lyapunov: Callable[..., Any]


def _symmetric(x: Any) -> Any:
    return (x + x.T) / 2


def _stein(c: Any, f: Any) -> Any:
    """X of X - C^T X C = F, from the equation in continuous time of (C - 1) (C + 1)^-1."""
    one = numpy.eye(len(c))
    inverse = np.linalg.inv(c + one)
    n = (c - one) @ inverse
    return SYLVESTER(n.T, n, -2.0 * inverse.T @ f @ inverse)


_CONTINUOUS = _Time(
    lambda x, a, b, r: np.linalg.solve(_symmetric(r), b.T @ x),
    lambda x, loop: x,
    lambda c, f: SYLVESTER(c.T, c, -f),
)
_DISCRETE = _Time(
    lambda x, a, b, r: np.linalg.solve(_symmetric(r) + b.T @ x @ b, b.T @ x @ a),
    lambda x, loop: x @ loop,
    _stein,
)


def _change(arg: str, t: Any, gain: Any, z: Any) -> Any:
    """The change dF by that of one argument."""
    if arg in "ab":
        half = z.T @ (t if arg == "a" else -t @ gain)
        return half + half.T
    return _symmetric(t) if arg == "q" else gain.T @ _symmetric(t) @ gain


def _changed_back(arg: str, f: Any, gain: Any, z: Any) -> Any:
    """The transpose of this map."""
    both = f + f.T
    if arg in "ab":
        return z @ both if arg == "a" else -z @ both @ gain.T
    return both / 2 if arg == "q" else gain @ both @ gain.T / 2


def _rules(time: _Time) -> dict[str, dict[str, Rule]]:
    """The rules of an equation, by their direction and argument."""

    def parts(out: Any, a: Any, b: Any, r: Any) -> tuple[Any, Any, Any]:
        gain = time.gain(out, a, b, r)
        loop = a - b @ gain
        return loop, gain, time.product(out, loop)

    def back(arg: str) -> Rule:
        def vjp(ct: Any, space: Any, *kept: Any) -> Any:
            loop, *others = parts(*kept)
            return unbroadcast(_changed_back(arg, time.lyapunov(loop.T, ct), *others), space)

        return Rule(vjp, (f"{arg}_space", "out", "a", "b", "r"))

    def forward(arg: str) -> Rule:
        def jvp(t: Any, space: Any, *kept: Any) -> Any:
            loop, *others = parts(*kept)
            return unbroadcast(time.lyapunov(loop, _change(arg, t, *others)), space)

        return Rule(jvp, ("out_space", "out", "a", "b", "r"))

    return {"vjp": {arg: back(arg) for arg in "abqr"}, "jvp": {arg: forward(arg) for arg in "abqr"}}


def _sample(generator: numpy.random.Generator) -> Sample:
    a, b, q, r = (generator.standard_normal(shape) for shape in ((3, 3), (3, 2), (3, 3), (2, 2)))
    return Sample((a, b, q @ q.T + numpy.eye(3), r @ r.T + numpy.eye(2)))


def _primitive(name: str, time: _Time, doc: str) -> Primitive:
    def primal(a: Any, b: Any, q: Any, r: Any, *, balanced: bool = True) -> Any:
        return getattr(scipy.linalg, name)(a, b, _symmetric(q), _symmetric(r), balanced=balanced)

    return Primitive(
        f"scipy.linalg.{name}",
        primal,
        **_rules(time),
        samples=lambda: (_sample,),
        pattern=patterns.core,
        doc=f"{doc}; dX by Lyapunov's equation of the closed loop",
    )


CARE = _primitive("solve_continuous_are", _CONTINUOUS, "A^T X + X A - X B R^-1 B^T X + Q = 0")
DARE = _primitive("solve_discrete_are", _DISCRETE, "A^T X A - X - A^T X B (R + B^T X B)^-1 B^T X A + Q = 0")


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
    return _solved("solve_continuous_are", CARE, (a, b, q, r), (e, s), balanced)


@beside("scipy.linalg.solve_discrete_are")
def solve_discrete_are(a: Any, b: Any, q: Any, r: Any, e: Any = None, s: Any = None, balanced: bool = True) -> Any:
    """Solve the discrete algebraic Riccati equation; see `scipy.linalg.solve_discrete_are`.

    Examples
    --------
    >>> import numpy as np
    >>> one = np.eye(1)
    >>> solve_discrete_are(0 * one, one, 4 * one, one)
    array([[4.]])
    """
    return _solved("solve_discrete_are", DARE, (a, b, q, r), (e, s), balanced)


def _solved(name: str, primitive: Primitive, matrices: tuple[Any, ...], others: Any, balanced: bool) -> Any:
    if any(x is not None for x in others) or any(map(is_complex, matrices)):
        raise UnsupportedError(f"{name}: e, s and complex matrices are not differentiated")
    return _solved_alone(*(np.atleast_2d(floating(x)) for x in matrices), primitive, balanced)


@over_batches(2, 2, 2, 2)
def _solved_alone(a: Any, b: Any, q: Any, r: Any, primitive: Primitive, balanced: bool) -> Any:
    for x in map(plain_value, (q, r)):
        if numpy.linalg.norm(x - x.T, 1) > 100 * numpy.spacing(numpy.linalg.norm(x, 1)):
            raise ValueError("q and r must be symmetric")
    return primitive(a, b, q, r, balanced=balanced)
