"""Write docs/performance.md from docs/figures.json and docs/peers.json.

python asv_bench/figures.py --runs 2 --json docs/figures.json
python asv_bench/peers/setup.py
python asv_bench/pictures.py
python asv_bench/page.py
"""

import json
import sys
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parents[1]))

from asv_bench.programs.catalogue import PROGRAMS

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
OURS = "tapeengine"
REWRITTEN = ("JAX scan", "CasADi SX", "numba by hand")

Row = dict[str, Any]

INTRODUCTION = """\
# What a derivative costs here, and elsewhere

This page is written by `asv_bench/page.py` from `docs/figures.json` and `docs/peers.json`; every number on it was
measured by a command that stands beside it.

Value and derivative are measured against the same program on plain floats or numpy arrays: in one process, in turns,
the smallest of several samples, by the CPU time of the process. "3 x" means that value and all cotangents together took
three times as long as the plain program. The tools are each held to one thread. A tool's values and derivatives are
compared with central differences of the plain program, and with the other tools', before anything is timed.
"""


def number(value: float) -> str:
    """Write a number with two or three digits."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def table(head: list[str], lines: list[list[str]]) -> str:
    """Return a Markdown table."""
    rows = [head, ["---"] * len(head), *lines]
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def targets(rows: list[Row]) -> str:
    """Return the section with the limits and what was measured."""
    lines = []
    for row in rows:
        value = number(row["value"]) if "value" in row else "not measured"
        verdict = "met" if row.get("met") else "**missed**"
        detail = row.get("detail", row.get("error", ""))
        lines.append([row["what"], f"{number(row['limit'])} {row['unit']}", value, verdict, detail])
    met = sum(bool(row.get("met")) for row in rows)
    spread = max((row["spread"] for row in rows if "spread" in row), default=1.0)
    return f"""\
## Limits that this project sets itself

{met} of {len(rows)} are met. Where a target was measured in several runs the smallest figure counts; these runs
differ by up to {100 * (spread - 1):.0f} %, which is the noise of this page.

    python asv_bench/figures.py --runs 2 --json docs/figures.json

{table(["what", "at most", "measured", "", "detail"], lines)}
"""


def best(rows: list[Row]) -> dict[str, dict[str, Row]]:
    """Return for each program each tool's row of the largest size that it finished."""
    found: dict[str, dict[str, Row]] = {}
    for row in sorted(rows, key=lambda row: int(row["size"])):
        if "ratio" in row:
            found.setdefault(row["program"], {})[row["tool"]] = row
    return found


def cell(row: Row | None, most: int) -> str:
    """Return a ratio, with its size where that is not the largest."""
    if row is None:
        return ""
    return number(row["ratio"]) + (f" (n={row['size']})" if row["size"] < most else "")


def cost(found: dict[str, dict[str, Row]], tools: list[str]) -> str:
    """Return the table of ratios: programs down, tools across."""
    lines = []
    for name in PROGRAMS:
        if name in found:
            most = max(row["size"] for row in found[name].values())
            lines.append([f"{name} {most}", *(cell(found[name].get(tool), most) for tool in tools)])
    return table(["program and size", *tools], lines)


def wins(rows: list[Row]) -> str:
    """Return the lines that name each tool that is faster than this one, at the largest size that both finished."""
    ratios: dict[tuple[str, str], dict[int, float]] = {}
    for row in rows:
        if "ratio" in row:
            ratios.setdefault((row["program"], row["tool"]), {})[row["size"]] = row["ratio"]
    lines = []
    for (name, tool), theirs in ratios.items():
        ours = ratios.get((name, OURS), {})
        size = max(theirs.keys() & ours.keys(), default=0)
        if size and theirs[size] < ours[size]:
            kind = "rewritten" if tool in REWRITTEN else "as it is"
            times = f"{number(ours[size] / theirs[size])} times"
            lines.append(f"* {name} {size}: {tool} ({kind}), {times} as fast in the steady state.")
    return "\n".join(sorted(lines))


def compiled_first(found: dict[str, dict[str, Row]]) -> str:
    """Return the table of seconds to the first derivative against the tools that compile or build a graph."""
    tools = [OURS, "JAX jit", "JAX scan", "CasADi SX", "numba by hand"]
    lines = []
    for name in PROGRAMS:
        rows = found.get(name, {})
        if OURS in rows and len(rows.keys() & set(tools)) > 1:
            size = rows[OURS]["size"]
            shown = [number(rows[t]["first"]) if t in rows and rows[t]["size"] == size else "" for t in tools]
            lines.append([f"{name} {size}", *shown])
    return table(["seconds", *tools], lines)


def refusals(rows: list[Row]) -> str:
    """Return the table of cases that a tool refused, or where it failed."""
    found: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        why = row.get("refused") or row.get("error")
        if why:
            found.setdefault((row["tool"], why), []).append(f"{row['program']} {row['size']}")
    lines = [[tool, ", ".join(cases), f"`{why}`"] for (tool, why), cases in sorted(found.items())]
    return table(["tool", "programs", "why there is no figure"], lines)


def picture(name: str, text: str) -> str:
    """Return a picture with the sentence that describes it."""
    return f"![{text}](performance/{name}.svg)"


def peers(data: dict[str, Any]) -> str:
    """Return the sections that compare the tools."""
    found, tools = best(data["rows"]), list(data["tools"])
    machine = data["machine"]
    where = f"{machine['processor']}, {machine['cores']} cores, {machine['system']}"
    load = f"While this was measured, {machine['load']} processes wanted a core on average."
    versions = ", ".join(f"{tool} {version}" for tool, version in data["tools"].items())
    memory = sorted(data["memory"].items(), key=lambda item: item[1])
    return f"""\
## The same programs in other tools

Commit {data["commit"]}, {data["day"]}, {where}, Python {machine["python"]}, numpy {machine["numpy"]}. {versions}.
{load} Ratios are of CPU time and little disturbed by that; seconds to the first derivative are by the
clock on the wall, and suffer for all tools alike. Cases that were not run again are kept from earlier commits.

    make peers

### Cost

{picture("cost", "Value and gradient over the plain program, for each tool and program")}

Ratios to the plain program in the steady state, at the largest size that the tool finished; smaller sizes are noted.
JAX scan, CasADi SX and numba by hand run another program than the one written in Python.

{cost(found, tools)}

Where another tool is faster:

{wins(data["rows"]) or "* nowhere on this list."}

### Growth

{picture("growth", "The ratio of the scalar loop over its length, for each tool")}

### Reading and writing by index

{picture("index", "Nanoseconds for each element of two loops over an array, for each tool")}

A line that stays flat reads or writes one element at a cost that does not depend on the array's length.

### Time to the first derivative

{picture("first", "Seconds to the first derivative, for each tool")}

Tracing, building a graph, compiling and running once; imports are not counted. Against the tools that compile:

{compiled_first(found)}

### Memory

{picture("memory", "Bytes for each operation, for each tool")}

{table(["tool", "bytes an operation"], [[tool, number(value)] for tool, value in memory])}

### What could not be measured

{refusals(data["rows"])}
"""


REPEAT = """\
## How to repeat it

    make bench                      all benchmarks under asv, and the limits above
    make bench-quick                the counts exactly, and every benchmark once
    make bench-compare BASE=commit  is this commit slower than another, beyond the noise of two equal ones?
    make peers                      the other tools, in a virtual environment of their own
    python asv_bench/pictures.py    the pictures
    python asv_bench/page.py        this page
"""


def main() -> int:
    """Write the page."""
    figures = json.loads((DOCS / "figures.json").read_text())
    data = json.loads((DOCS / "peers.json").read_text())
    page = "\n".join([INTRODUCTION, targets(figures), peers(data), REPEAT])
    (DOCS / "performance.md").write_text(page)
    return 0


if __name__ == "__main__":
    sys.exit(main())
