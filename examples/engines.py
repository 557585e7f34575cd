"""Where the tasks of an example run: one argument chooses between threads, processes and dask."""

import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any


@contextmanager
def started(name: str, workers: int = 2) -> Iterator[Any]:
    """Start an engine; its tasks have ended when it ends."""
    if name == "threads":
        with ThreadPoolExecutor(workers) as executor:
            yield executor
    elif name == "processes":
        with ProcessPoolExecutor(workers) as executor:
            yield executor
    elif name == "dask":
        from distributed import Client, LocalCluster

        with LocalCluster(n_workers=workers, threads_per_worker=1) as cluster, Client(cluster) as client:
            yield client
    else:
        sys.exit(f"threads, processes or dask, not {name}")


def run(main: Callable[..., dict[str, Any]], *sizes: int) -> None:
    """Run an example as ``python example.py [engine] [sizes]`` says."""
    name, *given = [*sys.argv[1:], *["threads", *map(str, sizes)][len(sys.argv) - 1 :]]
    with started(name) as executor:
        for what, found in main(executor, *map(int, given)).items():
            print(f"{what}: {found}")
