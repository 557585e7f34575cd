"""Primitives without C functions: native code calls them with the GIL, with the bits and errors of plain Python."""

import random
import signal
import threading

import numpy as np
import pytest
from chad import evaluated as specification

import tapeengine as te
from tapeengine.chad.backends import tiers
from tapeengine.primitive import Primitive

pytestmark = pytest.mark.skipif(not tiers.is_installed(), reason="native code needs llvmlite")


def of_one(name, primal, partial):
    """Return a primitive of one argument with one partial derivative, applied to arrays element by element."""
    rules = {"x": lambda first, x: first * partial(x)}
    return Primitive(f"test.{name}", primal, vjp=rules, jvp=rules)


def complain(x):
    """Raise an error for large numbers."""
    if x > 4:
        raise LookupError(f"too large: {x}")
    return x * 0.5


square = of_one("square", lambda x: x * x * 0.5, lambda x: x)
damped = of_one("damped", lambda x: x / (1 + x * x), lambda x: (1 - x * x) / (1 + x * x) ** 2)
limited = of_one("limited", complain, lambda x: np.full(np.shape(x), 0.5))
logged = of_one("logged", lambda x: np.log(x), lambda x: 1 / x)
total = Primitive(
    "test.total",
    lambda x: float(np.sum(np.square(x))),
    vjp={"x": lambda first, x: 2 * first * np.asarray(x)},
    jvp={"x": lambda first, x: float(np.sum(2 * first * x))},
)
smooth = Primitive(
    "test.smooth",
    lambda x: (np.asarray(x) + np.asarray(x)[::-1]) / 2,
    vjp={"x": lambda first: (first + first[::-1]) / 2},
    jvp={"x": lambda first: (first + first[::-1]) / 2},
)
positive = Primitive("test.positive", lambda x: bool(x > 1.0), vjp={"x": None}, jvp={"x": None})
cube = Primitive("test.cube", lambda x: int(x) ** 3, vjp={"x": None}, jvp={"x": None})
GATED = {"x": lambda first, on: first * (2.0 if on else 0.25), "on": None}
gated = Primitive("test.gated", lambda x, on: x * (2.0 if on else 0.25), vjp=GATED, jvp=GATED)
whole = Primitive("test.whole", lambda x: np.arange(3), vjp={"x": None}, jvp={"x": None})


def scalars(x: float, n: int) -> float:
    y = x
    for k in range(n):
        y = square(y) + x if y < 3 else damped(y) + float(k)
    return y


def reduced(x: te.Vec, n: int) -> float:
    s = 0.1
    for k in range(n):
        s = s * 0.5 + damped(total([v * s for v in x])) + float(k)
    return s


def arrays(x: te.Vec, n: int) -> float:
    y = [v * 2.0 for v in x]
    for k in range(n):
        z = smooth([v * 0.9 + k for v in y])
        y = [damped(v) + w for v, w in zip(z, x)]
    s = 0.0
    for v in y:  # Python's own sum compensates for rounding since 3.12
        s = s + v
    return s


def matrices(x: te.Array[te.Vec], n: int) -> float:
    s = 0.5
    for _ in range(n):
        s = damped(np.linalg.det([[v + s for v in row] for row in x])) + s * 0.5
    return s


def counted(x: te.Vec, n: int) -> float:
    s = 0.0
    for k in range(n):
        s = s + x[whole(x)[k % 3] % len(x)] * damped(s) + x[0]
    return s


def choosing(x: float, n: int) -> float:
    y = x
    for k in range(n):
        y = gated(y, positive(y)) + 0.5 * gated(x, k % 3 == 0)
    return y


def nested(x: float, n: int) -> float:
    if n <= 0:
        return damped(x)
    return nested(square(x) * 0.5, n - 1) + damped(x) * nested(x * 0.7, n - 2)


DRAWS = random.Random(7)
VECTOR = np.array([DRAWS.uniform(0.1, 1.5) for _ in range(5)])
MATRIX = np.array([[DRAWS.uniform(-1, 1) for _ in range(3)] for _ in range(3)])
CASES = [(scalars, (0.7, 40)), (reduced, (VECTOR, 30)), (arrays, (VECTOR, 20)), (matrices, (MATRIX, 12)),
         (counted, (VECTOR, 9)), (choosing, (0.7, 11)), (nested, (0.8, 8))]  # fmt: skip


def native(function):
    """Return a program that is native code at once, and fails the test if there is none."""
    return te.program(function, backend="native")


@pytest.mark.filterwarnings("error:.*runs without native code")
@pytest.mark.parametrize(("function", "args"), CASES, ids=lambda x: getattr(x, "__name__", ""))
@pytest.mark.parametrize("is_full", [False, True])
def test_values_are_those_of_python_and_cotangents_are_those_of_the_other_back_ends(function, args, is_full):
    program = native(function)
    value, back = te.vjp(program, *args)
    assert type(back).__name__ == "Backpropagator"
    if is_full:
        program.ways.native.promote()
        value, back = te.vjp(program, *args)
    assert float(value).hex() == float(program.function(*args)).hex()
    found = back(0.7)[0]
    default = te.vjp(te.program(function, backend="machine"), *args)[1](0.7)[0]
    np.testing.assert_allclose(found, default, rtol=1e-12)
    x, rest, draws = np.asarray(args[0], dtype=float), args[1:], random.Random(11)
    along = np.array([draws.uniform(-1, 1) for _ in range(x.size)]).reshape(x.shape)
    step = 1e-6
    ends = [program.function(x + s * along if x.shape else float(x + s * along), *rest) for s in (step, -step)]
    assert float(np.sum(found * along)) == pytest.approx((ends[0] - ends[1]) / (2 * step) * 0.7, rel=1e-4)


@pytest.mark.parametrize(("function", "args"), CASES, ids=lambda x: getattr(x, "__name__", ""))
def test_tangents(function, args):
    program = native(function)
    tangent = 1.0 if isinstance(args[0], float) else np.ones_like(args[0])
    value, found = te.jvp(program, args, (tangent, *[None] * (len(args) - 1)))
    assert float(value).hex() == float(program.function(*args)).hex()
    assert found == pytest.approx(float(np.sum(te.vjp(program, *args)[1](1.0)[0])), rel=1e-10)


def failing(x: float, n: int) -> float:
    y = x
    for _ in range(n):
        y = limited(y) + y
    return y


def poles(x: float, n: int) -> float:
    y = x
    for _ in range(n):
        y = logged(y) + 1.0
    return y


def long_integers(x: float, n: int) -> float:
    return x * float(cube(x) % n)


@pytest.mark.parametrize("backend", ["machine", "native"])
def test_integers_of_primitives_that_need_more_than_64_bits_are_those_of_python(backend):
    program = te.program(long_integers, backend=backend)
    for x in (3.7, 2e7):
        value, back = te.vjp(program, x, 7)
        assert (value, back(1.0)[0]) == (program.function(x, 7), float(int(x) ** 3 % 7))


def test_errors_of_primitives_are_raised_and_the_program_stays_usable():
    program = native(failing)
    assert te.vjp(program, 1.0, 2)[0] == 2.25
    for _ in range(3):
        with pytest.raises(LookupError, match="too large"):
            te.vjp(program, 1.0, 6)
    assert te.grad(program)(1.0, 2) == 2.25


def test_what_numpy_warns_of_is_left_to_python():
    program = native(poles)
    assert te.grad(program)(2.0, 3) == pytest.approx(te.grad(te.program(poles, backend="machine"))(2.0, 3))
    with np.errstate(all="ignore"):
        assert te.vjp(program, 0.0, 1)[0] == -np.inf


def test_two_programs_with_one_text_call_their_own_primitives():
    def made(primitive):
        def program(x: float, n: int) -> float:
            y = x
            for _ in range(n):
                y = primitive(y) + x
            return y

        return program

    found = [native(made(p)) for p in (square, damped)]
    for program in (*found, *found):
        assert te.vjp(program, 0.3, 4)[0] == program.function(0.3, 4)
    assert te.grad(found[0])(0.3, 4) != te.grad(found[1])(0.3, 4)


class Stopped(Exception):
    """An error of a signal handler."""


@pytest.fixture
def handled():
    """Handle interrupts by another error than Python's own."""

    def handler(number, frame):
        raise Stopped(number)

    before = signal.signal(signal.SIGINT, handler)
    yield
    signal.signal(signal.SIGINT, before)


def called(x: float, n: int) -> float:
    y = x
    for _ in range(n):
        y = damped(y) + x
    return y


def inlined(x: float, n: int) -> float:
    y = x
    for _ in range(n):
        y = 0.5 * y + x
    return y


def forked(x: float, n: int) -> float:
    return sum(te.fork_map(lambda k: inlined(x + k, n), [0.0, 1.0, 2.0, 3.0]))


@pytest.mark.parametrize(
    ("backend", "function"),
    [("native", called), ("native", inlined), ("native", forked), ("machine", inlined), ("machine", forked)],
)
@pytest.mark.usefixtures("no_callbacks_of_collections")
def test_the_error_of_a_signal_handler_comes_through_wherever_it_is_met(handled, backend, function):
    """Whether the primitive runs or the code around it; a lost error would let the loop run for minutes."""
    compiled = te.program(function, backend=backend)
    te.vjp(compiled, 0.5, 10)
    for k in range(10):
        timer = threading.Timer(0.02 + 0.003 * k, signal.raise_signal, [signal.SIGINT])
        with pytest.raises(Stopped, match=str(int(signal.SIGINT))):
            timer.start()  # a busy computer may run the handler before the program starts
            te.vjp(compiled, 0.5, 100_000_000)
        timer.join()
    assert te.vjp(compiled, 0.5, 3)[0] == pytest.approx(function(0.5, 3))


def test_calls_in_several_threads():
    program = native(reduced)
    wanted = te.vjp(program, VECTOR, 200)[1](1.0)[0].tobytes()
    found = []

    def work():
        for _ in range(5):
            found.append(te.vjp(program, VECTOR, 200)[1](1.0)[0].tobytes())

    threads = [threading.Thread(target=work) for _ in range(3)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert found == [wanted] * 15


def moved(args, k, step):
    """The arguments with one number of the first changed."""
    first = np.array(args[0], float)
    first.flat[k] += step
    return (first if first.ndim else float(first), *args[1:])


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0].__name__)
def test_the_specification_calls_primitives_and_their_rules(case):
    """Terms are evaluated with the values, types and derivatives of plain Python."""
    function, args = case
    args = (args[0], min(args[1], 6))
    of = te.program(function).executable
    value, back = specification.vjp(of, args)
    assert value == specification.value(of, args) == function(*args)
    slopes = [
        (8 * (function(*moved(args, k, 1e-4)) - function(*moved(args, k, -1e-4)))
         - (function(*moved(args, k, 2e-4)) - function(*moved(args, k, -2e-4)))) / 12e-4
        for k in range(np.size(args[0]))
    ]  # fmt: skip
    np.testing.assert_allclose(np.ravel(back(1.5)[0]), 1.5 * np.array(slopes), rtol=1e-8, atol=1e-10)
    direction = np.cos(np.arange(np.size(args[0]))).reshape(np.shape(args[0]))
    found = specification.jvp(of, args, (direction if direction.ndim else float(direction), None))
    assert found[0] == value
    assert found[1] == pytest.approx(float(np.ravel(direction) @ slopes), rel=1e-8, abs=1e-10)


KINDS = [
    Primitive("test.kind_of_bool", lambda x: bool(x > 1.0), vjp={"x": None}, jvp={"x": None}),
    Primitive("test.kind_of_int", lambda x: int(x) + 1, vjp={"x": None}, jvp={"x": None}),
    Primitive("test.kind_of_float", lambda x: x * 0.5, vjp={"x": None}, jvp={"x": None}),
]


@pytest.mark.parametrize("primitive", KINDS, ids=lambda primitive: primitive.name)
def test_the_specification_keeps_kinds_of_numbers(primitive):
    def called(x: float):
        return primitive(x)

    found = specification.value(te.program(called).executable, (2.5,))
    assert (type(found), found) == (type(primitive.primal(2.5)), primitive.primal(2.5))
