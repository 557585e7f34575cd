"""Writes docs/performance.md from docs/figures.json, docs/noise.json and docs/peers.json.

python asv_bench/figures.py --runs 2 --json docs/figures.json
make peers page
"""

import json
import math
import re
import sys
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parents[1]))

from asv_bench.peers.idioms import COMPILED, OURS, REWRITTEN
from asv_bench.peers.run import MEMORY
from asv_bench.programs.catalogue import PROGRAMS

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
SECOND = "te.program"
ARRAY_LOOPS = ("index_reads", "recurrence", "unrolled")
LOOPS = (*(name for name, program in PROGRAMS.items() if program.flavour == "scalars"), *ARRAY_LOOPS)

Row = dict[str, Any]

INTRODUCTION = """\
# Performance: what a derivative costs here, and elsewhere

*For people who compare tools, and for those who change this one. After this page you can say what a derivative of your
kind of program costs, and measure it again.*

A figure such as "3 x" means: value and all cotangents together took three times as long as the same program on plain
floats or numpy arrays. Both run in one process and take turns, on one thread. Times are CPU times; of several samples
the smallest counts. Before a tool is timed, its values and derivatives are compared with central differences of the
plain program and with the results of the other tools.

`asv_bench/page.py` writes this page from `docs/figures.json`, `docs/noise.json` and `docs/peers.json`. Each section
shows the command that measured its numbers.
"""


def number(value: float) -> str:
    """Write a number with two or three digits."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def table(head: list[str], lines: list[list[str]]) -> str:
    """Return a Markdown table."""
    rows = [head, ["---"] * len(head), *lines]
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


#: The reasons for missed limits, by the name of the target.
REASONS = {
    "recurrence written into an array, 10^3 to 10^6": "The nanoseconds for an element follow no trend in the size: "
    "memory that is touched for the first time costs up to three times as much as memory that is used again.",
}


def reasons(rows: list[Row]) -> str:
    """Return a line for each missed limit whose reason is known."""
    missed = [row["what"] for row in rows if not row.get("met") and row["what"] in REASONS]
    return "\n".join(f"* {what}: {REASONS[what]}" for what in missed)


def plain_numbers(text: str) -> str:
    """Write the numbers of a text without powers of ten."""
    return re.sub(r"\d\.\d+e\+\d+", lambda found: number(float(found[0])), text)


def shortened(detail: str, most: int = 12) -> str:
    """Keep the largest figures of a long list of programs."""
    parts = detail.split("; ")
    if len(parts) <= most or not all(re.fullmatch(r".* [\d.,]+", part) for part in parts):
        return detail
    largest = sorted(parts, key=lambda part: -float(part.split()[-1].replace(",", "")))
    return "; ".join(largest[:3]) + f"; {len(parts) - 3} others at most {largest[3].split()[-1]}"


def verdict_of(row: Row) -> str:
    """Say whether a limit is met; some targets have a second limit, which their detail states."""
    if not row.get("met"):
        return "**missed**"
    return "met" if row["value"] <= row["limit"] else "met by its second limit"


def targets(rows: list[Row]) -> str:
    """Return the section with the limits and the measurements."""
    lines = []
    for row in rows:
        value = number(row["value"]) if "value" in row else "not measured"
        verdict = verdict_of(row)
        detail = shortened(plain_numbers(row.get("detail", row.get("error", ""))))
        lines.append([row["what"], f"{number(row['limit'])} {row['unit']}", value, verdict, detail])
    met = sum(bool(row.get("met")) for row in rows)
    spread = max((row["spread"] for row in rows if "spread" in row), default=1.0)
    return f"""\
## Limits that this project sets itself

{met} of {len(rows)} are met. Of several runs the smallest figure is shown; they differ by up to
{100 * (spread - 1):.0f} %.

```console
$ python asv_bench/figures.py --runs 2 --json docs/figures.json
```

{table(["what", "at most", "measured", "verdict", "detail"], lines)}

{reasons(rows)}
"""


def noise(stated: dict[str, Any]) -> str:
    """Return the section with the band within which two full runs on one commit agree; empty without such runs."""
    if not stated:
        return ""
    rows = [
        [kind, *(number(row[part]) for part in ("benchmarks", "median", "most", "largest", "band"))]
        for kind, row in stated["kinds"].items()
    ]
    return f"""\
## The noise of `make bench`

Two full runs on one commit ({", ".join(stated["commits"])}) are compared. All {stated["counts"]} counts are equal. For
every other benchmark the table has the larger measurement over the smaller one: half of the benchmarks stay within the
first figure, 95 % within the second, all within the third. The band is the third figure rounded up; `make bench-agree`
fails where two runs differ by more.

```console
$ make bench BENCH_ARGS="--rounds 1"; make bench BENCH_ARGS="--rounds 1"; make bench-agree BENCH_ARGS=--write
```

{table(["kind", "benchmarks", "half within", "95 % within", "all within", "band"], rows)}
"""


def best(rows: list[Row]) -> dict[str, dict[str, Row]]:
    """Return for each program each tool's row for the largest size that it finished."""
    found: dict[str, dict[str, Row]] = {}
    for row in sorted(rows, key=lambda row: int(row["size"])):
        if "ratio" in row:
            found.setdefault(row["program"], {})[row["tool"]] = row
    return found


def cell(row: Row | None, most: int, is_bold: bool) -> str:
    """Return a ratio, with its size if that is not the largest."""
    if row is None:
        return ""
    ratio = number(row["ratio"])
    return (f"**{ratio}**" if is_bold else ratio) + (f" (n={row['size']})" if row["size"] < most else "")


def cost(rows: list[Row], tools: list[str]) -> str:
    """Return the table of ratios, with a row for each program and a column for each tool, without empty rows.

    A bold figure is that of a tool that is faster than this engine at the largest size that both finished.
    """
    found, faster = best(rows), {key for key, (_, factor) in against(rows, "ratio").items() if is_faster(factor)}
    lines = []
    for name in PROGRAMS:
        if found.get(name, {}).keys() & set(tools):
            most = max(row["size"] for row in found[name].values())
            cells = (cell(found[name].get(tool), most, (name, tool) in faster) for tool in tools)
            lines.append([f"{name} {most}", *cells])
    return table(["program and size", *tools], lines)


def against(rows: list[Row], what: str) -> dict[tuple[str, str], tuple[int, float]]:
    """Return, by program and tool, the largest size that both finished and this engine's figure over the tool's."""
    figures: dict[tuple[str, str], dict[int, float]] = {}
    for row in rows:
        if "ratio" in row:
            figures.setdefault((row["program"], row["tool"]), {})[row["size"]] = row[what]
    found = {}
    for (name, tool), theirs in figures.items():
        ours = figures.get((name, OURS), {})
        size = max(theirs.keys() & ours.keys(), default=0)
        if size and tool != OURS:
            found[name, tool] = size, ours[size] / theirs[size]
    return found


def is_faster(factor: float) -> bool:
    """Whether this engine's figure exceeds another tool's by half a percent or more; less is written as 1."""
    return factor >= 1.005


def lowest(rows: list[Row], names: tuple[str, ...], tools: list[str], what: str) -> tuple[int, int, str]:
    """Count the programs on which this engine has the lowest figure among the tools, and all; name the other ones."""
    compared = {key: value for key, value in against(rows, what).items() if key[0] in names and key[1] in tools}
    better: dict[str, list[str]] = {}
    for (name, tool), (size, factor) in sorted(compared.items()):
        if is_faster(factor):
            better.setdefault(f"{name} {size}", []).append(f"{tool}, {number(factor)} times")
    programs, lost = {name for name, _ in compared}, {case.split()[0] for case in better}
    return len(programs - lost), len(programs), ", ".join(f"{case} ({'; '.join(by)})" for case, by in better.items())


def repaid(rows: list[Row], tool: str) -> str:
    """Say after how many calls a compiling tool has made up for its slower first derivative, by program."""
    found = {(row["program"], row["size"], row["tool"]): row for row in rows if "ratio" in row}
    said = []
    for (name, other), (size, factor) in against(rows, "ratio").items():
        ours, theirs = (found[name, size, which] for which in (OURS, tool)) if other == tool else ({}, {})
        if other == tool and is_faster(factor) and theirs["first"] > ours["first"]:
            calls = (theirs["first"] - ours["first"]) / (ours["steady"] - theirs["steady"])
            said.append(f"{name} {size} after {number(math.ceil(calls))}")
    return ", ".join(said)


def slow_in_python(rows: list[Row], tools: list[str]) -> str:
    """Name the cases in which a tool has its first derivative before the plain program has run once."""
    plain = {(row["program"], row["size"]): row["plain"] for row in rows if row["tool"] == OURS and "plain" in row}
    faster = [
        f"{row['program']} {row['size']} ({row['tool']} {number(row['first'])} s, plain program {number(seconds)} s)"
        for row in rows
        if row["tool"] in tools
        and row.get("first", math.inf) < (seconds := plain.get((row["program"], row["size"]), 0.0))
    ]
    said = "On some programs a tool has its first derivative before the plain program has run once in Python"
    return f"{said}: {', '.join(faster)}.\n" if faster else ""


def compiled_first(found: dict[str, dict[str, Row]]) -> str:
    """Return the table of seconds to the first derivative, for tools that compile or build a graph."""
    tools = [OURS, *COMPILED]
    lines = []
    for name in PROGRAMS:
        rows = found.get(name, {})
        if OURS in rows and len(rows.keys() & set(tools)) > 1:
            most = rows[OURS]["size"]
            lines.append([f"{name} {most}", *(first_cell(rows.get(tool), most) for tool in tools)])
    return table(["seconds", *tools], lines)


def first_cell(row: Row | None, most: int) -> str:
    """Return seconds to the first derivative, with the size if that is not the largest."""
    if row is None:
        return ""
    return number(row["first"]) + (f" (n={row['size']})" if row["size"] < most else "")


def adbench(rows: list[Row], tools: list[str]) -> str:
    """Return the table of milliseconds for ADBench's objectives, by its own method."""
    times: dict[str, dict[str, float]] = {}
    for row in sorted(rows, key=lambda row: int(row["size"])):
        if "adbench" in row:
            times.setdefault(f"{row['program']} {row['size']}", {})[row["tool"]] = 1e3 * row["adbench"]
    shown = [tool for tool in tools if any(tool in found for found in times.values())]
    lines = [[case, *(number(found[tool]) if tool in found else "" for tool in shown)] for case, found in times.items()]
    return table(["milliseconds", *shown], lines)


def is_of_tool(error: str) -> bool:
    """Whether a text is an exception of the tool, rather than a limit of the measurement."""
    return bool(re.match(r"\w+: ", error))


def refusals(rows: list[Row]) -> str:
    """Return the table of cases that a tool refused or in which it failed."""
    found: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        case, error = f"{row['program']} {row['size']}", row.get("error", "")
        if slow := re.fullmatch(r"would take some (\d+ s), (more than \d+ s)", error):
            case, error = f"{case} ({slow[1]})", f"would take {slow[2]} of CPU time"
        why = row.get("refused") or (f"`{error}`" if is_of_tool(error) else error)
        if why:
            found.setdefault((row["tool"], why), []).append(case)
    lines = [[tool, ", ".join(cases), why] for (tool, why), cases in sorted(found.items())]
    return table(["tool", "programs", "why there is no figure"], lines)


def picture(name: str, text: str) -> str:
    """Return a picture with the sentence that describes it."""
    return f"![{text}](performance/{name}.svg)"


def fastest(rows: list[Row], tools: list[str]) -> str:
    """Say on how many scalar and loop programs this engine is the fastest of the tools."""
    ours, of, others = lowest(rows, LOOPS, tools, "ratio")
    said = f"Of these tools tapeengine is the fastest on {ours} of {of} programs of scalars and loops."
    return f"{said} Another tool is faster on {others}." if others else said


def earliest(rows: list[Row], tools: list[str]) -> str:
    """Say on how many programs this engine has the first derivative before the tools that compile."""
    ours, of, others = lowest(rows, tuple(PROGRAMS), tools, "first")
    said = f"tapeengine has its first derivative before all other tools but te.program on {ours} of {of} programs."
    return f"{said} Another tool is earlier on {others}." if others else said


def origin(data: dict[str, Any]) -> str:
    """Say where and when the tools were measured."""
    machine = data["machine"]
    where = f"{machine['processor']}, {machine['cores']} cores, {machine['system']}"
    versions = ", ".join(f"{tool} {version}" for tool, version in data["tools"].items())
    return f"""\
Commit {data["commit"]}, {data["day"]}, {where}, Python {machine["python"]}, numpy {machine["numpy"]}. {versions}.
During the measurement {machine["load"]} processes wanted a core on average. This changes the ratios little, because
they are of CPU times. Seconds to the first derivative are wall-clock times, which grow with the load for all tools
alike."""


def peers(data: dict[str, Any]) -> str:
    """Return the sections that compare the tools."""
    rows, found = data["rows"], best(data["rows"])
    present = {row["tool"] for row in rows}
    written = [tool for tool in data["tools"] if tool not in REWRITTEN and tool in present]
    rewritten = [OURS, *(tool for tool in data["tools"] if tool in REWRITTEN and tool in present)]
    compiled = [tool for tool in COMPILED if tool != SECOND]
    memory = sorted(data["memory"].items(), key=lambda item: item[1])
    program, size = MEMORY
    return f"""\
## The same programs in other tools

```console
$ make peers
```

### Cost

Left is faster, and the dashed line is the plain program. Filled marks are tools that run the program as it is written;
open marks need it rewritten.

{picture("cost", "Value and gradient over the plain program, one row for each program, one mark for each tool")}

{picture("programs", "Value and gradient over the plain program, for each tool on twelve programs")}

The tools of this table run the program as it is written in Python. A cell has the time of value and gradient over that
of the plain program, without the first call, at the largest size that the tool finished. A size smaller than that of
the row is noted. **Bold** figures are of tools that are faster than tapeengine.

{cost(rows, written)}

{fastest(rows, written)}

A tape runs the program in Python for each gradient. JAX jit traces and compiles the program first, once for each shape
of its arguments, and then runs without Python. Where its compiled gradient is faster than ours, compiling has paid on
{repaid(rows, "JAX jit") or "no program, whatever the number of"} calls.

The tools of the next table need another program than the one written in Python. Programs on lists become programs on
arrays there, so these figures are not the cost of the same program.

* te.program: the same program, with types.
* JAX scan: the program rewritten with `lax.scan` and arrays.
* CasADi SX: a graph of symbols, built before the first evaluation.
* numba by hand: an adjoint written by hand.

{cost(rows, rewritten)}

### ADBench's objectives

The time of the value with all cotangents, of one output or of the sum of all outputs. The method is ADBench's: of up to
ten samples, each long enough to measure, the smallest counts.

{adbench(rows, list(data["tools"]))}

### Growth

The scalar loop at growing lengths. Where a line is flat, a step of the loop costs the same whatever the length.

{picture("growth", "The ratio of the scalar loop over its length, for each tool")}

### Reading and writing by index

Two loops over an array, one that reads elements and one that also writes them. Where a line is flat, an element costs
the same whatever the length of the array.

{picture("index", "Nanoseconds for each element of two loops over an array, for each tool")}

### Time to the first derivative

The first derivative needs tracing or a graph, compiling, and one run; imports are not counted. The page on
[native code](native.md) has the same figures for te.program compiled through LLVM.

{picture("first", "Seconds to the first derivative, for each tool that compiles, and over the length of a loop")}

{earliest(rows, compiled)}
{slow_in_python(rows, compiled)}
{compiled_first(found)}

### Memory

The growth of the process's peak memory for each scalar operation of {program.name} {size}. It covers everything that
value and gradient allocate; a record of tapeengine alone takes 25 bytes.

{picture("memory", "Bytes for each operation, for each tool")}

{table(["tool", "bytes an operation"], [[tool, number(value)] for tool, value in memory])}

### Where it was measured

{origin(data)}

### What could not be measured

A program is not run at a size for which the smaller sizes predict more CPU time than the limit. The predicted time
stands in brackets. Text in code letters is the tool's own error.

{refusals(rows)}
"""


REPEAT = """\
## How to repeat it

```console
$ make bench  # all benchmarks under asv, and the limits above; build/asv/history.html shows them by commit, offline
$ make bench-agree  # do the last two full runs agree within the noise above?
$ make bench-quick  # the counts exactly, and every benchmark once
$ make bench-compare BASE=commit  # is this commit slower than another, beyond the noise of two equal ones?
$ make peers  # the other tools, in a virtual environment of their own; 25 minutes at most
$ make page  # the pictures and this page
```
"""


def main() -> int:
    """Write the page."""
    figures = json.loads((DOCS / "figures.json").read_text())
    data = json.loads((DOCS / "peers.json").read_text())
    stated = json.loads((DOCS / "noise.json").read_text()) if (DOCS / "noise.json").exists() else {}
    page = "\n".join(part for part in (INTRODUCTION, peers(data), targets(figures), noise(stated), REPEAT) if part)
    (DOCS / "performance.md").write_text(page)
    return 0


if __name__ == "__main__":
    sys.exit(main())
