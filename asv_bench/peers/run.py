"""Measure all tools on all programs and write docs/peers.json; every case runs in a process of its own.

    python -m asv_bench.peers.run                          all tools, all programs
    python -m asv_bench.peers.run --tools tapeengine torch --programs particles dot
    python -m asv_bench.peers.run --quick                  the smallest size of each program

Rows of cases that are not run again are kept. Tools that are not installed are named and skipped.
"""

import argparse
import importlib.metadata
import importlib.util
import json
import os
import platform
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from asv_bench.programs.catalogue import PROGRAMS
from asv_bench.programs.program import Program

ROOT = Path(__file__).resolve().parents[2]
OUTPUT = ROOT / "docs" / "peers.json"

Row = dict[str, Any]

# Tool in its idiom: module, distribution, import name.
TOOLS = {
    "tapeengine": ("engine", "tapeengine", "tapeengine"),
    "Python tape": ("python_tape", "python", "sys"),
    "XAD": ("xad_tape", "xad", "xad"),
    "micrograd": ("micrograd_values", "micrograd", "micrograd"),
    "autograd": ("hips_autograd", "autograd", "autograd"),
    "torch": ("torch_eager", "torch", "torch"),
    "mygrad": ("mygrad_tensors", "mygrad", "mygrad"),
    "JAX eager": ("jax_idioms", "jax", "jax"),
    "JAX jit": ("jax_idioms", "jax", "jax"),
    "JAX scan": ("jax_idioms", "jax", "jax"),
    "CasADi SX": ("casadi_graph", "casadi", "casadi"),
    "numba by hand": ("numba_adjoint", "numba", "numba"),
}


def installed(tool: str) -> bool:
    """Say whether the tool can be imported."""
    return importlib.util.find_spec(TOOLS[tool][2]) is not None


def version(tool: str) -> str:
    """Return the version of the tool's distribution."""
    distribution = TOOLS[tool][1]
    if distribution == "python":
        return platform.python_version()
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return "from source"


def run_case(tool: str, program: str, size: int, limit: float, task: str = "measure") -> Row:
    """Run one case in a process of its own."""
    # -P keeps the sources beside this file out of the way: the installed tapeengine is measured.
    code = f"import sys; sys.path.append({str(ROOT)!r}); from asv_bench.peers.case import main; main(*sys.argv[1:])"
    command = [sys.executable, "-P", "-c", code, task, TOOLS[tool][0], tool, program, str(size)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit, cwd=ROOT, env=one_thread())
    except subprocess.TimeoutExpired:
        return {"error": f"took more than {limit:.0f} s"}
    lines = done.stdout.strip().splitlines()
    if done.returncode or not lines:
        return {"error": (done.stderr.strip().splitlines() or ["no output"])[-1][:160]}
    row: Row = json.loads(lines[-1])
    return row


def one_thread() -> dict[str, str]:
    """Return an environment in which every tool computes on one thread."""
    threads = {f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL")}
    flags = {"XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"}
    return dict(os.environ) | threads | flags


def run_program(tool: str, program: Program, sizes: tuple[int, ...], limit: float) -> list[Row]:
    """Measure a program from its smallest size up, until the tool refuses, fails or takes too long."""
    rows: list[Row] = []
    for size in sizes:
        if rows and foreseen(rows, size) > limit / 2:
            break
        row: Row = {"tool": tool, "program": program.name, "size": size, "operations": program.operations(size)}
        row |= run_case(tool, program.name, size, limit)
        rows.append(row)
        print(f"{program.name:20} {size:8} {tool:14} {told(row)}", flush=True)
        if "ratio" not in row:
            break
    return rows


def foreseen(rows: list[Row], size: int) -> float:
    """Guess the seconds that the next size takes: some calls, and a first one that grows as it has grown so far."""
    first = rows[-1]["first"] * (rows[-1]["first"] / rows[-2]["first"] if len(rows) > 1 else 1.0)
    return float(first + 4.0 * rows[-1]["steady"] * size / rows[-1]["size"])


def told(row: Row) -> str:
    """Return what is printed of a row."""
    if "ratio" in row:
        return f"{row['ratio']:10.3g} x, first {row['first']:.3g} s"
    return str(row.get("error") or row.get("refused"))


def run_memory(tools: list[str], limit: float) -> dict[str, float]:
    """Measure bytes for each operation of 1000 steps of the particles."""
    found = {}
    for tool in tools:
        row = run_case(tool, "particles", 1000, limit, "memory")
        if "bytes" in row:
            found[tool] = float(row["bytes"])
            print(f"{tool:14} {found[tool]:8.0f} B an operation", flush=True)
    return found


def disagreeing(rows: list[Row]) -> list[str]:
    """Return a line for each case whose slope differs from the other tools' by more than 1e-8."""
    lines = []
    for row in rows:
        if "slope" in row:
            case = row["program"], row["size"]
            others = sorted(r["slope"] for r in rows if "slope" in r and (r["program"], r["size"]) == case)
            middle = others[len(others) // 2]
            if abs(row["slope"] - middle) > 1e-8 * max(abs(middle), abs(row["value"])):
                lines.append(f"{row['tool']} on {row['program']} {row['size']}: {row['slope']!r}, others {middle!r}")
    return lines


def machine() -> dict[str, Any]:
    """Describe this machine."""
    cpu = Path("/proc/cpuinfo")
    lines = cpu.read_text().splitlines() if cpu.exists() else []
    names = [line.split(":")[1].strip() for line in lines if line.startswith("model name")]
    return {
        "processor": names[0] if names else platform.processor(),
        "cores": os.cpu_count(),
        "load": round(os.getloadavg()[1], 1),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "numpy": importlib.metadata.version("numpy"),
    }


def commit() -> str:
    """Return the commit that is measured."""
    done = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, cwd=ROOT)
    return done.stdout.strip()


def merged(old: list[Row], rows: list[Row]) -> list[Row]:
    """Replace the rows of the cases that were run again."""
    fresh = {(row["tool"], row["program"]) for row in rows}
    return [row for row in old if (row["tool"], row["program"]) not in fresh] + rows


def write(path: Path, rows: list[Row], memory: dict[str, float]) -> None:
    """Write the file, with versions, machine, commit and day."""
    old = json.loads(path.read_text()) if path.exists() else {"rows": [], "memory": {}}
    tools = {tool: version(tool) for tool in TOOLS if installed(tool)}
    head = {"machine": machine(), "commit": commit(), "day": datetime.now(UTC).date().isoformat(), "tools": tools}
    head["memory"] = old["memory"] | memory
    body = ",\n".join(json.dumps(row) for row in merged(old["rows"], rows))
    path.write_text(json.dumps(head, indent=1)[:-2] + ',\n "rows": [\n' + body + "\n]}\n")


def main(arguments: list[str] | None = None) -> int:
    """Run the command; the exit code tells whether tools disagree about a derivative."""
    parser = argparse.ArgumentParser(description="Compare tapeengine with other tools.")
    parser.add_argument("--tools", nargs="*", choices=list(TOOLS), default=list(TOOLS))
    parser.add_argument("--programs", nargs="*", choices=list(PROGRAMS), default=list(PROGRAMS))
    parser.add_argument("--quick", action="store_true", help="only the smallest size of each program")
    parser.add_argument("--memory", action=argparse.BooleanOptionalAction, default=True, help="bytes an operation")
    parser.add_argument("--limit", type=float, default=60.0, help="seconds for one case")
    parser.add_argument("--output", type=Path, default=OUTPUT)
    options = parser.parse_args(arguments)
    for tool in [tool for tool in options.tools if not installed(tool)]:
        print(f"{tool} is not installed: skipped")
        options.tools.remove(tool)
    rows: list[Row] = []
    for name in options.programs:
        sizes = PROGRAMS[name].sizes[:1] if options.quick else PROGRAMS[name].sizes
        for tool in options.tools:
            rows += run_program(tool, PROGRAMS[name], sizes, options.limit)
        write(options.output, rows, {})
    complaints = disagreeing(rows)
    print("\n".join(complaints) or "all tools agree")
    write(options.output, rows, run_memory(options.tools, options.limit) if options.memory else {})
    return bool(complaints)


if __name__ == "__main__":
    sys.exit(main())
