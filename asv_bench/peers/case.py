"""Runs one tool on one program of one size in a separate process: checks the numbers, then measures times.

Each task prints one JSON object; the process may use LIMIT seconds of CPU time.

    python -m asv_bench.peers.case LIMIT measure MODULE TOOL PROGRAM SIZE     times, value and slope
    python -m asv_bench.peers.case LIMIT memory MODULE TOOL PROGRAM SIZE      bytes for each operation
    python -m asv_bench.peers.case LIMIT refusals MODULE TOOL                 the programs that the tool cannot run
"""

import importlib
import json
import math
import resource
import sys
from time import process_time
from typing import Any

import numpy as np

from asv_bench.measure import adbench_time, first_time, interleaved, peak_bytes
from asv_bench.peers.leaves import flat, leaves, rebuilt, total
from asv_bench.peers.tool import Derivative, NotExpressible, Tool
from asv_bench.programs.catalogue import PROGRAMS
from asv_bench.programs.program import Program

ADBENCH = ("gmm", "lstm", "ba_sum", "hand", "hand_complicated")


def find_tool(module: str, name: str) -> Tool:
    """Return the tool with that name; the import fails if the tool is not installed."""
    tools: tuple[Tool, ...] = importlib.import_module(f"asv_bench.peers.{module}").TOOLS
    return next(tool for tool in tools if tool.name == name)


def direction(parts: list[Any]) -> list[Any]:
    """Draw the direction for comparing derivatives."""
    draw = np.random.default_rng(0).standard_normal
    return [draw() if isinstance(part, float) else draw(part.shape) for part in parts]


def difference_quotient(program: Program, size: int) -> tuple[float, float]:
    """Return the plain value and its slope along `direction`, by central differences of two steps."""
    run, primals = program.problem(size, math if program.flavour == "scalars" else np)
    parts = leaves(primals)
    along = direction(parts)

    def at(step: float) -> float:
        moved = [part + step * part_along for part, part_along in zip(parts, along)]
        return float(total(run(*rebuilt(primals, moved))))

    norm = math.sqrt(sum(part * part if isinstance(part, float) else float(np.sum(part * part)) for part in along))
    step = 1e-4 / max(1.0, norm)
    coarse, fine = ((at(h) - at(-h)) / (2 * h) for h in (2 * step, step))
    return float(total(run(*primals))), (4.0 * fine - coarse) / 3.0


def check(program: Program, size: int, result: tuple[float, list[Any]]) -> float:
    """Compare value and slope with the plain program, and return the slope."""
    value, slope = difference_quotient(program, size)
    found = float(flat(list(result[1])) @ flat(direction(leaves(program.problem(size, None)[1]))))
    if abs(float(total(result[0])) - value) > 1e-9 * abs(value):
        raise ArithmeticError(f"value {result[0]!r} instead of {value!r}")
    if abs(found - slope) > 1e-5 * max(abs(slope), abs(value)):
        raise ArithmeticError(f"slope {found!r} instead of {slope!r}")
    return found


def rounds_for(derivative: Derivative) -> int:
    """Return the number of samples for a derivative: fewer if one call is long."""
    started = process_time()
    derivative()
    taken = process_time() - started
    return 1 if taken > 1.0 else 2 if taken > 0.3 else 5


def times(program: Program, size: int, derivative: Derivative) -> dict[str, float]:
    """Measure the steady state interleaved with the plain program, and by ADBench's method for its objectives."""
    run, primals = program.problem(size, math if program.flavour == "scalars" else np)
    best = interleaved({"plain": lambda: run(*primals), "derivative": derivative}, rounds_for(derivative))
    row = {"plain": best["plain"], "steady": best["derivative"], "ratio": best["derivative"] / best["plain"]}
    if program.name in ADBENCH:
        row["adbench"] = adbench_time(derivative, shortest=0.2, limit=2.0)
    return row


def measure(tool: Tool, program: Program, size: int) -> dict[str, Any]:
    """Return the row of one case."""
    made: list[Derivative] = []
    results: list[Any] = []

    def first_derivative() -> None:
        made.append(tool.prepare(program, size))
        results.append(made[0]())

    started = process_time()
    first = first_time(first_derivative)
    used = process_time() - started
    result = results.pop()
    row = {"first": first, "first_cpu": used, "value": float(total(result[0])), "slope": check(program, size, result)}
    return row | times(program, size, made[0])


def memory(tool: Tool, program: Program, size: int) -> dict[str, float]:
    """Return the growth of the process's peak in bytes for each operation, after a small run that loads everything."""
    tool.prepare(program, program.sizes[0])()
    before = peak_bytes()
    tool.prepare(program, size)()
    return {"bytes": (peak_bytes() - before) / program.operations(size)}


def refusals(tool: Tool) -> dict[str, str]:
    """Return the reasons why the tool cannot run some of the programs, by program."""
    found = {name: tool.refusal(program) for name, program in PROGRAMS.items()}
    return {name: why for name, why in found.items() if why}


def row_of(task: str, tool: Tool, name: str, size: str) -> dict[str, Any]:
    """Return the row of one case; an error of the tool is a row as well."""
    try:
        return {"measure": measure, "memory": memory}[task](tool, PROGRAMS[name], int(size))
    except NotExpressible as error:
        return {"refused": str(error)}
    except Exception as error:
        message = str(error).strip().splitlines() or [""]
        return {"error": f"{type(error).__name__}: {message[0]}"[:160]}


def main(limit: str, task: str, module: str, name: str, *case: str) -> None:
    """Print the result of a task as JSON; see the top of this file."""
    seconds = math.ceil(float(limit))
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))
    sys.setrecursionlimit(20_000)
    tool = find_tool(module, name)
    print(json.dumps(refusals(tool) if task == "refusals" else row_of(task, tool, *case)))


if __name__ == "__main__":
    main(*sys.argv[1:])
