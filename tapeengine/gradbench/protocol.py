"""GradBench's protocol: one JSON message per line, and one response per line with the message's id.

A message of kind ``define`` asks whether an evaluation exists; one of kind ``evaluate`` runs a function of it at least
``min_runs`` times and for at least ``min_seconds`` seconds; every other kind is acknowledged.
"""

from __future__ import annotations

import json
import time
import traceback
from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from types import MappingProxyType
from typing import Any, TextIO

import tapeengine

from .functions import Function

Message = dict[str, Any]
Response = dict[str, Any]

EVALUATIONS = (
    "hello", "gmm", "ba", "lstm", "ht", "det", "kmeans", "llsq", "lse", "ode", "particle", "saddle",
)  # fmt: skip


def serve(lines: TextIO, out: TextIO) -> None:
    """Answer every message of `lines` on `out`, in order."""
    for line in lines:
        if line.strip():
            out.write(json.dumps(respond(json.loads(line))) + "\n")
            out.flush()


def respond(message: Message) -> Response:
    """Return the response to one message; it reports an error of ours, and the next message is answered."""
    answer = _ANSWERS.get(message["kind"], _acknowledge)
    try:
        return {"id": message["id"]} | answer(message)
    except Exception:
        return {"id": message["id"], "success": False, "error": traceback.format_exc()}


def _start(message: Message) -> Response:
    return {"tool": "tapeengine", "config": {"version": tapeengine.__version__}}


def _acknowledge(message: Message) -> Response:
    return {}


def _define(message: Message) -> Response:
    if message["module"] in EVALUATIONS:
        _functions(message["module"])
        return {"success": True}
    return {"success": False, "error": f"no evaluation {message['module']!r}; there are {', '.join(EVALUATIONS)}"}


def _evaluate(message: Message) -> Response:
    if message["module"] not in EVALUATIONS or message["function"] not in _functions(message["module"]):
        return {"success": False, "error": f"no function {message['function']!r} in {message['module']!r}"}
    function = _functions(message["module"])[message["function"]]
    given = message["input"]
    result, timings = _timed(function, given, *_runs(given))
    return {"success": True, "output": function.finish(result), "timings": timings}


def _runs(given: Any) -> tuple[int, float]:
    """The smallest number of runs and the shortest time; one run if the input does not say."""
    named = given if isinstance(given, dict) else {}
    return named.get("min_runs", 1), named.get("min_seconds", 0.0)


def _timed(function: Function, given: Any, runs: int, seconds: float) -> tuple[Any, list[Response]]:
    """Run a function on prepared arguments until both limits are reached; return the last result and all times."""
    arguments = function.prepare(given)
    times: list[int] = []
    result = None
    while not times or len(times) < runs or sum(times) < 1e9 * seconds:
        start = time.perf_counter_ns()
        result = function.compute(*arguments)
        times.append(time.perf_counter_ns() - start)
    return result, [{"name": "evaluate", "nanoseconds": spent} for spent in times]


@cache
def _functions(evaluation: str) -> Mapping[str, Function]:
    return MappingProxyType(import_module(f"tapeengine.gradbench.{evaluation}").FUNCTIONS)


_ANSWERS: Mapping[str, Callable[[Message], Response]] = MappingProxyType(
    {"start": _start, "define": _define, "evaluate": _evaluate}
)
