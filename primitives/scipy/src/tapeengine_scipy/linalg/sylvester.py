"""Sylvester's and Lyapunov's matrix equations.

For A X + X B = Q with a solution L of A^T L + L B^T = ct: dQ = L, dA = -L X^T, dB = -X^T L. The rules reuse the Schur
factors of the primal.
"""

from typing import Any

import numpy
import scipy

from tapeengine.errors import UnsupportedError
from tapeengine.primitive import Primitive, Sample, patterns, uniform
from tapeengine.primitive.builders import decides
from tapeengine_scipy._passing import beside
from tapeengine_scipy.linalg._batches import over_batches
from tapeengine_scipy.linalg._systems import matrix_times, outer_product, solution
from tapeengine_scipy.linalg._transpose import conjugate_transpose, is_complex, transpose
from tapeengine_scipy.linalg.factorisations import Factorisation
from tapeengine_scipy.linalg.solve import well_conditioned


def _schur_pair(a: Any, b: Any) -> Any:
    output = "complex" if is_complex(a) or is_complex(b) else "real"
    return scipy.linalg.schur(a, output=output), scipy.linalg.schur(b, output=output)


def _schur_solve(factors: Any, q: Any, transposed: bool) -> Any:
    (r, u), (s, v) = factors
    if transposed:  # A^T L + L B^T = ct, conjugated: A^H conj(L) + conj(L) B^H = conj(ct)
        return _trsyl(r, s, u, v, q.conj(), "C").conj()
    return _trsyl(r, s, u, v, q, "N")


def _trsyl(r: Any, s: Any, u: Any, v: Any, q: Any, operation: str) -> Any:
    if q.dtype.kind == "c" and r.dtype.kind == "f":
        return _trsyl(r, s, u, v, q.real, operation) + 1j * _trsyl(r, s, u, v, q.imag, operation)
    inner = u.conj().T @ q @ v
    (trsyl,) = scipy.linalg.get_lapack_funcs(("trsyl",), (r, s, inner))
    if operation == "C" and trsyl.dtype.kind == "f":
        operation = "T"
    solution, scale, info = trsyl(r, s, inner, trana=operation, tranb=operation)
    if info:
        raise numpy.linalg.LinAlgError("solve_sylvester: A and -B have an eigenvalue in common")
    return u @ (solution / scale) @ v.conj().T


def _sylvester_primal(
    a: Any, b: Any, q: Any, *, transposed: bool = False, factorisation: Factorisation | None = None
) -> Any:
    factorisation = factorisation or Factorisation(_schur_pair, _schur_solve)
    return factorisation.solve((a, b), q, transposed)


def _real_with_complex(generator: numpy.random.Generator) -> Sample:
    a, b = well_conditioned(generator, 3, 3), well_conditioned(generator, 2, 2)
    return Sample((a, b, uniform((3, 2), dtype=complex)))


def _samples() -> tuple[Any, ...]:
    def drawn(static: dict[str, Any], dtype: Any = float) -> Any:
        def sample(generator: numpy.random.Generator) -> Sample:
            a, b = well_conditioned(generator, 3, 3), well_conditioned(generator, 2, 2)
            return Sample((a.astype(dtype), b, uniform((3, 2), dtype=dtype)), static)

        return sample

    return drawn({}), drawn({"transposed": True}), drawn({}, complex), _real_with_complex


SYLVESTER: Primitive = solution(
    "scipy.linalg.solve_sylvester",
    _sylvester_primal,
    times={"a": matrix_times, "b": lambda t, x, transposed: x @ (transpose(t) if transposed else t)},
    outer={"a": outer_product, "b": lambda ct, x, transposed: transpose(ct) @ x if transposed else transpose(x) @ ct},
    samples=_samples,
    pattern=patterns.core,
    doc="A X + X B = Q; dQ = L with A^T L + L B^T = ct, dA = -L X^T, dB = -X^T L",
)


@beside("scipy.linalg.solve_sylvester")
@over_batches(2, 2, 2)
def solve_sylvester(a: Any, b: Any, q: Any) -> Any:
    """Solve A X + X B = Q; see `scipy.linalg.solve_sylvester`.

    Examples
    --------
    >>> import numpy as np
    >>> solve_sylvester(np.array([[1.0]]), np.array([[3.0]]), np.array([[8.0]]))
    array([[2.]])
    """
    if any(map(is_complex, (a, b, q))) and any(_rotates(x) for x in (a, b) if not is_complex(x)):
        raise UnsupportedError(
            "solve_sylvester: if a matrix is complex, and a real one has complex eigenvalues, SciPy's result does not "
            "solve the equation; pass a.astype(complex) and b.astype(complex)"
        )
    return SYLVESTER(a, b, q, factorisation=Factorisation(_schur_pair, _schur_solve))


@decides("scipy.linalg.rotates", Sample((numpy.eye(2),)))
def _rotates(a: Any) -> bool:
    """Whether a real matrix has complex eigenvalues."""
    return bool(numpy.diagonal(scipy.linalg.schur(a)[0], -1).any())


@beside("scipy.linalg.solve_continuous_lyapunov")
@over_batches(2, 2)
def solve_continuous_lyapunov(a: Any, q: Any) -> Any:
    """Solve A X + X A^H = Q; see `scipy.linalg.solve_continuous_lyapunov`.

    Examples
    --------
    >>> import numpy as np
    >>> solve_continuous_lyapunov(np.array([[2.0]]), np.array([[8.0]]))
    array([[2.]])
    """
    return solve_sylvester(a, conjugate_transpose(a), q)
