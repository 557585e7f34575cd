"""Lists of traced numbers for special functions, and the dtypes of results in every precision."""

import warnings
from typing import Any

import numpy as np
import pytest
import scipy.linalg
import scipy.special

import tapeengine as te
from tapeengine.errors import TapeEngineError
from tapeengine_scipy import linalg, special

UFUNCS = [name for name in dir(scipy.special) if isinstance(getattr(scipy.special, name), np.ufunc)]
NUMBERS = [0.3, 0.6, 1.2]


@pytest.mark.parametrize("name", UFUNCS)
def test_a_list_is_an_array(name: str) -> None:
    ours, theirs = getattr(special, name), getattr(scipy.special, name)
    lists = [NUMBERS] * theirs.nin
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            wanted = theirs(*lists)
        except TypeError:  # it has no loop for these numbers
            return
        for place in range(theirs.nin):
            try:
                found, _ = te.vjp(
                    lambda x, place=place: ours(*lists[:place], [x, *NUMBERS[1:]], *lists[place + 1 :]), 0.3
                )
            except TapeEngineError:
                continue
            assert np.array_equal(found, wanted, equal_nan=True)


A = np.array([[0.5, 0.2, 0.1], [0.4, 3.0, 0.2], [0.1, 0.3, 2.0]])
H = A + A.T + 3 * np.eye(3)
#: Arguments of the functions that do not take one positive definite matrix.
ARGUMENTS: dict[str, list[tuple[tuple[Any, ...], dict[str, Any]]]] = {
    "block_diag": [((A, A), {}), ((np.stack([A, A]), A), {})],
    **{name: [((A[0],), {})] for name in ("companion", "fiedler")},
    "convolution_matrix": [((A[0], 4), {})],
    "leslie": [((A[0], A[1, :2]), {})],
    "solve_circulant": [((H[0], A[0]), {})],
    **{name: [((A, H), {})] for name in ("expm_frechet", "orthogonal_procrustes", "subspace_angles")},
    "cho_solve": [(((H, False), A[0]), {})],
    "circulant": [((A[0],), {})],
    "funm": [((A, lambda x: x * x), {})],
    "hankel": [((A[0],), {})],
    "khatri_rao": [((A, A), {})],
    "lstsq": [((A, A[0]), {})],
    "lu": [((A,), {}), ((A,), {"permute_l": True}), ((A,), {"p_indices": True}), ((A[:2],), {}), ((A[:, :2],), {})],
    "lu_solve": [(((H, np.arange(3, dtype=np.int32)), A[0]), {})],
    "norm": [],  # the result is Python's float in some cases
    "qr": [((A[:, :2],), {"mode": mode}) for mode in ("full", "r", "economic")],
    "schur": [((A,), {}), ((A,), {"sort": "lhp"})],
    "solve": [((H, A[0]), {"assume_a": kind}) for kind in ("gen", "sym", "her", "pos", "diagonal", "tridiagonal")],
    "solve_banded": [(((1, 1), H, A[0]), {})],
    **{name: [((A, H, H, H), {})] for name in ("solve_continuous_are", "solve_discrete_are")},
    **{name: [((A, H), {})] for name in ("solve_continuous_lyapunov", "solve_lyapunov")},
    "solve_discrete_lyapunov": [((A / 4, H), {})],
    "solve_sylvester": [((A, H, A), {})],
    "solve_toeplitz": [((H[0], A[0]), {})],
    "solve_triangular": [((H, A[0]), {})],
    "solveh_banded": [((np.array([[0.0, 1.0, 1.0], [5.0, 6.0, 7.0]]), A[0]), {})],
    "toeplitz": [((A[0],), {}), ((A[0], A[1]), {})],
}


def leaves(value: Any) -> list[Any]:
    return [leaf for part in value for leaf in leaves(part)] if isinstance(value, (tuple, list)) else [value]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", "fdFD")
@pytest.mark.parametrize("name", linalg.__all__)
def test_results_have_the_dtypes_of_scipy(name: str, kind: str) -> None:
    def in_precision(value: Any) -> Any:
        if isinstance(value, tuple) and isinstance(value[0], np.ndarray):
            return tuple(map(in_precision, value))
        return value.astype(kind) if isinstance(value, np.ndarray) and value.dtype == float else value

    for args, options in ARGUMENTS.get(name, [((H,), {})]):
        args = tuple(map(in_precision, args))
        traced = [k for k, arg in enumerate(args) if isinstance(arg, np.ndarray)]
        wanted = leaves(getattr(scipy.linalg, name)(*args, **options))

        def program(*primals: Any, args: Any = args, options: Any = options, traced: Any = traced) -> Any:
            given = dict(zip(traced, primals, strict=True))
            return getattr(linalg, name)(*(given.get(k, arg) for k, arg in enumerate(args)), **options)

        try:
            found = leaves(te.vjp(program, *(args[k] for k in traced))[0])
        except TapeEngineError:
            continue
        assert [np.asarray(x).dtype for x in found] == [np.asarray(x).dtype for x in wanted]


@pytest.mark.parametrize("lower", [False, True])
def test_the_diagonal_of_a_hermitian_band_is_real(lower: bool) -> None:
    band = np.array([[0.3j, 1.0 + 0.5j, 0.8 - 1j], [5.0, 6.0 + 1j, 7.0 - 2j]])[:: -1 if lower else 1]
    rhs = np.array([1.0, 2j, 1 - 1j])
    direction = np.array([[0.7 + 0.1j, 0.2 - 0.3j, 0.5j], [0.3 + 0.9j, 0.2j, 1 - 1j]])[:: -1 if lower else 1]

    def at(step: float) -> Any:
        return scipy.linalg.solveh_banded(band + step * direction, rhs, lower=lower)

    value, tangent = te.jvp(lambda ab: linalg.solveh_banded(ab, rhs, lower=lower), (band,), (direction,))
    assert np.allclose(value, at(0.0), rtol=1e-12)
    assert np.allclose(tangent, (at(1e-6) - at(-1e-6)) / 2e-6, rtol=1e-7)
    gradient = te.vjp(lambda ab: linalg.solveh_banded(ab, rhs, lower=lower), band)[1](np.conj(tangent))[0]
    assert np.isclose(np.sum(gradient * direction).real, np.sum(abs(tangent) ** 2))
