"""Derivatives of `scipy.sparse.linalg`: linear systems with sparse matrices.

The matrix may be one of `scipy.sparse`, whose entries are constants, or one of `tapeengine_scipy.sparse` with traced
entries.
"""

import functools
from collections.abc import Callable
from typing import Any

import numpy
import scipy

from tapeengine.errors import UnsupportedError
from tapeengine.primitive import Primitive, Sample, patterns, uniform
from tapeengine_scipy._callables import constants, depends, plain_value
from tapeengine_scipy._names import names_of
from tapeengine_scipy._own_code import by_name, with_signature
from tapeengine_scipy._passing import Standing, beside, refuse_traced
from tapeengine_scipy._values import floating, is_complex, is_traced
from tapeengine_scipy.linalg._systems import solution
from tapeengine_scipy.linalg._transpose import conjugate
from tapeengine_scipy.linalg.factorisations import Factorisation
from tapeengine_scipy.sparse.matrix import SparseArray, as_sparse
from tapeengine_scipy.sparse.pattern import SAMPLED, TIMES, Pattern

__getattr__, __dir__ = names_of("scipy.sparse.linalg")

# ---- direct solvers, with the factors of SuperLU -------------------------------------------------


def _factors(pattern: Pattern, options: dict[str, Any], maker: str = "splu") -> Factorisation:
    given = {**options, "options": tuple(options.get("options", {}).items())}
    return Factorisation(_superlu, _superlu_solve, pattern, tuple(given.items()), maker)


def _superlu(data: Any, pattern: Pattern, options: tuple[Any, ...], maker: str) -> Any:
    given = dict(options)
    return _maker(maker)(pattern.matrix(data).tocsc(), **{**given, "options": dict(given["options"])})


def _maker(name: str) -> Any:
    return {"splu": scipy.sparse.linalg.splu, "spilu": scipy.sparse.linalg.spilu}[name]


def _superlu_solve(factors: Any, rhs: Any, transposed: bool, *given: Any) -> Any:
    return factors.solve(numpy.ascontiguousarray(rhs), "T" if transposed else "N")


def _spsolve_primal(
    data: Any, b: Any, *, pattern: Pattern, transposed: bool = False, factorisation: Factorisation | None = None
) -> Any:
    return (factorisation or _factors(pattern, {})).solve((data,), b, transposed)


def _outer(ct: Any, x: Any, pattern: Pattern, transposed: bool) -> Any:
    left, right = (x, ct) if transposed else (ct, x)
    return SAMPLED(left, right, pattern=pattern)


def _square() -> Pattern:
    return Pattern([0, 0, 1, 1, 2, 2], [0, 2, 1, 0, 2, 1], (3, 3))


def _dominant(shape: tuple[int, ...], static: dict[str, Any]) -> Any:
    def drawn(generator: numpy.random.Generator) -> Sample:
        data = generator.standard_normal(6) + numpy.array([4.0, 0, 4.0, 0, 4.0, 0])
        return Sample((data, uniform(shape)), {"pattern": _square(), **static})

    return drawn


SPSOLVE: Primitive = solution(
    "scipy.sparse.linalg.spsolve",
    _spsolve_primal,
    times={"data": TIMES},
    outer={"data": _outer},
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
    data = matrix.entries
    if is_complex(data) != is_complex(b):
        data, b = data + 0j, b + 0j
    return SPSOLVE(data, b, pattern=matrix.pattern, factorisation=factors)


class SuperLU(Standing, path="scipy.sparse.linalg.SuperLU"):
    """The factors of a sparse matrix, for right-hand sides that may be traced; see `scipy.sparse.linalg.SuperLU`."""

    def __init__(self, maker: str, A: Any, options: dict[str, Any], known: Any = None) -> None:
        given = {name: value for name, value in options.items() if value is not None}
        is_ours = isinstance(A, SparseArray)
        plain = A.pattern.of_scipy(plain_value(A.entries)).tocsc() if is_ours else A
        self._matrix, self._made, self._is_traced = A, (maker, given), is_ours and bool(depends(A.entries))
        self._theirs = _maker(maker)(plain, **given) if known is None else known

    def solve(self, rhs: Any, trans: str = "N") -> Any:
        """Solve a system with the matrix, its transpose or its conjugate transpose."""
        if trans not in ("N", "T", "H"):
            raise ValueError("trans must be N, T, or H")
        b, (entries, pattern, factors) = floating(rhs), self._system
        b = b + 0j if is_complex(entries) and not is_complex(b) else b
        b = conjugate(b) if trans == "H" else b
        x = SPSOLVE(entries, b, pattern=pattern, transposed=trans != "N", factorisation=factors)
        return conjugate(x) if trans == "H" else x

    @functools.cached_property
    def _system(self) -> tuple[Any, Pattern, Factorisation]:
        """The entries, their places, and the factors that are known."""
        is_ours = isinstance(self._matrix, SparseArray)
        matrix = self._matrix if is_ours else as_sparse(scipy.sparse.csc_array(self._matrix))
        factors = _factors(matrix.pattern, self._made[1], self._made[0])
        return matrix.entries, matrix.pattern, factors.keep((plain_value(matrix.entries),), self._theirs)


@by_name("scipy.sparse.linalg.splu")
def splu(A: Any, **options: Any) -> Any:
    """Factorise a sparse matrix; see `scipy.sparse.linalg.splu`. Its entries and right-hand sides may be traced.

    Examples
    --------
    >>> import numpy as np
    >>> import scipy.sparse
    >>> import tapeengine as te
    >>> factors = splu(scipy.sparse.csc_array(np.diag([2.0, 4.0])))
    >>> te.grad(lambda b: factors.solve(b).sum())(np.array([1.0, 1.0]))
    array([0.5 , 0.25])
    """
    return SuperLU("splu", A, options)


@by_name("scipy.sparse.linalg.spilu")
def spilu(A: Any, **options: Any) -> Any:
    """Factorise a constant matrix incompletely; see `scipy.sparse.linalg.spilu`. Right-hand sides may be traced."""
    refuse_traced("scipy.sparse.linalg.spilu", *constants((A,)))
    return SuperLU("spilu", A, options)


def factorized(A: Any) -> Callable[[Any], Any]:
    """Return a function that solves systems with a sparse matrix; see `scipy.sparse.linalg.factorized`."""
    if isinstance(A, SparseArray):
        return splu(A.tocsc()).solve  # type: ignore[no-any-return]
    theirs: Callable[[Any], Any] = scipy.sparse.linalg.factorized(A)
    known = getattr(theirs, "__self__", None)
    return SuperLU("splu", A, {}, known).solve if isinstance(known, scipy.sparse.linalg.SuperLU) else theirs


# ---- iterative solvers: the rules use the same method --------------------------------------------


def _again(options: dict[str, Any]) -> dict[str, Any]:
    """The options for the systems of the rules, which start from zero and have no callbacks."""
    return {name: value for name, value in options.items() if name not in ("x0", "callback", "callback_type")}


def _operator(A: Any) -> tuple[Any, Any]:
    """The differentiated entries of a matrix and its pattern; of another operator, no entries and the operator."""
    if is_traced(A) and A.ndim == 2:
        A = SparseArray(A.ravel(), Pattern(*map(numpy.ravel, numpy.indices(A.shape)), A.shape))
    return (A.entries, A.pattern) if isinstance(A, SparseArray) else (numpy.zeros(0), A)


class _Options(dict[str, Any]):
    """The options of one call, in which the primal stores its report."""

    def __init__(self, options: dict[str, Any]) -> None:
        super().__init__(options)
        self.report: list[Any] = []


@with_signature("scipy.sparse.linalg.cg")
def cg(A: Any, b: Any, **options: Any) -> tuple[Any, int]:
    """Solve a symmetric positive definite system by conjugate gradients; see `scipy.sparse.linalg.cg`.

    `A` may be sparse, dense or a linear operator; a constant operator is not differentiated.
    Derivatives use the same matrix, preconditioner and tolerances, and are as accurate as the tolerances.

    Examples
    --------
    >>> import numpy as np
    >>> import scipy.sparse
    >>> cg(scipy.sparse.diags_array([2.0, 4.0]), np.array([2.0, 2.0]))
    (array([1. , 0.5]), 0)
    """
    return _solved_by("cg", A, b, options)


def _turned(matrix: Any) -> Any:
    """The transpose of a constant operator."""
    if isinstance(matrix, scipy.sparse.linalg.LinearOperator):
        return matrix.T
    return matrix.transposed() if isinstance(matrix, Pattern) else matrix.T


def _krylov_primal(data: Any, b: Any, *, matrix: Any, method: str, options: dict[str, Any]) -> Any:
    operator = matrix.matrix(data) if isinstance(matrix, Pattern) else matrix
    x, info = getattr(scipy.sparse.linalg, method)(operator, b, **options)
    if method == "cg" and not numpy.isfinite(x).all():
        raise numpy.linalg.LinAlgError("cg broke down; is the matrix symmetric and positive definite?")
    getattr(options, "report", []).append(info)
    if info:
        raise UnsupportedError(f"{method} did not converge (info {info}), so its result cannot be differentiated")
    return x


def _krylov_again(record: Primitive, params: Any, q: Any, static: dict[str, Any], transpose: bool) -> Any:
    """Solve by the same method; the transposed system has the transposed preconditioner.

    The transpose of a Hermitian matrix, for which conjugate gradients are, is its conjugate.
    """
    options = _again(static["options"])
    if not transpose:
        return record(*params, q, **{**static, "options": options})
    if static["method"] == "cg":
        return conjugate(record(*params, conjugate(q), **{**static, "options": options}))
    if options.get("M") is not None:
        options["M"] = _turned(scipy.sparse.linalg.aslinearoperator(options["M"]))
    return record(*params, q, **{**static, "matrix": _turned(static["matrix"]), "options": options})


KRYLOV: Primitive = solution(
    "scipy.sparse.linalg.krylov",
    _krylov_primal,
    times={"data": lambda t, x, matrix, method, options: TIMES(t, x, pattern=matrix)},
    outer={"data": lambda ct, x, matrix, method, options: SAMPLED(ct, x, pattern=matrix)},
    solve=_krylov_again,
    samples=lambda: (
        Sample(
            (numpy.array([4.0, 1.0, 5.0, 0.5, 3.0, 1.0]), uniform((3,))),
            {"matrix": _square(), "method": "gmres", "options": {"rtol": 1e-14}},
        ),
        Sample(
            (numpy.array([4.0, 5.0, 3.0]), uniform((3,))),
            {"matrix": Pattern([0, 1, 2], [0, 1, 2], (3, 3)), "method": "cg", "options": {"rtol": 1e-15}},
        ),
    ),
    doc="A^-1 b by an iterative method; db = A^-T ct by the same, and of the entries: -db[row] x[column]",
)


def _solved_by(method: str, A: Any, b: Any, options: dict[str, Any]) -> tuple[Any, int]:
    start = options["x0"]
    kept = _Options({**options, "x0": None if start is None else plain_value(start)})
    data, matrix = _operator(A)
    x = KRYLOV(data, floating(b), matrix=matrix, method=method, options=kept)
    return x, kept.report[-1]


@with_signature("scipy.sparse.linalg.gmres")
def gmres(A: Any, b: Any, callback: Any, callback_type: str | None, **options: Any) -> tuple[Any, int]:
    """Solve a linear system by generalised minimal residuals; see `scipy.sparse.linalg.gmres`.

    `A` may be sparse, dense or a linear operator; a constant operator is not differentiated.
    Derivatives solve the transposed system with the same method and tolerances, and are as accurate as the tolerances.

    Examples
    --------
    >>> import numpy as np
    >>> import scipy.sparse
    >>> gmres(scipy.sparse.diags_array([2.0, 4.0]), np.array([2.0, 2.0]))[0].round(12)
    array([1. , 0.5])
    """
    given = {"callback": callback, "callback_type": callback_type} if callback is not None else {}
    return _solved_by("gmres", A, b, {**options, **given})


@with_signature("scipy.sparse.linalg.bicgstab")
def bicgstab(A: Any, b: Any, **options: Any) -> tuple[Any, int]:
    """Solve a linear system by stabilised biconjugate gradients; see `scipy.sparse.linalg.bicgstab`, and `gmres`."""
    return _solved_by("bicgstab", A, b, options)
