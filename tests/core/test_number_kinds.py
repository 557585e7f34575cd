"""A traced number follows the rules of the number that it stands for: Python's float and complex, or numpy's scalars.

numpy's scalars compare to `numpy.bool`, divide by zero with a warning, and give NaN for a root of a negative number,
where Python's numbers compare to `bool` and raise.
"""

import itertools
import operator

import numpy as np
import pytest

import tapeengine as te
from tapeengine.errors import UnsupportedError

OPERATORS = [
    operator.truediv, operator.floordiv, operator.mod, divmod, operator.pow,
    operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne,
]  # fmt: skip
VALUES = [1.5, -2.0, 0.0, 0.5, float("inf"), float("nan")]


@te.lift
def float_of(x):
    return float(x)


PROGRAMS = {
    "element": (lambda x: x[0], lambda v: np.array([v])),
    "float": (lambda x: x, lambda v: v),
    "numpy.float64": (lambda x: x, np.float64),
    "numpy.float32": (lambda x: x, np.float32),
    "of a list": (lambda x: x[0], lambda v: [v]),
    "sum": (lambda x: x.sum(), lambda v: np.array([v])),
    "item": (lambda x: x.item(), lambda v: np.array([v])),
    "numbered item": (lambda x: x.item(0), lambda v: np.array([v])),
    "item of an element": (lambda x: x[0].item(), lambda v: np.array([v])),
    "element after its item": (lambda x: [y := x[0], y.item(), y][2], lambda v: np.array([v])),
    "element of a list": (lambda x: x.tolist()[0], lambda v: np.array([v])),
    "element of nested lists": (lambda x: x.reshape(1, 1).tolist()[0][0], lambda v: np.array([v])),
    "list of a number": (lambda x: x[0].tolist(), lambda v: np.array([v])),
    "item, then operators": (lambda x: -abs(-x.item() * 1.0), lambda v: np.array([v])),
    "item of float32": (lambda x: x.item(), lambda v: np.array([v], np.float32)),
    "imaginary part": (lambda x: x[0].imag, lambda v: np.array([v])),
    "imaginary part of a float": (lambda x: x.imag, lambda v: v),
    "product": (lambda x: x[0] * 1.0, lambda v: np.array([v])),
    "of math": (lambda x: te.math.atan(x[0]), lambda v: np.array([v])),
    "of math, of two": (lambda x: te.math.atan2(x[0], x[0]), lambda v: np.array([v])),
    "of math, of several": (lambda x: te.math.hypot(x[0], 1.0, x[0]), lambda v: np.array([v])),
    "of math, of operators": (lambda x: te.math.radians(x[0]), lambda v: np.array([v])),
    "of math and numpy": (lambda x: te.math.atan(x[0]) * x[0], lambda v: np.array([v])),
    "of float": (lambda x: float_of(x[0]), lambda v: np.array([v])),
    "of a ufunc": (np.arctan, lambda v: v),
    "of a ufunc of two": (lambda x: np.arctan2(x, 1.0), lambda v: v),
    "of a ufunc, then math": (lambda x: te.math.atan(np.arctan(x)), lambda v: v),
    "times a numpy number": (lambda x: x * np.float64(1.0), lambda v: v),
    "to a numpy power": (lambda x: x ** np.int64(1), lambda v: v),
    "with a float beside it": (lambda pair: pair[0][0], lambda v: (np.array([v]), 3.0)),
    "float beside an array": (lambda pair: pair[1], lambda v: (np.array([3.0]), v)),
}
TEXTS = [repr, str, lambda x: f"{x!r} {x:>9} {x:.3e}", lambda x: "%r" % [x]]
OTHERS = [0, 1.5, np.float64(0.0), 2, -1, 0.5, 400]


def told(operation, *operands):
    """The kind and value of each part of a result, or the type of the error."""
    with np.errstate(all="ignore"):
        try:
            result = operation(*operands)
        except (ZeroDivisionError, OverflowError, UnsupportedError) as error:
            return type(error).__name__
    parts = result if isinstance(result, tuple) else (result,)
    return [described(part) for part in parts]


def described(part):
    """The kind and text of a number; a comparison with 0 tells the kind of a traced number."""
    if isinstance(part, complex):
        return "complex", repr(part)
    kind = type(part > 0) if not isinstance(part, bool | np.bool_) else type(part)
    return kind, repr(float(te.value(part)))


def seen_by(program, primal, transform):
    """What a program learns from its number and all operators, plain or under a transform."""
    found = []

    def run(x):
        number = program(x)
        for operation, other in itertools.product(OPERATORS, OTHERS):
            found.append((operation.__name__, other, told(operation, number, other)))
            found.append((other, operation.__name__, told(operation, other, number)))
        found.extend(write(number) for write in TEXTS)
        return number * 1.0

    transform(run, primal)
    return found


def plain(run, primal):
    run(primal)


def nested(run, primal):
    te.vjp(lambda x: te.vjp(run, x)[0], primal)


def continued(run, primal):
    back = te.vjp(te.checkpoint(run), primal)[1]
    back(1.0)


@pytest.mark.parametrize("name", PROGRAMS)
def test_rounding(name):
    """numpy rounds 8.3235 to 8.324, Python to 8.323."""
    program, primal_of = PROGRAMS[name]
    found = []

    def run(x):
        found.append([repr(round(program(x), digits)) for digits in range(-1, 5)])
        return program(x) * 1.0

    for value in (8.3235, 0.285, 2.675, 1234.5675, -8.3235):
        run(primal_of(value))
        te.vjp(run, primal_of(value))
    assert found[::2] == found[1::2]


@pytest.mark.parametrize("dtype", [np.float32, np.complex64, complex, float])
def test_texts_of_elements(dtype):
    def texts(x):
        numbers = [x[0], x.sum(), x[1].real, x[0].item(), x[0] * 2, x.tolist()[0], x[:1], x[0, ...]]
        found.append([write(number) for number in numbers for write in (repr, str, lambda x: f"{x!r} {x!s}")])
        return x

    found, point = [], np.array([0.1, 2.5]).astype(dtype)
    texts(point)
    te.vjp(texts, point)
    te.vjp(lambda x: te.vjp(texts, x)[0], point)
    assert found[0] == found[1] == found[2]


def complex_power(expected, found):
    """A real power that is complex for Python's floats is refused, since a dual number is real."""
    is_complex = isinstance(expected[2], list) and expected[2][0][0] == "complex"
    return is_complex and found == (*expected[:2], "UnsupportedError")


@pytest.mark.parametrize("transform", [te.vjp, nested, continued], ids=["vjp", "nested", "checkpoint"])
@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize("kind", PROGRAMS)
def test_operators_follow_the_kind_of_number(kind, value, transform):
    program, primal_of = PROGRAMS[kind]
    expected = seen_by(program, primal_of(value), plain)
    found = seen_by(program, primal_of(value), transform)[: len(expected)]
    differ = [(e, f) for e, f in zip(expected, found, strict=True) if e != f and not complex_power(e, f)]
    assert not differ


@pytest.mark.parametrize("z", [0j, 1 + 1j, np.complex128(0), np.complex128(1 + 1j)], ids=repr)
def test_complex_numbers_follow_their_kind(z):
    found = []

    def run(x):
        kinds = [type(x == 0), type(x != 0), type(x.real > 0), type(abs(x) > 0), type(bool(x))]
        found.append([*kinds, quiet(lambda: x / 0), quiet(lambda: (x - x) ** -1)])
        return abs(x + 1) ** 2

    run(z)
    te.vjp(run, z)
    assert found[0] == found[1]


def quiet(thunk):
    with np.errstate(all="ignore"):
        try:
            return repr(complex(te.value(thunk())))
        except ZeroDivisionError as error:
            return repr(error)


def test_negation_of_a_comparison_is_numpys():
    program = lambda x: x[0] if ~(x[0] > 1.0) else 2.0 * x[0]  # noqa: E731
    assert te.grad(program)(np.array([3.0])).tolist() == [2.0]
    assert te.grad(program)(np.array([0.5])).tolist() == [1.0]


def test_counts_of_comparisons_are_the_plain_programs():
    count = lambda x, s: x[0] * ((s > 0) + (s < 9)) + s * (x[0] > 0)  # noqa: E731
    assert te.value_and_grad(count)(np.array([2.0]), 3.0) == (count(np.array([2.0]), 3.0), np.array([2.0]))


@pytest.mark.parametrize("c", [0.0, 1.0, -1.0])
def test_a_staged_program_divides_as_the_plain_one(c):
    program = lambda x: x[0] / x[1] if x[1] != 5.0 else x[0]  # noqa: E731
    staged = te.stage(program)
    for divisor in (2.0, c, 5.0, c):
        x = np.array([3.0, divisor])
        with np.errstate(all="ignore"):
            np.testing.assert_equal(staged(x), program(x))
            np.testing.assert_equal(te.grad(staged)(x), te.grad(program)(x))


@pytest.mark.parametrize("operation", [operator.truediv, operator.floordiv, operator.mod, divmod])
def test_a_division_by_zero_warns_as_numpy(operation):
    with pytest.warns(RuntimeWarning):
        te.vjp(lambda x: [operation(x[0], 0.0), x[0]][1], np.array([1.0]))


@pytest.mark.parametrize(("primal", "dtype"), [(0.5, np.float32), (np.float64(0.5), np.float64)])
def test_the_kind_of_a_number_after_many_calls_of_primitives(primal, dtype):
    """Each call has two operands of which neither is looked through twice: this ends."""
    mean = te.primitive(lambda x, y: 0.5 * (x + y), name="local.mean")
    mean.def_vjp(x=lambda ct, x, y: 0.5 * ct, y=lambda ct, x, y: 0.5 * ct)

    def program(x):
        for _ in range(60):
            x = mean(x, x)
        return np.multiply(x, np.ones(2, "f"))

    assert program(primal).dtype == te.vjp(program, primal)[0].dtype == dtype
