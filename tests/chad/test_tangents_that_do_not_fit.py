"""A tangent that does not have the structure of its primal is refused by an error of the package."""

import numpy as np
import pytest

import tapeengine as te
from tapeengine.errors import CotangentError, TapeEngineError

PRIMALS = {
    "array": np.array([0.3, 0.4, 0.5]),
    "list": [0.3, 0.4, 0.5],
    "tuple": (0.3, 0.4),
    "dict": {"u": 0.3, "v": 0.4},
    "rows": [[0.3, 0.4], [0.5, 0.6]],
}
TANGENTS = (
    (1.0,),
    (),
    ("a",),
    (np.ones(2),),
    (np.ones((3, 1)),),
    ([1.0, 2.0],),
    ({"u": 1.0},),
    (1.0, 2.0),
    (object(),),
)


def of_array(x):
    return np.sum(np.sin(x) * x[::-1])


def of_list(x):
    return sum(a * a for a in x) * x[0]


def of_tuple(x):
    return x[0] * x[1] ** 2


def of_dict(x):
    return x["u"] * x["v"] ** 2


def of_rows(x):
    return sum(a[0] * a[1] for a in x)


@pytest.mark.parametrize("transform", ["jvp", "hvp", "vhp"])
@pytest.mark.parametrize("given", TANGENTS, ids=repr)
@pytest.mark.parametrize("kind", PRIMALS)
def test_a_tangent_that_does_not_fit(kind, given, transform):
    primal = PRIMALS[kind]
    if len(given) == 1 and isinstance(given[0], list | np.ndarray) and np.shape(given[0]) == np.shape(list(primal)):
        pytest.skip("it fits, or is a list of the same numbers")
    with pytest.raises(TapeEngineError):
        getattr(te, transform)(te.program(globals()[f"of_{kind}"]), (primal,), given)


def of_two(x: float, y: float) -> float:
    return x * y * y


def of_one_and_a_number(x: float, n: int) -> float:
    return x**n


def of_two_lists(x: te.Vec, y: te.Vec) -> float:
    return sum(x) * y[0]


NUMBERS = [(of_two, (0.5, 2.0)), (of_one_and_a_number, (0.5, 2)), (of_two_lists, ([0.5, 1.0], [2.0]))]


@pytest.mark.parametrize("count", [0, 1, 3])
@pytest.mark.parametrize(("program", "primals"), NUMBERS)
@pytest.mark.parametrize("backend", [None, "machine"])
def test_another_number_of_tangents_than_arguments(program, primals, count, backend):
    tangents = (*primals, *primals)[:count]
    with pytest.raises(CotangentError, match="tangent for each of its 2 arguments"):
        te.jvp(te.program(program, backend=backend), primals, tangents)
