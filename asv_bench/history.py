"""Writes asv's measurements by commit as one page that needs no network: build/asv/history.html.

    python asv_bench/history.py            every benchmark of the commits under build/asv/results
    python asv_bench/history.py core       those whose name matches

asv's own page (`asv publish`) loads its scripts from the network. This page is a table with a line for each benchmark
and parameter: its last value, the change from the previous commit, and a small picture of its course.
"""

import html
import json
import re
import sys
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parents[1]))

from asv_bench.commands import BUILD
from asv_bench.gate import Results, results_of_file

#: The values of a benchmark by commit; None if it was not measured.
Course = list[float | None]
WIDTH, HEIGHT = 160, 28

HEAD = """<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>tapeengine: benchmarks by commit</title>
<style>
:root { color-scheme: light dark; }
body { font: 15px/1.4 system-ui, sans-serif; margin: 1.5rem; }
table { border-collapse: collapse; }
th, td { padding: .2rem .8rem; text-align: left; border-bottom: 1px solid #8884; }
td.number { text-align: right; font-variant-numeric: tabular-nums; }
svg { display: block; } polyline { fill: none; stroke: currentColor; stroke-width: 1.5; } circle { fill: currentColor; }
div { overflow-x: auto; }
</style>
"""


def runs(folder: Path) -> list[tuple[str, Results]]:
    """Return the results in asv's folder in the order of their commits, by the beginning of each hash."""
    dated: dict[str, tuple[int, Results]] = {}
    for path in folder.glob("*/*.json"):
        data: dict[str, Any] = json.loads(path.read_text())
        if "commit_hash" in data:
            day, found = dated.get(data["commit_hash"], (data["date"], {}))
            dated[data["commit_hash"]] = day, found | results_of_file(path)
    return [(commit[:8], found) for commit, (_, found) in sorted(dated.items(), key=lambda item: item[1][0])]


def courses(found: list[tuple[str, Results]], pattern: str) -> dict[str, Course]:
    """Return each benchmark's values by commit."""
    names = sorted({name for _, results in found for name in results if re.search(pattern, name)})
    return {name: [results.get(name) for _, results in found] for name in names}


def picture(course: Course) -> str:
    """Return a polyline through the values, from zero to the largest, with gaps for missing values."""
    most = max((abs(value) for value in course if value is not None), default=0.0) or 1.0
    step = WIDTH / max(1, len(course) - 1)
    points = [
        (4 + k * step, HEIGHT - 4 - (HEIGHT - 8) * abs(value) / most)
        for k, value in enumerate(course)
        if value is not None
    ]
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    last = f'<circle cx="{points[-1][0]:.1f}" cy="{points[-1][1]:.1f}" r="2.5"/>' if points else ""
    return f'<svg width="{WIDTH + 8}" height="{HEIGHT}" role="img"><polyline points="{line}"/>{last}</svg>'


def row(name: str, course: Course) -> str:
    """Return a benchmark's row of the table."""
    known = [value for value in course if value is not None]
    change = f"{known[-1] / known[-2]:.2f}" if len(known) > 1 and known[-2] else ""
    cells = (f"<td>{html.escape(name)}</td>", f'<td class="number">{known[-1]:.4g}</td>' if known else "<td></td>")
    return f'<tr>{"".join(cells)}<td class="number">{change}</td><td>{picture(course)}</td></tr>'


def page(found: list[tuple[str, Results]], pattern: str = "") -> str:
    """Return the page."""
    commits = ", ".join(commit for commit, _ in found)
    lines = [row(name, course) for name, course in courses(found, pattern).items()]
    return f"""{HEAD}<h1>Benchmarks by commit</h1>
<p>{len(found)} commits, the oldest first: {commits}. Pictures begin at zero; seconds, bytes, counts and ratios as
measured.</p>
<div><table><tr><th>benchmark</th><th>last value</th><th>times the one before</th><th>course</th></tr>
{chr(10).join(lines)}
</table></div>
"""


def main(pattern: str = "") -> int:
    """Write the page; the exit code is 1 if asv has measured nothing yet."""
    found = runs(BUILD / "results")
    if not found:
        print("there are no results: make bench")
        return 1
    path = BUILD / "history.html"
    path.write_text(page(found, pattern))
    print(f"{len(found)} commits: {path}")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
