"""Eigenvalues and eigenvectors of general matrices, with the rules of numpy's."""

from typing import Any

import numpy
import scipy

import tapeengine.numpy as np
from tapeengine.errors import UnsupportedError
from tapeengine.primitive import Primitive
from tapeengine_primitives.linalg_eigen import EigResult, eig_rules, eigvals_rules, rotation, separated
from tapeengine_scipy._own_code import with_signature
from tapeengine_scipy.linalg._batches import over_batches
from tapeengine_scipy.linalg.solve import _check_finite

EIG: Primitive = Primitive(
    "scipy.linalg.eig",
    lambda a: EigResult(*scipy.linalg.eig(a, check_finite=False)),
    **eig_rules("scipy.linalg.eig"),
    samples=(separated(3, 3), rotation),
    doc="eigenvalues, complex ones always, and vectors of length 1, with the rules of numpy.linalg.eig",
)
EIGVALS: Primitive = Primitive(
    "scipy.linalg.eigvals",
    lambda a: scipy.linalg.eigvals(a, check_finite=False),
    **eigvals_rules("scipy.linalg.eigvals"),
    samples=(separated(3, 3), rotation),
    doc="eigenvalues, complex ones always, with the rules of numpy.linalg.eigvals",
)


@with_signature("scipy.linalg.eig")
@over_batches(2)
def eig(a: Any, b: Any, left: bool, right: bool, check_finite: bool, homogeneous_eigvals: bool, **_: Any) -> Any:
    """Return the eigenvalues and right eigenvectors of a matrix; see `scipy.linalg.eig`.

    Left eigenvectors, and generalised and homogeneous eigenvalues, are refused.

    Examples
    --------
    >>> import numpy as np
    >>> eig(np.diag([1.0, 2.0]))[0]
    array([1.+0.j, 2.+0.j])
    """
    if b is not None or left or homogeneous_eigvals:
        raise UnsupportedError(
            "eig: b=, left= and homogeneous_eigvals= are not differentiated; pass solve(b, a), or the transpose"
        )
    _check_finite("eig", check_finite, a)
    if a.size == 0:
        values = np.zeros(0, numpy.result_type(a.dtype, numpy.complex64))
        return (values, 0.0 * a) if right else values
    return tuple(EIG(a)) if right else EIGVALS(a)
