"""np.ndim, np.shape and np.size of everything that is a value: numpy's answer, or the plain program's."""

import dataclasses
import itertools
from typing import NamedTuple

import numpy as np
import pytest
from chad.written_functions import defined
from outcomes import comparable, unless_refused

import tapeengine as te


@dataclasses.dataclass
class Record:
    a: float
    b: float


class Pair(NamedTuple):
    a: float
    b: float


VALUES = [
    "x", "2", "None", "'text'", "(lambda: x)", "()", "[]", "(x, 1)", "((x, x), (x, x), (x, x))", "([x, x], [x, x])",
    "[(x, x), (x, x)]", "[x * i for i in range(3)]", "{'a': x, 'b': x}", "{'a': [x, x, x]}", "{i: x for i in range(3)}",
    "Record(x, x)", "Pair(x, x)", "[Pair(x, x)]", "[Record(x, x)] * 2", "((Record(x, x), Record(x, x)),)",
    "[{'a': x}]", "['a', 'b']", "np.ones((2, 3)) * x", "range(3)",
]  # fmt: skip
READ = [
    "np.ndim({})", "np.size({})", "len(np.shape({}))", "np.size({}, axis=0)",
    "np.sum(np.isfinite({}))", "np.allclose({}, x)",
]  # fmt: skip


@pytest.mark.parametrize(("read", "value"), list(itertools.product(READ, VALUES)))
def test_what_numpy_makes_of_a_value(read, value):
    text = f"def f(x):\n    return x * ({read.format(value)} + 2)\n"
    f = defined(text, "f", Record=Record, Pair=Pair, np=np)
    found = unless_refused(lambda x: te.vjp(te.program(f, backend="machine"), x)[0], 1.5)
    assert found in (None, comparable(f, 1.5), comparable(lambda x: te.vjp(f, x)[0], 1.5))
