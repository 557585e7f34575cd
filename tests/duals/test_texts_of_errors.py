"""What a traced program raises has numpy's and Python's kind and text, in a run, a tangent, a stage and its replay."""

import itertools
import operator
from collections.abc import Callable
from typing import Any

import numpy
import pytest

import tapeengine as te
from tapeengine import numpy as np

SHAPES = [(2,), (3,), (2, 3), (2, 2), (3, 2), (0,), (2, 2, 3)]
NUMBERS: dict[str, Callable[..., Any]] = {
    "/": lambda x, y: x / y,
    "//": lambda x, y: x // y,
    "%": lambda x, y: x % y,
    "divmod": lambda x, y: divmod(x, y)[1],
    "**": lambda x, y: x**y,
    "fmod": lambda x, y: te.math.fmod(x, y),
    "1 %": lambda x, y: 1 % y,
    "% 0": lambda x, y: x % 0 + y,
    "// 0": lambda x, y: x // 0 + y,
}
PAIRS: dict[str, Callable[..., Any]] = {
    "+": lambda a, b: a + b,
    "@": lambda a, b: a @ b,
    "dot": lambda a, b: np.dot(a, b),
    "inner": lambda a, b: np.inner(a, b),
    "vdot": lambda a, b: np.vdot(a, b),
    "tensordot": lambda a, b: np.tensordot(a, b, 1),
    "einsum": lambda a, b: np.einsum("ij,jk", a, b),
    "cross": lambda a, b: np.cross(a, b),
    "convolve": lambda a, b: np.convolve(a, b),
    "correlate": lambda a, b: np.correlate(a, b),
    "interp": lambda a, b: np.interp(0.5, a, b),
    "where": lambda a, b: np.where(True, a, b),
    "concatenate": lambda a, b: np.concatenate([a, b]),
    "stack": lambda a, b: np.stack([a, b]),
    "solve": lambda a, b: np.linalg.solve(a, b),
    "maximum": lambda a, b: np.maximum(a, b),
}
#: Operands of ``a[1:] op= b`` for a vector `a` of three numbers.
OPERANDS: tuple[Any, ...] = (
    *(numpy.ones(s) for s in ((3,), (2, 2), (2, 3), (1, 3), (0,), (1, 2))),
    *([1.5, 2.5], [1.5, 2.5, 3.5], None, 2j, numpy.ones(2) * 1j, numpy.ones(3) * 1j, numpy.ones(2, int)),
)
IN_PLACE = (operator.iadd, operator.isub, operator.imul, operator.itruediv, operator.ipow, operator.imod)
IN_PLACE += (operator.ifloordiv, operator.imatmul)
SINGLE: dict[str, Callable[..., Any]] = {
    "gradient": lambda a: np.gradient(a),
    "gradient of rows": lambda a: np.gradient(a, axis=1),
    "max": lambda a: np.max(a),
    "diff": lambda a: np.diff(a, axis=2),
    "inv": lambda a: np.linalg.inv(a),
    "trace": lambda a: np.trace(a),
    "reshape": lambda a: np.reshape(a, (5, 5)),
    "sum": lambda a: np.sum(a, axis=9),
    "take": lambda a: np.take(a, [9]),
    "index": lambda a: a[9],
    "delete": lambda a: np.delete(a, 9),
    "quantile": lambda a: np.quantile(a, 1.3),
    "split": lambda a: np.split(a, 5)[0],
    "transpose": lambda a: np.transpose(a, (1, 0)),
    "repeat": lambda a: np.repeat(a, -1),
    "broadcast_to": lambda a: np.broadcast_to(a, (7, 7)),
    "squeeze": lambda a: np.squeeze(a, 0),
}


def error_of(run: Callable[[], Any]) -> tuple[type, str] | None:
    """The kind and the text of what a run raises."""
    try:
        run()
    except Exception as error:
        return type(error), str(error)
    return None


def raises_alike(f: Callable[..., Any], good: tuple[Any, ...] | None, *args: Any) -> int:
    """Compare all ways to run a program with the plain one; tell whether it raises."""
    wanted = error_of(lambda: f(*args))
    assert error_of(lambda: te.vjp(f, *args)) == wanted
    assert error_of(lambda: te.jvp(f, args, args)) == wanted
    staged = te.stage(f)
    if good is not None:
        staged(*good)
    assert error_of(lambda: staged(*args)) == wanted
    assert error_of(lambda: te.vjp(staged, *args)) == wanted
    return wanted is not None


@pytest.mark.parametrize("name", NUMBERS)
def test_of_numbers(name: str) -> None:
    f = NUMBERS[name]
    good = None if " 0" in name else (1.5, 2.5)
    pairs = itertools.product((0.1, 0.0, -1.5, 1), (0.0, -0.0, -1.0, 0))
    assert sum(raises_alike(f, good, x, y) for x, y in pairs) > 0


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", PAIRS)
def test_of_two_arrays(name: str) -> None:
    pairs = itertools.product(SHAPES, repeat=2)
    assert sum(raises_alike(PAIRS[name], None, 1.2 + numpy.zeros(s), 1.3 + numpy.zeros(t)) for s, t in pairs) > 0


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", SINGLE)
def test_of_one_array(name: str) -> None:
    assert sum(raises_alike(SINGLE[name], None, 1.2 + numpy.zeros(s)) for s in SHAPES) > 0


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("apply", IN_PLACE, ids=lambda f: f.__name__)
def test_in_place(apply: Any) -> None:
    for b in OPERANDS:

        def f(a: Any, b: Any = b) -> Any:
            a = a * 1.0
            a[1:] = apply(a[1:], b)
            return a

        raises_alike(f, None, numpy.arange(1.0, 4.0))
    assert raises_alike(f, None, numpy.arange(1.0, 6.0))


@pytest.mark.parametrize("x", [0.5, numpy.array([0.5]), numpy.array(0.5 + 1j), 0.5 + 1j], ids=repr)
def test_the_name_of_a_class_is_the_public_one(x: Any) -> None:
    """Python's own errors name classes."""
    for f in (lambda x: x @ "s", lambda x: object() - x, lambda x: "s" + x, lambda x: [1, 2][x:]):
        with pytest.raises((TypeError, AttributeError)) as caught:
            te.vjp(f, x)
        assert "_core" not in str(caught.value)
