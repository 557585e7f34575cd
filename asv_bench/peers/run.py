"""Measures all tools on all programs and writes docs/peers.json; every case runs in a separate process.

    python -m asv_bench.peers.run                          all tools, all programs
    python -m asv_bench.peers.run --tools tapeengine torch --programs particles dot
    python -m asv_bench.peers.run --quick                  the smallest size of each program

Tools that are not installed, or that cannot be imported, are named and skipped. A case that exceeds the limit of CPU
time, or that crashes, affects only its own row. After the last minute no further case is started; the remaining ones
are named. Rows of an earlier run are kept if they are from the same commit; a run of some tools or programs refuses to
write into a file of another commit.
"""

import argparse
import json
import os
import resource
import signal
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from typing import Any

from asv_bench.peers.idioms import IDIOMS, REWRITTEN, installed
from asv_bench.peers.results import Results, Row, commit, disagreeing
from asv_bench.programs.catalogue import PROGRAMS
from asv_bench.programs.program import Program

ROOT = Path(__file__).resolve().parents[2]
OUTPUT = ROOT / "docs" / "peers.json"
MEMORY = PROGRAMS["particles"], 1000
#: The first call's smallest time for extrapolation, since coarse clocks of processor time may show zero.
CLOCK = 0.01

# -P keeps the sources beside this file off the path, so that the installed tapeengine is measured.
START = f"import sys; sys.path.append({str(ROOT)!r}); from asv_bench.peers.case import main; main(*sys.argv[1:])"


def one_thread() -> dict[str, str]:
    """Return an environment in which every tool computes on one thread."""
    threads = {f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL")}
    flags = {"XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"}
    return dict(os.environ) | threads | flags


def run_process(tool: str, task: str, *arguments: str, limit: float) -> Row:
    """Run one task of one tool in a separate process, with at most `limit` seconds of CPU time.

    A process that sleeps or waits for a core is ended after four times as long by the wall clock.
    """
    command = [sys.executable, "-P", "-c", START, str(limit), task, IDIOMS[tool].module, tool, *arguments]
    wall = 4.0 * limit + 10.0
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=wall, cwd=ROOT, env=one_thread())
    except subprocess.TimeoutExpired:
        return {"error": f"took more than {wall:.0f} s"}
    lines = done.stdout.strip().splitlines()
    if done.returncode or not lines:
        return {"error": ended(done.returncode, done.stderr, limit)}
    row: Row = json.loads(lines[-1])
    return row


def ended(code: int, stderr: str, limit: float) -> str:
    """Describe how a process ended that printed no row."""
    if code in (-signal.SIGXCPU, -signal.SIGKILL):
        return f"took more than {limit:.0f} s of CPU time"
    if code < 0:
        return f"crashed with {signal.Signals(-code).name}"
    return (stderr.strip().splitlines() or [f"exit code {code} and no output"])[-1][:160]


@dataclass
class Run:
    """The measurements of one call of this command.

    Attributes
    ----------
    results
        Where rows are written.
    limit
        Seconds of CPU time for one case.
    end
        The time after which no further case is started, by the monotonic clock.
    refusals
        The tools' reasons for refusing programs, by tool and program.
    left
        The cases that were not started.
    """

    results: Results
    limit: float
    end: float
    refusals: dict[str, dict[str, str]] = field(default_factory=dict)
    left: list[str] = field(default_factory=list)

    def usable(self, tools: list[str]) -> list[str]:
        """Ask each tool for the programs that it refuses; return the tools that answer, and name the others."""
        for tool in tools:
            answer = run_process(tool, "refusals", limit=self.limit) if installed(tool) else {"error": "not installed"}
            if "error" in answer:
                print(f"{tool} is skipped: {answer['error']}", flush=True)
            else:
                self.refusals[tool] = answer
        return [tool for tool in tools if tool in self.refusals]

    def program(self, tool: str, program: Program, sizes: tuple[int, ...]) -> None:
        """Measure a program from its smallest size up, until the tool refuses, fails or would take too long."""
        rows: list[Row] = []
        for size in sizes:
            if monotonic() > self.end:
                self.left.append(f"{program.name} {size} {tool}")
                continue
            row: Row = {"tool": tool, "program": program.name, "size": size, "operations": program.operations(size)}
            row |= self.case(tool, program, size, rows)
            rows.append(row)
            print(f"{program.name:20} {size:8} {tool:14} {told(row)}", flush=True)
            if "ratio" not in row:
                break
        if rows:
            self.results.replace(tool, program.name, rows)

    def case(self, tool: str, program: Program, size: int, smaller: list[Row]) -> Row:
        """Measure one case, unless the tool refuses it or the smaller sizes show that it would take too long."""
        why = self.refusals[tool].get(program.name)
        if why:
            return {"refused": why}
        if smaller and foreseen(smaller, size) > self.limit:
            return {"error": f"would take some {foreseen(smaller, size):.0f} s, more than {self.limit:.0f} s"}
        return run_process(tool, "measure", program.name, str(size), limit=self.limit)

    def memory(self, tools: list[str]) -> None:
        """Measure bytes for each operation, for the tools that finish the program as it is."""
        program, size = MEMORY
        able = {
            r["tool"] for r in self.results.rows if (r["program"], r["size"]) == (program.name, size) and "ratio" in r
        }
        for tool in tools:
            if tool in able and tool not in REWRITTEN and monotonic() < self.end:
                row = run_process(tool, "memory", program.name, str(size), limit=self.limit)
                print(f"{tool:14} {row.get('bytes', row)} B an operation", flush=True)
                if "bytes" in row:
                    self.results.memory[tool] = float(row["bytes"])
        self.results.write()


def foreseen(rows: list[Row], size: int) -> float:
    """Estimate the CPU time for the next size: some calls, and a first one that keeps its rate of growth."""
    last = rows[-1]
    growth = size / last["size"]
    steady = 6.0 * last["steady"] * growth
    if len(rows) > 1:
        before, now = (max(row["first_cpu"], CLOCK) for row in rows[-2:])
        growth *= max(1.0, now / before / (last["size"] / rows[-2]["size"]))
    return float(last["first_cpu"] * growth + steady)


def told(row: Row) -> str:
    """Return the printed form of a row."""
    if "ratio" in row:
        return f"{row['ratio']:10.3g} x, first {row['first']:.3g} s"
    return str(row.get("error") or row.get("refused"))


def options_of(arguments: list[str] | None) -> Any:
    """Read the command line."""
    parser = argparse.ArgumentParser(description="Compare tapeengine with other tools.")
    parser.add_argument("--tools", nargs="*", choices=list(IDIOMS), default=list(IDIOMS))
    parser.add_argument("--programs", nargs="*", choices=list(PROGRAMS), default=list(PROGRAMS))
    parser.add_argument("--quick", action="store_true", help="only the smallest size of each program")
    parser.add_argument("--memory", action=argparse.BooleanOptionalAction, default=True, help="bytes an operation")
    parser.add_argument("--limit", type=float, default=15.0, help="seconds of CPU time for one case")
    parser.add_argument("--minutes", type=float, default=25.0, help="when to start no further case")
    parser.add_argument("--output", type=Path, default=OUTPUT)
    parser.add_argument("--fresh", action="store_true", help="drop the rows of another commit, also in a partial run")
    return parser.parse_args(arguments)


def partial(options: Any) -> bool:
    """Say whether only some tools, programs or sizes are measured."""
    return options.quick or set(options.tools) < set(IDIOMS) or set(options.programs) < set(PROGRAMS)


def main(arguments: list[str] | None = None) -> int:
    """Run the command; the exit code says whether tools disagree about a derivative, or cases were not started."""
    options, started = options_of(arguments), monotonic()
    run = Run(Results(options.output, commit()), options.limit, started + 60.0 * options.minutes)
    if run.results.left_out and partial(options) and not options.fresh:
        print(f"{options.output} holds {run.results.left_out}: run everything, or give --output FILE or --fresh")
        return 2
    if run.results.left_out:
        print(f"{options.output.name}: left out {run.results.left_out}", flush=True)
    tools = run.usable(options.tools)
    for name in options.programs:
        sizes = PROGRAMS[name].sizes[:1] if options.quick else PROGRAMS[name].sizes
        for tool in tools:
            run.program(tool, PROGRAMS[name], sizes)
    if options.memory:
        run.memory(tools)
    complaints = disagreeing(run.results.rows)
    print("\n".join(complaints) or "all tools agree")
    print("".join(f"not started, time is over: {case}\n" for case in run.left), end="")
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"{(monotonic() - started) / 60:.1f} minutes, {(used.ru_utime + used.ru_stime) / 60:.1f} of CPU time")
    return bool(complaints or run.left)


if __name__ == "__main__":
    sys.exit(main())
