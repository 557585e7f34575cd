"""Derivatives of `scipy.linalg`: its functions with SciPy's own signatures, for plain and traced values.

Examples
--------
>>> import numpy as np
>>> from tapeengine_scipy import linalg
>>> float(linalg.det(np.eye(3)))
1.0
"""

from tapeengine_scipy._names import names_of
from tapeengine_scipy.linalg.construct import det, inv
from tapeengine_scipy.linalg.decompositions import cho_factor, cholesky, eigh, lu_factor, lu_solve
from tapeengine_scipy.linalg.eigen import eig
from tapeengine_scipy.linalg.matrixfunctions import expm, logm, sqrtm
from tapeengine_scipy.linalg.orthogonal import polar, qr, svd
from tapeengine_scipy.linalg.rectangular import lstsq, norm, null_space, pinv
from tapeengine_scipy.linalg.riccati import solve_continuous_are, solve_discrete_are
from tapeengine_scipy.linalg.solve import cho_solve, solve, solve_triangular
from tapeengine_scipy.linalg.structured import circulant, solve_banded, solve_toeplitz, solveh_banded, toeplitz
from tapeengine_scipy.linalg.sylvester import solve_continuous_lyapunov, solve_sylvester
from tapeengine_scipy.linalg.triangular import funm, lu, schur

__all__ = [
    "cho_factor", "cho_solve", "cholesky", "circulant", "det", "eig", "eigh", "expm",
    "funm", "inv", "logm", "lstsq", "lu", "lu_factor", "lu_solve", "norm", "null_space", "pinv", "polar", "qr",
    "schur", "solve", "solve_banded", "solve_continuous_are", "solve_continuous_lyapunov",
    "solve_discrete_are", "solve_lyapunov", "solve_sylvester", "solve_toeplitz", "solve_triangular", "solveh_banded",
    "sqrtm", "svd", "toeplitz",
]  # fmt: skip

solve_lyapunov = solve_continuous_lyapunov

__getattr__, __dir__ = names_of("scipy.linalg", globals())
