"""Derivatives of `scipy.linalg`: its functions with SciPy's own signatures, for plain and traced values.

Examples
--------
>>> import numpy as np
>>> from tapeengine_scipy import linalg
>>> float(linalg.det(np.eye(3)))
1.0
"""

from tapeengine_scipy._names import names_of
from tapeengine_scipy.linalg.solve import solve

__all__ = ["solve"]

__getattr__, __dir__ = names_of(
    "scipy.linalg",
    globals(),
    {
        "construct": "det inv",
        "decompositions": "cho_factor cholesky eigh lu_factor lu_solve",
        "eigen": "eig",
        "matrixfunctions": "expm logm sqrtm",
        "orthogonal": "polar qr svd",
        "rectangular": "lstsq norm null_space pinv",
        "riccati": "solve_continuous_are solve_discrete_are",
        "solve": "cho_solve solve_triangular",
        "structured": "circulant solve_banded solve_toeplitz solveh_banded toeplitz",
        "sylvester": "solve_continuous_lyapunov solve_lyapunov solve_sylvester",
        "triangular": "funm lu schur",
    },
)
