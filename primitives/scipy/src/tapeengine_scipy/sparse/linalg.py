"""Derivatives of `scipy.sparse.linalg`: linear systems with sparse matrices.

The matrix may be one of `scipy.sparse`, whose entries are constants, or one of `tapeengine_scipy.sparse` with traced
entries.
"""

from typing import Any

import numpy
import scipy

from tapeengine.errors import UnsupportedError
from tapeengine.primitive import Primitive, Sample, patterns, uniform
from tapeengine.primitive.builders import unbroadcast
from tapeengine_scipy._callables import plain_value
from tapeengine_scipy._passing import beside, names_of
from tapeengine_scipy._values import floating
from tapeengine_scipy.linalg._transpose import conjugate
from tapeengine_scipy.linalg.factorisations import Factorisation
from tapeengine_scipy.sparse.matrix import SparseArray, as_sparse
from tapeengine_scipy.sparse.pattern import SAMPLED, TIMES, Pattern

__all__ = ["bicgstab", "cg", "gmres", "spsolve"]

__getattr__, __dir__ = names_of("scipy.sparse.linalg")

# ---- direct solvers, with the factors of SuperLU -------------------------------------------------


def _factors(pattern: Pattern, options: dict[str, Any]) -> Factorisation:
    def solve(factors: Any, rhs: Any, transposed: bool) -> Any:
        return factors.solve(numpy.ascontiguousarray(rhs), "T" if transposed else "N")

    return Factorisation(lambda data: scipy.sparse.linalg.splu(pattern.matrix(data).tocsc(), **options), solve)


def _spsolve_primal(
    data: Any, b: Any, *, pattern: Pattern, transposed: bool = False, factorisation: Factorisation | None = None
) -> Any:
    return (factorisation or _factors(pattern, {})).solve((data,), b, transposed)


def _ct_b(ct: Any, data: Any, pattern: Pattern, transposed: bool, factorisation: Any) -> Any:
    return SPSOLVE(data, ct, pattern=pattern, transposed=not transposed, factorisation=factorisation)


def _vjp_data(
    ct: Any, data: Any, out: Any, pattern: Pattern, transposed: bool, factorisation: Any, data_space: Any
) -> Any:
    ct_b = _ct_b(ct, data, pattern, transposed, factorisation)
    left, right = (out, ct_b) if transposed else (ct_b, out)
    return unbroadcast(-SAMPLED(left, right, pattern=pattern), data_space)


def _jvp_data(
    t: Any, data: Any, out: Any, pattern: Pattern, transposed: bool, factorisation: Any, out_space: Any
) -> Any:
    change = TIMES(t, out, pattern=pattern, transposed=transposed)
    solution = SPSOLVE(data, change, pattern=pattern, transposed=transposed, factorisation=factorisation)
    return unbroadcast(-solution, out_space)


def _square() -> Pattern:
    return Pattern([0, 0, 1, 1, 2, 2], [0, 2, 1, 0, 2, 1], (3, 3))


def _dominant(shape: tuple[int, ...], static: dict[str, Any]) -> Any:
    def drawn(generator: numpy.random.Generator) -> Sample:
        data = generator.standard_normal(6) + numpy.array([4.0, 0, 4.0, 0, 4.0, 0])
        return Sample((data, uniform(shape)), {"pattern": _square(), **static})

    return drawn


SPSOLVE: Primitive = Primitive(
    "scipy.sparse.linalg.spsolve",
    _spsolve_primal,
    vjp={
        "data": _vjp_data,
        "b": lambda ct, data, pattern, transposed, factorisation, b_space: unbroadcast(
            _ct_b(ct, data, pattern, transposed, factorisation), b_space
        ),
    },
    jvp={
        "data": _jvp_data,
        "b": lambda t, data, pattern, transposed, factorisation, out_space: unbroadcast(
            SPSOLVE(data, t, pattern=pattern, transposed=transposed, factorisation=factorisation), out_space
        ),
    },
    samples=lambda: (_dominant((3,), {}), _dominant((3, 2), {}), _dominant((3,), {"transposed": True})),
    pattern=patterns.solves,
    doc="A^-1 b with SuperLU's factors; db = A^-T ct, and of the entries: -db[row] x[column]",
)


@beside("scipy.sparse.linalg.spsolve")
def spsolve(A: Any, b: Any, permc_spec: str | None = None, use_umfpack: bool = True) -> Any:
    """Solve a sparse linear system; see `scipy.sparse.linalg.spsolve`. The right-hand side is dense.

    SuperLU factorises the matrix once, and derivatives reuse the factors.

    Examples
    --------
    >>> import numpy as np
    >>> import scipy.sparse
    >>> spsolve(scipy.sparse.diags_array([2.0, 4.0]), np.array([2.0, 2.0]))
    array([1. , 0.5])
    """
    matrix, b = as_sparse(A), floating(b)
    if matrix.shape[0] != matrix.shape[1] or b.shape[0] != matrix.shape[0]:
        raise ValueError(f"spsolve: shapes {matrix.shape} and {b.shape} do not fit")
    options = {} if permc_spec is None else {"permc_spec": permc_spec}
    factors = _factors(matrix.pattern, options)
    if b.ndim == 2 and b.shape[1] == 1:  # as in SciPy
        b = b[:, 0]
    return SPSOLVE(matrix.data, b, pattern=matrix.pattern, factorisation=factors)


# ---- iterative solvers: the rules use the same method --------------------------------------------


def _cg_primal(data: Any, b: Any, *, matrix: Any, options: dict[str, Any]) -> Any:
    operator = matrix.matrix(data) if isinstance(matrix, Pattern) else matrix
    x, info = scipy.sparse.linalg.cg(operator, b, **options)
    if not numpy.isfinite(x).all():
        raise numpy.linalg.LinAlgError("cg broke down; is the matrix symmetric and positive definite?")
    getattr(options, "report", []).append(info)
    if info:
        raise UnsupportedError(f"cg did not converge in {info} iterations, so its result cannot be differentiated")
    return x


def _again(options: dict[str, Any]) -> dict[str, Any]:
    """The options for the systems of the rules, which start from zero and have no callbacks."""
    return {name: value for name, value in options.items() if name not in ("x0", "callback")}


def _cg_transposed(ct: Any, data: Any, matrix: Any, options: dict[str, Any]) -> Any:
    """A^-T ct for a Hermitian A, whose transpose is its conjugate."""
    return conjugate(CG(data, conjugate(ct), matrix=matrix, options=_again(options)))


def _diagonal() -> Pattern:
    return Pattern([0, 1, 2], [0, 1, 2], (3, 3))


CG: Primitive = Primitive(
    "scipy.sparse.linalg.cg",
    _cg_primal,
    vjp={
        "data": lambda ct, data, out, matrix, options, data_space: unbroadcast(
            -SAMPLED(_cg_transposed(ct, data, matrix, options), out, pattern=matrix), data_space
        ),
        "b": lambda ct, data, matrix, options, b_space: unbroadcast(_cg_transposed(ct, data, matrix, options), b_space),
    },
    jvp={
        "data": lambda t, data, out, matrix, options: (
            -CG(data, TIMES(t, out, pattern=matrix), matrix=matrix, options=_again(options))
        ),
        "b": lambda t, data, matrix, options: CG(data, t, matrix=matrix, options=_again(options)),
    },
    samples=lambda: (
        Sample((numpy.array([4.0, 5.0, 3.0]), uniform((3,))), {"matrix": _diagonal(), "options": {"rtol": 1e-15}}),
    ),
    doc="A^-1 b of a symmetric positive definite A by conjugate gradients; db = A^-1 ct by the same",
)


class _Options(dict[str, Any]):
    """The options of one call, in which the primal stores its report."""

    def __init__(self, options: dict[str, Any]) -> None:
        super().__init__(options)
        self.report: list[Any] = []


@beside("scipy.sparse.linalg.cg")
def cg(
    A: Any,
    b: Any,
    x0: Any = None,
    *,
    rtol: float = 1e-05,
    atol: float = 0.0,
    maxiter: int | None = None,
    M: Any = None,
    callback: Any = None,
) -> tuple[Any, int]:
    """Solve a symmetric positive definite system by conjugate gradients; see `scipy.sparse.linalg.cg`.

    `A` may be sparse, dense or a linear operator; only the entries of a `SparseArray` and `b` are differentiated.
    Derivatives use the same matrix, preconditioner and tolerances, and are as accurate as the tolerances.

    Examples
    --------
    >>> import numpy as np
    >>> import scipy.sparse
    >>> cg(scipy.sparse.diags_array([2.0, 4.0]), np.array([2.0, 2.0]))
    (array([1. , 0.5]), 0)
    """
    given = {"x0": None if x0 is None else plain_value(x0), "M": M, "callback": callback}
    options = _Options({"rtol": rtol, "atol": atol, "maxiter": maxiter, **given})
    b = floating(b)
    if isinstance(A, SparseArray):
        x = CG(A.data, b, matrix=A.pattern, options=options)
    else:
        x = CG(numpy.zeros(0), b, matrix=A, options=options)
    return x, options.report[-1]


# ---- solvers for any matrix: the rules solve the transposed system by the same method ------------


def _turned(matrix: Any) -> Any:
    """The transpose of a constant operator."""
    if isinstance(matrix, scipy.sparse.linalg.LinearOperator):
        return matrix.T
    return matrix.transposed() if isinstance(matrix, Pattern) else matrix.T


def _krylov_primal(data: Any, b: Any, *, matrix: Any, method: str, options: dict[str, Any]) -> Any:
    operator = matrix.matrix(data) if isinstance(matrix, Pattern) else matrix
    x, info = getattr(scipy.sparse.linalg, method)(operator, b, **options)
    getattr(options, "report", []).append(info)
    if info:
        raise UnsupportedError(f"{method} did not converge (info {info}), so its result cannot be differentiated")
    return x


def _krylov_transposed(ct: Any, data: Any, matrix: Any, method: str, options: dict[str, Any]) -> Any:
    return KRYLOV(data, ct, matrix=_turned(matrix), method=method, options=_turned_options(options))


def _turned_options(options: dict[str, Any]) -> dict[str, Any]:
    """The options for the transposed system, with the transposed preconditioner."""
    kept = {name: value for name, value in options.items() if name not in ("x0", "callback", "callback_type")}
    if kept.get("M") is not None:
        kept["M"] = _turned(scipy.sparse.linalg.aslinearoperator(kept["M"]))
    return kept


def _krylov_options(options: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in options.items() if name not in ("x0", "callback", "callback_type")}


KRYLOV: Primitive = Primitive(
    "scipy.sparse.linalg.krylov",
    _krylov_primal,
    vjp={
        "data": lambda ct, data, out, matrix, method, options, data_space: unbroadcast(
            -SAMPLED(_krylov_transposed(ct, data, matrix, method, options), out, pattern=matrix), data_space
        ),
        "b": lambda ct, data, matrix, method, options, b_space: unbroadcast(
            _krylov_transposed(ct, data, matrix, method, options), b_space
        ),
    },
    jvp={
        "data": lambda t, data, out, matrix, method, options: (
            -KRYLOV(data, TIMES(t, out, pattern=matrix), matrix=matrix, method=method, options=_krylov_options(options))
        ),
        "b": lambda t, data, matrix, method, options: KRYLOV(
            data, t, matrix=matrix, method=method, options=_krylov_options(options)
        ),
    },
    samples=lambda: (
        Sample(
            (numpy.array([4.0, 1.0, 5.0, 0.5, 3.0, 1.0]), uniform((3,))),
            {"matrix": _square(), "method": "gmres", "options": {"rtol": 1e-14}},
        ),
    ),
    doc="A^-1 b by an iterative method; db = A^-T ct by the same, and of the entries: -db[row] x[column]",
)


def _solved_by(method: str, A: Any, b: Any, options: dict[str, Any]) -> tuple[Any, int]:
    start = options["x0"]
    kept, b = _Options({**options, "x0": None if start is None else plain_value(start)}), floating(b)
    if isinstance(A, SparseArray):
        x = KRYLOV(A.data, b, matrix=A.pattern, method=method, options=kept)
    else:
        x = KRYLOV(numpy.zeros(0), b, matrix=A, method=method, options=kept)
    return x, kept.report[-1]


@beside("scipy.sparse.linalg.gmres")
def gmres(
    A: Any, b: Any, x0: Any = None, *, rtol: float = 1e-05, atol: float = 0.0, restart: int | None = None,
    maxiter: int | None = None, M: Any = None, callback: Any = None, callback_type: str | None = None,
) -> tuple[Any, int]:  # fmt: skip
    """Solve a linear system by generalised minimal residuals; see `scipy.sparse.linalg.gmres`.

    `A` may be sparse, dense or a linear operator; only the entries of a `SparseArray` and `b` are differentiated.
    Derivatives solve the transposed system with the same method and tolerances, and are as accurate as the tolerances.

    Examples
    --------
    >>> import numpy as np
    >>> import scipy.sparse
    >>> gmres(scipy.sparse.diags_array([2.0, 4.0]), np.array([2.0, 2.0]))[0].round(12)
    array([1. , 0.5])
    """
    given = {"callback": callback, "callback_type": callback_type} if callback is not None else {}
    options = {"x0": x0, "rtol": rtol, "atol": atol, "restart": restart, "maxiter": maxiter, "M": M, **given}
    return _solved_by("gmres", A, b, options)


@beside("scipy.sparse.linalg.bicgstab")
def bicgstab(
    A: Any, b: Any, x0: Any = None, *, rtol: float = 1e-05, atol: float = 0.0, maxiter: int | None = None,
    M: Any = None, callback: Any = None,
) -> tuple[Any, int]:  # fmt: skip
    """Solve a linear system by stabilised biconjugate gradients; see `scipy.sparse.linalg.bicgstab`, and `gmres`."""
    options = {"x0": x0, "rtol": rtol, "atol": atol, "maxiter": maxiter, "M": M, "callback": callback}
    return _solved_by("bicgstab", A, b, options)
