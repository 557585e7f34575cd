"""The exponential, logarithm and square root of matrices.

For any matrix function f (Najfeld and Havel; Higham, Functions of Matrices, 3.2) the derivative in a direction E is
the upper right block of f([[A, E], [0, A]]), and the transpose of that map is the derivative at A^T. So the derivative
is a primitive whose derivatives are blocks again. For the square root R, X with R X + X R = E is used instead: blocks
double the eigenvalues, and rounding would move those on the branch cut, the negative axis, to different sides of it.
"""

from collections.abc import Callable
from typing import Any

import numpy
import scipy

import tapeengine.numpy as np
from tapeengine.errors import UnsupportedError
from tapeengine.primitive import Primitive, Sample, patterns, uniform
from tapeengine.primitive.builders import unbroadcast
from tapeengine_scipy._passing import beside
from tapeengine_scipy._values import floating
from tapeengine_scipy.linalg._batches import over_batches
from tapeengine_scipy.linalg._transpose import is_complex, transpose
from tapeengine_scipy.linalg.sylvester import SYLVESTER


def _blocks(a: Any, direction: Any) -> Any:
    """[[A, E], [0, A]]."""
    above = np.concatenate([a, direction], axis=-1)
    below = np.concatenate([np.zeros_like(a), a], axis=-1)
    return np.concatenate([above, below], axis=-2)


def _corner(block: Any, size: int) -> Any:
    return block[..., :size, size:]


def _in_corner(ct: Any) -> Any:
    """[[0, ct], [0, 0]], the transpose of `_corner`."""
    zero = np.zeros_like(ct)
    return np.concatenate([np.concatenate([zero, ct], axis=-1), np.concatenate([zero, zero], axis=-1)], axis=-2)


def _matrix_function(
    name: str, function: Callable[..., Any], derivative: Callable[..., Any], samples: Any, doc: str
) -> Primitive:
    """Build the record of a matrix function; `derivative` computes the directional derivative for a single matrix."""

    def along_vjp_a(ct: Any, a: Any, direction: Any, a_space: Any) -> Any:
        size = a_space.shape[-1]
        full = along(transpose(_blocks(a, direction)), _in_corner(ct))
        return unbroadcast(full[..., :size, :size] + full[..., size:, size:], a_space)

    def along_jvp_a(t: Any, a: Any, direction: Any, out_space: Any) -> Any:
        full = along(_blocks(a, direction), _blocks(t, np.zeros_like(t)))
        return unbroadcast(_corner(full, out_space.shape[-1]), out_space)

    along: Primitive = Primitive(
        f"{name}_along",
        derivative,
        vjp={
            "a": along_vjp_a,
            "direction": lambda ct, a, direction_space: unbroadcast(along(transpose(a), ct), direction_space),
        },
        jvp={"a": along_jvp_a, "direction": lambda t, a, out_space: unbroadcast(along(a, t), out_space)},
        samples=lambda: tuple(_with_direction(sample) for sample in samples()),
        pattern=patterns.core,
        doc=f"the derivative of {name} in a direction",
    )
    return Primitive(
        name,
        function,
        vjp={"a": lambda ct, a, a_space: unbroadcast(along(transpose(a), ct), a_space)},
        jvp={"a": lambda t, a, out_space: unbroadcast(along(a, t), out_space)},
        samples=samples,
        pattern=patterns.core,
        doc=doc,
    )


def _with_direction(sample: Any) -> Any:
    def drawn(generator: numpy.random.Generator) -> Sample:
        (a,) = sample(generator).args
        return Sample((a, uniform(a.shape)))

    return drawn


def _by_blocks(function: Callable[..., Any]) -> Callable[..., Any]:
    """The derivative in a direction of length 1, times the length, since a long direction would change the scaling."""

    def along(a: Any, direction: Any) -> Any:
        length = numpy.abs(direction).max()
        if not 0 < length < numpy.inf:
            return numpy.zeros_like(direction) * length
        return length * _corner(function(_blocks(a, direction / length)), a.shape[-1])

    return along


def _expm_along(a: Any, direction: Any) -> Any:
    if a.ndim > 2:
        parts = [_expm_along(matrix, part) for matrix, part in zip(a, direction, strict=True)]
        return numpy.stack(parts) if parts else a + direction
    return scipy.linalg.expm_frechet(a, direction, compute_expm=False, check_finite=False)


def _inverse_scaling(a: Any) -> Any:
    """The logarithm by square roots and Gauss-Legendre quadrature (Higham, 11.4 and 11.5).

    The rules use it instead of SciPy's function, whose norm estimates are random, so that two runs give the same bits.
    """
    _refuse_branch_cut(a)
    eye, doublings = numpy.eye(a.shape[-1]), 0
    while numpy.abs(a - eye).sum(axis=-2).max() > 0.25 and doublings < 60:
        a, doublings = scipy.linalg.sqrtm(a), doublings + 1
    nodes, weights = numpy.polynomial.legendre.leggauss(12)
    rest = a - eye
    terms = (w / 2 * numpy.linalg.solve(eye + (t + 1) / 2 * rest, rest) for t, w in zip(nodes, weights, strict=True))
    return 2.0**doublings * sum(terms)


def _sqrtm_along(root: Any, direction: Any) -> Any:
    """The solution X of R X + X R = E, where R is the square root of A."""
    if root.ndim > 2:
        parts = [_sqrtm_along(matrix, part) for matrix, part in zip(root, direction, strict=True)]
        return np.stack(parts) if parts else root + direction
    if is_complex(root) and not is_complex(direction):
        direction = direction + 0j
    return SYLVESTER(root, root, direction)


def _refuse_branch_cut(a: Any) -> None:
    """Refuse a real matrix with a negative eigenvalue, where the principal logarithm is not continuous."""
    values = numpy.linalg.eigvals(a)
    edge = numpy.abs(values.imag) <= 1e-7 * numpy.abs(values)
    if numpy.any(edge & (values.real <= 0)):
        raise UnsupportedError(
            "scipy.linalg.logm has no derivative where an eigenvalue is zero or negative: the principal logarithm "
            "jumps there"
        )


def _any_matrices() -> tuple[Any, ...]:
    return (
        lambda generator: Sample((generator.standard_normal((3, 3)),)),
        lambda generator: Sample((generator.standard_normal((2, 2, 2)),)),
    )


def _positive_matrices() -> tuple[Any, ...]:
    """Matrices with eigenvalues away from the closed negative real axis."""
    return (lambda generator: Sample((0.4 * generator.standard_normal((3, 3)) + 3 * numpy.eye(3),)),)


EXPM: Primitive = _matrix_function(
    "scipy.linalg.expm",
    lambda a: scipy.linalg.expm(a),
    _expm_along,
    _any_matrices,
    "exp(A); the vjp is the derivative at A^T along ct",
)
LOGM: Primitive = _matrix_function(
    "scipy.linalg.logm",
    lambda a: scipy.linalg.logm(a),
    _by_blocks(_inverse_scaling),
    _positive_matrices,
    "log(A); the vjp is that at A^T",
)


def _with_a_negative_eigenvalue(generator: numpy.random.Generator) -> Sample:
    vectors = 0.4 * generator.standard_normal((3, 3)) + 2 * numpy.eye(3)
    return Sample((vectors * [-2.0, 1.5, 3.0] @ numpy.linalg.inv(vectors),))


SQRTM: Primitive = Primitive(
    "scipy.linalg.sqrtm",
    lambda a: scipy.linalg.sqrtm(a),
    vjp={"a": lambda ct, out, a_space: unbroadcast(_sqrtm_along(transpose(out), ct), a_space)},
    jvp={"a": lambda t, out, out_space: unbroadcast(_sqrtm_along(out, t), out_space)},
    args=("a",),
    samples=lambda: (*_positive_matrices(), _with_a_negative_eigenvalue),
    pattern=patterns.core,
    doc="A^(1/2) = R; the jvp X solves R X + X R = dA",
)


@beside("scipy.linalg.expm")
def expm(A: Any) -> Any:
    """Return the matrix exponential; see `scipy.linalg.expm`.

    Examples
    --------
    >>> import numpy as np
    >>> expm(np.zeros((2, 2)))
    array([[1., 0.],
           [0., 1.]])
    """
    return EXPM(floating(A))


@beside("scipy.linalg.logm")
@over_batches(2)
def logm(A: Any, disp: bool = True) -> Any:
    """Return the principal matrix logarithm; see `scipy.linalg.logm`.

    Examples
    --------
    >>> import numpy as np
    >>> bool(np.allclose(logm(np.eye(2)), 0))
    True
    """
    if disp is not True:
        raise UnsupportedError("logm: disp, which SciPy deprecates, is not supported for traced values")
    return LOGM(A)


@beside("scipy.linalg.sqrtm")
def sqrtm(A: Any, disp: Any = None, blocksize: Any = None) -> Any:
    """Return the principal matrix square root; see `scipy.linalg.sqrtm`.

    Examples
    --------
    >>> import numpy as np
    >>> sqrtm(np.diag([4.0, 9.0]))
    array([[2., 0.],
           [0., 3.]])
    """
    if disp not in (None, True):
        raise UnsupportedError("sqrtm: disp, which SciPy deprecates, is not supported for traced values")
    a = floating(A)
    if a.ndim < 2:
        raise ValueError("it is not a matrix")
    return SQRTM(a) if a.size else a
