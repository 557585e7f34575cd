"""Measures tasks on workers on this machine: the cost of a task, a byte and a fork, and the gain of two workers.

    python asv_bench/scale.py [threads processes loky dask]

On two free cores this takes less than two minutes. Times are the smallest of several, in milliseconds. A gain is given
twice: by wall time, as the median ratio of alternating runs, and by processor time, which other programs disturb less:
the time of the gradient in sequence divided by that of this process plus half of that of the workers.
"""

import os
import pickle
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import tapeengine as te
import tapeengine.math as tm
import tapeengine.numpy as tnp

RNG = np.random.default_rng(0)
TURNS = 3


@contextmanager
def started(name: str) -> Iterator[Any]:
    """An engine with two workers."""
    if name == "dask":
        import dask
        from distributed import Client, LocalCluster

        # dask makes malloc return memory at once, so each temporary array would be mapped again, page by page.
        keeping = {"MALLOC_TRIM_THRESHOLD_": 2**30, "MALLOC_MMAP_THRESHOLD_": 2**30}
        dask.config.set({f"distributed.nanny.pre-spawn-environ.{name}": size for name, size in keeping.items()})
        with (
            LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs=50) as cluster,
            Client(cluster) as client,
        ):
            yield client
        return
    if name == "loky":
        import loky

        executor = loky.ProcessPoolExecutor(2)
    else:
        executor = {"threads": ThreadPoolExecutor, "processes": ProcessPoolExecutor}[name](2)
    yield executor
    executor.shutdown()


# -- programs ---------------------------------------------------------------------------------------------------------
def times(w: Any, x: float) -> Any:
    """A task that does nothing."""
    return w * x


def first(w: Any, x: float) -> Any:
    """A task with a large argument and little work."""
    return w[0] * x


def logistic(w: Any, shard: Any) -> Any:
    """A shard in numpy."""
    margins = shard @ w
    return tnp.sum(tnp.logaddexp(0.0, -margins)) + 0.1 * tnp.sum(tnp.tanh(margins) ** 2)


def recurrence(w: Any, shard: Any) -> Any:
    """A shard in pure Python."""
    total = 0.0
    for x in shard:
        total = total + tm.tanh(w * x) * x - 1e-6 * w * total
    return total


def loss(f: Callable[..., Any], executor: Any, shards: Any, w: Any) -> Any:
    """The sum over shards, with a task for each."""
    return sum(te.fork_map(partial(f, w), shards, executor=executor))


def in_order(f: Callable[..., Any], shards: Any, w: Any) -> Any:
    """The sum over shards, without tasks."""
    return sum(f(w, shard) for shard in shards)


# -- measuring --------------------------------------------------------------------------------------------------------
def least(run: Callable[[], Any]) -> float:
    """The smallest wall time of some runs."""
    run()
    found = []
    for _ in range(TURNS):
        start = time.perf_counter()
        run()
        found.append(time.perf_counter() - start)
    return min(found)


def processor_times() -> dict[int, float]:
    """The processor time of this process and of its child processes, by their ids."""
    parents, spent = {}, {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        parents[int(stat.parent.name)] = int(fields[1])
        spent[int(stat.parent.name)] = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    mine = {os.getpid()}
    while more := {pid for pid, parent in parents.items() if parent in mine and pid not in mine}:
        mine |= more
    return {pid: spent[pid] for pid in mine}


def gain(f: Callable[..., Any], executor: Any, data: Any, w: Any) -> tuple[float, float]:
    """The time of the gradient in sequence divided by that on two workers: wall time and processor time."""
    shards = [te.Shared(part) for part in data]
    alone = te.value_and_grad(partial(in_order, f, data))
    spread = te.value_and_grad(partial(loss, f, executor, shards))
    alone(w), spread(w)
    ratios, here, there, work = [], 0.0, 0.0, 0.0
    for _ in range(TURNS):
        start, before = time.perf_counter(), time.process_time()
        alone(w)
        middle, between, others = time.perf_counter(), time.process_time(), processor_times()
        spread(w)
        end, after, later = time.perf_counter(), time.process_time(), processor_times()
        ratios.append((middle - start) / (end - middle))
        work += between - before
        here += after - between
        there += sum(later[p] - others.get(p, 0.0) for p in later if p != os.getpid())
    return float(np.median(ratios)), work / (here + there / 2.0)


def per_task(executor: Any, n: int = 100) -> float:
    """Both passes of a task that does nothing."""
    gradient = te.grad(partial(loss, times, executor, [1.0] * n))
    return least(lambda: gradient(2.0)) / n


def per_fork(executor: Any) -> float:
    """Both passes of a fork of one task that does nothing."""
    gradient = te.grad(partial(loss, times, executor, [1.0]))
    return least(lambda: gradient(2.0))


def per_megabyte(executor: Any) -> float:
    """Sending a megabyte of parameters and receiving a megabyte of cotangents."""
    small, large = np.ones(8), np.ones(4_000_000 // 8)
    gradient = te.grad(partial(loss, first, executor, [1.0, 2.0]))
    return (least(lambda: gradient(large)) - least(lambda: gradient(small))) / (2 * large.nbytes / 1e6)


def per_shared_megabyte(executor: Any) -> float:
    """The first use of shared data."""
    data = np.ones(32_000_000 // 8)

    def use() -> Any:
        return te.fork_map(np.size, [te.Shared(data)], executor=executor)

    return least(use) / (data.nbytes / 1e6)


def sent_bytes(data: Any, w: Any) -> list[tuple[int, int]]:
    """The bytes sent to and received from processes, in each of three iterations over shared data."""
    counted = [0, 0]

    class Counting(ProcessPoolExecutor):
        def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Any:
            counted[0] += len(pickle.dumps((fn, args)))
            future = super().submit(fn, *args, **kwargs)
            future.add_done_callback(lambda one: counted.__setitem__(1, counted[1] + len(pickle.dumps(one.result()))))
            return future

    found = []
    with Counting(2) as executor:
        gradient = te.value_and_grad(partial(loss, logistic, executor, [te.Shared(part) for part in data]))
        for _ in range(3):
            counted[:] = [0, 0]
            gradient(w)
            found.append((counted[0], counted[1]))
    return found


def main(names: list[str]) -> None:
    """Print the tables."""
    numbers, w = [RNG.normal(size=(100_000, 50)) for _ in range(8)], 0.1 * RNG.normal(size=50)
    lists = [RNG.normal(size=100_000).tolist() for _ in range(8)]
    began = time.perf_counter()
    sent = sent_bytes(numbers, w)  # first, because later messages also list data to be forgotten
    print("| engine | a task, ms | a fork of one, ms | a MB there and back, ms | a MB shared, ms |")
    for name in names:
        with started(name) as executor:
            costs = [1e3 * cost(executor) for cost in (per_task, per_fork, per_megabyte, per_shared_megabyte)]
        print(f"| {name} | " + " | ".join(f"{cost:.2f}" for cost in costs) + " |", flush=True)
    print("| engine | numpy: wall | processor | pure Python: wall | processor |")
    for name in [name for name in names if name != "threads"]:  # threads share the GIL
        with started(name) as executor:
            found = (*gain(logistic, executor, numbers, w), *gain(recurrence, executor, lists, 0.3))
        print(f"| {name} | " + " | ".join(f"{x:.2f}" for x in found) + " |", flush=True)
    parts = sum(part.nbytes for part in numbers)
    print(f"data {parts} bytes, parameters {w.nbytes}; bytes there and back in each iteration: {sent}")
    print(f"{time.perf_counter() - began:.0f} s, load {os.getloadavg()}")


if __name__ == "__main__":
    main(sys.argv[1:] or ["threads", "processes", "loky", "dask"])
