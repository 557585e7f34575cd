"""Programs with tasks on workers, in a module that workers can import; run as a script, it prints their bits.

python tests/far_programs.py threads|processes|loky|dask|ray
mpirun -n 3 python -m mpi4py.futures tests/far_programs.py mpi
"""

import os
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from multiprocessing import get_context
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import tapeengine as te
import tapeengine.math as tm
import tapeengine.numpy as tnp

RNG = np.random.default_rng(11)
W = RNG.normal(size=12)
DATA = RNG.normal(size=(3, 30, 12))


def squares(w: Any, shard: Any) -> Any:
    """One number from many: rows."""
    return tnp.sum(tnp.tanh(shard @ w) ** 2)


def moments(w: Any, shard: Any) -> Any:
    """Few numbers from many: rows."""
    p = shard @ w
    return tnp.sum(p), (tnp.sum(tnp.sin(p)), len(shard))


def hidden(w: Any, shard: Any) -> Any:
    """As many results as inputs: the tape."""
    return tnp.tanh(shard @ w)


def price(w: Any, shard: Any) -> Any:
    """Rules that keep more on tapes of higher order, and that round differently there."""
    prices = w[0] * np.exp(np.cumsum(w[1] + 0.3 * w[2] * shard, axis=1))
    return np.mean(np.maximum(np.mean(prices, axis=1), 0.1)), np.mean(np.maximum(prices[:, -1], 0.1))


def wave(w: Any, k: int) -> Any:
    """Plain Python."""
    x = w[k]
    for _ in range(5):
        x = tm.sin(x) * w[k + 1] + x
    return x


def part(k: int) -> Any:
    """The data that a loader reads."""
    return DATA[k]


def program(executor: Any, shards: Any, parts: Any, w: Any) -> Any:
    """All kinds of tasks, in sequence."""
    a = te.fork_map(partial(squares, w), shards, executor=executor)
    b = te.fork_map(partial(moments, 0.5 * w), parts, executor=executor)
    c = te.fork_map(partial(hidden, w * w), shards, executor=executor)
    b += te.fork_map(partial(price, w), shards, executor=executor)
    d = te.fork_map(partial(wave, w), range(5), chunksize=2, executor=executor)
    first = sum(x * (k + 0.3) for k, x in enumerate(a)) + sum(p * (q[0] if isinstance(q, tuple) else q) for p, q in b)
    return first + sum(tnp.sum(h * h[::-1]) for h in c) + sum(d)


def derivatives(f: Callable[[Any], Any]) -> Iterator[tuple[str, Any]]:
    """The results of all transforms of the program."""
    v = np.linspace(-1.0, 1.0, W.size)
    yield "gradient", te.value_and_grad(f)(W)
    yield "jvp", te.jvp(f, (W,), (v,))
    yield "hvp", te.hvp(f, (W,), (v,))
    yield "gradient along a gradient", te.grad(lambda w: tnp.sum(te.grad(f)(w) * v))(W)


def bits(value: Any) -> str:
    """The bits of a structure of numbers and arrays."""
    if isinstance(value, tuple):
        return " ".join(map(bits, value))
    return np.asarray(value, float).tobytes().hex()


def found(executor: Any, shards: Any = None) -> dict[str, str]:
    """The bits of all derivatives of the program on an executor."""
    held = [te.Shared(x) for x in DATA] if shards is None else shards
    parts = [te.Loaded(part, k) for k in range(len(DATA))]
    return {name: bits(value) for name, value in derivatives(partial(program, executor, held, parts))}


# -- tasks that fail or are slow ---------------------------------------------------------------------------------------
def raising(x: Any) -> Any:
    """Fail where x is negative."""
    if x < 0.0:
        raise ValueError(f"no root of {te.value(x)}")
    return x**0.5


class Coded(Exception):
    """An error whose arguments are not those of its class, as users write them; pickle cannot make it anew."""

    def __init__(self, what: str, code: Any) -> None:
        super().__init__(what)
        self.code = code


class Named(Exception):
    """An error that is made by keyword."""

    def __init__(self, *, code: int) -> None:
        super().__init__(f"code {code}")
        self.code = code


class Reduced(Exception):
    """An error whose own way of pickling fails."""

    def __reduce__(self) -> Any:
        raise ValueError("not to be pickled")


ERRORS = {
    "coded": lambda: Coded("odd", 2),
    "named": lambda: Named(code=7),
    "decoding": lambda: UnicodeDecodeError("utf-8", b"\xff", 0, 1, "no start"),
    "system": lambda: FileNotFoundError(2, "no file", "there.txt"),
    "key": lambda: KeyError("name"),
    "reduced": lambda: Reduced("text"),
    "code that is no data": lambda: Coded("odd", lambda: None),
    "local class": lambda: type("Local", (Exception,), {})("text"),
}


def erring(name: str, x: Any) -> Any:
    """Raise one of the errors."""
    raise ERRORS[name]()


def dying(path: str, x: Any) -> Any:
    """End the process at the first call."""
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return x * x
    os._exit(1)


def slow(x: Any) -> Any:
    """Be slow where x is 1."""
    time.sleep(0.3 if x == 1.0 else 0.0)
    return x * x


def where(x: Any) -> Any:
    """The process in which a task runs."""
    return os.getpid(), x * x


def noise(x: Any) -> Any:
    """Equal tasks whose values differ."""
    return x * np.random.default_rng().normal()


# -- engines ----------------------------------------------------------------------------------------------------------
@contextmanager
def started(name: str, workers: int = 2) -> Iterator[Any]:
    """The engine with a given name, and a function that ends it."""
    if name == "threads":
        with ThreadPoolExecutor(workers) as executor:
            yield executor
    elif name == "processes":
        with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as executor:
            yield executor
    elif name == "loky":
        import loky

        executor = loky.ProcessPoolExecutor(workers)
        yield executor
        executor.shutdown(kill_workers=True)
    elif name == "dask":
        from distributed import Client, LocalCluster

        with (
            LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=":0", silence_logs=50) as cluster,
            Client(cluster) as client,
        ):
            yield client
    elif name == "ray":
        import ray

        ray.init(num_cpus=workers, include_dashboard=False, log_to_driver=False, logging_level=50)
        yield ray
        ray.shutdown()
    else:
        from mpi4py.futures import MPIPoolExecutor

        with MPIPoolExecutor() as executor:
            yield executor


if __name__ == "__main__":
    with started(sys.argv[1]) as engine:
        for what, number in found(engine).items():
            print(what, number, sep=":")
        pids = {te.value_and_grad(lambda x: te.fork_map(where, [x] * 6, executor=engine)[0][1])(3.0)}
        print("square", *pids, sep=":")
        if sys.argv[1] == "ray":
            stored = [engine.put(shard) for shard in DATA]
            print("stored", bits(te.value_and_grad(partial(program, engine, stored, stored))(W)), sep=":")
            with TemporaryDirectory() as folder:
                f = partial(dying, os.path.join(folder, "died"))
                print("died", te.grad(lambda x: sum(te.fork_map(f, [x, 3.0 * x], executor=engine)))(2.0), sep=":")
