"""Inverses, determinants, and matrices built from others."""

from typing import Any

import numpy
import scipy

import tapeengine.numpy as np
from tapeengine.errors import UnsupportedError
from tapeengine.primitive import Primitive, Sample, patterns, uniform
from tapeengine.primitive.builders import linear, unbroadcast
from tapeengine_primitives.linalg_solve import DET_RULES, INV_RULES
from tapeengine_scipy._passing import beside
from tapeengine_scipy._values import floating
from tapeengine_scipy.linalg._batches import over_batches
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
    **INV_RULES,
    samples=_stacks,
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
    if assume_a == "diagonal" and not np.array_equal(whole, a):
        raise UnsupportedError("inv: assume_a='diagonal' of a matrix that is not diagonal")
    return INV(whole, assume_a=assume_a, lower=lower)


def _det_primal(a: Any) -> Any:
    return scipy.linalg.det(a, check_finite=False)


DET: Primitive = Primitive(
    "scipy.linalg.det",
    _det_primal,
    **DET_RULES,
    samples=_stacks,
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
