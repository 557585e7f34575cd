"""`te.fork_map` in native code: tasks on threads; the same bits for any number of threads, and in every back end."""

import itertools
import random
import signal
import threading
import time
from dataclasses import dataclass

import numpy as np
import pytest
from plain_sums import in_order

import tapeengine as te
from tapeengine._core.programs.machine import ask_threads_for
from tapeengine._core.programs.threads import THREADS
from tapeengine.chad.backends import tiers
from tapeengine.primitive import Primitive

pytestmark = pytest.mark.skipif(not tiers.is_installed(), reason="native code needs llvmlite")


@pytest.fixture(autouse=True)
def threads():
    """Give a function that chooses the number of threads; all forks use them, however short."""
    before = ask_threads_for(-1)
    yield THREADS.use
    THREADS.forget()
    ask_threads_for(before)


# ------------------------------------------------------------ programs


def shared_array(w: te.Vec, xs: te.Vec) -> float:
    def one(x: float) -> float:
        s = 0.0
        for v in w:
            s = s + te.math.sin(v * x) * w[0]
        return s

    return sum(te.fork_map(one, xs))


def shared_number(a: float, xs: te.Vec) -> float:
    ys = te.fork_map(lambda x: x * a + a if x > 0 else te.math.exp(x * a), xs)
    total = 0.0
    for y in ys:
        total = total * 0.5 + y * a
    return total


def steps(w: te.Vec, xs: te.Vec) -> float:
    def walk(x: float) -> float:
        y, n = x, 0
        while y < 3 and n < 20:
            y = y + w[n % len(w)] * y + 0.1
            n = n + 1
        return y * float(n)

    return sum(te.fork_map(walk, xs))


def rows(m: te.Array[te.Vec], xs: te.Vec) -> float:
    def row(x: float) -> te.Vec:
        return [sum(a * x for a in r) for r in m]

    found = te.fork_map(row, xs)
    return sum(sum(v * v for v in r) for r in found)


def of_rows(m: te.Array[te.Vec], w: te.Vec) -> float:
    def one(r: te.Vec) -> float:
        s = 0.0
        for i in range(len(r)):
            s = s + te.math.tanh(r[i] * w[i]) + m[0][i] * r[i]
        return s

    return sum(te.fork_map(one, m))


def inside_a_loop(w: te.Vec, xs: te.Vec) -> float:
    total = 0.0
    state = [v * 1.0 for v in w]
    for k in range(3):
        ys = te.fork_map(lambda x: sum(v * x for v in state) + w[k % len(w)], xs)  # noqa: B023
        state = [v * 0.5 + 0.01 * y for v, y in zip(state, ys)]
        total = total + sum(ys)
    return total


def nested(w: te.Vec, xs: te.Vec) -> float:
    return sum(te.fork_map(lambda x: sum(te.fork_map(lambda v: te.math.cos(v * x), w)), xs))


def two_maps(w: te.Vec, xs: te.Vec) -> float:
    ys = te.fork_map(lambda x, v: x * v + w[0], xs, xs)
    zs = te.fork_map(lambda y: te.math.sin(y) * w[1], ys)
    return sum(y * z for y, z in zip(ys, zs))


def pairs(w: te.Vec, xs: te.Vec) -> float:
    found = te.fork_map(lambda x: (x * w[0], sum(v * v * x for v in w)), xs)
    return sum(p[0] * p[1] for p in found)


def grown(w: te.Vec, xs: te.Vec) -> float:
    def one(x: float) -> float:
        ys = [x]
        for v in w:
            ys.append(ys[-1] * v + x)
        return sum(ys)

    return sum(te.fork_map(one, xs))


def written(w: te.Vec, xs: te.Vec) -> float:
    def one(x: float) -> float:
        ys = [v * x for v in w]
        for i in range(1, len(ys)):
            ys[i] = ys[i] + ys[i - 1] * w[i]
        return ys[len(ys) - 1]

    return sum(te.fork_map(one, xs))


def power(x: float, n: int) -> float:
    if n <= 0:
        return 1.0
    return x * power(x, n - 1) + 0.1 * power(x * 0.5, n - 2)


def recursive(w: te.Vec, xs: te.Vec) -> float:
    return sum(te.fork_map(lambda x: power(x * w[0], 5), xs))


def given_back(w: te.Vec, xs: te.Vec) -> te.Vec:
    return te.fork_map(lambda x: te.math.exp(-x * x) * w[0] + w[1], xs)


@dataclass(frozen=True)
class Model:
    """A record with an array."""

    weights: te.Vec
    scale: float


def of_records(model: Model, xs: te.Vec) -> float:
    return sum(te.fork_map(lambda x: sum(te.math.sin(v * x) for v in model.weights) * model.scale, xs))


DRAWS = random.Random(5)


def numbers(n):
    """Return some numbers."""
    return np.array([DRAWS.uniform(-1, 1.2) for _ in range(n)])


PROGRAMS = [shared_array, steps, inside_a_loop, nested, two_maps, pairs, grown, written, recursive, given_back]
CASES = [
    *[(f, (numbers(4), numbers(n))) for f in PROGRAMS for n in (0, 3, 57)],
    *[(shared_number, (0.7, numbers(n))) for n in (1, 40)],
    *[(rows, (numbers(6).reshape(2, 3), numbers(n))) for n in (2, 33)],
    *[(of_rows, (numbers(4 * n).reshape(n, 4), numbers(4))) for n in (1, 50)],
    *[(of_records, (Model(numbers(3), 0.4), numbers(n))) for n in (1, 37)],
]


def names(x):
    """Name a case."""
    return x.__name__ if callable(x) else f"{np.size(x[1])}"


def bits(value):
    """Give all numbers of a structure exactly."""
    if isinstance(value, Model):
        value = (value.weights, value.scale)
    if isinstance(value, (list, tuple, np.ndarray)):
        return [bits(x) for x in value]
    return None if value is None else float(value).hex()


def close(a, b):
    """Compare numbers of two structures."""
    if isinstance(a, Model):
        a, b = (a.weights, a.scale), (b.weights, b.scale)
    if isinstance(a, tuple):
        for x, y in zip(a, b, strict=True):
            close(x, y)
    elif a is not None:
        np.testing.assert_allclose(np.asarray(a), np.asarray(b), rtol=1e-11, atol=1e-13)


def given(value):
    """Give a cotangent of a value."""
    return np.linspace(0.5, 1.5, len(value)).tolist() if isinstance(value, list) else (
        np.linspace(0.5, 1.5, len(value)) if isinstance(value, np.ndarray) else 0.75
    )  # fmt: skip


def run(program, args):
    """Return the value and the cotangents."""
    value, back = te.vjp(program, *args)
    return value, back(given(value))


# ------------------------------------------------------------ tests


@pytest.mark.filterwarnings("error:.*runs without native code")
@pytest.mark.parametrize(("function", "args"), CASES, ids=names)
def test_any_number_of_threads_gives_the_same_bits(function, args, threads):
    program = te.program(function, backend="native")
    threads(1)
    wanted = run(program, args)
    if len(args[1]):  # the plain sum of nothing is an integer
        close(wanted[1], te.vjp(function, *args)[1](given(wanted[0])))
    assert bits(wanted[0]) == bits(in_order(function, *args))
    for is_full in (False, True):
        if is_full and program.ways.native is not None:
            program.ways.native.promote()
            assert program.ways.native.better is not None
        for n in (1, 2, 3, 7):
            threads(n)
            assert bits(run(program, args)) == bits(wanted), n
    machine = te.program(function, backend="machine")
    if type(te.vjp(machine, *args)[1]).__name__ == "Backpropagator":
        assert bits(run(machine, args)) == bits(wanted)


def source(seed):
    """Draw a program of one or two maps whose tasks use shared numbers and arrays in a random way."""
    draw = random.Random(seed)

    def term(depth):
        if depth == 0:
            return draw.choice(["x", "a", "w[0]", "w[i]", "s", "x * a"])
        kind = draw.randrange(5)
        inner = term(depth - 1)
        if kind == 0:
            return f"te.math.sin({inner})"
        if kind == 1:
            return f"({inner} if x > {draw.uniform(-0.5, 0.5):.2f} else {term(depth - 1)})"
        return f"({inner} {draw.choice(['+', '-', '*'])} {term(depth - 1)})"

    lines = [
        "def program(a: float, w: te.Vec, xs: te.Vec) -> float:",
        "    def task(x: float) -> float:",
        "        s, i = 0.1, 0",
        f"        for i in range({draw.choice(['len(w)', '3', 'len(w) - 1'])}):",
        f"            s = s * 0.5 + {term(2)}",
        f"        return s + {term(1).replace('w[i]', 'w[-1]')}",
        "    ys = te.fork_map(task, xs)",
    ]
    if draw.random() < 0.5:
        lines.append(f"    ys = te.fork_map(lambda x, y: x * y + {draw.choice(['a', 'w[2]', 'x'])}, xs, ys)")
    lines.append(f"    return sum(ys) {draw.choice(['+ ys[0]', '* a', '+ a * w[1]'])}")
    return "\n".join(lines)


@pytest.mark.parametrize("start", range(0, 20, 10))
def test_random_programs(start, threads, tmp_path):
    for seed in range(start, start + 10):
        path = tmp_path / f"program_{seed}.py"
        path.write_text("import tapeengine as te\n\n" + source(seed) + "\n")
        space = {}
        exec(compile(path.read_text(), str(path), "exec"), space)
        function, args = space["program"], (0.6, numbers(4), numbers(45))
        program, machine = (te.program(function, backend=b) for b in ("native", "machine"))
        threads(1)
        wanted = run(program, args)
        assert bits(run(machine, args)) == bits(wanted), source(seed)
        threads(3)
        assert bits(run(program, args)) == bits(wanted), source(seed)
        program.ways.native.promote()
        assert program.ways.native.better is not None
        assert bits(run(program, args)) == bits(wanted), source(seed)
        close(wanted[1], te.vjp(function, *args)[1](0.75))


@pytest.mark.parametrize("function", [*PROGRAMS, shared_number, rows, of_rows, of_records])
def test_both_passes_have_tasks(function):
    """The cotangent of what is made outside of a loop around a fork is added to on one thread."""
    wanted = {two_maps: 4, inside_a_loop: 1}.get(function, 2)
    assert te.program(function).inspect().count("call i32 @te_fork(") == wanted


def test_errors_of_tasks_are_those_of_python(threads):
    def indexed(w: te.Vec, xs: te.Vec) -> float:
        return sum(te.fork_map(lambda x: w[int(x)] * x, xs))

    def divided(w: te.Vec, xs: te.Vec) -> float:
        return sum(te.fork_map(lambda x: w[0] / x, xs))

    threads(3)
    w = [1.0, 2.0]
    for function, bad, error in ((indexed, 5.0, IndexError), (divided, 0.0, ZeroDivisionError)):
        program = te.program(function, backend="native")
        xs = [1.0] * 40
        wanted = run(program, (w, xs))
        for k in (0, 7, 39):
            with pytest.raises(error):
                te.vjp(program, w, [*xs[:k], bad, *xs[k + 1 :]])
        assert bits(run(program, (w, xs))) == bits(wanted)


def counted(a: float, xs: te.Vec, n: int) -> float:
    def one(x: float) -> float:
        s = x
        for _ in range(n):
            s = s * a + x
        return s

    return sum(te.fork_map(one, xs))


def test_tasks_run_at_the_same_time_without_the_gil(threads):
    """A Python thread makes progress, and the tasks of one run overlap."""
    program = te.program(counted, backend="native")
    te.vjp(program, 0.5, np.ones(32), 10)
    program.ways.native.promote()
    threads(3)
    seen, done = [], threading.Event()

    def watch():
        while not done.is_set():
            seen.append(time.monotonic())
            time.sleep(0.001)

    watching = threading.Thread(target=watch)
    watching.start()
    start = time.monotonic()
    te.vjp(program, 0.5, np.ones(32), 4_000_000)
    took = time.monotonic() - start
    done.set()
    watching.join()
    assert max(b - a for a, b in itertools.pairwise(seen)) < max(0.5 * took, 0.2)


@pytest.mark.usefixtures("no_callbacks_of_collections")
def test_an_interrupt_stops_all_tasks(threads):
    program = te.program(counted, backend="native")
    te.vjp(program, 0.5, np.ones(32), 10)
    program.ways.native.promote()
    threads(3)
    for _ in range(2):
        timer = threading.Timer(0.2, signal.raise_signal, [signal.SIGINT])
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            te.vjp(program, 0.5, np.ones(64), 400_000_000)
    assert run(program, (0.5, np.ones(3), 2))[0] == counted(0.5, np.ones(3), 2)


def test_programs_that_fork_run_in_several_threads(threads):
    program = te.program(shared_array, backend="native")
    threads(3)
    args = (numbers(4), numbers(200))
    wanted = bits(run(program, args))
    found = []
    workers = [
        threading.Thread(target=lambda: found.extend(bits(run(program, args)) for _ in range(20))) for _ in range(3)
    ]
    for t in workers:
        t.start()
    for t in workers:
        t.join()
    assert found == [wanted] * 60


def test_backpropagators_run_again_after_the_threads_are_gone(threads):
    program = te.program(shared_array, backend="native")
    threads(3)
    args = (numbers(4), numbers(80))
    _, back = te.vjp(program, *args)
    THREADS.forget()
    assert bits(back(1.0)) == bits(back(1.0))
    assert back.nbytes > 80 * 4 * 8


class TooLargeError(Exception):
    """An error of a primitive."""


def squared(x):
    if np.max(x) > 8.0:
        raise TooLargeError(f"{x} is too large")
    return x * x


RULES = {"x": lambda first, x: first * 2.0 * x}
square = Primitive("test.forked_square", squared, vjp=RULES, jvp=RULES)


@te.program
def deep(x: float, n: int) -> float:
    return square(x) if n == 0 else deep(x + 1.0, n - 1) * 0.5


def of_deep(xs: te.Vec) -> float:
    return sum(te.fork_map(lambda x: deep(x, 3), xs))


def test_errors_of_primitives_that_called_functions_call_are_those_of_python(threads):
    program = te.program(of_deep, backend="native")
    for count in (1, 2, 4):
        threads(count)
        xs = np.arange(5.0)
        value, back = te.vjp(program, xs)
        assert value == sum((x + 3.0) ** 2 * 0.125 for x in xs)
        np.testing.assert_allclose(back(1.0)[0], (xs + 3.0) * 0.25, rtol=1e-14)
        for _ in range(3):
            with pytest.raises(TooLargeError, match="is too large"):
                te.vjp(program, np.arange(40.0))
