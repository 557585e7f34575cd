"""Runs other tools on programs of native code, in a separate process, on demand.

It runs under the interpreter that has the tools. Requests and answers are pickled, on standard input and output.
"""

import os
import pickle
import sys
from collections.abc import Callable
from importlib import import_module
from time import process_time
from typing import Any

os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1")

from asv_bench.measure import repeats_for, sample_time

Thunk = Callable[[], Any]


def prepared(tool: str, name: str, args: tuple[Any, ...]) -> Thunk:
    """Return value and gradient of a program by one tool, as a thunk."""
    return import_module(f"asv_bench.peers.native_{tool}").prepare(name, args)  # type: ignore[no-any-return]


def plain(value: Any) -> Any:
    """Return a value that another interpreter can unpickle: numpy arrays in tuples and lists."""
    if isinstance(value, tuple | list):
        return type(value)(map(plain, value))
    return value.__array__() if hasattr(value, "__array__") else value


def serve() -> None:
    """Answer until there are no more requests."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    thunks: dict[tuple[str, str], tuple[Thunk, int]] = {}
    while True:
        try:
            tool, name, args = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        answer: Any
        if args is None:
            answer = sample_time(*thunks[tool, name])
        else:
            import_module(f"asv_bench.peers.native_{tool}")
            start = process_time()
            thunk = prepared(tool, name, args)
            value = plain(thunk())
            answer = value, process_time() - start
            thunks[tool, name] = thunk, repeats_for(thunk, 0.01)
        pickle.dump(answer, answers)
        answers.flush()


if __name__ == "__main__":
    serve()
