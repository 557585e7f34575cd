"""Every engine for tasks gives the bits of threads, for all transforms of a program."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import far_programs as far
import numpy as np
import pytest
from workers.conftest import skip_without

import tapeengine as te
from tapeengine.errors import StructureError, UnsupportedError, WorkerError

SCRIPT = Path(far.__file__)


@pytest.fixture(scope="module")
def wanted() -> dict[str, str]:
    with ThreadPoolExecutor(1) as executor:
        return far.found(executor)


@pytest.fixture(scope="module")
def client(started: Callable[[str], Any]) -> Any:
    return started("dask")


@pytest.fixture(scope="module", params=["processes", "loky", "dask"])
def engine(request: Any, started: Callable[[str], Any]) -> Any:
    return started(request.param)


def test_the_derivatives_are_those_of_the_program_in_order(wanted: dict[str, str]) -> None:
    class InOrder(ThreadPoolExecutor):
        """Take no task."""

    with InOrder(1) as nobody:
        pass
    assert far.found(nobody) == wanted
    plain = partial(far.program, nobody, far.DATA, list(far.DATA))
    v = np.linspace(-1.0, 1.0, far.W.size)
    h = 1e-6
    difference = (plain(far.W + h * v) - plain(far.W - h * v)) / (2.0 * h)
    assert te.grad(plain)(far.W) @ v == pytest.approx(difference, rel=1e-7)


@pytest.mark.parametrize("workers", [2, 8])
def test_threads(wanted: dict[str, str], workers: int) -> None:
    with far.started("threads", workers) as executor:
        assert far.found(executor) == wanted


def test_processes_loky_and_dask(engine: Any, wanted: dict[str, str]) -> None:
    assert far.found(engine) == wanted


def told(lines: str, expected: dict[str, str]) -> dict[str, str]:
    """The script's output under the expected names; engines also print lines."""
    pairs = (line.partition(":") for line in lines.splitlines())
    return {name: value for name, _, value in pairs if name in expected}


@pytest.mark.slow
def test_ray(wanted: dict[str, str]) -> None:
    """A worker that runs some of the tasks and stores data dies."""
    skip_without("ray")
    environment = {**os.environ, "PYTHONPATH": str(SCRIPT.parent), "RAY_AUTH_MODE": "disabled"}
    run = subprocess.run(
        [sys.executable, str(SCRIPT), "ray"], capture_output=True, text=True, env=environment, timeout=300, check=False
    )
    expected = {**wanted, "square": "(9.0, 6.0)", "died": "40.0", "stored": wanted["gradient"]}
    assert told(run.stdout, expected) == expected, run.stderr


def test_mpi(wanted: dict[str, str]) -> None:
    skip_without("mpi")
    if shutil.which("mpirun") is None:
        pytest.skip("mpi: mpirun is not installed")
    environment = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    command = ["mpirun", "--oversubscribe", "-n", "3", sys.executable, "-m", "mpi4py.futures", str(SCRIPT), "mpi"]
    run = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=300, check=False)
    expected = {**wanted, "square": "(9.0, 6.0)"}
    assert told(run.stdout, expected) == expected, run.stderr


# -- data that stays --------------------------------------------------------------------------------------------------
def test_futures_and_scattered_data_are_found_by_the_tasks(client: Any, wanted: dict[str, str]) -> None:
    parts = [te.Loaded(far.part, k) for k in range(len(far.DATA))]
    scattered = client.scatter(list(far.DATA))
    computed = [client.submit(far.part, k) for k in range(len(far.DATA))]
    for executor, shards in ((client, scattered), (client.get_executor(), computed)):
        found = te.value_and_grad(partial(far.program, executor, shards, parts))(far.W)
        assert far.bits(found) == wanted["gradient"]


def test_a_function_written_where_it_is_used_goes_by_value(client: Any) -> None:
    assert te.grad(lambda w: sum(te.fork_map(lambda x: (w * x) ** 2, [1.0, 2.0], executor=client)))(3.0) == 30.0


def test_what_is_traced_is_no_constant() -> None:
    with pytest.raises(UnsupportedError, match=r"te\.Shared is for constants"):
        te.grad(lambda w: te.Shared([w]).value[0])(1.0)


def test_shared_arrays_cannot_be_written_to(engine: Any) -> None:
    for executor in (engine, None):
        with pytest.raises(ValueError, match="read-only"):
            te.fork_map(partial(np.ndarray.sort), [te.Shared(np.array([2.0, 1.0]))], executor=executor)


# -- dask -------------------------------------------------------------------------------------------------------------
def test_equal_tasks_are_not_taken_for_one(client: Any) -> None:
    assert len(set(te.fork_map(far.noise, [1.0] * 4, executor=client))) == 4


def test_no_task_runs_in_the_process_that_forks(engine: Any) -> None:
    pids = [pid for pid, _ in te.fork_map(far.where, [1.0] * 4, executor=engine)]
    assert os.getpid() not in pids


def test_dask_sees_the_function_and_the_pass(client: Any) -> None:
    def names(scheduler: Any = None, dask_scheduler: Any = None) -> list[str]:
        return sorted(dask_scheduler.task_prefixes)

    te.grad(lambda w: sum(np.sum(x) for x in te.fork_map(partial(far.hidden, w), far.DATA, executor=client)))(far.W)
    seen = client.run_on_scheduler(names)
    assert {"hidden_value", "hidden_cotangents"} <= set(seen)


def test_a_tape_that_a_worker_keeps_is_not_recorded_again(client: Any) -> None:
    """Its second call gets only the cotangent, and the worker drops the data with the backpropagator."""

    def kept(dask_worker: Any = None) -> int:
        return sum(type(one).__name__ == "Reply" and one.job is not None for one in dask_worker.data.values())

    def program(w: Any) -> Any:
        return te.fork_map(partial(far.hidden, w), list(far.DATA), executor=client)

    value, backpropagator = te.vjp(program, far.W)
    near, its = te.vjp(lambda w: te.fork_map(partial(far.hidden, w), list(far.DATA)), far.W)
    assert sum(client.run(kept).values()) == len(far.DATA)
    for _ in range(2):
        assert bits_of(backpropagator(value)) == bits_of(its(near))
    del backpropagator
    for _ in range(100):
        if not sum(client.run(kept).values()):
            break
    assert sum(client.run(kept).values()) == 0


def bits_of(value: Any) -> bytes:
    return b"".join(np.asarray(x).tobytes() for x in value)


# -- failures ---------------------------------------------------------------------------------------------------------
def test_the_first_error_in_order_is_raised(engine: Any) -> None:
    def program(x: Any) -> Any:
        return sum(te.fork_map(far.raising, [x, -x, -2.0 * x, x], executor=engine))

    with pytest.raises(ValueError, match=r"no root of -4\.0"):
        te.grad(program)(4.0)
    assert te.grad(lambda x: sum(te.fork_map(far.raising, [x, 4.0 * x], executor=engine)))(4.0) == 0.25 + 0.5


def test_a_slow_worker_holds_up_nobody_but_who_waits_for_it(engine: Any) -> None:
    value, backpropagator = te.vjp(lambda xs: te.fork_map(far.slow, xs, executor=engine), [1.0, 2.0, 3.0, 4.0])
    assert value == [1.0, 4.0, 9.0, 16.0]
    assert backpropagator([1.0, 1.0, 1.0, 2.0]) == ([2.0, 4.0, 6.0, 16.0],)


@pytest.mark.parametrize("name", ["processes", "loky"])
def test_a_worker_that_dies_is_one_error(name: str, tmp_path: Path, started: Callable[[str], Any]) -> None:
    skip_without(name)

    def program(x: Any, executor: Any) -> Any:
        y = x * x
        try:
            return sum(te.fork_map(partial(far.dying, str(tmp_path / "died")), [y, x], executor=executor))
        except WorkerError as error:
            assert f"a worker ended while it ran tasks (dying_value), and {type(executor).__name__}" in str(error)
            return 3.0 * y

    with far.started(name, 1) as executor:
        assert te.grad(program)(2.0, executor=executor) == 12.0
    assert te.grad(program)(2.0, executor=started(name)) == 4.0 * 8.0 + 4.0


@pytest.mark.slow
def test_dask_repeats_what_a_dead_worker_was_doing(tmp_path: Path) -> None:
    """Also on the worker with the data that the task uses, and with the tape that a task left there."""
    skip_without("dask")
    with far.started("dask") as client:
        shards = [te.Shared(shard) for shard in far.DATA]

        def dies_between(w: Any) -> Any:
            return te.fork_map(partial(far.hidden, w), shards, executor=client)

        value, backpropagator = te.vjp(dies_between, far.W)
        near, its = te.vjp(lambda w: te.fork_map(partial(far.hidden, w), shards), far.W)
        first = next(iter(client.scheduler_info()["workers"]))
        client.run(os._exit, 1, workers=[first], on_error="ignore")
        assert bits_of(backpropagator(value)) == bits_of(its(near))
        found = te.grad(
            lambda x: sum(te.fork_map(partial(far.dying, str(tmp_path / "d")), [x, 3.0 * x], executor=client))
        )
        assert found(2.0) == 4.0 + 36.0


def test_an_executor_is_an_executor() -> None:
    with pytest.raises(StructureError, match=r"tasks run on a concurrent\.futures\.Executor, a distributed\.Client"):
        te.fork(lambda: 1.0, executor="dask")
