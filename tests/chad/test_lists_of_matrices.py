"""Networks with their weights in lists: matrices and vectors in lists, tuples, dicts and lists of lists."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from leaves import numbers

import tapeengine as te


def of_weights(ws: Any, x: Any) -> Any:
    for w in ws:
        x = np.tanh(w @ x)
    return np.sum(x)


def of_two_lists(ws: Any, bs: Any, x: Any) -> Any:
    for w, b in zip(ws, bs):
        x = np.tanh(w @ x + b)
    return np.sum(x * x)


def of_pairs(layers: Any, x: Any) -> Any:
    for w, b in layers:
        x = np.tanh(w @ x + b)
    return np.sum(x)


def of_dicts(layers: Any, x: Any) -> Any:
    for layer in layers:
        x = np.tanh(layer["w"] @ x + layer["b"])
    return np.sum(x)


def of_groups(groups: Any, x: Any) -> Any:
    total = 0.0
    for ws in groups:
        for w in ws:
            x = w @ x
        total = total + np.sum(np.sin(x))
    return total


def of_last(layers: Any, x: Any) -> Any:
    for w, b in layers[:-1]:
        x = np.tanh(w @ x + b)
    w, b = layers[-1]
    return np.sum(w @ x + b)


def matrix(rows: int, columns: int, seed: int) -> Any:
    return np.random.default_rng(seed).normal(size=(rows, columns))


W, B, X = [matrix(4, 4, k) for k in range(3)], [matrix(1, 4, 9 + k)[0] for k in range(3)], matrix(1, 4, 7)[0]
LAYOUTS = {
    "as they are": lambda w: w,
    "in Fortran order": np.asfortranarray,
    "strided": lambda w: np.repeat(np.repeat(w, 2, axis=0), 2, axis=1)[::2, ::2],
    "read only": lambda w: (w := w.copy(), w.setflags(write=False))[0],
    "of another byte order": lambda w: w.astype(">f8"),
    "of integers": lambda w: (w * 3).astype(int),
}
CASES: dict[str, tuple[Callable[..., Any], Callable[..., tuple[Any, ...]]]] = {
    "weights": (of_weights, lambda f: ([f(w) for w in W], X)),
    "two lists": (of_two_lists, lambda f: ([f(w) for w in W], B, X)),
    "pairs": (of_pairs, lambda f: ([(f(w), b) for w, b in zip(W, B, strict=True)], X)),
    "dicts": (of_dicts, lambda f: ([{"w": f(w), "b": b} for w, b in zip(W, B, strict=True)], X)),
    "groups": (of_groups, lambda f: ([[f(w) for w in W], [f(w) for w in W[::-1]]], X)),
    "layers of several sizes": (of_last, lambda f: ([(f(W[0]), B[0]), (f(matrix(2, 4, 5)), B[1][:2])], X)),
    "weights of several sizes": (of_weights, lambda f: ([f(W[0]), f(matrix(3, 4, 5)), f(matrix(2, 3, 6))], X)),
    "large matrices": (of_weights, lambda f: ([f(matrix(40, 40, k) / 6) for k in range(3)], matrix(1, 40, 3)[0])),
}


def described(x: Any) -> Any:
    """The structure of a cotangent: classes, dtypes and shapes; None where it has no numbers."""
    if isinstance(x, list | tuple):
        parts = [described(part) for part in x]
        return (type(x), parts) if any(parts) else None
    if isinstance(x, dict):
        return {key: described(part) for key, part in x.items()}
    return None if x is None else (type(x), getattr(x, "dtype", None), np.shape(x))


@pytest.mark.parametrize("backend", [None, "machine", "native"])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("case", CASES)
@pytest.mark.filterwarnings("ignore:.*runs without:RuntimeWarning")
def test_weights_in_lists(case: str, layout: str, backend: str | None) -> None:
    f, arguments = CASES[case]
    primals = arguments(LAYOUTS[layout])
    wanted, back = te.vjp(f, *primals)
    cotangents = back(1.0)
    typed = te.program(f, backend=backend)
    for _ in range(3):
        value, back = te.vjp(typed, *primals)
        found = back(1.0)
        assert value == pytest.approx(wanted, rel=1e-12)
        assert described(found) == described(cotangents)
        assert numbers(found) == pytest.approx(numbers(cotangents), rel=1e-10, abs=1e-12)


@pytest.mark.parametrize("case", ["weights", "pairs", "groups"])
def test_cotangents_are_copies_of_what_the_matrices_were(case: str) -> None:
    f, arguments = CASES[case]
    typed = te.program(f, backend="native")
    primals = arguments(np.copy)
    _, wanted = te.vjp(typed, *arguments(np.copy))
    _, back = te.vjp(typed, *primals)
    for part in primals[0]:
        for array in part if isinstance(part, list | tuple) else [part]:
            array[...] = 7.0
    assert numbers(back(1.0)) == numbers(wanted(1.0))


def test_equal_matrices_in_a_list_run_natively() -> None:
    """The core copies a list of matrices into one array, so that neither numpy nor dual numbers run the program."""
    typed = te.program(of_weights, backend="native")
    te.vjp(typed, W, X)[1](1.0)
    (instance,) = typed.instances.values()
    assert instance.executable.entry.vjp(W, X) is not None
