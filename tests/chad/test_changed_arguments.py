"""What a caller changes between the two passes does not reach the backpropagator, on whatever path a program runs."""

import copy
import dataclasses

import numpy as np
import pytest
from chad.backends.runs import BACKENDS

import tapeengine
import tapeengine.math as tm
from tapeengine import chad as te

ENGINE = tapeengine.Engine()


@dataclasses.dataclass
class Pair:
    a: float
    b: float


def of_list(x):
    return sum(tm.sqrt(a) * x[0] for a in x)


def of_rows(x):
    return sum(tm.sqrt(a) * x[0][0] for row in x for a in row)


def of_array(x):
    return np.sum(np.sqrt(x) * x[0])


def of_dict(x):
    return x["a"] * x["b"] + tm.sqrt(x["a"])


def of_pair(x):
    return x.a * x.b + tm.sqrt(x.a)


def of_both(x):
    return x[0]["a"] * x[1][0] + tm.sqrt(x[0]["a"]) + tm.sqrt(x[1][1])


def in_order(x):
    return sum(x[i] * x[0] for i in sorted(range(len(x)), key=lambda i: -x[i]))


#: Programs, and how to make their argument of two numbers and to change it.
CASES = {
    "list": (of_list, lambda a, b: [a, b], lambda x: x.append(x.pop(0) + 3.0)),
    "longer list": (of_list, lambda a, b: [a, b], lambda x: x.append(3.0)),
    "rows": (of_rows, lambda a, b: [[a, b], [b, a]], lambda x: x[0].__setitem__(0, 7.0)),
    "array": (of_array, lambda a, b: np.array([a, b]), lambda x: x.__setitem__(0, 7.0)),
    "dictionary": (of_dict, lambda a, b: {"a": a, "b": b}, lambda x: x.update(a=9.0, b=1.0)),
    "dataclass": (of_pair, Pair, lambda x: setattr(x, "a", 5.0)),
    "tuple": (of_both, lambda a, b: ({"a": a}, [b, a]), lambda x: (x[0].update(a=9.0), x[1].pop())),
    "sorted": (in_order, lambda a, b: [a, b], lambda x: x.append(3.0)),
}


def plain(x):
    return dataclasses.asdict(x) if dataclasses.is_dataclass(x) else x


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("first", [2.0, 0.0, np.nan, np.inf])
@pytest.mark.parametrize("name", CASES)
def test_the_backpropagator_sees_the_arguments_of_its_run(name, first, backend):
    function, make, change = CASES[name]
    program = te.program(function, backend=backend)
    for second in (1.5, 0.25, 0.0, np.nan):
        given = make(first, second)
        kept = copy.deepcopy(given)
        _, expected = ENGINE.vjp(program, kept)
        _, back = ENGINE.vjp(program, given)
        change(given)
        np.testing.assert_equal(plain(back(1.0)[0]), plain(expected(1.0)[0]))
        np.testing.assert_equal(plain(kept), plain(make(first, second)))
