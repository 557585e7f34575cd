"""A staged program that writes into its arguments returns at each call what the plain one returns for the same ones."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tapeengine as te

WRITES: dict[str, Callable[[Any], Any]] = {
    "element": lambda n: n.__setitem__(0, n[0] + 1),
    "all": lambda n: n.__iadd__(1),
    "view": lambda n: n[1:].__imul__(2),
    "out": lambda n: np.add(n, n, out=n),
    "put": lambda n: np.put(n, [1], n[0] + 3),
    "sort": lambda n: n[::-1].sort(),
    "fill": lambda n: n.fill(n[0] + 1),
}
FORMS: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "alone": (lambda n: n, lambda given: given),
    "in a list": (lambda n: [1, n], lambda given: given[1]),
    "in a dict": (lambda n: {"a": (n, 2)}, lambda given: given["a"][0]),
}


@pytest.mark.filterwarnings("ignore::tapeengine.errors.StagingWarning")
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", WRITES)
@pytest.mark.parametrize("dtype", [np.int64, np.int8, np.uint16])
def test_whole_numbers(dtype: Any, name: str, form: str) -> None:
    pack, unpack = FORMS[form]

    def program(x: float, given: Any) -> Any:
        WRITES[name](unpack(given))
        return x * float(unpack(given).sum())

    staged = te.stage(program)
    numbers, plain = np.array([3, 1, 2], dtype), np.array([3, 1, 2], dtype)
    for _ in range(3):
        assert staged(0.5, pack(numbers)) == program(0.5, pack(plain))
        np.testing.assert_array_equal(numbers, plain)
    for _ in range(3):
        assert te.value_and_grad(staged)(0.5, pack(numbers)) == te.value_and_grad(program)(0.5, pack(plain))
        np.testing.assert_array_equal(numbers, plain)


@pytest.mark.parametrize("name", WRITES)
def test_an_argument_that_is_not_differentiated(name: str) -> None:
    """A plain program changes it for the caller, as a plain call does; a staged one does not."""

    def program(x: float, y: Any) -> Any:
        WRITES[name](y)
        return x * y.sum()

    numbers, plain, staged = (np.array([3.0, 1.0, 2.0]) for _ in range(3))
    wanted = program(1.0, plain)
    assert te.grad(program)(0.5, numbers) == te.grad(te.stage(program))(0.5, staged) == wanted
    np.testing.assert_array_equal(numbers, plain)
    np.testing.assert_array_equal(staged, [3.0, 1.0, 2.0])


@pytest.mark.parametrize("name", WRITES)
def test_numbers_with_derivatives(name: str) -> None:
    """The caller's array stays as it is, in the first call and in later ones."""

    def program(x: Any) -> Any:
        WRITES[name](x)
        return (x * x).sum()

    staged, x = te.stage(program), np.array([3.0, 1.0, 2.0])
    wanted = program(x.copy())
    for _ in range(3):
        assert staged(x) == te.vjp(staged, x)[0] == wanted
        np.testing.assert_array_equal(x, [3.0, 1.0, 2.0])
