"""Traces begin and end: memory, exceptions, interrupts, duals that outlive their trace, threads."""

import gc
import os
import signal
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import tapeengine
from tapeengine._core.tape.tape import live_traces
from tapeengine.errors import TraceError
from tests.core.conftest import output_of


def resident_bytes() -> int:
    """The memory of this process in use, or 0 if the system does not tell."""
    statm = Path("/proc/self/statm")
    return int(statm.read_text().split()[1]) * os.sysconf("SC_PAGESIZE") if statm.exists() else 0


def leaves_nothing(calls: Callable[[int], None], few: int, many: int) -> bool:
    """Whether many calls take no more memory than a few: a leak grows with each call, a free list only once."""

    def growth() -> int:
        gc.collect()
        before = resident_bytes()
        calls(many)
        gc.collect()
        return resident_bytes() - before

    calls(few)
    return any(growth() < 1_000_000 for _ in range(3))


def needs_gigabytes(number: int) -> Any:
    """Skip a test if there is not enough memory, or the system does not tell."""
    meminfo = Path("/proc/meminfo")
    lines = meminfo.read_text().splitlines() if meminfo.exists() else []
    available = sum(int(line.split()[1]) for line in lines if line.startswith("MemAvailable"))
    return pytest.mark.skipif(available < number * 2**20, reason=f"needs {number} GB of memory")


def program(x: Any, y: Any) -> Any:
    for _ in range(3):
        x = x * y + 1.0
    return {"a": [x, y], "b": (x * x,)}


COTANGENT = {"a": [1.0, 2.0], "b": (3.0,)}


def test_a_hundred_thousand_calls_leave_no_memory_behind(cores: Any) -> None:
    compiled, _ = cores

    def calls(n: int) -> None:
        for _ in range(n):
            compiled.vjp(program, 0.5, 0.25)[1](COTANGENT)

    assert leaves_nothing(calls, 2_000, 100_000)


def test_failing_calls_leave_no_memory_behind(cores: Any) -> None:
    compiled, _ = cores

    def fail(x: Any) -> Any:
        y = x * x
        raise KeyError(y)

    def calls(n: int) -> None:
        for _ in range(n):
            with pytest.raises(KeyError):
                compiled.vjp(fail, 1.0)
            with pytest.raises(tapeengine.errors.StructureError):
                compiled.vjp(lambda x: object(), 1.0)
            backpropagator = compiled.vjp(program, 0.5, 0.25)[1]
            with pytest.raises(tapeengine.errors.CotangentError):
                backpropagator({"a": [1.0, 2.0], "b": (None,)})

    assert leaves_nothing(calls, 200, 3_000)
    assert live_traces() == 0


def test_nested_calls_leave_no_memory_behind(cores: Any) -> None:
    compiled, _ = cores
    second = compiled.grad(compiled.grad(lambda x: compiled.math.sin(x) * x * x))

    def calls(n: int) -> None:
        for _ in range(n):
            second(0.7)

    assert leaves_nothing(calls, 1_000, 20_000)


def test_large_tapes_give_their_memory_back(cores: Any) -> None:
    compiled, _ = cores

    def chain(x: Any) -> Any:
        for _ in range(2_000_000):
            x = x * 1.0
        return x

    compiled.vjp(chain, 1.0)[1](1.0)
    before = resident_bytes()
    for _ in range(5):
        compiled.vjp(chain, 1.0)[1](1.0)
    assert resident_bytes() - before < 30_000_000


def test_exceptions_of_the_program_pass_through_unchanged(core: Any) -> None:
    error = LookupError("mine")

    def fail(x: Any) -> Any:
        raise error

    with pytest.raises(LookupError) as seen:
        core.vjp(fail, 1.0)
    assert seen.value is error
    assert seen.value.__cause__ is None
    assert core.grad(lambda x: x * x)(3.0) == 6.0


def test_an_exception_in_an_inner_trace_leaves_the_outer_one_usable(core: Any) -> None:
    def outer(x: Any) -> Any:
        def inner(y: Any) -> Any:
            z = y * x
            raise ArithmeticError(z._value)

        try:
            core.vjp(inner, 2.0)
        except ArithmeticError:
            return x * x

    assert core.grad(outer)(3.0) == 6.0


def test_a_dual_that_outlives_its_trace_is_refused_where_it_is_used(core: Any) -> None:
    kept: list[Any] = []
    core.vjp(lambda x: kept.append(x * 2.0), 1.5)
    (dual,) = kept
    for use in (
        lambda: dual + 1.0,
        lambda: 1.0 - dual,
        lambda: -dual,
        lambda: dual * dual,
        lambda: core.math.sin(dual),
        lambda: abs(dual),
        lambda: core.vjp(lambda y: y * dual, 1.0),
        lambda: core.vjp(lambda y: dual, 1.0),
        lambda: core.vjp(lambda y: y, dual),
    ):
        with pytest.raises(TraceError, match=r"3\.0 is used after its trace has ended"):
            use()
    assert dual._value == 3.0
    assert dual > 2.0


def test_a_dual_of_an_old_trace_in_a_later_one_is_refused(core: Any) -> None:
    kept: list[Any] = []
    core.vjp(kept.append, 1.5)

    def later(x: Any) -> Any:
        return x * kept[0]

    with pytest.raises(TraceError):
        core.vjp(later, 1.0)


def test_a_backpropagator_is_not_bound_to_its_trace(core: Any) -> None:
    first = core.vjp(lambda x: x * x, 3.0)[1]
    second = core.vjp(lambda x: x * x * x, 2.0)[1]
    assert (second(1.0), first(1.0), second(2.0), first(2.0)) == ((12.0,), (6.0,), (24.0,), (12.0,))


def test_a_generator_that_is_left_open(core: Any) -> None:
    """A trace that begins inside another trace's generator ends with its own call."""

    def numbers(x: Any) -> Any:
        yield x
        yield core.grad(lambda y: y * y * x)(2.0)

    generator: list[Any] = []

    def program(x: Any) -> Any:
        generator.append(numbers(x))
        return next(generator[0])

    assert core.grad(program)(3.0) == 1.0
    with pytest.raises(TraceError):
        next(generator[0])


def test_many_threads_trace_on_their_own(core: Any) -> None:
    def work(seed: int) -> float:
        x = 0.1 + seed / 100

        def program(y: Any) -> Any:
            for k in range(200):
                y = y * 0.9 + core.math.sin(y) if k % 2 else y * 1.01
                if k % 50 == 0:
                    time.sleep(0)
            return y

        return core.grad(program)(x)

    expected = [work(seed) for seed in range(24)]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(work, range(24))) == expected


def test_nested_traces_in_many_threads(core: Any) -> None:
    def work(seed: int) -> float:
        x = 0.5 + seed / 10
        return core.grad(lambda y: y * core.grad(lambda z: z * z * y + core.math.exp(z * y))(y))(x)

    expected = [work(seed) for seed in range(16)]
    with ThreadPoolExecutor(8) as pool:
        for _ in range(5):
            assert list(pool.map(work, range(16))) == expected


def test_a_backpropagator_in_many_threads(cores: Any) -> None:
    """The sweep runs without the interpreter's lock; each call has its own accumulation arrays."""
    compiled, _ = cores

    def program(xs: Any) -> Any:
        total = 0.0
        for x in xs:
            total = total * 0.99 + x * x
        return total

    xs = [i / 1000 for i in range(20_000)]
    _, backpropagator = compiled.vjp(program, xs)
    expected = [backpropagator(float(k)) for k in range(8)]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(backpropagator, [float(k) for k in range(8)])) == expected


def test_two_live_traces_of_different_threads_do_not_mix_ids(core: Any) -> None:
    """Two threads record in turns."""
    turn = threading.Barrier(2, timeout=20)

    def program(x: Any) -> Any:
        for _ in range(50):
            turn.wait()
            x = x * 1.5
            x = core.math.sin(x)
        return x

    alone = []
    with ThreadPoolExecutor(2) as pool:
        together = [future.result() for future in [pool.submit(core.grad(program), x) for x in (0.3, 0.6)]]
    turn = threading.Barrier(1)
    alone = [core.grad(program)(x) for x in (0.3, 0.6)]
    assert together == alone


# A shell that starts the tests in the background may disable interrupts for them and their child processes.
TAKES_INTERRUPTS = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)
"""

INTERRUPTED = """
import os, resource, threading, time
import tapeengine as te

def chain(x):
    for _ in range({records}):
        x = x * 1.0
    return x

_, backpropagator = te.vjp(chain, 1.0)
timer = threading.Timer(0.02, os.kill, (os.getpid(), signal.SIGINT))
interrupted = 0
timer.start()
try:
    while True:
        backpropagator(1.0)
except KeyboardInterrupt:
    interrupted = 1
backpropagator(1.0)  # a whole one: the interrupt may have come before all of the accumulation array was touched
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
for _ in range(5):
    try:
        threading.Timer(0.02, os.kill, (os.getpid(), signal.SIGINT)).start()
        while True:
            backpropagator(1.0)
    except KeyboardInterrupt:
        interrupted += 1
grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
print(interrupted, backpropagator(1.0) == (1.0,), te.grad(lambda x: x * x)(3.0), grown < 20_000)
"""


MANY = pytest.param(100_000_000, marks=[pytest.mark.slow, needs_gigabytes(6)])


@pytest.mark.skipif(not hasattr(signal, "SIGALRM"), reason="needs POSIX signals")
@pytest.mark.parametrize("records", [10_000_000, MANY])
def test_an_interrupt_in_the_middle_of_a_resolve(tmp_path: Path, records: int) -> None:
    """KeyboardInterrupt is raised at once; the backpropagator still works, and no memory is lost."""
    script = TAKES_INTERRUPTS + INTERRUPTED.format(records=records)
    assert output_of(script, tmp_path) == ["6", "True", "6.0", "True"]


INTERRUPTED_PROGRAM = """
import os, threading
import tapeengine as te
from tapeengine._core.tape.tape import live_traces

def forever(x):
    threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT)).start()
    while True:
        x = x * 1.0

try:
    te.vjp(forever, 1.0)
except KeyboardInterrupt:
    print(live_traces(), te.grad(lambda x: x * x)(3.0))
"""


@pytest.mark.skipif(not hasattr(signal, "SIGALRM"), reason="needs POSIX signals")
def test_an_interrupt_in_the_middle_of_a_program(tmp_path: Path) -> None:
    assert output_of(TAKES_INTERRUPTS + INTERRUPTED_PROGRAM, tmp_path) == ["0", "6.0"]


FLAT = """
import os, threading
import tapeengine as te
from pathlib import Path

def resident():
    return os.sysconf("SC_PAGESIZE") * int(Path("/proc/self/statm").read_text().split()[1])

def chain(x):
    for _ in range(100_000_000):
        x = x + 1.0
    return x

def work():
    before = resident()
    value, backpropagator = te.vjp(chain, 0.0)
    print(value == 1e8, backpropagator(2.0), len(backpropagator.tape), resident() - before < 2.7e9)
    del backpropagator
    print(resident() - before < 1e8)

threading.stack_size(256 * 1024)
thread = threading.Thread(target=work)
thread.start()
thread.join()
"""


@pytest.mark.slow
@needs_gigabytes(6)
def test_a_hundred_million_records(tmp_path: Path) -> None:
    """Built, resolved and freed on a stack of 256 KiB, in 27 bytes a record; the memory goes back."""
    assert output_of(FLAT, tmp_path) == ["True", "(2.0,)", "100000000", "True", "True"]


def test_no_trace_is_left_open(cores: Any) -> None:
    compiled, _ = cores
    compiled.grad(compiled.grad(lambda x: x * x))(1.0)
    assert live_traces() == 0


def test_duals_of_a_later_trace_do_not_leave_an_earlier_one(core: Any) -> None:
    """Two threads exchange duals: the earlier trace must not return duals of the later one."""
    from_later: list[Any] = []
    started, handed_over, finished = threading.Event(), threading.Event(), threading.Event()

    def earlier(x: Any) -> Any:
        started.set()
        assert handed_over.wait(20)
        return x * from_later[0]

    def later(y: Any) -> Any:
        from_later.append(y)
        handed_over.set()
        assert finished.wait(20)
        return y

    def run_later() -> None:
        assert started.wait(20)
        core.vjp(later, 2.0)

    with ThreadPoolExecutor(2) as pool:
        second = pool.submit(run_later)
        first = pool.submit(core.vjp, earlier, 3.0)
        try:
            with pytest.raises(TraceError, match="later trace"):
                first.result(20)
        finally:
            finished.set()
            second.result(20)


def test_duals_of_an_outer_trace_in_worker_threads(core: Any) -> None:
    """A program may pass work to threads, each of which may differentiate."""

    def program(x: Any) -> Any:
        with ThreadPoolExecutor(4) as pool:
            slopes = list(pool.map(lambda k: core.grad(lambda y: y * y * x * k)(x), range(1, 5)))
        return sum(slopes)

    # the sum over k of 2 k x**2
    assert core.grad(program)(3.0) == 4 * 10 * 3.0


def test_coroutines(core: Any) -> None:
    import asyncio

    async def half(x: Any) -> Any:
        await asyncio.sleep(0)
        return x * 0.5

    async def both(x: Any) -> Any:
        return sum(await asyncio.gather(half(x), half(x * x)))

    assert core.grad(lambda x: asyncio.run(both(x)))(3.0) == 0.5 + 3.0


MADE_BY_HAND = """
import tapeengine as te
import tapeengine.errors
import tapeengine.math

dual = te.Dual.__new__(te.Dual)
uses = (lambda: dual + 1.0, lambda: -dual, lambda: te.math.sin(dual), lambda: dual * dual)
for use in (*uses, *(lambda use=use: te.vjp(lambda x: x * use(), 1.0) for use in uses)):
    try:
        use()
    except te.errors.TraceError:
        print("refused")
"""


def test_a_dual_made_by_hand_is_refused(cores: Any, tmp_path: Path) -> None:
    compiled, _ = cores
    with pytest.raises(TypeError, match="made by transforms"):
        compiled.Dual()
    assert output_of(MADE_BY_HAND, tmp_path) == ["refused"] * 8


def test_duals_have_no_attributes_of_their_own_and_no_subclasses(cores: Any) -> None:
    compiled, _ = cores

    def program(x: Any) -> Any:
        with pytest.raises(AttributeError):
            x.note = 1
        with pytest.raises(AttributeError):
            x._value = 1.0
        return x

    compiled.vjp(program, 1.0)
    with pytest.raises(TypeError):
        type("Special", (compiled.Dual,), {})


def test_many_duals_at_once_give_their_memory_back(cores: Any) -> None:
    compiled, _ = cores

    def many(x: Any) -> Any:
        return [x * 1.0 for _ in range(300_000)][-1]

    compiled.grad(many)(1.0)
    before = resident_bytes()
    for _ in range(5):
        compiled.grad(many)(1.0)
    assert resident_bytes() - before < 5_000_000


def test_a_recursion_error_passes_through(core: Any) -> None:
    def endless(x: Any) -> Any:
        return endless(x * 1.0)

    with pytest.raises(RecursionError):
        core.vjp(endless, 1.0)
    assert core.grad(lambda x: x * x)(3.0) == 6.0
