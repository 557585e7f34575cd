"""Every keyword of numpy's functions, ufuncs and methods: honoured as numpy does, or refused by an error that says so.

Each function is called with its defaults given, None, and other values of each option, on arrays of several layouts and
classes, on numbers and on lists. Value, dtype, shape and class are compared with numpy's, the derivative with
differences, and an error with numpy's. A sample of the calls is made; in the nightly mode all of them.
"""

from __future__ import annotations

import inspect
import os
import random
import zlib
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import pytest
from outcomes import outcome, shown

import tapeengine as te
import tapeengine.numpy as tnp
from tapeengine.errors import TapeEngineError

NIGHTLY = os.environ.get("TAPEENGINE_NIGHTLY") == "1"
M = np.array([[2.0, 0.33, 0.4], [0.31, 1.5, 0.12], [0.21, 0.11, 1.7]])
V = np.array([0.35, 0.7, 0.25])
MASK = np.array([True, False, True])
AXES = (None, 0, -1, 1, (0,), (), (0, 1), 5, np.int64(0))
DTYPES = (None, float, "f4", complex, int, bool, "x")
#: Values by the option's name; others get those of `ANY`.
VALUES: dict[str, tuple[Any, ...]] = {
    "axis": AXES,
    "dtype": DTYPES,
    "order": (None, "C", "F", "A", "K", "x"),
    "keepdims": (True, False, None, 1),
    "initial": (None, 0, 2.5, "x"),
    "where": (True, False, None, MASK, [True, False, True]),
    "casting": ("same_kind", "unsafe", "no", None, "x"),
    "subok": (True, False, None),
    "out": (None,),
    "signature": (None, "dd->d", "d->d", "D->D", (float, None), "x"),
    "ddof": (0, 1, None),
    "correction": (0, 1),
    "mode": (None, "raise", "wrap", "clip", "reduced", "r", "valid", "x"),
    "norm": (None, "ortho", "x"),
    "side": (None, "left", "right", "x"),
    "method": (None, "linear", "nearest", "x"),
    "ord": (None, 1, 2, "nuc"),
    "UPLO": ("L", "U", "x"),
    "indexing": ("ij", "xy", "x"),
    "kind": (None, "stable", "x"),
    "like": (None,),
    "axes": (None, [0, 0], [(0,), (1,), ()], [(0, 1), (1, 0), (0, 1)]),
    "optimize": (True, None, "greedy"),
    "rcond": (None, 0.1, "x"),
    "sorted": (True,),
    "einsum_call": (False,),
    "base": (None, 2.0),
    "prepend": (0.5,),
    "append": (0.5,),
    "bins": (None, 2, "x", [0.0, 0.3, 2.0]),
    "dx": (0.5, "x"),
    "default": (0.5, None, "x"),
}
ANY = (None, True, False, 0, 1, 2, -1, 0.5, "x", (0,), [1, 0])
#: Arguments; for each function, the first three that numpy accepts are used.
CALLS: tuple[tuple[Any, ...], ...] = (
    *((M,), (V,), (M, M[::-1] + 0.01), (M, V), (V, V + 0.01), (M, 1), (V, 1), (M, 0.2, 0.9), ([M, M + 1.0],)),
    *((V, [0, 2]), (M, [0, 1], [1, 0]), (V, V + 0.01, V + 0.02), (M, 2, 1), (V, 0.4), ("ij->ji", M)),
)
#: Memory that is not set, files, text and settings; what arrays are made of; values that are equal or phases that
#: nothing determines; classes of their own; numpy's vecmat leaves memory unset in the order F.
LEFT_OUT = set(
    "empty empty_like save savez savez_compressed savetxt frompyfunc fromfunction set_printoptions seterr test info "
    "show_config show_runtime printoptions errstate seterrcall setbufsize get_include load loadtxt genfromtxt "
    "fromregex fromstring array2string array_repr array_str from_dlpack frombuffer fromfile asmatrix bmat mintypecode "
    "tofile dump dumps tobytes resize setflags nditer is_busday array asarray asanyarray asarray_chkfinite require "
    "ascontiguousarray asfortranarray intersect1d setxor1d setdiff1d interp ix_ eigh svd eig byteswap trim_zeros "
    "conj conjugate vecmat take choose searchsorted isreal histogram_bin_edges row_stack".split()
)
METHODS_OF_UFUNCS: dict[str, tuple[tuple[Any, ...], str]] = {
    "reduce": ((), "axis dtype keepdims initial where"),
    "accumulate": ((), "axis dtype"),
    "reduceat": (([0, 2, 1],), "axis dtype"),
    "outer": ((V,), "dtype casting order subok signature"),
}


class Subject(NamedTuple):
    """A function, its counterpart for traced values, its arguments, and its options with their defaults."""

    name: str
    plain: Callable[..., Any]
    traced: Callable[..., Any]
    args: tuple[Any, ...]
    options: dict[str, Any]

    @property
    def place(self) -> int:
        return next(k for k, arg in enumerate(self.args) if isinstance(arg, (np.ndarray, list)))

    def program(self, function: Callable[..., Any], given: dict[str, Any], as_list: bool) -> Callable[[Any], Any]:
        def called(x: Any) -> Any:
            first = [list(row) for row in x] if as_list and np.ndim(x) == 2 else list(x) if as_list else x
            args = [arg.copy() if isinstance(arg, np.ndarray) else arg for arg in self.args]
            args[self.place] = [first, first + 1.0] if isinstance(self.args[self.place], list) else first
            return function(*args, **given)

        return called


def options_of(function: Any, given: int) -> dict[str, Any]:
    """The options of a function, beside its first arguments, and their defaults."""
    parameters = list(inspect.signature(function).parameters.values())
    by_name = (inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    positional = [p.name for p in parameters if p.kind is not inspect.Parameter.KEYWORD_ONLY][:given]
    return {p.name: p.default for p in parameters if p.kind in by_name and p.name not in positional}


def functions() -> Iterator[tuple[str, Any, Any]]:
    for name, space, ours in (("np", np, tnp), ("linalg", np.linalg, tnp.linalg), ("fft", np.fft, tnp.fft)):
        for key in getattr(space, "__all__", dir(space)):
            function = getattr(space, key)
            if key not in LEFT_OUT and callable(function) and not isinstance(function, type):
                yield f"{name}.{key}", function, getattr(ours, key)
    for key in dir(np.ndarray):
        method = getattr(np.ndarray, key)
        if key[0] != "_" and key not in LEFT_OUT and callable(method):
            yield f"ndarray.{key}", method, lambda x, *args, key=key, **options: getattr(x, key)(*args, **options)


def subjects() -> Iterator[Subject]:
    for name, plain, traced in functions():
        most = plain.nin if isinstance(plain, np.ufunc) else 4
        fitting = (args for args in CALLS if len(args) <= most and not isinstance(called(plain, args), Exception))
        for args, _ in zip(fitting, range(3), strict=False):
            try:
                options = options_of(plain, len(args))
            except ValueError:
                continue
            yield Subject(f"{name} {len(args)}", plain, traced, args, options)
    for name in sorted(set(dir(np))):
        ufunc = getattr(np, name)
        if isinstance(ufunc, np.ufunc) and (ufunc.nin, ufunc.nout, ufunc.signature) == (2, 1, None):
            for method, (args, options) in METHODS_OF_UFUNCS.items():
                plain, traced = (getattr(getattr(space, name), method) for space in (np, tnp))
                found = dict.fromkeys(options.split(), None)
                yield Subject(f"np.{name}.{method}", plain, traced, (M, *args), found)


def called(function: Any, args: tuple[Any, ...]) -> Any:
    return outcome(lambda: function(*(arg.copy() if isinstance(arg, np.ndarray) else arg for arg in args)))


FORMS: dict[str, Callable[[Any], Any]] = {
    "float": np.copy,
    "fortran": lambda x: np.array(x, order="F"),
    "complex": lambda x: x + 0.1j,
    "single": lambda x: x.astype("f4"),
    "empty": lambda x: x[:0],
    "no axes": lambda x: np.asarray(x.ravel()[1]),
    "number": lambda x: x.ravel()[1],
    "python": lambda x: float(x.ravel()[1]),
    "list": np.copy,
}


def wrong(subject: Subject, given: dict[str, Any], form: str) -> str:
    """What is wrong with the traced call; nothing if it is right or refused."""
    first = subject.args[subject.place]
    x = FORMS[form](first[0] if isinstance(first, list) else first)
    is_method = subject.name.startswith("ndarray.")
    if is_method and form in ("python", "list", "number"):
        return ""
    plain, traced = (subject.program(f, given, form == "list") for f in (subject.plain, subject.traced))
    expected = outcome(lambda: plain(np.copy(x) if isinstance(x, np.ndarray) else x))
    found = outcome(lambda: te.vjp(traced, x)[0])
    if isinstance(found, TapeEngineError):
        return (
            "" if isinstance(expected, Exception) or "does not support these" not in str(found) else f"internal {found}"
        )
    if isinstance(expected, Exception):
        is_right = isinstance(found, Exception) or form == "list"  # lists are read as arrays
        return "" if is_right else f"{found!r}, and numpy raises {expected!r}"
    if form == "list" and isinstance(expected, list):
        return ""
    if isinstance(found, Exception):
        return f"raw {found!r} for {expected!r}"
    is_masked = isinstance(subject.plain, np.ufunc) and "where" in given  # other elements are not set
    return differing(found, expected, is_masked) or ("" if is_masked else slope(traced, plain, x, expected))


def flat(value: Any) -> list[Any]:
    return [part for one in value for part in flat(one)] if isinstance(value, (tuple, list)) else [value]


def differing(found: Any, expected: Any, form_only: bool) -> str:
    for ours, theirs in zip(flat(found), flat(expected), strict=False):
        if type(ours) is not type(theirs):
            return f"a {type(ours)} for a {type(theirs)}"
        if isinstance(theirs, (np.ndarray, np.generic)):
            if (ours.dtype, ours.shape) != (theirs.dtype, theirs.shape):
                return f"{ours.dtype} {ours.shape} for {theirs.dtype} {theirs.shape}"
            close = 1e-5 if theirs.dtype.char in "fF" else 1e-10
            if theirs.dtype.kind not in "biufc" or form_only:
                continue
            if not np.allclose(ours, theirs, rtol=close, atol=close, equal_nan=True):
                return f"{ours!r} for {theirs!r}"
    return "" if len(flat(found)) == len(flat(expected)) else f"{found!r} for {expected!r}"


def slope(traced: Any, plain: Any, x: Any, value: Any) -> str:
    """The difference of a tangent and differences; nothing where these do not settle, and in single precision."""
    values = [np.asarray(part) for part in flat(value)]
    if any(part.dtype.char not in "dD?lib" or not part.size for part in values) or np.asarray(x).dtype.char in "fF":
        return ""
    direction: Any = np.zeros_like(x)  # in its memory order: numpy's power.reduce depends on it
    direction[...] = np.cos(1.0 + np.arange(np.size(x))).reshape(np.shape(x))
    direction = float(direction) if type(x) is float else direction[()] if isinstance(x, np.generic) else direction
    moved = {h: outcome(lambda h=h: plain(x + h * direction)) for h in (1e-6, -1e-6, 4e-6, -4e-6)}
    tangent = outcome(lambda: te.jvp(traced, (x,), (direction,))[1])
    if isinstance(tangent, Exception):
        return "" if isinstance(tangent, TapeEngineError) else f"the tangent raises {tangent!r}"
    if any(isinstance(one, Exception) for one in moved.values()):
        return ""
    parts = zip(flat(tangent), values, *map(flat, moved.values()), strict=True)
    for ours, part, *ends in parts:
        if part.dtype.kind not in "fc":
            continue
        near, far = (ends[0] - ends[1]) / 2e-6, (ends[2] - ends[3]) / 8e-6
        is_settled = np.all(np.isfinite(near)) and np.allclose(
            near, far, rtol=1e-4, atol=1e-4 * (1 + np.abs(near).max())
        )
        if is_settled and not np.allclose(ours, near, rtol=1e-4, atol=1e-4 * (1 + np.abs(near).max())):
            return f"tangent {ours!r} for {near!r}"
    return ""


def values_of(option: str, default: Any) -> list[Any]:
    values = list(VALUES.get(option, ANY))
    return values if default is inspect.Parameter.empty else [default, *values]


SUBJECTS = {subject.name: subject for subject in subjects()}


def calls(subject: Subject) -> list[tuple[str, Any, str]]:
    found = [(o, value, form) for o, d in subject.options.items() for value in values_of(o, d) for form in FORMS]
    drawn = random.Random(zlib.crc32(subject.name.encode()))
    return found if NIGHTLY else drawn.sample(found, min(len(found), 16))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", SUBJECTS)
def test_options(name: str) -> None:
    subject, found = SUBJECTS[name], {}
    usual = {form: bool(wrong(subject, {}, form)) for form in FORMS}
    for option, value, form in calls(subject):
        detail = "" if usual[form] else wrong(subject, {option: value}, form)
        if detail:
            found[option, repr(value), form] = detail
    assert not found


#: Options by which a program once had another value, derivative or error than numpy's.
def stacked(x: Any) -> Any:
    return x[:, None] * (1.0 + x)


PROGRAMS: dict[str, Callable[[Any, Any], Any]] = {
    "axes of matmul": lambda n, x: n.matmul(stacked(x), stacked(x + 1.0), axes=[(0, 1), (1, 0), (1, 0)]),
    "axes of vecdot": lambda n, x: n.vecdot(stacked(x), stacked(x), axes=[0, 1, ()]),
    "kept axes of vecdot": lambda n, x: n.vecdot(stacked(x), stacked(x), axis=0, keepdims=True),
    "kept last axis of vecdot": lambda n, x: n.vecdot(stacked(x), stacked(x), keepdims=True),
    "axes of matvec": lambda n, x: n.matvec(stacked(x), x, axes=[(1, 0), 0, 0], dtype=complex),
    "signature of arccos": lambda n, x: n.arccos(x * 3.0, signature="D->D"),
    "signature of outer": lambda n, x: n.multiply.outer(x, x, signature="DD->D"),
    "limits where": lambda n, x: n.clip(x, 0.4, 0.6, where=MASK, out=9.0 * x),
    "parts along a tuple": lambda n, x: n.multiply.reduceat(stacked(x), [0, 1], axis=(1,)),
    "whole numbers between": lambda n, x: n.linspace(-3.0 * x, x, 5, dtype=int) * x,
    "two results where": lambda n, x: n.divmod(x, 0.2, where=MASK, out=(x * 1.0, x * 2.0)),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name: str) -> None:
    program = PROGRAMS[name]
    found, expected = te.vjp(lambda x: program(tnp, x), V)[0], program(np, V)
    assert not differing(found, expected, False)
    assert not slope(lambda x: program(tnp, x), lambda x: program(np, x), V, expected)
    weights = [np.cos(1.0 + np.arange(np.size(part))).reshape(np.shape(part)) for part in flat(expected)]
    cotangent: Any = weights[0].astype(flat(expected)[0].dtype) if len(weights) == 1 else tuple(weights)
    gradient = te.vjp(lambda x: program(tnp, x), V)[1](cotangent)[0]
    for k, unit in enumerate(np.eye(3)):
        tangent = te.jvp(lambda x: program(tnp, x), (V,), (unit,))[1]
        slopes = sum(np.sum(w * t).real for w, t in zip(weights, flat(tangent), strict=True))
        np.testing.assert_allclose(gradient[k], slopes, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize(
    "empty", [lambda n, x: n.sum(x[:0], initial=None), lambda n, x: n.nanprod(x[:0], initial=None)]
)
def test_nothing_has_no_sum_without_an_initial_value(empty: Any) -> None:
    with pytest.raises(ValueError, match="which has no identity"):
        te.vjp(lambda x: empty(tnp, x), V)


#: Programs with numpy's value or error.
RARE: dict[str, Callable[[Any, Any], Any]] = {
    "and from False": lambda n, x: n.logical_and.reduce(x, initial=False) * x,
    "or from True": lambda n, x: n.logical_or.reduce(x * 0.0, initial=True) * x,
    "and of nothing": lambda n, x: n.logical_and.reduce(x[:0], initial=None),
    "logaddexp of nothing": lambda n, x: n.logaddexp.reduce(x[:0], initial=None),
    "masked logaddexp": lambda n, x: n.logaddexp.reduce(x, initial=None, where=MASK),
    "parts along no axis": lambda n, x: n.multiply.reduceat(x, [0], axis=()),
    "sums of parts along no axis": lambda n, x: n.add.reduceat(x, [0], axis=()),
    "quotients of whole numbers": lambda n, x: n.true_divide.reduce(x, dtype=int),
    "powers in double precision": lambda n, x: n.float_power.reduce(x.astype("f4")),
    "quantiles of nothing": lambda n, x: n.nanquantile(x[:, None, None][:, :0], [0.2, 0.3], axis=(0, 1), keepdims=True),
    "medians along nothing": lambda n, x: n.nanmedian(x[:, None][:, :0], axis=0),
    "no option given": lambda n, x: (n.linalg.pinv(M * x, rtol=np._NoValue), n.var(x, mean=np._NoValue)),
    "matrix after a complex vector": lambda n, x: n.vecmat(x * (1.0 + 2.0j), M),
    "compressed number": lambda n, x: n.compress([True], n.sum(x), axis=0),
    "number without a copy": lambda n, x: n.nan_to_num(n.sum(x), copy=False),
    "number copied if it must be": lambda n, x: n.nan_to_num(n.sum(x), copy=None),
    "one output of limits": lambda n, x: n.clip(x, 0.3, 0.6, out=(9.0 * x,)),
    "one output of a sum": lambda n, x: n.sum(stacked(x), axis=0, out=(9.0 * x,)),
    "covariance in two precisions": lambda n, x: n.cov(x.astype("f4"), np.arange(3.0, dtype=np.longdouble)),
}


@pytest.mark.parametrize("name", RARE)
def test_rare_calls(name: str) -> None:
    program = RARE[name]
    assert shown(lambda: te.vjp(lambda x: program(tnp, x), V)[0]) == shown(program, np, V)


def test_linspace_takes_an_axis_and_gives_a_step_as_numpy_does() -> None:
    def program(n: Any, x: Any) -> Any:
        points, step = n.linspace(x, 2.0, 3, retstep=True, axis=0.0)
        return points, step * np.ones(3, "f4")

    assert not differing(te.vjp(lambda x: program(tnp, x), 1.0)[0], program(np, 1.0), False)


WIDE = np.array([16777217, 3])
SINGLE = {
    "subtract": lambda x: np.subtract(x, WIDE, dtype="f4"),
    "floor_divide": lambda x: np.floor_divide(x, WIDE, dtype="f4"),
    "fmod": lambda x: np.fmod(x, WIDE, signature="ff->f"),
    "nextafter": lambda x: np.nextafter(x, WIDE.tolist(), dtype="f4"),
    "power": lambda x: np.power(x, [1, 2], dtype="f4"),
    "logaddexp": lambda x: np.logaddexp(x, WIDE, dtype="f4"),
    "outer": lambda x: np.subtract.outer(x, WIDE, dtype="f4"),
    "number": lambda x: np.hypot(x, 16777217, dtype="f4"),
    "bools": lambda x: np.multiply(x, np.array([True, False]), dtype="f4"),
}


@pytest.mark.parametrize("name", SINGLE)
def test_whole_operands_are_in_the_precision_that_is_asked_for(name: str) -> None:
    f, x = SINGLE[name], np.array([16777216.0, 1.5])
    wanted, found = f(x), te.vjp(f, x)[0]
    assert found.dtype == wanted.dtype
    np.testing.assert_array_equal(found, wanted)
