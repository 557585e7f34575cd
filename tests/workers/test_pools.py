"""Pools of processes: shared memory, refusals, versions, interrupts, progress."""

import gc
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from functools import partial
from multiprocessing.shared_memory import SharedMemory
from typing import Any

import far_programs as far
import numpy as np
import pytest

import tapeengine as te
from tapeengine.errors import UnsupportedError, WorkerError
from tapeengine.workers import messages, stamp_of, versions
from tapeengine.workers.segments import Segment

WAIT = 20.0


@pytest.fixture(scope="module")
def pool() -> Iterator[Any]:
    with far.started("processes", 1) as executor:
        yield executor


def is_there(name: str) -> bool:
    try:
        SharedMemory(name).close()
    except FileNotFoundError:
        return False
    return True


def mapped(name: str) -> bool:
    """Whether this process has attached a segment."""
    with open("/proc/self/maps") as maps:
        return any(name in line for line in maps)


def test_one_process_gives_the_bits_of_threads(pool: Executor) -> None:
    parts = [te.Shared(x) for x in far.DATA]
    one, two = (te.value_and_grad(partial(far.program, executor, parts, parts))(far.W) for executor in (pool, None))
    assert far.bits(one) == far.bits(two)


class Elsewhere(Executor):
    """An executor that says nothing about its workers, which therefore ask for data that they do not have."""

    def __init__(self, pool: Executor) -> None:
        self.pool = pool

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Any:
        return self.pool.submit(fn, *args, **kwargs)


def test_workers_ask_for_data_that_may_be_far_away(pool: Executor) -> None:
    parts = [te.Shared(x) for x in far.DATA]
    programs = (partial(far.program, executor, parts, parts) for executor in (Elsewhere(pool), None))
    one, two = (te.value_and_grad(program)(far.W) for program in programs)
    assert far.bits(one) == far.bits(two)


def inverse(w: Any, k: float) -> Any:
    return w / k


@pytest.mark.parametrize("count", [0, 1, 31, 32, 33, 50])
def test_calls_that_are_sent_together_keep_their_order_and_their_error(pool: Executor, count: int) -> None:
    numbers = [float(k + 1) for k in range(count)]
    for executor in (pool, Elsewhere(pool), ThreadPoolExecutor(1)):
        assert te.fork_map(partial(inverse, 3.0), numbers, executor=executor) == [3.0 / k for k in numbers]
        found = te.grad(lambda w: sum(te.fork_map(partial(inverse, w), numbers, executor=executor), w))  # noqa: B023
        assert found(3.0) == pytest.approx(1.0 + sum(1.0 / k for k in numbers))
        if numbers:
            with pytest.raises(ZeroDivisionError):
                te.fork_map(partial(inverse, 3.0), [*numbers, 0.0, "text"], executor=executor)


# -- memory -----------------------------------------------------------------------------------------------------------
def test_arrays_in_a_segment_are_views_of_it() -> None:
    value = {"a": np.arange(1000.0), "b": [np.ones((3, 4), order="F"), "text"], "c": np.float32(2.0)}
    segment = Segment(value)
    found = segment.descriptor.load()
    np.testing.assert_array_equal(found["a"], value["a"])
    np.testing.assert_array_equal(found["b"][0], value["b"][0])  # type: ignore[index]
    assert found["b"][1:] == ["text"] and not found["a"].flags.owndata and not found["a"].flags.writeable
    name = segment.descriptor.name
    assert is_there(name)
    del segment
    assert not is_there(name)
    assert found["a"].sum() == 499500.0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are not forked here")
def test_a_segment_outlives_a_fork_of_its_process() -> None:
    segment = Segment(np.arange(3.0))
    if (child := os.fork()) == 0:
        del segment
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    assert segment.descriptor.load().tolist() == [0.0, 1.0, 2.0]


def total(x: Any, data: Any) -> Any:
    return x * float(np.sum(data))


def test_a_worker_forgets_what_the_program_has_dropped(pool: Executor) -> None:
    def held() -> list[str]:
        gc.collect()
        assert te.fork_map(partial(total, 2.0), [np.ones(1)], executor=pool) == [2.0]
        return pool.submit(held_keys).result()

    before = held()
    shared = te.Shared(np.ones(1000))
    loaded = te.Loaded(np.ones, 10)
    assert te.fork_map(partial(total, 2.0), [shared, loaded, shared], executor=pool) == [2000.0, 20.0, 2000.0]
    assert sorted(held()) == sorted([*before, shared.key, loaded.key])
    del shared, loaded
    assert held() == before


def held_keys() -> list[str]:
    return list(messages.HELD._data)


@pytest.mark.skipif(sys.platform == "win32", reason="no shared memory that outlives its processes")
def test_memory_goes_with_a_worker_that_is_killed_and_with_a_program_that_is() -> None:
    code = (
        "import os, signal, sys, time; sys.path.insert(0, sys.argv[1])\n"
        "import far_programs as far, numpy as np, tapeengine as te\n"
        "if __name__ == '__main__':\n"
        "    with far.started('processes', 1) as pool:\n"
        "        shared = te.Shared(np.ones(10))\n"
        "        te.fork_map(np.sum, [shared], executor=pool)\n"
        "        (segment,) = shared.homes.values()\n"
        "        print(segment.descriptor.name, *pool._processes, flush=True)\n"
        "        os.kill(list(pool._processes)[0], signal.SIGKILL)\n"
        "        os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    folder = os.path.dirname(far.__file__)
    run = subprocess.run([sys.executable, "-c", code, folder], capture_output=True, text=True, check=False)
    assert run.returncode == -signal.SIGKILL, run.stderr
    name = run.stdout.split()[0]
    deadline = time.monotonic() + WAIT
    while is_there(name) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not is_there(name)


@pytest.mark.parametrize("program", [np.vdot, np.multiply], ids=["rows", "run again"])
def test_a_large_array_that_tasks_share_is_sent_once(pool: Executor, program: Any) -> None:
    """It is in shared memory; messages contain its key, also in the reverse pass. Cotangents equal those of threads."""
    sizes: list[int] = []

    class Counting(type(pool)):  # type: ignore[misc]
        def __init__(self) -> None:
            """Its processes are those of the other pool."""

        def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Any:
            sizes.append(len(pickle.dumps((fn, args))))
            return pool.submit(fn, *args, **kwargs)

    large, factors = np.linspace(0.0, 1.0, 50_000), [np.full(50_000, float(k)) for k in range(4)]
    shared = [te.Shared(x) for x in factors]

    def total(w: Any, executor: Any) -> Any:
        return sum(np.sum(x) for x in te.fork_map(partial(program, w), shared, executor=executor))

    found = te.vjp(lambda w: total(w, Counting()), large)[1](1.0)[0]
    assert found.tobytes() == te.vjp(lambda w: total(w, None), large)[1](1.0)[0].tobytes()
    assert sizes and max(sizes) < 20_000 + (0 if program is np.vdot else large.nbytes)
    assert sum(size > 20_000 for size in sizes) <= len(factors)  # those with a cotangent of a large value
    assert te.jvp(lambda w: total(w, Counting()), (large,), (large,))[1] == pytest.approx(
        sum(f @ large for f in factors)
    )


def test_references_go_with_tasks_alone() -> None:
    with pytest.raises(UnsupportedError, match="Shared is sent to workers only with tasks of fork and fork_map"):
        pickle.dumps(te.Shared(1.0))


def test_a_loader_is_called_once_on_threads() -> None:
    calls: list[int] = []

    def load() -> Any:
        calls.append(1)
        return np.ones(3)

    part = te.Loaded(load)
    assert te.grad(lambda x: sum(te.fork_map(lambda d: x * d.sum(), [part] * 5)))(2.0) == 15.0
    assert calls == [1]


# -- versions ---------------------------------------------------------------------------------------------------------
class Versions(Executor):
    """Performs tasks at once, like a worker with other versions."""

    def __init__(self, **changes: Any) -> None:
        self.changes = changes

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Any:
        future: Future[Any] = Future()
        version, plugins = args[0]
        stamp = (self.changes.get("version", version), (*plugins, *self.changes.get("plugins", ())))
        try:
            future.set_result(fn(stamp, *args[1:]))
        except Exception as error:
            future.set_exception(error)
        return future


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"version": "9.1"}, rf"tapeengine 9\.1 in the program and {te.__version__} on the worker"),
        ({"plugins": [("ode", "fast-ode", "2.0")]}, r"fast-ode 2\.0 \(plugin ode\) in the program alone"),
    ],
)
def test_a_worker_with_other_versions_is_refused(changes: Any, told: str) -> None:
    with pytest.raises(WorkerError, match=told):
        te.grad(lambda x: sum(te.fork_map(far.slow, [x, x], executor=Versions(**changes))))(2.0)
    assert te.grad(lambda x: sum(te.fork_map(far.slow, [x, x], executor=Versions())))(2.0) == 8.0


def test_versions_of_a_plugin_are_both_named() -> None:
    version, plugins = stamp_of(te.default_engine().registry)
    name, distribution, one = plugins[0]
    found = versions.differences((version, ((name, distribution, "0.0.1"),)), (version, plugins))
    assert found == [f"{distribution} 0.0.1 (plugin {name}) in the program and {one} on the worker"]


def test_an_engine_whose_plugin_no_worker_has_is_refused(pool: Executor) -> None:
    class Own:
        @staticmethod
        @te.plugins.hookimpl
        def tapeengine_primitives() -> list[Any]:
            return []

    engine = te.Engine(plugins=["core", Own])
    with pytest.raises(WorkerError, match=r"\(plugin Own\) in the program alone"):
        engine.grad(lambda x: sum(engine.fork_map(far.slow, [x], executor=pool)))(2.0)


# -- errors of tasks ---------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", far.ERRORS)
def test_every_error_of_a_task_arrives(name: str, pool: Executor) -> None:
    want = far.ERRORS[name]()
    with pytest.raises(Exception) as caught:
        te.grad(lambda x: sum(te.fork_map(partial(far.erring, name), [x, x], executor=pool)))(2.0)
    error = caught.value
    if name in ("code that is no data", "local class"):
        assert type(error) is WorkerError
        assert type(want).__name__ in str(error)
        assert want.args[0] in str(error)
    else:
        assert type(error) is type(want)
        assert (str(error), error.args) == (str(want), want.args)
        assert getattr(error, "code", None) == getattr(want, "code", None)
    assert te.grad(lambda x: sum(te.fork_map(far.slow, [x, x], executor=pool)))(2.0) == 8.0


# -- interrupts and progress ------------------------------------------------------------------------------------------
@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_an_interrupt_while_tasks_run_elsewhere_leaves_the_engine_usable(pool: Executor) -> None:
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        te.grad(lambda x: sum(te.fork_map(late, [x] * 3, executor=pool)))(2.0)
    assert te.grad(lambda x: sum(te.fork_map(far.slow, [x, x], executor=pool)))(2.0) == 8.0


def late(x: Any) -> Any:
    time.sleep(1.0)
    return x


def test_progress_of_both_passes_is_shown(pool: Executor) -> None:
    shown: list[Any] = []

    def progress(iterable: Any, total: int, desc: str) -> Iterator[Any]:
        for k, one in enumerate(iterable):
            shown.append((desc, k + 1, total))
            yield one

    with ThreadPoolExecutor(2) as threads:
        for executor in (threads, pool):
            shown.clear()
            f = partial(te.fork_map, executor=executor, progress=progress)
            te.grad(lambda w, f=f: sum(np.sum(x) for x in f(partial(far.hidden, w), far.DATA[:2])))(far.W)
            passes = ("hidden_value", "hidden_cotangents")
            assert shown == [(name, k, 2) for name in passes for k in (1, 2)]


def test_progress_is_what_tqdm_shows(capsys: Any) -> None:
    tqdm = pytest.importorskip("tqdm").tqdm
    assert te.fork_map(abs, [-1.0, -2.0], progress=tqdm) == [1.0, 2.0]
    assert "abs_value: 100%" in capsys.readouterr().err
