"""Measures tasks on workers on this machine: the cost of a task, a byte and a fork, and the gain of two workers.

    python asv_bench/scale.py [threads processes loky dask]
    python asv_bench/scale.py --write       puts the tables into docs/scale.md

Set OMP_NUM_THREADS=1: the threads of BLAS would use both cores for the gradient in order, and compete in workers.

On two free cores this takes about two minutes. Times are the least of several, in milliseconds. A gain is given
twice: by wall time, as the median of ratios of runs in turn, and by processor time, which other programs disturb less:
that of the gradient in order over that of this process and of half of what the workers took. Eight shards have a
million rows each, of ten numbers for numpy (as in examples/logistic_regression.py) and of one for a loop in Python.
"""

import os
import pickle
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from itertools import takewhile
from pathlib import Path
from typing import Any

import numpy as np

import tapeengine as te
import tapeengine.math as tm
import tapeengine.numpy as tnp

ALL = ["threads", "processes", "loky", "dask"]
PAGE = Path(__file__).resolve().parents[1] / "docs" / "scale.md"
Table = dict[str, list[str]]
RNG = np.random.default_rng(0)
TURNS = 5
ROWS, COLUMNS = 1_000_000, 10
#: So that temporary arrays are not mapped anew, page by page, in each task. By itself the C library gives the memory of
#: arrays back in threads other than the first, where dask runs its tasks, and dask asks for it everywhere.
KEEPING = {"MALLOC_ARENA_MAX": "1", "MALLOC_TRIM_THRESHOLD_": str(2**30), "MALLOC_MMAP_THRESHOLD_": str(2**30)}

#: dask otherwise looks at the task of a worker every 10 ms, at its own loop every 20 ms, and holds the GIL meanwhile.
UNWATCHED = {"distributed.worker.profile.enabled": False, "distributed.admin.tick.interval": "500ms"}


@contextmanager
def started(name: str) -> Iterator[Any]:
    """An engine with two workers."""
    if name == "dask":
        import dask
        from distributed import Client, LocalCluster

        kept = {f"distributed.nanny.pre-spawn-environ.{name}": value for name, value in KEEPING.items()}
        dask.config.set(UNWATCHED | kept)
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
    """The smallest wall time of some runs; of more runs where they are short."""
    run()
    found: list[float] = []
    while len(found) < TURNS or sum(found) < 1.0:
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
    """The gradient in order over the gradient on two workers: by processor time and by wall time."""
    shards = [te.Shared(part) for part in data]
    alone = te.value_and_grad(partial(in_order, f, data))
    spread = te.value_and_grad(partial(loss, f, executor, shards))
    if isinstance(executor, ProcessPoolExecutor):  # any process may get any task: all data are to be at rest in all
        te.fork_map(len, shards * 8, executor=executor)
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
    return work / (here + there / 2.0), float(np.median(ratios))


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


# -- tables -----------------------------------------------------------------------------------------------------------
COSTS = "| executor | a task, ms | a fork of one task, ms | a MB of parameters there and back, ms | a MB shared, ms |"
GAINS = "| executor | numpy: by work | by wall time | pure Python: by work | by wall time |"
MODEL = "| workers | one minute: time | times as fast | one hour: time | times as fast |"


def model(task: float, megabyte: float) -> Table:
    """The times of the page's model for a thousand parameters on dask, from milliseconds; see docs/scale.md."""
    each = (task + 0.01 * megabyte) / 1e3
    times = {n: [(work / n + n * each, work) for work in (60.0, 3600.0)] for n in (10, 100, 1000)}
    return {
        f"{n:,}": [text for t, work in row for text in (f"{t:.2g} s" if t < 60 else f"{t:.0f} s", f"{work / t:.0f}")]
        for n, row in times.items()
    }


def put(page: str, header: str, rows: Table) -> str:
    """The page with other rows under a header."""
    before, _, after = page.partition(header + "\n")
    rule, _, rest = after.partition("\n")
    kept = rest[len("".join(line for line in takewhile(lambda line: line[0] == "|", rest.splitlines(True)))) :]
    return before + "\n".join([header, rule, *lines(rows), ""]) + kept


def lines(rows: Table) -> list[str]:
    """The rows of a table."""
    return [f"| {name} | " + " | ".join(cells) + " |" for name, cells in rows.items()]


def costs(names: list[str]) -> dict[str, list[float]]:
    """What a task, a fork and a megabyte cost on each engine, in milliseconds."""
    found = {}
    for name in names:
        with started(name) as executor:
            found[name] = [1e3 * cost(executor) for cost in (per_task, per_fork, per_megabyte, per_shared_megabyte)]
    return found


def gains(names: list[str], numbers: Any, w: Any) -> dict[str, list[float]]:
    """What two workers gain on each engine, for shards in numpy and in pure Python."""
    lists = [RNG.normal(size=ROWS).tolist() for _ in range(8)]
    found = {}
    for name in names:
        with started(name) as executor:
            found[name] = [*gain(logistic, executor, numbers, w), *gain(recurrence, executor, lists, 0.3)]
    return found


def main(names: list[str], is_written: bool) -> None:
    """Print the tables, or write them into the page."""
    numbers, w = [RNG.normal(size=(ROWS, COLUMNS)) for _ in range(8)], 0.1 * RNG.normal(size=COLUMNS)
    began = time.perf_counter()
    sent = sent_bytes(numbers, w)  # before others: messages also tell which data of theirs is to be forgotten
    cost = costs(names)
    # Threads share the GIL, and gain where it is let go of; loky starts workers anew that have grown by 300 MB.
    gained = gains([name for name in names if name not in ("threads", "loky")], numbers, w)
    tables = {COSTS: {name: [f"{x:.2g}" for x in row] for name, row in cost.items()}}
    tables[GAINS] = {name: [f"{x:.2f}" for x in row] for name, row in gained.items()}
    if "dask" in cost:
        tables[MODEL] = model(cost["dask"][0], cost["dask"][2])
    for header, rows in tables.items():
        print("\n".join([header, *lines(rows)]))
        if is_written:
            PAGE.write_text(put(PAGE.read_text(), header, rows))
    parts = sum(part.nbytes for part in numbers)
    print(f"data {parts} bytes, parameters {w.nbytes}; bytes there and back in each iteration: {sent}")
    print(f"{time.perf_counter() - began:.0f} s, load {os.getloadavg()}")


if __name__ == "__main__":
    is_written = sys.argv[1:] == ["--write"]
    main(ALL if is_written else sys.argv[1:] or ALL, is_written)
