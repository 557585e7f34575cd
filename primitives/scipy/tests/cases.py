"""Calls of the package's functions: arguments of every kind that SciPy accepts, and several values of every option.

A `Function` has lists of arguments, and values for its other parameters, which are set one at a time. A parameter in
SciPy's signature that is in neither fails `test_options.py`.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

RNG = np.random.default_rng(11)
EMPTY = np.zeros((0, 0))


def normal(*shape: int, dtype: Any = float) -> Any:
    x = RNG.standard_normal(shape)
    return (x + 1j * RNG.standard_normal(shape)).astype(dtype) if np.dtype(dtype).kind == "c" else x.astype(dtype)


def regular(*shape: int, dtype: Any = float) -> Any:
    return (normal(*shape, dtype=dtype) + 3 * np.eye(shape[-2], shape[-1])).astype(dtype)


def hermitian(*shape: int, dtype: Any = float) -> Any:
    a = normal(*shape, dtype=dtype)
    spread = np.diag(np.arange(1.0, shape[-1] + 1) * 4)
    return (a + a.conj().swapaxes(-1, -2) + spread).astype(dtype)


def positive(*shape: int, dtype: Any = float) -> Any:
    a = regular(*shape, dtype=dtype)
    return (a @ a.conj().swapaxes(-1, -2)).astype(dtype)


@dataclass
class Function:
    """A function with its arguments; `wrap` converts arrays to the arguments of its signature."""

    arguments: list[tuple[Any, ...]]
    options: dict[str, list[Any]] = field(default_factory=dict)
    arrays: tuple[str, ...] = ()
    wrap: Callable[..., Any] | None = None
    nothing: tuple[str, ...] = ()  # options that do not change the result


IGNORED = ("overwrite_a", "overwrite_b", "overwrite_ab", "overwrite_x")
CHECKED = {"check_finite": [False]}
SQUARE = [
    (regular(3, 3),),
    (regular(2, 3, 3),),
    (regular(1, 1),),
    (regular(2, 2, dtype=complex),),
    (EMPTY,),
    (normal(2, 3),),
    (regular(3, 3, dtype=np.float32),),
    (np.full((2, 2), np.nan),),
    (normal(3),),
    (np.zeros((2, 2)),),
]
SEPARATE = [case for case in SQUARE if case[0].size == 0 or case[0].any()]  # not all eigenvalues are equal
RECTANGLES = [
    (normal(3, 3),),
    (normal(4, 2),),
    (normal(2, 4),),
    (normal(3, 3, 3),),
    (normal(2, 2, 4, 3),),
    (normal(3),),
    (normal(2, 2, dtype=complex),),
    (normal(4, 2, dtype=np.float32),),
    (np.full((2, 2), np.inf),),
]
SYSTEMS = [
    (regular(3, 3), normal(3)),
    (regular(3, 3), normal(3, 2)),
    (regular(2, 3, 3), normal(3)),
    (regular(2, 3, 3), normal(3, 1)),
    (regular(3, 3), normal(2, 3, 2)),
    (regular(2, 1, 3, 3), normal(4, 3, 2)),
    (regular(3, 3), normal(2)),
    (regular(2, 2, dtype=complex), normal(2)),
    (regular(2, 2), normal(2, dtype=complex)),
    (regular(1, 1), normal(4)),
    (regular(3, 3, dtype=np.float32), normal(3, dtype=np.float32)),
    (EMPTY, np.zeros(0)),
    (np.zeros((2, 2)), normal(2)),
    (normal(2, 3), normal(2)),
    (np.full((2, 2), np.nan), normal(2)),
]
ASSUMED = [(positive(3, 3), normal(3)), (positive(2, 3, 3), normal(3, 2)), (positive(2, 2, dtype=complex), normal(2))]

LINALG = {
    "inv": Function(
        [*SQUARE, (positive(3, 3),)],
        {
            **CHECKED,
            "lower": [True],
            "assume_a": [
                "gen",
                "diagonal",
                "upper triangular",
                "lower triangular",
                "pos",
                "sym",
                "her",
                "tridiagonal",
                "no such",
            ],
        },
        ("a",),
    ),
    "det": Function(SQUARE, CHECKED, ("a",)),
    "solve": Function(
        [*SYSTEMS, *ASSUMED],
        {
            **CHECKED,
            "lower": [True],
            "transposed": [True],
            "assume_a": [
                "gen",
                "general",
                "diagonal",
                "tridiagonal",
                "banded",
                "upper triangular",
                "lower triangular",
                "pos",
                "positive definite",
                "sym",
                "symmetric",
                "her",
                "hermitian",
                "no such",
            ],
        },
        ("a", "b"),
    ),
    "solve_triangular": Function(
        SYSTEMS,
        {**CHECKED, "lower": [True], "unit_diagonal": [True], "trans": [1, 2, "N", "T", "C", 3, "no such"]},
        ("a", "b"),
    ),
    "cholesky": Function(
        [
            (positive(3, 3),),
            (positive(2, 2, 2),),
            (positive(2, 2, dtype=complex),),
            (-np.eye(2),),
            (EMPTY,),
            (normal(2, 3),),
            (positive(2, 2, dtype=np.float32),),
        ],
        {**CHECKED, "lower": [True]},
        ("a",),
    ),
    "cho_factor": Function(
        [(positive(3, 3),), (positive(2, 2, 2),), (positive(2, 2, dtype=complex),), (-np.eye(2),)],
        {**CHECKED, "lower": [True]},
        ("a",),
    ),
    "cho_solve": Function(
        [
            (regular(3, 3), normal(3)),
            (regular(2, 3, 3), normal(2, 3, 1)),
            (regular(3, 3), normal(2)),
            (regular(2, 2, dtype=complex), normal(2, 2)),
        ],
        {**CHECKED},
        ("c_and_lower", "b"),
        wrap=lambda f: lambda c, b, **o: f((c, o.pop("lower", True)), b, **o),
    ),
    "lu_factor": Function(SQUARE, CHECKED, ("a",)),
    "lu_solve": Function(
        [
            (regular(3, 3), normal(3)),
            (regular(3, 3), normal(3, 2)),
            (regular(3, 3), normal(2)),
            (regular(2, 2, dtype=complex), normal(2)),
        ],
        {**CHECKED, "trans": [1, 2]},
        ("lu_and_piv", "b"),
        wrap=lambda f: lambda lu, b, **o: f((lu, np.arange(lu.shape[-1])[::-1].clip(1)), b, **o),
    ),
    "lu_solve batches": Function(
        [(regular(2, 3, 3), normal(2, 3, 2)), (regular(2, 3, 3), normal(3, 1))],
        {},
        ("lu_and_piv", "b"),
        wrap=lambda f: lambda lu, b, **o: f((lu, np.tile([2, 1, 2], (2, 1))), b, **o),
    ),
    "eigh": Function(
        [
            (hermitian(3, 3),),
            (hermitian(2, 3, 3),),
            (hermitian(2, 2, dtype=complex),),
            (hermitian(3, 3, dtype=np.float32),),
            (hermitian(3, 3), positive(3, 3)),
            (normal(2, 3),),
            (np.full((2, 2), np.nan),),
            (hermitian(2, 2, 2), positive(2, 2)),
        ],
        {
            **CHECKED,
            "lower": [False],
            "eigvals_only": [True],
            "type": [2, 3],
            "subset_by_index": [(0, 1), (1, 1), (1, 7)],
            "subset_by_value": [(-100.0, 100.0), (100.0, 200.0)],
            "driver": ["ev", "evd", "evr", "evx", "gv", "no such"],
        },
        ("a", "b"),
    ),
    "eig": Function(
        [*SEPARATE, (regular(3, 3), regular(3, 3))],
        {**CHECKED, "left": [True], "right": [False], "homogeneous_eigvals": [True]},
        ("a", "b"),
    ),
    "eigvals": Function(
        [*SEPARATE, (regular(3, 3), regular(3, 3))], {**CHECKED, "homogeneous_eigvals": [True]}, ("a", "b")
    ),
    "eigvalsh": Function(
        [
            (hermitian(3, 3),),
            (hermitian(2, 3, 3),),
            (hermitian(2, 2, dtype=complex),),
            (hermitian(3, 3), positive(3, 3)),
            (normal(2, 3),),
        ],
        {
            **CHECKED,
            "lower": [False],
            "type": [2, 3],
            "subset_by_index": [(0, 1), (1, 7)],
            "subset_by_value": [(-100.0, 100.0)],
            "driver": ["ev", "evd", "evr", "evx", "no such"],
        },
        ("a", "b"),
    ),
    "svd": Function(
        RECTANGLES,
        {**CHECKED, "full_matrices": [False], "compute_uv": [False], "lapack_driver": ["gesvd", "no such"]},
        ("a",),
    ),
    "svdvals": Function(RECTANGLES, CHECKED, ("a",)),
    "qr": Function(
        RECTANGLES, {**CHECKED, "mode": ["r", "economic", "raw", "no such"], "pivoting": [True], "lwork": [200]}, ("a",)
    ),
    "polar": Function([*RECTANGLES[1:3], (regular(3, 3, 3),), *RECTANGLES[5:]], {"side": ["left", "no such"]}, ("a",)),
    "expm": Function(
        [(0.3 * normal(3, 3),), (normal(2, 2, 2),), (normal(2, 2, dtype=complex),), (normal(2, 3),)], {}, ("A",)
    ),
    "logm": Function(
        [
            (positive(3, 3),),
            (positive(2, 2, 2),),
            (positive(2, 2, dtype=complex),),
            (normal(2, 3),),
            (np.array([[-1.0, 0.3], [0.2, -2.0]]),),
        ],
        {"disp": [False]},
        ("A",),
    ),
    "solve_sylvester": Function(
        [
            (regular(3, 3), regular(2, 2), normal(3, 2)),
            (regular(3, 3), regular(2, 2), normal(3, 2, dtype=complex)),
            (regular(2, 2, dtype=complex), regular(2, 2), normal(2, 2)),
            (regular(4, 2, 2), regular(2, 2), normal(2, 2)),
            (regular(2, 2), regular(3, 3), normal(3, 2)),
        ],
        {},
        ("a", "b", "q"),
    ),
    "solve_continuous_lyapunov": Function(
        [
            (regular(3, 3), normal(3, 3)),
            (regular(2, 3, 3), normal(3, 3)),
            (regular(2, 2, dtype=complex), normal(2, 2)),
            (regular(2, 2), normal(2, 2, dtype=complex)),
            (regular(2, 2), normal(3, 3)),
        ],
        {},
        ("a", "q"),
    ),
    "solve_discrete_lyapunov": Function(
        [
            (0.2 * normal(3, 3), normal(3, 3)),
            (0.2 * normal(2, 2, 2), normal(2, 2)),
            (0.2 * normal(2, 2, dtype=complex), normal(2, 2)),
            (0.1 * normal(10, 10), normal(10, 10)),
        ],
        {"method": ["direct", "bilinear", "no such"]},
        ("a", "q"),
    ),
    "block_diag": Function(
        [
            (normal(2, 3), normal(1, 2)),
            (normal(3), normal(2, 2)),
            (normal(2, 2, 2), normal(3, 1)),
            (normal(2, 2, dtype=complex), normal(1, 1)),
            (normal(2, 1, 2, 2), normal(3, 1, 2), normal(2)),
        ],
        {},
        ("arrs",),
    ),
    "khatri_rao": Function(
        [
            (normal(2, 3), normal(4, 3)),
            (normal(2, 2, 3), normal(4, 3)),
            (normal(2, 3), normal(2, 2)),
            (normal(3), normal(3)),
        ],
        {},
        ("a", "b"),
    ),
    "toeplitz": Function(
        [
            (normal(3),),
            (normal(3), normal(4)),
            (normal(2, 3), normal(4)),
            (normal(3, dtype=complex),),
            (normal(2, 3),),
            (normal(2, 1, 3), normal(3, 2)),
        ],
        {},
        ("c", "r"),
    ),
    "solve_toeplitz": Function(
        [
            (np.array([5.0, 1.0, 0.3]), normal(3)),
            (np.array([5.0, 1.0, 0.3]), normal(3, 2)),
            (np.array([[5.0, 1.0, 0.3], [4.0, 1.0, -0.3]]), normal(3, 1)),
            (np.array([5.0, 1j, 0.3]), normal(3)),
            (np.array([5.0, 1.0]), normal(3)),
        ],
        CHECKED,
        ("c_or_cr", "b"),
    ),
    "solve_banded": Function(
        [
            (normal(3, 4) + np.array([[0.0], [5.0], [0.0]]), normal(4)),
            (normal(3, 4) + np.array([[0.0], [5.0], [0.0]]), normal(4, 2)),
            (normal(2, 3, 4) + np.array([[0.0], [5.0], [0.0]]), normal(4, 1)),
            (normal(3, 4), normal(3)),
            (normal(2, 4), normal(4)),
            (normal(3, 4, dtype=complex) + np.array([[0.0], [5.0], [0.0]]), normal(4)),
        ],
        CHECKED,
        ("ab", "b"),
        wrap=lambda f: lambda ab, b, **o: f((1, 1), ab, b, **o),
        nothing=("l_and_u",),
    ),
}

LENGTHS = {"n": [1, 3, 9, 0, -1]}
NORMS = {"norm": ["ortho", "forward", "no such"], "plan": [1]}
FFT_1D = [(normal(4),), (normal(3, 5, dtype=complex),), (normal(2, 3, 4),), (normal(4, dtype=np.float32),), (normal(),)]
FFT_ND = [(normal(4, 3),), (normal(2, 3, 4, dtype=complex),), (normal(4),), (normal(3, 2, dtype=np.float32),)]
SHAPES = {"s": [(3, 5), (2,), (0, 2), (2, 2, 2, 2, 2), (-1, 3)], "axes": [(0,), (0, 0), (1, 0), (0, -1), 5, (-2, -1)]}
FFT = {
    **{
        name: Function(FFT_1D, {**LENGTHS, **NORMS, "axis": [0, -1, 2, 7]}, ("x",), nothing=("workers",))
        for name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")
    },
    **{
        kind + name: Function(FFT_ND, {**SHAPES, **NORMS}, ("x",), nothing=("workers",))
        for kind in ("", "i", "r", "ir", "h", "ih")
        for name in ("fftn", "fft2")
    },
    **{
        name: Function(
            [(normal(4),), (normal(3, 5),), (normal(4, dtype=np.float32),), (normal(4, dtype=complex),)],
            {
                **LENGTHS,
                "norm": ["ortho", "forward", "no such"],
                "type": [1, 2, 3, 4, 5],
                "axis": [0, 3],
                "orthogonalize": [True, False],
            },
            ("x",),
            nothing=("workers",),
        )
        for name in ("dct", "idct", "dst", "idst")
    },
    **{
        name: Function([(normal(4),), (normal(3, 5, dtype=complex),)], {"axes": [0, (0,), (0, 1), 5, (0, 0)]}, ("x",))
        for name in ("fftshift", "ifftshift")
    },
}

FILTERS = [
    (normal(3), np.array([1.5, -0.4, 0.3]), normal(6)),
    (normal(2), np.array([2.0]), normal(2, 4)),
    (normal(1), np.array([1.0, 0.5, 0.1, 0.2]), normal(2, 3)),
    (normal(2), np.array([0.0, 1.0]), normal(4)),
    (normal(2, dtype=complex), np.array([1.0, 0.5]), normal(4)),
    (normal(2, 2), np.array([1.0]), normal(4)),
]
STATES = [normal(2), normal(1), normal(2, 2), normal(1, 2), np.zeros((2, 0))]
SIGNAL = {
    "convolve": Function(
        [
            (normal(5), normal(3)),
            (normal(2, 3), normal(3, 2)),
            (normal(3), normal(5)),
            (normal(4), normal(2, dtype=complex)),
            (normal(2, 2), normal(3)),
            (normal(), normal()),
            (normal(0), normal(3)),
            (normal(2, 5), normal(3, 2)),
        ],
        {"mode": ["same", "valid", "no such"], "method": ["direct", "fft", "no such"]},
        ("in1", "in2"),
    ),
    "fftconvolve": Function(
        [
            (normal(5), normal(3)),
            (normal(2, 3), normal(3, 2)),
            (normal(3), normal(5)),
            (normal(2, 4), normal(1, 3)),
            (normal(2, 2), normal(3)),
            (normal(0), normal(3)),
            (normal(4), normal(2, dtype=complex)),
        ],
        {"mode": ["same", "valid", "no such"], "axes": [0, -1, (0, 1), (0, 0), 7]},
        ("in1", "in2"),
    ),
    "lfilter": Function(FILTERS, {"axis": [0, -1, 5], "zi": STATES}, ("b", "a", "x")),
}

REPEATED = np.array([0.0, 0.5, 0.5, 1.0, 1.7, 1.7, 1.7, 2.0])
SAMPLES = {
    name: Function(
        [
            (normal(8),),
            (normal(2, 7),),
            (normal(2, 8),),
            (normal(8), np.cumsum(0.3 + RNG.random(8))),
            (normal(8), REPEATED),
            (normal(7), REPEATED[:7]),
            (normal(1),),
            (normal(2),),
            (normal(0),),
            (normal(8), normal(3)),
            (normal(2, 7), np.cumsum(np.ones((2, 7)), axis=1)),
            (normal(5, dtype=complex),),
        ],
        {
            "dx": [0.3],
            "x": [REPEATED, REPEATED[:7]],
            "axis": [0, 3],
            **({"initial": [0, 1.0]} if name.startswith("cumulative") else {}),
        },
        ("y", "x"),
    )
    for name in ("trapezoid", "simpson", "cumulative_trapezoid")
}

BANDS = np.array([[0.0, 0.1, 0.2, 0.3], [4.0, 5.0, 6.0, 7.0]])
LINALG.update(
    {
        "norm": Function(
            [*RECTANGLES, (normal(5),)],
            {
                "ord": [None, "fro", "nuc", 1, -1, 2, -2, np.inf, 3],
                "axis": [0, (0, 1), 5],
                "keepdims": [True],
                **CHECKED,
            },
            ("a",),
        ),
        "pinv": Function(
            [*RECTANGLES[:3], *RECTANGLES[4:-1]],
            {**CHECKED, "atol": [1e-3], "rtol": [0.2]},
            ("a",),
            nothing=("return_rank",),
        ),
        "lstsq": Function(
            [
                (normal(5, 3), normal(5)),
                (normal(5, 3), normal(5, 2)),
                (normal(2, 4), normal(2)),
                (normal(3, 3), normal(4)),
                (normal(4, 2, dtype=complex), normal(4)),
            ],
            {**CHECKED, "cond": [0.1], "lapack_driver": ["gelsy", "gelss"]},
            ("a", "b"),
            lambda f: lambda *args, **o: f(*args, **o)[:2],
        ),
        "null_space": Function(
            [(normal(2, 3),), (normal(2, 4),), (normal(3, 3),), (normal(3, 2),), (normal(2, 2, 3),)],
            {**CHECKED, "rcond": [1e-3]},
            ("A",),
            nothing=("lapack_driver",),
        ),
        "lu": Function(RECTANGLES, {**CHECKED, "permute_l": [True], "p_indices": [True]}, ("a",)),
        "schur": Function(
            [*SQUARE[:1], *SQUARE[2:]], {**CHECKED, "output": ["complex", "no such"]}, ("a",), nothing=("lwork", "sort")
        ),
        "funm": Function(
            SQUARE, {"disp": [False]}, ("A",), lambda f: lambda a, **o: f(a, lambda x: np.sin(x) + x, **o), ("func",)
        ),
        "solveh_banded": Function(
            [
                (BANDS, normal(4)),
                (BANDS, normal(4, 2)),
                (np.array([[4.0, 5.0, 6.0]]), normal(3)),
                (np.array([[0, 0, 0.1, 0.2], [0, 0.1, 0.2, 0.3], [4.0, 5.0, 6.0, 7.0]]), normal(4)),
                (-BANDS, normal(4)),
                (BANDS, normal(3)),
            ],
            {**CHECKED, "lower": [True]},
            ("ab", "b"),
        ),
        "circulant": Function([(normal(4),), (normal(2, 3),), (normal(3, dtype=complex),), (normal(1),)], {}, ("c",)),
        "hankel": Function([(normal(4), normal(3)), (normal(2), normal(4)), (normal(3), normal(3))], {}, ("c", "r")),
        "hankel of one": Function([(normal(4),)], {}, ("c",)),
    }
)
SECTIONS = np.array([[0.5, 0.2, 0.1, 1.0, -0.4, 0.2], [1.0, 0.3, 0.0, 1.0, 0.1, 0.0]])
PADS = {"axis": [0, -1, 5], "padtype": ["even", "constant", None, "no such"], "padlen": [0, 3, 99]}
SIGNAL.update(
    {
        "correlate": Function(SIGNAL["convolve"].arguments, SIGNAL["convolve"].options, ("in1", "in2")),
        "lfilter_zi": Function(
            [(normal(3), np.array([1.5, -0.4, 0.3])), (normal(2), np.array([2.0, 0.5, 0.1]))], {}, ("b", "a")
        ),
        "filtfilt": Function(
            [(normal(3), np.array([1.5, -0.4, 0.3]), normal(20)), (normal(2), np.array([2.0]), normal(12, 11))],
            {**PADS, "method": ["gust"], "irlen": [5]},
            ("b", "a", "x"),
        ),
        "sosfilt": Function(
            [(normal(7),), (normal(3, 8),)],
            {"axis": [0, 5], "zi": [normal(2, 2), normal(2, 3, 2)]},
            ("x",),
            lambda f: lambda x, **o: f(SECTIONS, x, **o),
            ("sos",),
        ),
        "sosfilt_zi": Function(
            [(normal(2),)], {}, (), lambda f: lambda x: f(SECTIONS * np.array([x[0], x[1], 1, 1, 1, 1])), ("sos",)
        ),
        "sosfiltfilt": Function(
            [(normal(20),), (normal(19, 18),)], PADS, ("x",), lambda f: lambda x, **o: f(SECTIONS, x, **o), ("sos",)
        ),
    }
)
FFT.update(
    {
        name: Function(
            [(normal(4, 3),), (normal(2, 3, 4),), (normal(4),)],
            {
                **SHAPES,
                "norm": ["ortho", "forward", "no such"],
                "type": [1, 3, 4, 5],
                "orthogonalize": [True, False],
            },
            ("x",),
            nothing=("workers",),
        )
        for name in ("dctn", "idctn", "dstn", "idstn")
    }
)

NAN = np.array([0.5, np.nan, 1.5, 0.2])
SAMPLED = [
    (normal(5),),
    (normal(4, 5),),
    (normal(4, 4, 5),),
    (normal(5, dtype=np.float32),),
    (normal(5, dtype=complex),),
    (np.ones(4),),
    (NAN,),
    (np.zeros(0),),
    (np.zeros((0, 3)),),
    (normal(1),),
    (normal(),),
]
POLICIES = {"nan_policy": ["omit", "raise", "no such"]}
REDUCED = {"axis": [1, -1, None, (0, 1), 7], "keepdims": [True]}
STATS = {
    "skew": Function(SAMPLED, {**POLICIES, **REDUCED, "bias": [False]}, ("a",)),
    "kurtosis": Function(SAMPLED, {**POLICIES, **REDUCED, "bias": [False], "fisher": [False]}, ("a",)),
    "zscore": Function(SAMPLED, {**POLICIES, "axis": [1, -1, None, 7], "ddof": [1, 2, 4]}, ("a",)),
}
LOGARITHMS = [*SAMPLED, (np.array([-np.inf, 0.3, 1.0]),), (np.array([np.inf, 0.3, 1.0]),), (np.full(3, -np.inf),)]
SPECIAL = {
    "logsumexp": Function(
        LOGARITHMS,
        {**REDUCED, "return_sign": [True], "b": [2.0, np.array([1.0, 0.5, 2.0]), np.array([1.0, -2.0, 0.0])]},
        ("a",),
    ),
    "softmax": Function(LOGARITHMS, {"axis": REDUCED["axis"]}, ("x",)),
    "log_softmax": Function(LOGARITHMS, {"axis": REDUCED["axis"]}, ("x",)),
    "multigammaln": Function(
        [(3.2 + normal(3) ** 2,), (5.0,), (np.array([0.2]),)], {}, ("a",), lambda f: lambda a: f(a, 3), ("d",)
    ),
    "polygamma": Function(
        [(3.0 + normal(3),), (5.0,), (np.float32(2.0),)],
        {},
        ("x",),
        lambda f: lambda x: f([0, 1, 2], x[..., None] if np.ndim(x) else x),
        ("n",),
    ),
    "zeta": Function(
        [(1.5 + normal(3) ** 2, 1.0 + normal(3) ** 2), (3.0, normal(4, 1) ** 2 + 0.5)], {}, ("x", "q"), nothing=("out",)
    ),
    "lambertw": Function(
        [(normal(3) ** 2,), (normal(3, dtype=complex),), (normal(2, dtype=np.float32) ** 2,)],
        {"k": [1, -1], "tol": [1e-12]},
        ("z",),
    ),
}
POINTS = normal(4, 3)
METRICS = (
    "euclidean sqeuclidean cityblock chebyshev cosine correlation braycurtis canberra minkowski seuclidean mahalanobis "
    "hamming jensenshannon"
).split()
DISTANCE = {
    "cdist": Function(
        [
            (POINTS, normal(2, 3)),
            (POINTS, POINTS),
            (POINTS, normal(2, 2)),
            (normal(3), normal(3)),
            (POINTS.astype(np.float32), normal(2, 3)),
            (np.zeros((0, 3)), normal(2, 3)),
        ],
        {
            "metric": [*METRICS, "no such", lambda u, v: ((u - v) ** 4).sum()],
            "out": [np.zeros((4, 2))],
        },
        ("XA", "XB"),
        nothing=("kwargs",),
    ),
    "cdist with keywords": Function(
        [(POINTS, normal(2, 3))],
        {
            "metric": [*METRICS, "cheby", "SqE", lambda u, v, p=3.0, w=1.0, V=2.0: (w * V * (u - v) ** p).sum()],
            "p": [1.0, 3.0],
            "w": [np.array([1.0, 2.0, 0.5])],
            "V": [np.ones(3)],
        },
        ("XA", "XB"),
        lambda f: lambda a, b, metric="minkowski", **o: f(a, b, metric, **o),
    ),
    "pdist": Function(
        [(normal(6, 3),), (normal(3, 1),), (normal(1, 3),), (normal(3),), (np.zeros((0, 3)),)],
        {"metric": [*METRICS, "no such", lambda u, v: ((u - v) ** 4).sum()], "out": [np.zeros(15)]},
        ("X",),
        nothing=("kwargs",),
    ),
    "squareform": Function(
        [
            (normal(6),),
            (normal(5),),
            (POINTS,),
            (np.array([[0.5, 1.3], [1.3, 0.0]]),),
            (np.array([[0.0, 1.3], [1.0, 0.0]]),),
            (np.zeros(0),),
            (normal(2, 2, 2),),
        ],
        {"force": ["tomatrix", "tovector", "no such"], "checks": [False]},
        ("X",),
    ),
    "squareform of a matrix": Function(
        [(normal(3, 3),), (normal(1, 1),), (normal(0, 0),)],
        {"force": ["tomatrix", "tovector", "no such"], "checks": [False]},
        ("X",),
        lambda f: lambda x, **o: f((x + x.T) * (1.0 - np.eye(len(x))), **o),
    ),
}
SEPARATE_PIXELS = [
    (RNG.permutation(60)[:n].reshape(shape) / 7.0 + 1.0,) for n, shape in ((5, (5,)), (20, (4, 5)), (24, (3, 4, 2)))
]
#: SciPy's median of an image with fewer than two axes writes beyond its memory for some options.
IMAGES = [
    (normal(5),),
    (normal(4, 5),),
    (normal(3, 4, 2),),
    (normal(4, 3, dtype=np.float32),),
    (normal(4, 3, dtype=complex),),
    (np.zeros((0, 3)),),
    (normal(1, 4),),
    (normal(),),
]
BORDERS = {
    "mode": ["constant", "nearest", "mirror", "wrap", "grid-wrap", "grid-mirror", "grid-constant", "no such"],
    "cval": [0.7],
    "output": [np.float32],
}
PLACES = {"axes": [(0,), -1, (1, 0), (0, 0), 7, ()], "origin": [-1, 1, (0, -1), 2]}
WINDOWS = {**BORDERS, **PLACES}
ALONG = {"axis": [0, -1, 1, 5]}
WEIGHTED = [
    (normal(5), normal(3)),
    (normal(4, 5), normal(3, 2)),
    (normal(4, 5), normal(2, 2)),
    (normal(4), normal(7)),
    (normal(4, 3), normal(3)),
    (normal(4, 3, dtype=np.float32), normal(2, 3)),
    (normal(4, dtype=complex), normal(3)),
    (normal(4), normal(3, dtype=complex)),
    (normal(4), np.zeros(0)),
]
WEIGHTED_1D = [
    (normal(5), normal(3)),
    (normal(4, 5), normal(2)),
    (normal(2, 3, 4), normal(3)),
    (normal(4), normal(7)),
    (normal(4, 3), normal(3, 2)),
    (normal(4, dtype=np.float32), normal(3)),
    (normal(4, dtype=complex), normal(3)),
]
GAUSSIAN = {"sigma": [1.1, 0.0], "truncate": [2.0], "radius": [2, 0]}
GRID = [
    (normal(5, 6), np.abs(normal(2, 4)) + 1.0),
    (normal(6), np.array([[0.3, 2.2, -1.3, 7.1]])),
    (normal(5, 6), normal(3, 4)),
    (normal(5, 6, dtype=complex), np.abs(normal(2, 4)) + 1.0),
    (normal(5, 6, dtype=np.float32), np.abs(normal(2, 4)) + 1.0),
]
SPLINES = {
    "order": [0, 1, 2, 4, 6, -1],
    "prefilter": [False],
    "mode": ["nearest", "reflect", "mirror", "wrap", "grid-wrap", "grid-mirror", "grid-constant", "no such"],
    "cval": [0.7],
    "output": [np.float32],
}
AFFINE = [
    ((4, 5), np.eye(2) + 0.1 * normal(2, 2)),
    ((4, 5), np.array([1.1, 0.9])),
    ((5,), np.array([[0.9]])),
    ((4, 5), np.eye(2, 3) + 0.1 * normal(2, 3)),
    ((4, 5), np.array([[1.1, 0.1, 0.3], [0.0, 0.9, -0.2], [0.0, 0.0, 1.0]])),
]
NDIMAGE = {
    **{n: Function(WEIGHTED, WINDOWS, ("input", "weights")) for n in ("correlate", "convolve")},
    **{
        n: Function(WEIGHTED_1D, {**BORDERS, **ALONG, "origin": [-1, 1, 5]}, ("input", "weights"))
        for n in ("correlate1d", "convolve1d")
    },
    "uniform_filter": Function(IMAGES, {**WINDOWS, "size": [1, 2, (3, 2), 0]}, ("input",)),
    "uniform_filter1d": Function(
        IMAGES,
        {**BORDERS, **ALONG, "size": [1, 4, 0], "origin": [-1, 1, 5]},
        ("input",),
        lambda f: lambda x, size=3, **o: f(x, size, **o),
    ),
    "gaussian_filter": Function(
        [*IMAGES[:-2], IMAGES[-1]],
        {**BORDERS, **GAUSSIAN, "axes": PLACES["axes"], "order": [1, 2, 3, 4, (0, 1), -1]},
        ("input",),
        lambda f: lambda x, sigma=0.8, **o: f(x, sigma, **o),
    ),
    "gaussian_filter in sigma": Function(
        [(normal(4, 5), 0.8), (normal(4, 5), np.array([0.8, 1.3]))],
        {**BORDERS, "order": [1, 2], "axes": [0]},
        ("input", "sigma"),
    ),
    "gaussian_filter1d": Function(
        IMAGES,
        {**BORDERS, **GAUSSIAN, **ALONG, "order": [1, 2, 3, 4, -1]},
        ("input",),
        lambda f: lambda x, sigma=0.8, **o: f(x, sigma, **o),
    ),
    **{
        n: Function(
            [*IMAGES[:-2], IMAGES[-1]],
            {**BORDERS, "axes": PLACES["axes"], "truncate": [2.0], "sigma": [1.1, (0.8, 1.2)]},
            ("input",),
            lambda f: lambda x, sigma=0.8, **o: f(x, sigma, **o),
            ("kwargs",),
        )
        for n in ("gaussian_laplace", "gaussian_gradient_magnitude")
    },
    "laplace": Function(IMAGES, {**BORDERS, "axes": PLACES["axes"]}, ("input",)),
    **{n: Function(IMAGES, {**BORDERS, **ALONG}, ("input",)) for n in ("sobel", "prewitt")},
    **{
        n: Function(
            [*SEPARATE_PIXELS[n == "median_filter" :], *IMAGES[3:-1]],
            {
                **WINDOWS,
                "size": [2, (3, 2), 0, None],
                "footprint": [np.array([[True, False], [True, True]]), np.array([True, False, True])],
            },
            ("input",),
            lambda f: lambda x, size=3, **o: f(x, None if "footprint" in o else size, **o),
        )
        for n in ("maximum_filter", "minimum_filter", "median_filter")
    },
    "map_coordinates": Function(GRID, SPLINES, ("input", "coordinates")),
    "shift": Function(
        [(normal(5),), (normal(4, 5),), (normal(4, 5, dtype=complex),), (normal(4, 5, dtype=np.float32),)],
        {**SPLINES, "shift": [1.0, -0.3, (0.4, -1.2), (1.0, 2.0, 3.0)]},
        ("input",),
        lambda f: lambda x, shift=0.4, **o: f(x, shift, **o),
    ),
    "shift by": Function(
        [(normal(5), 0.4), (normal(4, 5), np.array([0.4, 1.3])), (normal(4, 5), 0.3)], SPLINES, ("input", "shift")
    ),
    **{
        f"affine_transform {k}": Function(
            [(normal(*shape),)],
            {**SPLINES, "offset": [0.3, (0.2, -0.4)], "output_shape": [(3, 4)]},
            ("input", "matrix"),
            lambda f, m=matrix: lambda x, **o: f(x, m, **o),
        )
        for k, (shape, matrix) in enumerate(AFFINE)
    },
    "affine_transform": Function(
        [
            (normal(4, 5), np.array([[0.70, 0.13], [-0.05, 0.74]])),
            (normal(4, 5), np.array([1.1, 0.9])),
            (normal(5), np.array([[0.9]])),
            (normal(4, 5), normal(2, 4)),
        ],
        {**SPLINES, "order": [4, 6], "mode": ["mirror", "no such"], "output_shape": [(3, 4)]},
        ("input", "matrix", "offset"),
        lambda f: lambda x, m, mode="reflect", **o: f(x, m, mode=mode, **o),
    ),
    "spline_filter": Function(
        IMAGES, {"order": SPLINES["order"], "mode": SPLINES["mode"], "output": [np.float32]}, ("input",)
    ),
}
KNOTS = np.array([0.0, 0.4, 1.0, 1.7, 2.0])
AT = np.array([0.1, 0.9, 1.5])
TURNING = np.array([[0.3, 1.0, -0.4, 0.2, 1.3], [3.0, 2.1, 1.5, 1.1, 0.2]])  # whose secants' signs are certain
SPREAD_KNOTS = np.array([-0.5, -0.3, -0.1, 0.0, 1.0, 2.0, 2.1, 2.3, 2.6])
INTERPOLATE = {
    **{
        n: Function(
            [
                (KNOTS, TURNING[0], AT),
                (KNOTS, TURNING.T, AT),
                (KNOTS, TURNING[1], 0.3),
                (KNOTS, normal(4), AT),
                (KNOTS, normal(5, dtype=complex), AT),
                (KNOTS[::-1].copy(), normal(5), AT),
                (KNOTS, TURNING, AT),
                (KNOTS, normal(5), np.zeros(0)),
            ],
            {"der": [1, 2, [0, 1], -1, 7], "axis": [1, -1, 5], **({"rng": [3]} if n.startswith("b") else {})},
            ("xi", "yi", "x"),
        )
        for n in ("krogh_interpolate", "barycentric_interpolate", "pchip_interpolate")
    },
    "interpn": Function(
        [
            (normal(5, 3), np.array([[0.15, 0.7], [1.1, 0.4]])),
            (normal(5, 3, 2), np.array([0.15, 0.7])),
            (normal(5, 3), np.array([[0.2, 9.0]])),
            (normal(5, 2), np.array([[0.15, 0.7]])),
            (normal(5, 3, dtype=complex), np.array([[0.15, 0.7]])),
        ],
        {
            "method": ["nearest", "slinear", "cubic", "pchip", "splinef2d", "no such"],
            "bounds_error": [False],
            "fill_value": [0.3, None],
        },
        ("values", "xi"),
        lambda f: lambda v, x, **o: f((KNOTS, np.arange(3.0)), v, x, **o),
        ("points",),
    ),
    "CubicSpline": Function(
        [
            (KNOTS, normal(5)),
            (KNOTS, normal(5, 2)),
            (KNOTS, normal(5, dtype=complex)),
            (KNOTS, normal(4)),
            (KNOTS[:2], normal(2)),
            (KNOTS[:3], normal(3)),
            (KNOTS, np.array([0.3, 1.0, -0.4, 0.2, 0.3])),
            (KNOTS[::-1].copy(), normal(5)),
            (KNOTS, normal(2, 5)),
        ],
        {
            "axis": [1, -1, 5],
            "bc_type": [
                "natural",
                "clamped",
                "no such",
                ((1, 0.3), (2, 0.1)),
                ("not-a-knot", (1, 0.4)),
                ((3, 0.1), "natural"),
            ],
            "extrapolate": [True, False, "periodic"],
        },
        ("x", "y"),
        lambda f: lambda x, y, **o: f(x, y, **o)(np.array([-0.25, 0.3, 1.9, 2.2])),
    ),
    "PchipInterpolator": Function(
        [
            (KNOTS, TURNING[0]),
            (KNOTS, TURNING.T),
            (KNOTS, normal(5, dtype=complex)),
            (KNOTS, normal(4)),
            (KNOTS[:2], normal(2)),
            (KNOTS[:1], normal(1)),
            (KNOTS, TURNING),
        ],
        {"axis": [1, -1, 5], "extrapolate": [True, False]},
        ("x", "y"),
        lambda f: lambda x, y, **o: f(x, y, **o)(np.array([-0.25, 0.3, 1.9, 2.2])),
    ),
    "CubicHermiteSpline": Function(
        [
            (KNOTS, normal(5), normal(5)),
            (KNOTS, normal(5, 2), normal(5, 2)),
            (KNOTS, normal(5), normal(4)),
            (KNOTS, normal(2, 5), normal(2, 5)),
        ],
        {"axis": [1, -1, 5], "extrapolate": [True, False, "periodic"]},
        ("x", "y", "dydx"),
        lambda f: lambda x, y, d, **o: f(x, y, d, **o)(np.array([-0.25, 0.3, 1.9, 2.2])),
    ),
    "interp1d": Function(
        [
            (KNOTS, normal(5)),
            (KNOTS, normal(2, 5)),
            (KNOTS, normal(5, dtype=complex)),
            (KNOTS, normal(4)),
            (KNOTS[::-1].copy(), normal(5)),
            (KNOTS, normal(5, 2)),
        ],
        {
            "kind": [
                "nearest",
                "nearest-up",
                "zero",
                "slinear",
                "quadratic",
                "cubic",
                "previous",
                "next",
                1,
                3,
                "no such",
            ],
            "axis": [0, 1, 5],
            "copy": [False],
            "bounds_error": [True, False],
            "fill_value": ["extrapolate", 0.4, (0.1, 0.2)],
            "assume_sorted": [True],
        },
        ("x", "y"),
        lambda f: lambda x, y, **o: f(x, y, **o)(np.array([0.3, 1.9, *([-0.3] if "fill_value" in o else [])])),
    ),
    "make_interp_spline": Function(
        [(normal(5),), (normal(5, 2),), (normal(5, dtype=complex),), (normal(4),), (normal(2, 5),)],
        {
            "k": [0, 1, 2, 5, -1],
            "bc_type": ["natural", "clamped", "periodic", "not-a-knot", "no such"],
            "axis": [1, -1, 5],
            "check_finite": [False],
            "t": [np.array([0.0, 0, 0, 0, 1, 2, 2, 2, 2])],
        },
        ("y",),
        lambda f: lambda y, **o: f(KNOTS, y, **o)(AT),
        ("x",),
    ),
    "RegularGridInterpolator": Function(
        [
            (normal(5, 3), np.array([[0.15, 0.7], [1.1, 0.4]])),
            (normal(5, 3, 2), np.array([0.15, 0.7])),
            (normal(5, 3), np.array([[0.2, 9.0]])),
            (normal(5, 2), np.array([[0.15, 0.7]])),
        ],
        {
            "method": ["nearest", "slinear", "cubic", "pchip", "no such"],
            "bounds_error": [False],
            "fill_value": [0.3, None],
        },
        ("values", "xi"),
        lambda f: lambda v, x, **o: f((KNOTS, np.arange(3.0)), v, **o)(x),
        ("points", "solver", "solver_args"),
    ),
    "BSpline": Function(
        [
            (SPREAD_KNOTS, normal(5)),
            (SPREAD_KNOTS, normal(5, 2)),
            (SPREAD_KNOTS, normal(3)),
            (SPREAD_KNOTS, normal(2, 5)),
        ],
        {"k": [2, 0], "extrapolate": [False, "periodic"], "axis": [1, -1, 5]},
        ("t", "c"),
        lambda f: lambda t, c, k=3, **o: f(t, c, k, **o)(np.array([-0.25, 0.3, 1.9, 2.2])),
    ),
}
ROSEN = [
    (normal(4),),
    (normal(4, 3),),
    (normal(2),),
    (normal(1),),
    (normal(4, dtype=np.float32),),
    (normal(4, dtype=complex),),
]
OPTIMIZE = {n: Function(ROSEN, {}, ("x",)) for n in ("rosen", "rosen_der", "rosen_hess")}
LINALG.update(
    {
        "sqrtm": Function(
            [
                (positive(3, 3),),
                (positive(2, 2, 2),),
                (positive(2, 2, dtype=complex),),
                (normal(2, 3),),
                (EMPTY,),
                (positive(2, 2, dtype=np.float32),),
                (-np.eye(2),),
            ],
            {"disp": [False], "blocksize": [2]},
            ("A",),
        ),
        **{
            name: Function(
                [
                    (regular(3, 3), normal(3, 2), positive(3, 3), positive(2, 2)),
                    (regular(2, 2, 2), normal(2, 2), positive(2, 2), positive(2, 2)),
                    (regular(2, 2, dtype=complex), normal(2, 2), positive(2, 2), positive(2, 2)),
                    (regular(3, 3), normal(2, 2), positive(3, 3), positive(2, 2)),
                ],
                {"balanced": [False], "e": [np.eye(3) * 2, None], "s": [np.full((3, 2), 0.1)]},
                ("a", "b", "q", "r"),
                lambda f: (
                    lambda a, b, q, r, **o: f(
                        a, b, (q + q.swapaxes(-1, -2).conj()) / 2, (r + r.swapaxes(-1, -2).conj()) / 2, **o
                    )
                ),
            )
            for name in ("solve_continuous_are", "solve_discrete_are")
        },
    }
)
MODULES = {
    "linalg": LINALG,
    "fft": FFT,
    "signal": SIGNAL,
    "integrate": SAMPLES,
    "ndimage": NDIMAGE,
    "interpolate": INTERPOLATE,
    "optimize": OPTIMIZE,
    "spatial.distance": DISTANCE,
    "special": SPECIAL,
    "stats": STATS,
}


def calls() -> Iterator[tuple[str, tuple[str, str, Function, tuple[Any, ...], dict[str, Any]]]]:
    """Yield the name of a case with (module, function, case, arguments, options): each option, on all arguments."""
    for module, functions in MODULES.items():
        for name, case in functions.items():
            chosen = [{}, *({option: value} for option, values in case.options.items() for value in values)]
            for arguments in case.arguments:
                for options in chosen:
                    yield f"{module}.{name}", (module, name.split(" ")[0], case, arguments, options)
