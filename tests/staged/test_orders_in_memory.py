"""Replays give arrays in the order in memory of numpy's, also those without a derivative, which recordings hold."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tapeengine as te

BASE = np.linspace(0.1, 2.0, 24).reshape(2, 3, 4) * np.where(np.arange(24).reshape(2, 3, 4) % 5, 1.0, -1.0)
LAYOUTS = {
    "Fortran": np.asfortranarray(BASE),
    "transposed": BASE.transpose(1, 0, 2).copy().transpose(1, 0, 2),
    "reversed": BASE[::-1],
    "strided": np.asfortranarray(np.repeat(BASE, 2, 1))[:, ::2],
}
NAMES = (
    "argsort argmax sort cumsum sum max any all count_nonzero isfinite isreal sign floor rint fix round copy signbit"
)
NAMES += " real_if_close nan_to_num logical_not zeros_like argwhere argpartition digitize searchsorted median"
OPTIONS: dict[str, tuple[Any, ...]] = {
    "argpartition": (1,),
    "digitize": ([0.0, 1.0],),
    **dict.fromkeys(("argsort", "argmax", "sort", "cumsum", "sum", "max", "any", "all", "count_nonzero"), (1,)),
}
#: Each computes arrays from an array, with a derivative or without one.
OPERATIONS: dict[str, Callable[[Any], Any]] = {
    **{name: (lambda a, name=name: getattr(np, name)(a, *OPTIONS.get(name, ()))) for name in NAMES.split()},
    "searchsorted": lambda a: np.searchsorted([0.0, 1.0], a),
    **{f"astype {kind}": (lambda a, kind=kind: a.astype(kind)) for kind in (int, bool, "f4", complex)},
    **{f"astype in {order}": (lambda a, order=order: a.astype(int, order=order)) for order in "CFAK"},
    **{f"less in {order}": (lambda a, order=order: np.less(a, 0.5, order=order)) for order in "CFAK"},
    **{f"copy in {order}": (lambda a, order=order: a.copy(order)) for order in "CFAK"},
    "comparison": lambda a: a > 0.5,
    "of masks": lambda a: ~((a > 0.0) & (a < 1.0)),
    "of two": lambda a: np.less(np.asfortranarray(np.ones(a.shape)), a),
    "broadcast": lambda a: a[0] < a,
    "part of a mask": lambda a: (a > 0.5)[:, [0, 1]],
    "mask": lambda a: a[a > 0.5],
    "where": lambda a: np.where(a > 0.5, 1, 0),
    "swapped": lambda a: np.swapaxes(a > 0.5, 0, 1).astype(int),
    "frexp": np.frexp,
    "outer": lambda a: np.less.outer(a, np.ones(2)),
    "product": lambda a: a * 2.0,
}


def order(x: Any) -> Any:
    """The elements in their order in memory, and the steps between them in a compact copy."""
    return (np.ravel(x, "K").tolist(), np.empty_like(x).strides) if type(x) is np.ndarray else x


@pytest.mark.parametrize("layout", LAYOUTS)
def test_results(layout: str) -> None:
    a = LAYOUTS[layout]
    for name, operation in OPERATIONS.items():
        wanted = operation(a)
        staged = te.stage(operation)
        for _ in range(3):
            found = te.vjp(staged, a)[0]
            pairs = zip(found, wanted, strict=True) if type(wanted) is tuple else ((found, wanted),)
            assert all(order(x) == order(y) for x, y in pairs), name


def test_arguments_without_a_derivative() -> None:
    """An argument of other order in memory is another argument."""
    numbers, x = np.arange(6).reshape(2, 3), np.ones(6)
    staged = te.stage(lambda x, numbers: x * numbers.ravel("K").astype(float))
    for given in (numbers, np.asfortranarray(numbers), numbers[:, ::1], np.repeat(numbers, 2, 1)[:, ::2]) * 2:
        assert te.vjp(staged, x, given)[0].tolist() == given.ravel("K").tolist()
