"""Programs on the register machine: what it counts, refers, keeps and frees; poles, errors, interrupts, threads."""

import _thread
import gc
import math
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import pytest

import tapeengine as te
from tapeengine.chad.backends.machine import NotAssembled, assemble
from tapeengine.chad.intermediate.operations import REAL
from tapeengine.chad.intermediate.statements import BoxOf, Function, Unpack, Var

ENGINE = te.Engine()


@te.program
def repeated(x: float, n: int) -> float:
    y = x
    for _ in range(n):
        y = y * 0.999 + math.sin(y) * x
    return y


@te.program
def nested(x: float, n: int) -> float:
    y = x
    for i in range(n):
        z = y
        for _ in range(i % 3):
            z = math.sin(z) + 0.5 * y
        if z > 0.3:
            y = y + 0.1 * z
        else:
            y = y * z - x
    return y


@te.program
def halved(x: float, limit: float) -> float:
    while x > limit:
        x = x / 2.0
    return x * x


@te.program
def swapped(a: float, b: float, n: int) -> tuple[float, float]:
    for _ in range(n):
        a, b = b, a * 1.5
    return a, b


@te.program
def picked(x: te.Vec, places: te.Array[int]) -> float:
    total = 0.0
    for i in range(len(places)):
        total = total * 0.5 + x[places[i]] * x[i]
    return total


@te.program
def quotient(x: float, y: float) -> float:
    return math.log(x) / y


@te.program
def factorial(x: float, n: int) -> float:
    k = 1
    for i in range(n):
        k = k * (i + 1)
    return x * k


@te.program
def endless(x: float) -> float:
    while x > 0.0:
        x = x + 1.0
    return x


@dataclass(frozen=True)
class Body:
    position: tuple[float, float]
    charge: int
    mass: float


@te.program
def moment(body: Body, scale: float) -> Body:
    x, y = body.position
    return Body((x * scale, y * body.mass), body.charge, body.mass * body.mass)


def difference(f, args, which, step=1e-6):
    moved = [[*args[:which], args[which] + s, *args[which + 1 :]] for s in (step, -step)]
    return (f(*moved[0]) - f(*moved[1])) / (2 * step)


@pytest.mark.parametrize(
    ("program", "args", "floats"),
    [(repeated, (0.7, 50), 1), (nested, (0.4, 30), 1), (halved, (100.0, 0.3), 1), (quotient, (3.0, 2.0), 2)],
)
def test_agrees_with_python_and_with_differences(program, args, floats):
    value, backpropagator = ENGINE.vjp(program, *args)
    assert program.ways.native is not None
    assert value == program(*args)
    cotangents = backpropagator(1.0)
    for which in range(floats):
        assert cotangents[which] == pytest.approx(difference(program, args, which), rel=1e-6)


@pytest.mark.parametrize("n", [0, 1, 2, 7])
def test_values_that_change_places(n):
    value, backpropagator = ENGINE.vjp(swapped, 2.0, 3.0, n)
    assert value == swapped(2.0, 3.0, n)
    rows = [backpropagator(ct)[:2] for ct in ((1.0, 0.0), (0.0, 1.0))]
    expected = [[difference(lambda a, b, i=i: swapped(a, b, n)[i], (2.0, 3.0), j) for j in (0, 1)] for i in (0, 1)]
    np.testing.assert_allclose(rows, expected, rtol=1e-6, atol=1e-8)


def test_instructions_grow_linearly_in_both_passes():
    counts = []
    for n in (100, 200, 400):
        _, backpropagator = ENGINE.vjp(repeated, 0.5, n)
        counts.append((backpropagator.steps, backpropagator.passed(1.0), backpropagator.nbytes))
    (a, b, _), (c, d, _), (e, f, _) = counts
    assert e - c == 2 * (c - a) > 0
    assert f - d == 2 * (d - b) > 0
    assert counts[2][2] <= 8 * (400 * 4 * 1.125 + 64)


def test_no_object_is_made_for_an_operation():
    ENGINE.vjp(repeated, 0.5, 10)[1](1.0)
    made = []
    for n in (1000, 100_000):
        gc.collect()
        before = sys.getallocatedblocks()
        value, backpropagator = ENGINE.vjp(repeated, 0.5, n)
        found = backpropagator(1.0)
        made.append(sys.getallocatedblocks() - before)
        del value, backpropagator, found
    assert abs(made[1] - made[0]) <= 5


def in_a_cycle(back_end, after):
    """Make garbage that the collector clears in the order in which it was made: a program, then a backpropagator."""

    def squares(x: te.Vec) -> te.Vec:
        return [x[i] * x[i - 1] for i in range(len(x))]

    program = te.program(squares, backend=back_end)
    for _ in range(after):
        ENGINE.vjp(program, np.ones(3))
    gc.collect()
    _, backpropagator = ENGINE.vjp(program, np.ones(3))
    ring = [backpropagator]
    ring.append(ring)


@pytest.mark.parametrize("back_end", [None, "machine"])
@pytest.mark.parametrize("after", [1, 3])
def test_cycles_that_hold_a_backpropagator_and_its_program_are_collected(back_end, after):
    for _ in range(5):
        in_a_cycle(back_end, after)
    assert gc.collect() > 0


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_residuals_are_freed():
    def resident():
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * 4096

    for _ in range(20):  # until it is compiled, for which LLVM is loaded
        ENGINE.vjp(repeated, 0.5, 300_000)
    before = resident()
    for _ in range(20):
        assert ENGINE.vjp(repeated, 0.5, 300_000)[1].nbytes > 4_000_000
    assert resident() - before < 20_000_000


def test_a_backpropagator_is_called_again_and_from_any_thread():
    _, backpropagator = ENGINE.vjp(nested, 0.4, 200)
    (expected, _) = backpropagator(1.0)
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda ct: backpropagator(ct)[0], [1.0, 2.0, 0.0, -1.0] * 20))
    assert found[:4] == [expected, 2 * expected, 0.0, -expected]
    assert found == found[:4] * 20


@pytest.mark.parametrize("places", [[0, 1, 2], [-1, -3, 0], []])
def test_reads_at_indices(places):
    x = np.array([1.0, -2.0, 4.0])
    value, backpropagator = ENGINE.vjp(picked, x, np.array(places, dtype=int))
    assert value == picked(x, places)
    dx, none = backpropagator(1.0)
    expected = [difference(lambda *xs: picked(list(xs), places), tuple(x), j) for j in range(3)]
    np.testing.assert_allclose(dx, expected, rtol=1e-6, atol=1e-8)
    assert none is None
    as_list = ENGINE.vjp(picked, list(x), list(places))[1](1.0)[0]
    assert as_list == list(dx)


def test_arrays_in_any_memory_order():
    x = np.arange(20.0)[::-2] / 7
    places = np.array([3, 0, 0, 5])
    value, backpropagator = ENGINE.vjp(picked, x, places)
    again, from_copy = ENGINE.vjp(picked, x.copy(), places)
    assert value == again
    assert backpropagator(1.0)[0].tolist() == from_copy(1.0)[0].tolist()


@pytest.mark.parametrize("kind", [np.array, list])
def test_arguments_may_be_changed_in_place_between_the_passes(kind):
    x, places = kind([1.0, -2.0, 4.0]), kind([2, 0, 1])
    _, backpropagator = ENGINE.vjp(picked, x, places)
    expected = [backpropagator(ct)[0][:] for ct in (1.0, float("inf"))]
    x[1], places[0] = 7.0, 1
    np.testing.assert_equal([backpropagator(ct)[0] for ct in (1.0, float("inf"))], expected)


def test_an_index_out_of_range_is_python_s_error():
    with pytest.raises(IndexError):
        ENGINE.vjp(picked, np.ones(3), np.array([5]))
    assert ENGINE.vjp(picked, np.ones(3), np.array([2]))[0] == 1.0


def test_integers_beyond_64_bits():
    value, backpropagator = ENGINE.vjp(factorial, 0.5, 25)
    assert value == factorial(0.5, 25)
    assert backpropagator(1.0)[0] == float(math.factorial(25))


def test_a_pole_raises_what_the_program_raises():
    with pytest.raises(ValueError, match="math domain error"):
        ENGINE.vjp(quotient, 0.0, 2.0)
    assert ENGINE.vjp(quotient, 1.0, 2.0)[0] == 0.0


def test_records_and_discrete_parts():
    body = Body((2.0, 3.0), 4, 5.0)
    value, backpropagator = ENGINE.vjp(moment, body, 10.0)
    assert value == Body((20.0, 15.0), 4, 25.0)
    d_body, d_scale = backpropagator(Body((1.0, 1.0), None, 1.0))
    assert d_body == Body((10.0, 5.0), None, 13.0)
    assert d_scale == 2.0


def test_other_numbers_than_floats():
    assert ENGINE.vjp(quotient, np.float64(3.0), 2)[0] == quotient(3.0, 2)
    assert ENGINE.vjp(quotient, np.float32(3.0), 2)[0] == quotient(3.0, 2)
    with pytest.raises(TypeError):
        ENGINE.vjp(quotient, "x", 2.0)


@pytest.mark.usefixtures("no_callbacks_of_collections")
def test_an_interrupt_leaves_the_engine_usable():
    timer = threading.Timer(0.3, _thread.interrupt_main)
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        ENGINE.vjp(endless, 1.0)
    timer.join()
    assert ENGINE.vjp(repeated, 0.5, 3)[0] == repeated(0.5, 3)


def test_what_the_machine_cannot_do_is_refused():
    x, y = Var("x", REAL), Var("y", REAL)
    with pytest.raises(NotAssembled, match="Unpack"):
        assemble(Function("f", [x], [Unpack((y,), Var("box", BoxOf("List")), 0)], [y]), [y], [], may_raise=True)
