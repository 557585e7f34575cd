"""Inverses and determinants."""

from typing import Any

import scipy

import tapeengine.numpy as np
from tapeengine.errors import UnsupportedError
from tapeengine.primitive import Primitive, Sample
from tapeengine_primitives.linalg_solve import DET_RULES, INV_RULES
from tapeengine_scipy._own_code import with_signature
from tapeengine_scipy._passing import beside
from tapeengine_scipy._values import floating
from tapeengine_scipy.linalg.solve import ASSUMPTIONS, _as_assumed, _check_finite, well_conditioned


def _stacks() -> tuple[Any, ...]:
    return (
        lambda generator: Sample((well_conditioned(generator, 3, 3),)),
        lambda generator: Sample((well_conditioned(generator, 2, 2, 2),)),
        lambda generator: Sample((well_conditioned(generator, 2, 2) + 0.5j,)),
    )


INV: Primitive = Primitive(
    "scipy.linalg.inv",
    lambda a, *, assume_a=None, lower=False: scipy.linalg.inv(a, check_finite=False, assume_a=assume_a, lower=lower),
    **INV_RULES,
    samples=_stacks,
    doc="A^-1 = X; dA = -X^T ct X^T",
)


@with_signature("scipy.linalg.inv")
def inv(a: Any, check_finite: bool, assume_a: Any = None, lower: bool = False, **_: Any) -> Any:
    """Return the inverse of a matrix; see `scipy.linalg.inv`.

    Examples
    --------
    >>> import numpy as np
    >>> inv(np.array([[2.0]]))
    array([[0.5]])
    """
    a = floating(a)
    _check_finite("inv", check_finite, a)
    if a.ndim < 2 or a.shape[-1] != a.shape[-2]:
        raise ValueError(f"inv: square matrices are needed, not shape {a.shape}")
    whole = _as_assumed(a, ASSUMPTIONS[assume_a], lower)
    if assume_a == "diagonal" and not np.array_equal(whole, a):
        raise UnsupportedError("inv: the matrix is not diagonal: leave assume_a='diagonal' out")
    return INV(whole, assume_a=assume_a, lower=lower)


DET: Primitive = Primitive(
    "scipy.linalg.det",
    lambda a: scipy.linalg.det(a, check_finite=False),
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
    _check_finite("det", check_finite, a)
    return DET(a)
