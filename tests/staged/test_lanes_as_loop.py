"""A staged program in lanes is the plain loop over the lanes: the same values, classes, cotangents and refusals."""

import collections
import dataclasses
import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tapeengine as te
from tapeengine.errors import CotangentError, StructureError

pytestmark = pytest.mark.filterwarnings("ignore::tapeengine.errors.StagingWarning", "ignore::RuntimeWarning")

X = np.array([1.5, -1.0, 2.25])
#: Arguments that all lanes share, of every class that a program may meet.
SHARED: dict[str, Any] = {
    "float": 2.0,
    "float64": np.float64(2.5),
    "float32": np.float32(2.5),
    "float16": np.float16(2.5),
    "int": 3,
    "int64": np.int64(3),
    "bool": True,
    "complex": 1 + 2j,
    "complex64": np.complex64(1 + 2j),
    "zero_dim": np.array(2.5),
    "vector": np.array([1.0, 2.0, 4.0]),
}
MAPPED: dict[str, Any] = {
    "doubles": X,
    "singles": X.astype(np.float32),
    "halves": X.astype(np.float16),
    "complex": X + 1j,
    "integers": np.array([1, -2, 3]),
    "other order": X.astype(">f8"),
    "rows": np.outer(X, [1.0, 2.0, 4.0]),
}
PROGRAMS: dict[str, Callable[..., Any]] = {
    "quotient": lambda x, y, z: x / y - z,
    "dict": lambda x, y, z: {"a": x * z, "b": [y, (z, "name", None, 3)]},
    "constants": lambda x, y, z: (x, 1.0, np.float32(2.0), np.float64(3.0), 1j, np.ones(2), np.arange(2), True),
    "one of the shared": lambda x, y, z: y,
    "single": lambda x, y, z: (x * np.float32(2.0), z),
    "branches": lambda x, y, z: x * y if np.all(x.real > 1) else z - x,
    "keys in another order": lambda x, y, z: {"a": x, "b": z} if np.all(x.real > 1) else {"b": z, "a": x},
    "other constants": lambda x, y, z: (x * z, 1 if np.all(x.real > 1) else 2, np.full(2, float(np.all(x.real > 1)))),
    "an array in one branch": lambda x, y, z: x * np.arange(3.0) if np.all(x.real > 1) else np.zeros(3),
    "classes of branches": lambda x, y, z: x if np.all(x.real > 1) else 1,
}


def told(value: Any) -> Any:
    """A value with the classes, dtypes and numbers of all leaves."""
    if isinstance(value, dict):
        return {key: told(value[key]) for key in sorted(value)}
    if isinstance(value, (list, tuple)):
        return [type(value), *map(told, value)]
    if isinstance(value, (np.ndarray, np.generic)):
        return type(value), value.dtype, value.tolist()
    return type(value), value


def outcome(f: Callable[..., Any], *args: Any) -> Any:
    try:
        return told(f(*args))
    except Exception as error:
        return type(error)


def cotangent(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: cotangent(value[key]) for key in reversed(value)}
    if isinstance(value, (list, tuple)):
        return type(value)(map(cotangent, value))
    return (1.0 + np.arange(value.size).reshape(value.shape)).astype(value.dtype) if is_continuous(value) else None


def is_continuous(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.dtype.kind in "fc"


def pulled(f: Callable[..., Any], *args: Any) -> Any:
    value, back = te.vjp(f, *args)
    return value, back(cotangent(value))


@pytest.mark.parametrize("name", PROGRAMS)
def test_classes_of_arguments(name: str) -> None:
    program = PROGRAMS[name]
    for (of_x, x), (of_y, y) in itertools.product(MAPPED.items(), SHARED.items()):
        args = x, y, X * 3
        plain, lanes = te.vmap(program, (0, None, 0)), te.vmap(te.stage(program), (0, None, 0))
        for _ in range(2):
            assert outcome(lanes, *args) == outcome(plain, *args), (of_x, of_y)
        assert outcome(pulled, lanes, *args) == outcome(pulled, plain, *args), (of_x, of_y)


@pytest.mark.parametrize("y", [2.0, np.float64(2.0)])
def test_shared_numbers_inside_containers(y: Any) -> None:
    def program(x: Any, p: Any) -> Any:
        return x * p["a"] + p["rest"][0] * p["rest"][1]

    args = X, {"a": y, "rest": [10.0, y, 3]}
    for f in (te.vmap, lambda f, axes: te.vmap(te.stage(f), axes)):
        mapped = f(program, (0, None))
        assert told(mapped(*args)) == told(X * 2.0 + 20.0)
        assert told(te.vjp(mapped, *args)[1](np.ones(3))[1]) == told(
            {"a": type(y)(2.75), "rest": [6.0, type(y)(30), None]}
        )


ONES = np.ones(3)
COTANGENTS = [
    {"a": ONES, "b": ONES},
    {"b": np.zeros(3), "a": ONES},
    {"x": ONES, "y": ONES},
    {"a": None, "b": ONES},
    {"a": ONES},
    {"a": 1j * ONES, "b": ONES},
    {"a": 1.0, "b": 2.0},
    {"a": np.ones(2), "b": ONES},
    {"a": np.ones(3, int), "b": ONES.astype(np.float32)},
    [ONES, ONES],
    "x",
    None,
    ONES,
]


def test_cotangents() -> None:
    def program(x: Any) -> Any:
        return {"a": x, "b": 2 * x}

    (_, plain), (_, lanes) = te.vjp(te.vmap(program), X), te.vjp(te.vmap(te.stage(program)), X)
    wanted = [outcome(plain, c) for c in COTANGENTS]
    assert [outcome(lanes, c) for c in COTANGENTS] == wanted
    assert wanted.count(CotangentError) == 10
    for back in (plain, lanes):
        found = te.grad(lambda c, back=back: np.sum(back({"b": c, "a": c * c})[0]))(ONES)
        assert found.tolist() == [4.0, 4.0, 4.0]


def test_the_backpropagator_keeps_the_arguments() -> None:
    x = X.copy()
    _, back = te.vjp(te.vmap(te.stage(lambda x: x * x)), x)
    x[:] = 0.0
    assert back(ONES)[0].tolist() == (2 * X).tolist()
    assert te.grad(lambda c: np.sum(back(c)[0]))(ONES).tolist() == (2 * X).tolist()


@pytest.mark.parametrize("make", [lambda f: f, te.stage])
@pytest.mark.parametrize(
    ("axes", "args"),
    [
        ((3, 0), (X,)),
        ((-2, 0), (X,)),
        ((0, 1), (X,)),
        ((0, -2), (X,)),
        ((0, 0), (np.ma.array(X, mask=[1, 0, 0]),)),
        ((0, 0), (np.array(1.0),)),
        (({"a": 0, "c": 0}, 0), ({"a": X, "b": X},)),
    ],
)
def test_axes_that_do_not_fit(make: Any, axes: Any, args: Any) -> None:
    in_axes, out_axes = axes
    with pytest.raises(StructureError):
        te.vmap(make(lambda x: x), (in_axes,), out_axes)(*args)


def test_axes_of_numbers() -> None:
    assert te.vmap(lambda x: x, out_axes=-1)(X).tolist() == X.tolist()


Point = collections.namedtuple("Point", "x y")


@dataclasses.dataclass
class Record:
    x: Any
    y: Any


STRUCTURES: dict[str, Callable[..., Any]] = {
    "tuple": lambda x, y: (x, y),
    "list": lambda x, y: [x, y],
    "dict": lambda x, y: {"x": x, "y": y},
    "dict in another order": lambda x, y: {"y": y, "x": x} if x is None or y is None else {"x": x, "y": y},
    "namedtuple": Point,
    "dataclass": Record,
    "nested": lambda x, y: Record([x], Point(y, {"x": x})),
}


@pytest.mark.parametrize("axes", [(0, None), (1, 0), (None, -1)])
@pytest.mark.parametrize("structure", STRUCTURES)
def test_axes_have_the_structure_of_an_argument_and_of_a_value(structure: str, axes: tuple[Any, Any]) -> None:
    make = STRUCTURES[structure]
    arrays = [np.arange(9.0).reshape(3, 3), np.arange(10.0, 19.0).reshape(3, 3)]
    tails = [a if axis is None else np.moveaxis(a, axis, 0) for a, axis in zip(arrays, axes, strict=True)]
    seen: list[Any] = []
    found = te.vmap(lambda s: seen.append(s) or s, (make(*axes),), make(*axes))(make(*arrays))
    lanes = [make(*(a if axis is None else a[k] for a, axis in zip(tails, axes, strict=True))) for k in range(3)]
    assert [repr(s) for s in seen] == [repr(s) for s in lanes]
    assert repr(found) == repr(make(*arrays))


@pytest.mark.parametrize("structure", STRUCTURES)
@pytest.mark.parametrize("other", ["x", 1.5, np.ones(1), (0,), {"x": 0, "z": 0}, Record])
def test_axes_of_another_structure_are_refused(structure: str, other: Any) -> None:
    with pytest.raises(StructureError, match="another structure"):
        te.vmap(lambda s: 1.0, (other,))(STRUCTURES[structure](X, X))
    with pytest.raises(StructureError, match="another structure"):
        te.vmap(lambda x: STRUCTURES[structure](x, x), 0, other)(X)
