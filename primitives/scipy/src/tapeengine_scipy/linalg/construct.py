"""Inverses, determinants, and matrices built from others."""

from typing import Any

import numpy
import scipy

import tapeengine as te
import tapeengine.numpy as np
from tapeengine.errors import UnsupportedError
from tapeengine.primitive import Primitive, Sample, patterns, uniform
from tapeengine.primitive.builders import linear, unbroadcast
from tapeengine_scipy._callables import plain_value
from tapeengine_scipy._passing import beside
from tapeengine_scipy._values import floating
from tapeengine_scipy.linalg._batches import over_batches
from tapeengine_scipy.linalg._transpose import transpose
from tapeengine_scipy.linalg.solve import ASSUMPTIONS, _as_assumed, _check_finite, well_conditioned


def _inv_primal(a: Any, *, assume_a: Any = None, lower: bool = False) -> Any:
    return scipy.linalg.inv(a, check_finite=False, assume_a=assume_a, lower=lower)


def _stacks() -> tuple[Any, ...]:
    return (
        lambda generator: Sample((well_conditioned(generator, 3, 3),)),
        lambda generator: Sample((well_conditioned(generator, 2, 2, 2),)),
        lambda generator: Sample((well_conditioned(generator, 2, 2) + 0.5j,)),
    )


INV: Primitive = Primitive(
    "scipy.linalg.inv",
    _inv_primal,
    vjp={"a": lambda ct, out: -(transpose(out) @ ct @ transpose(out))},
    jvp={"a": lambda t, out: -(out @ t @ out)},
    samples=_stacks,
    pattern=patterns.core,
    doc="A^-1 = X; dA = -X^T ct X^T",
)


@beside("scipy.linalg.inv")
def inv(
    a: Any, overwrite_a: bool = False, check_finite: bool = True, *, assume_a: Any = None, lower: bool = False
) -> Any:
    """Return the inverse of a matrix; see `scipy.linalg.inv`.

    Examples
    --------
    >>> import numpy as np
    >>> inv(np.array([[2.0]]))
    array([[0.5]])
    """
    a = floating(a)
    if check_finite:
        _check_finite("inv", a)
    if a.ndim < 2 or a.shape[-1] != a.shape[-2]:
        raise ValueError(f"inv: square matrices are needed, not shape {a.shape}")
    whole = _as_assumed(a, ASSUMPTIONS[assume_a], lower)
    if assume_a == "diagonal" and not numpy.array_equal(plain_value(whole), plain_value(a)):
        raise UnsupportedError("inv: assume_a='diagonal' of a matrix that is not diagonal")
    return INV(whole, assume_a=assume_a, lower=lower)


def _det_primal(a: Any) -> Any:
    return scipy.linalg.det(a, check_finite=False)


def _cofactor_primal(a: Any) -> Any:
    """The matrix of cofactors from the singular values, which exists even if the inverse does not.

    For A = U S V^H the cofactors are det(U V^H) conj(U) C conj(V^H), with the product of the other singular values on
    the diagonal of C.
    """
    u, s, vh = numpy.linalg.svd(a)
    size = s.shape[-1]
    others = numpy.where(numpy.eye(size, dtype=bool), 1.0, s[..., None, :]).prod(axis=-1)
    sign = numpy.linalg.det(u) * numpy.linalg.det(vh)
    return sign[..., None, None] * (u.conj() * others[..., None, :]) @ vh.conj()


def _spread(scalar: Any) -> Any:
    return np.asarray(scalar)[..., None, None]


def _along_primal(a: Any, direction: Any) -> Any:
    """The directional derivative of the cofactors, the second derivative of det, also at singular matrices.

    In the frame of the singular vectors, X = U^H E V gives diag(P diag(X)) - P * X^T, where P[i, j] is the product of
    the singular values other than i and j, and 0 on the diagonal.
    """
    u, s, vh = numpy.linalg.svd(a)
    frame = u.conj().swapaxes(-1, -2) @ direction @ vh.conj().swapaxes(-1, -2)
    others = _products_of_others(s)
    inner = -others * frame.swapaxes(-1, -2)
    rows = numpy.arange(s.shape[-1])
    inner[..., rows, rows] = (others @ frame[..., rows, rows][..., None])[..., 0]
    sign = numpy.linalg.det(u) * numpy.linalg.det(vh)
    return sign[..., None, None] * u.conj() @ inner @ vh.conj()


def _products_of_others(s: Any) -> Any:
    size = s.shape[-1]
    products = numpy.zeros((*s.shape, size))
    for i in range(size):
        without = numpy.where(numpy.arange(size) == i, 1.0, s)
        products[..., i, :] = numpy.where(numpy.eye(size, dtype=bool), 1.0, without[..., None, :]).prod(axis=-1)
        products[..., i, i] = 0.0
    return products


def _along_regular(a: Any, direction: Any) -> Any:
    """C trace(A^-1 E) - (E A^-1)^T C, for a regular A, where C = det(A) A^-T is the matrix of cofactors."""
    change, out = transpose(direction @ INV(a)), COFACTOR(a)
    return _spread(np.trace(change, axis1=-2, axis2=-1)) * out - change @ out


def _along_vjp_a(ct: Any, a: Any, direction: Any) -> Any:
    return te.vjp(lambda a: _along_regular(a, direction), a)[1](ct)[0]


def _along_jvp_a(t: Any, a: Any, direction: Any) -> Any:
    return te.jvp(lambda a: _along_regular(a, direction), (a,), (t,))[1]


def _along_samples() -> tuple[Any, ...]:
    def drawn(*shape: int) -> Any:
        return lambda generator: Sample((well_conditioned(generator, *shape), uniform(shape)))

    return drawn(3, 3), drawn(2, 3, 3)


COFACTOR_ALONG: Primitive = Primitive(
    "scipy.linalg.cofactor_along",
    _along_primal,
    vjp={
        "a": _along_vjp_a,
        "direction": lambda ct, a, direction_space: unbroadcast(COFACTOR_ALONG(a, ct), direction_space),
    },
    jvp={"a": _along_jvp_a, "direction": lambda t, a: COFACTOR_ALONG(a, t)},
    samples=_along_samples,
    pattern=patterns.core,
    doc="the change of the cofactors in a direction, also of a singular A (its own derivative wants a regular A)",
)
COFACTOR: Primitive = Primitive(
    "scipy.linalg.cofactor",
    _cofactor_primal,
    vjp={"a": lambda ct, a, a_space: unbroadcast(COFACTOR_ALONG(a, ct), a_space)},
    jvp={"a": lambda t, a: COFACTOR_ALONG(a, t)},
    samples=_stacks,
    pattern=patterns.core,
    doc="the matrix of cofactors, det(A) A^-T, also of a singular A",
)
DET: Primitive = Primitive(
    "scipy.linalg.det",
    _det_primal,
    vjp={"a": lambda ct, a, a_space: unbroadcast(_spread(ct) * COFACTOR(a), a_space)},
    jvp={"a": lambda t, a: np.sum(COFACTOR(a) * t, axis=(-2, -1))},
    samples=_stacks,
    pattern=patterns.core,
    doc="det(A); dA = ct times the cofactors",
)


@beside("scipy.linalg.det")
def det(a: Any, overwrite_a: bool = False, check_finite: bool = True) -> Any:
    """Return the determinant of a matrix; see `scipy.linalg.det`. Its derivative exists at singular matrices as well.

    Examples
    --------
    >>> import numpy as np
    >>> float(det(np.array([[2.0, 1.0], [0.0, 3.0]])))
    6.0
    """
    a = floating(a)
    if check_finite:
        _check_finite("det", a)
    return DET(a)


def kron(a: Any, b: Any) -> Any:
    """Return the Kronecker product of two matrices."""
    product = a[:, None, :, None] * b[None, :, None, :]
    return np.reshape(product, (a.shape[0] * b.shape[0], a.shape[1] * b.shape[1]))


@beside("scipy.linalg.khatri_rao")
@over_batches(2, 2)
def khatri_rao(a: Any, b: Any) -> Any:
    """Return the Kronecker products of the columns of `a` and `b`; see `scipy.linalg.khatri_rao`.

    Examples
    --------
    >>> import numpy as np
    >>> khatri_rao(np.ones((2, 1)), np.array([[3.0], [4.0]])).ravel()
    array([3., 4., 3., 4.])
    """
    a, b = floating(a), floating(b)
    if a.ndim != 2 or b.ndim != 2 or a.shape[1] != b.shape[1]:
        raise ValueError(
            f"khatri_rao: two matrices with equal numbers of columns are needed, not shapes {a.shape} and {b.shape}"
        )
    return np.reshape(a[:, None, :] * b[None, :, :], (a.shape[0] * b.shape[0], a.shape[1]))


def _block_diag_primal(*blocks: Any) -> Any:
    return scipy.linalg.block_diag(*blocks)


def _block_diag_vjp(ct: Any, index: int, blocks_spaces: Any) -> Any:
    shapes = [(1,) * (2 - space.ndim) + space.shape for space in blocks_spaces]
    row, column = (sum(shape[axis] for shape in shapes[:index]) for axis in (0, 1))
    part = ct[row : row + shapes[index][0], column : column + shapes[index][1]]
    return unbroadcast(np.reshape(part, blocks_spaces[index].shape), blocks_spaces[index])


BLOCK_DIAG: Primitive = linear(
    "scipy.linalg.block_diag",
    _block_diag_primal,
    {"blocks": _block_diag_vjp},
    variadic=True,
    samples=(
        Sample((uniform((2, 3)), uniform((1, 2)))),
        Sample((uniform((2, 2)), uniform((3,)), uniform((2, 1)))),
    ),
    pattern=patterns.moves,
    doc="the blocks along the diagonal; each block's cotangent is its part of ct",
)


@beside("scipy.linalg.block_diag")
def block_diag(*arrs: Any) -> Any:
    """Put matrices along a diagonal; see `scipy.linalg.block_diag`.

    Examples
    --------
    >>> import numpy as np
    >>> block_diag(np.array([[1.0]]), np.array([[2.0, 3.0]]))
    array([[1., 0., 0.],
           [0., 2., 3.]])
    """
    blocks = [floating(block) for block in arrs]
    if all(block.ndim <= 2 for block in blocks):
        return BLOCK_DIAG(*blocks)
    return _stacked_blocks([np.atleast_2d(block) for block in blocks])


def _stacked_blocks(blocks: list[Any]) -> Any:
    """Block diagonal matrices from stacks that broadcast against each other."""
    batch = numpy.broadcast_shapes(*(block.shape[:-2] for block in blocks))
    width, rows, before = sum(block.shape[-1] for block in blocks), [], 0
    for block in blocks:
        height, own = block.shape[-2:]
        left, right = (numpy.zeros((*batch, height, n), block.dtype) for n in (before, width - before - own))
        rows.append(np.concatenate([left, np.broadcast_to(block, (*batch, height, own)), right], axis=-1))
        before += own
    return np.concatenate(rows, axis=-2)
