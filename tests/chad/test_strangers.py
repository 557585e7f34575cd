"""Arguments whose classes derive from float, int, list, tuple and ndarray, and numbers of more digits than a float."""

import itertools

import numpy as np
import pytest
from chad.written_functions import function_of, refused

import tapeengine
from tapeengine import chad as te
from tapeengine.errors import StructureError, UnsupportedError

ENGINE = tapeengine.Engine()


class Money(float):
    def __mul__(self, other):
        return 100.0


class Count(int):
    def __mul__(self, other):
        return 100


class Stack(list):
    def __getitem__(self, i):
        return 7.0


class Pair(tuple):
    def __getitem__(self, i):
        return 7.0


class Unit(np.ndarray):
    def __mul__(self, other):
        return 3.0


VECTOR = np.array([1.0, 2.0])
#: Values that programs refuse, each with one of the same type that they take.
STRANGE = [
    (Money(2.0), 2.0),
    (Count(2), 2),
    (np.longdouble(2.0), 2.0),
    (Stack([1.0, 2.0]), [1.0, 2.0]),
    (Pair((1.0, 2.0)), (1.0, 2.0)),
    (VECTOR.view(Unit), VECTOR),
    (np.ma.masked_array([1.0, 2.0], mask=[True, False]), VECTOR),
    (np.matrix([[1.0, 2.0]]), VECTOR[None]),
    (VECTOR.astype(np.longdouble), VECTOR),
    ([Money(2.0), 1.0], [2.0, 1.0]),
    ([1.0, np.longdouble(2.0)], [2.0, 1.0]),
    ([[1.0], Stack([2.0])], [[1.0], [2.0]]),
    ((1.0, Money(2.0)), (1.0, 2.0)),
    ({"a": Money(2.0)}, {"a": 2.0}),
    ([VECTOR, VECTOR.view(Unit)], [VECTOR, VECTOR]),
]
ANNOTATIONS = ["", float, int, te.Vec, list[float], te.Array[te.Vec], tuple[float, float], list[list[float]]]


def takes(program, value):
    """Tell whether a program takes a value; it refuses others by the name of the class."""
    found = []
    for run in (lambda: ENGINE.vjp(program, value, 1.0), lambda: ENGINE.jvp(program, (value, 1.0), (None, 1.0))):
        try:
            run()
        except (StructureError, UnsupportedError, te.ProgramError):
            found.append(False)
        else:
            found.append(True)
    return all(found), any(found)


@pytest.mark.parametrize("annotation", ANNOTATIONS, ids=str)
def test_classes_of_their_own_are_refused(annotation):
    taken = 0
    for (strange, plain), backend in itertools.product(STRANGE, (None, "machine")):
        head = "a, x" if annotation == "" else "a: T, x"
        function = function_of(head, ["return x"], T=annotation)
        program = te.program(function, backend=backend)
        for value in (strange, plain, strange):
            if value is plain:
                taken += takes(program, value)[1]
            else:
                assert takes(program, value) == (takes(function, value) if annotation == "" else (False, False))
    assert taken


def test_a_refusal_names_the_class():
    program = te.program(function_of("a, x", ["return x"]))
    with pytest.raises(UnsupportedError, match="Money"):
        refused(program, [1.0, Money(2.0)], 1.0)
    with pytest.raises(UnsupportedError, match="MaskedArray"):
        refused(program, np.ma.array([1.0]), 1.0)
    with pytest.raises(StructureError, match="longdouble"):
        ENGINE.vjp(te.program(function_of("a: float, x", ["return x"])), np.longdouble(1.0), 1.0)


def test_classes_that_numpy_fills_are_taken(tmp_path):
    kept = np.memmap(tmp_path / "kept", dtype=float, mode="w+", shape=(2,))
    program = te.program(function_of("a, x", ["return x"]))
    for value in (kept, np.float64(1.0), np.float32(1.0), np.int8(1), np.True_, np.array(1.0)):
        assert ENGINE.vjp(program, value, 1.0)[0] == 1.0
