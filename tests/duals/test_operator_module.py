"""Every function of the module `operator` gives what it gives of plain values, or raises what it raises."""

import copy
import itertools
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from outcomes import outcome

import tapeengine as te
from tapeengine.errors import TapeEngineError

VALUES = {
    "float": 2.5,
    "complex": 1.5 + 2j,
    "numpy.float64": np.float64(1.5),
    "vector": np.array([1.0, 2.0, 3.0]),
    "matrix": np.arange(4.0).reshape(2, 2),
    "array of no axes": np.array(2.0),
}
OTHERS = [3, 2.0, np.array([3.0, 1.0, 2.0]), [1.0, 2.0, 3.0], (1.0, 2.0, 3.0), None, slice(0, 1), 0]
FUNCTIONS = [name for name in operator.__all__ if name not in ("attrgetter", "itemgetter", "methodcaller", "call")]


def traced(program: Callable[[Any], Any], at: Any) -> Any:
    """The value of a traced run, and what the program returned there."""
    returned: list[Any] = []

    def kept(x: Any) -> Any:
        returned.append(program(x))
        return returned[-1]

    value, _ = te.vjp(kept, at)
    return value, returned[-1]


def agree(plain: Any, found: Any) -> bool:
    """Whether a traced call did as the plain one: the same value of the same class, or an error."""
    if isinstance(plain, Exception):
        return isinstance(found, Exception)
    if isinstance(found, Exception):
        return isinstance(found, TapeEngineError)
    return type(found[0]) is type(plain) and np.array_equal(found[0], plain, equal_nan=True)


@pytest.mark.parametrize("kind", VALUES)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_function_with_every_operand(name: str, kind: str) -> None:
    function, wrong = getattr(operator, name), []
    for others in itertools.chain([()], itertools.product(OTHERS, repeat=1), [(0, 9.0), (slice(0, 1), 2.0)]):
        for place in range(len(others) + 1):

            def program(x: Any, others: Any = others, place: int = place) -> Any:
                arguments = copy.deepcopy(others)
                return function(*arguments[:place], x * 1.0, *arguments[place:])

            plain = outcome(lambda program=program: program(copy.copy(VALUES[kind])))
            if isinstance(plain, str | slice | list | tuple) or plain is None:
                continue  # nothing was computed
            found = outcome(lambda program=program: traced(program, copy.copy(VALUES[kind])))
            wrong += [] if agree(plain, found) else [(others, place, plain, found)]
    assert wrong == []


@pytest.mark.parametrize("add", [operator.concat, operator.iconcat])
def test_arrays_are_not_concatenated_by_their_operator(add: Callable[[Any, Any], Any]) -> None:
    with pytest.raises(TypeError, match=r"numpy\.concatenate"):
        te.vjp(lambda x: add(x, x), np.ones(3))
