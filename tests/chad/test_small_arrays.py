"""Functions of numpy on arrays of no, one and two elements: numpy's value, or numpy's error; methods on numbers."""

import numpy as np
import pytest
from chad.written_functions import function_of, refused

import tapeengine as te
from tapeengine.errors import StructureError

VECTORS = (
    """
np.delete(a, 0)|np.delete(a, 1)|np.delete(a, -1)|np.delete(a, -2)|np.delete(a, [0])|np.delete(a, [1])
np.insert(a, 0, 2.0)|np.insert(a, 1, 2.0)|np.insert(a, -1, 2.0)|a[[0]]|np.take(a, [1])|np.roll(a, 1)|np.repeat(a, 2)
np.flip(a)|np.append(a, 1.0)|np.cumsum(a)|np.diff(a)|np.pad(a, 1)|np.sort(a)|np.unique(a)|np.tile(a, 2)
np.max(a)|np.min(a)|np.argmax(a)|np.prod(a)|a[0]|a[-1]|np.reciprocal(a > 0)|np.convolve(a, a)|np.kron(a, a)
""".replace("\n", "|")
    .strip("|")
    .split("|")
)
MATRICES = """
np.delete(a, 0, 0)|np.delete(a, 1, 0)|np.delete(a, 0, 1)|np.delete(a, 1, 1)|np.delete(a, -1, 1)|np.delete(a, 0, axis=-1)
""".strip().split("|")


def outcome(run):
    """The value with its dtype, or the error."""
    try:
        value = run()
    except Exception as error:
        return type(error), str(error)
    return np.asarray(value).dtype, np.shape(value), np.asarray(value).tolist()


def compare(expression, a):
    f = function_of("a", [f"return {expression}"])
    assert outcome(lambda: te.vjp(te.program(f), a)[0]) == outcome(lambda: f(a))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("expression", VECTORS)
def test_a_vector(expression):
    for size in range(3):
        compare(expression, np.arange(size) + 1.0)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("expression", MATRICES)
def test_a_matrix(expression):
    for shape in ((0, 2), (1, 1), (2, 1), (1, 2), (2, 2)):
        compare(expression, np.ones(shape))


NUMBERS = ("(x > 0)", "(x * 2.0)", "(-x)", "(0 < x < 3.0)", "(2.0 * (x + 1.0) > x)")


@pytest.mark.parametrize("number", NUMBERS)
def test_methods_of_numbers(number):
    """What is an AttributeError in Python is refused; numbers of numpy have the method."""
    f = function_of("x", [f"return {number}.astype(float) * x"])
    with pytest.raises(AttributeError):
        f(1.5)
    with pytest.raises(StructureError, match="number of Python's"):
        te.vjp(te.program(f), 1.5)
    each = function_of("a", ["return sum(g(x) for x in a)"], g=f)
    x = np.array([0.5, 2.0])
    assert te.vjp(te.program(each), x)[0] == each(x)
    with pytest.raises(StructureError, match="number of Python's"):
        te.vjp(te.program(each), [0.5, 2.0])
    assert te.vjp(te.program(each), [])[0] == 0


@pytest.mark.parametrize("expression", ["(2 > 1).astype(float) * x", "x.dot(2.0)", "(x > 1.0).dot(2.0)"])
def test_a_method_that_no_number_has(expression):
    with pytest.raises(te.ProgramError, match="numbers have no"):
        refused(te.program(function_of("x", [f"return {expression}"])), 1.5)
