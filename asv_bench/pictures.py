"""Make the pictures of docs/performance.md from docs/peers.json, and that of docs/native.md from docs/native.json.

    python asv_bench/pictures.py

Each picture is written as SVG and as PNG into docs/performance. The background is opaque, so that the pictures read the
same on a light and on a dark page. A hollow mark or a hatched bar belongs to a tool that runs a rewritten program.
"""

import argparse
import json
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

sys.path.append(str(Path(__file__).resolve().parents[1]))

from asv_bench.peers.idioms import COMPILED, OURS, REWRITTEN
from asv_bench.programs.catalogue import PROGRAMS

ROOT = Path(__file__).resolve().parents[1]
PEERS = ROOT / "docs" / "peers.json"
NATIVE = ROOT / "docs" / "native.json"
FOLDER = ROOT / "docs" / "performance"

Row = dict[str, Any]
COLOURS = {
    OURS: "#c2410c",
    "te.program": "#f59e0b",
    "Python tape": "#6b7280",
    "XAD": "#0f766e",
    "micrograd": "#a16207",
    "autograd": "#7c3aed",
    "torch": "#2563eb",
    "mygrad": "#be185d",
    "JAX eager": "#84cc16",
    "JAX jit": "#15803d",
    "JAX scan": "#064e3b",
    "CasADi SX": "#0891b2",
    "numba by hand": "#111827",
}
MARKERS = dict(zip(COLOURS, "DdosPv^<XhHps", strict=True))
STYLE = {
    "figure.facecolor": "#fdfcf9",
    "axes.facecolor": "#fdfcf9",
    "axes.edgecolor": "#9ca3af",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 11,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "font.size": 9.5,
    "text.color": "#1f2937",
    "axes.labelcolor": "#1f2937",
    "xtick.color": "#374151",
    "ytick.color": "#374151",
    "svg.hashsalt": "tapeengine",
}
PANELS = {
    "scalar_loop": "scalar loop with a branch",
    "particles": "four particles, pairwise forces",
    "quaternion": "rotation by a quaternion",
    "network": "network on lists",
    "index_reads": "sum of squares by index",
    "recurrence": "recurrence by index",
    "network_arrays": "network on arrays",
    "particles_arrays": "particles on arrays",
    "lstm": "LSTM (ADBench)",
    "gmm": "GMM (ADBench)",
    "hand_complicated": "hand (ADBench, complicated), summed",
    "ba_sum": "BA (ADBench)",
}


def measured(rows: Iterable[Row], program: str) -> list[Row]:
    """Return the rows of a program that have times, by tool and size."""
    found = [row for row in rows if row["program"] == program and "ratio" in row]
    return sorted(found, key=lambda row: (row["tool"], row["size"]))


def largest(rows: Iterable[Row], program: str) -> dict[str, Row]:
    """Return each tool's row of the largest size that it finished."""
    return {row["tool"]: row for row in measured(rows, program)}


def shared(rows: list[Row], program: str, tools: Iterable[str]) -> dict[str, Row]:
    """Return the tools' rows of one size: the one that most of them finished, and the larger of two."""
    found = [row for row in measured(rows, program) if row["tool"] in set(tools)]
    sizes = [row["size"] for row in found]
    size = max(sizes, key=lambda size: (sizes.count(size), size), default=0)
    return {row["tool"]: row for row in found if row["size"] == size}


def power(size: int) -> str:
    """Write a size as a power of ten where it is one."""
    digits = len(str(size)) - 1
    return rf"$10^{digits}$" if size == 10**digits and digits > 1 else str(size)


def number(value: float) -> str:
    """Write a positive number with two or three digits."""
    return f"{value:,.0f}" if value >= 20 else f"{value:.2g}"


def bars(axes: Axes, values: dict[str, float], notes: dict[str, str]) -> None:
    """Draw one bar for each tool, smallest at the top, with its number at its end."""
    tools = sorted(values, key=lambda tool: -values[tool])
    for place, tool in enumerate(tools):
        hatch = "////" if tool in REWRITTEN else ""
        face = "#e7e5e4" if tool in REWRITTEN else COLOURS[tool]
        axes.barh(place, values[tool], color=face, edgecolor=COLOURS[tool], hatch=hatch, height=0.72, linewidth=0.8)
        text = f" {number(values[tool])}{notes.get(tool, '')}"
        weight = "bold" if tool == OURS else "normal"
        axes.text(values[tool], place, text, va="center", fontsize=8, fontweight=weight)
    axes.set_yticks(range(len(tools)), tools)
    for label in axes.get_yticklabels():
        label.set_fontweight("bold" if label.get_text() == OURS else "normal")
    axes.set_xscale("log")
    axes.set_xlim(left=0.6 * min(values.values()))
    axes.tick_params(axis="y", length=0)


def marks(axes: Axes, best: dict[str, dict[str, Row]], tools: Iterable[str], value: str) -> None:
    """Draw one line for each program, ordered by this engine's figure, with one mark for each tool."""
    order = sorted((name for name in best if OURS in best[name]), key=lambda name: -best[name][OURS][value])
    for place, name in enumerate(order):
        axes.axhline(place, color="#e7e5e4", linewidth=0.8, zorder=0)
        for tool in tools:
            if tool in best[name]:
                ours, hollow = tool == OURS, tool in REWRITTEN
                face = axes.get_facecolor() if hollow else COLOURS[tool]
                style = {"s": 90 if ours else 38, "facecolor": face, "edgecolor": COLOURS[tool], "zorder": 3 + ours}
                axes.scatter(best[name][tool][value], place, marker=MARKERS[tool], linewidths=1.3, **style)
    sizes = {name: max(row["size"] for row in best[name].values()) for name in order}
    axes.set_yticks(range(len(order)), [f"{name}  {power(sizes[name])}" for name in order])
    axes.set_ylim(-0.7, len(order) - 0.3)
    axes.set_xscale("log")
    axes.grid(axis="x", color="#e7e5e4", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.tick_params(axis="y", length=0)


def legend(figure: Figure, tools: Iterable[str]) -> None:
    """Name the marks below the axes."""
    shown = [tool for tool in COLOURS if tool in set(tools)]
    faces = ["none" if tool in REWRITTEN else COLOURS[tool] for tool in shown]
    handles = [
        plt.Line2D([], [], linestyle="", marker=MARKERS[tool], markeredgecolor=COLOURS[tool], markerfacecolor=face)
        for tool, face in zip(shown, faces)
    ]
    figure.legend(handles, shown, loc="outside lower center", ncols=7, frameon=False)


def cost(rows: list[Row]) -> Figure:
    """Draw the cost of value and gradient over the plain program, for all programs and tools."""
    kinds = [[name for name in PROGRAMS if PROGRAMS[name].flavour == kind] for kind in ("scalars", "arrays")]
    figure, both = plt.subplots(1, 2, figsize=(14, 7.5), layout="constrained")
    figure.suptitle(
        "Value and gradient as a multiple of the plain program (log scale); each tool at its largest size",
        x=0.01,
        ha="left",
    )
    for axes, names, title in zip(both, kinds, ("Programs on scalars", "Programs on arrays")):
        marks(axes, {name: largest(rows, name) for name in names}, COLOURS, "ratio")
        axes.axvline(1.0, color="#9ca3af", linewidth=1.0, linestyle="--", zorder=1)
        axes.set_title(title)
    legend(figure, {row["tool"] for row in rows})
    return figure


def programs(rows: list[Row]) -> Figure:
    """Draw the cost of value and gradient over the plain program, one panel for each of twelve programs."""
    shown = [name for name in PANELS if largest(rows, name)]
    lines = (len(shown) + 2) // 3
    figure, grid = plt.subplots(lines, 3, figsize=(13.5, 3.3 * lines), squeeze=False)
    for axes in grid.flat[len(shown) :]:
        axes.set_visible(False)
    for name, axes in zip(shown, grid.flat):
        best = largest(rows, name)
        most = max(row["size"] for row in best.values())
        notes = {tool: f"  at {power(row['size'])}" for tool, row in best.items() if row["size"] < most}
        bars(axes, {tool: row["ratio"] for tool, row in best.items()}, notes)
        low, high = axes.get_xlim()
        axes.set_xlim(min(low, 0.1), high * 14)
        axes.axvline(1.0, color="#9ca3af", linewidth=0.8, linestyle="--", zorder=0)
        axes.set_title(f"{PANELS[name]}, n = {power(most)}")
    figure.suptitle(
        "Value and gradient, as a multiple of the plain program (log scale; hatched: the program was rewritten)",
        x=0.01,
        ha="left",
    )
    return figure


def lines_by_size(
    axes: Axes, rows: list[Row], program: str, value: Callable[[Row], float], only: Iterable[str] = COLOURS
) -> None:
    """Draw one line for each tool over the sizes, with its name at its end."""
    ends = []
    for tool in only:
        points = [(row["size"], value(row)) for row in measured(rows, program) if row["tool"] == tool]
        if points:
            style = "--" if tool in REWRITTEN else "-"
            width = 2.8 if tool == OURS else 1.4
            axes.plot(*zip(*points), style, color=COLOURS[tool], linewidth=width, marker="o", markersize=3.5)
            ends.append((points[-1], tool))
    axes.set_xscale("log")
    axes.set_yscale("log")
    if ends:
        name_lines(axes, ends)


def name_lines(axes: Axes, ends: list[tuple[tuple[float, float], str]]) -> None:
    """Write each tool's name right of its line's end, pushed up where two names would overlap."""
    low, high = axes.get_ylim()
    step, last = (high / low) ** 0.052, 0.0
    right = max(x for (x, _), _ in ends)
    axes.set_xlim(right=right * 12)
    for (x, y), tool in sorted(ends, key=lambda end: end[0][1]):
        last = max(y, last * step)
        weight = "bold" if tool == OURS else "normal"
        axes.annotate(
            tool,
            (x, y),
            (right * 1.5, last),
            color=COLOURS[tool],
            fontsize=9,
            fontweight=weight,
            va="center",
            arrowprops={"arrowstyle": "-", "color": COLOURS[tool], "alpha": 0.35, "linewidth": 0.7},
        )


def growth(rows: list[Row]) -> Figure:
    """Draw the cost of the scalar loop over its length."""
    figure, axes = plt.subplots(figsize=(9, 5))
    lines_by_size(axes, rows, "scalar_loop", lambda row: float(row["ratio"]))
    axes.set_xlabel("elements of the list (3 operations each)")
    axes.set_title("Scalar loop: value and gradient over the plain program, as the program grows")
    return figure


def index(rows: list[Row]) -> Figure:
    """Draw nanoseconds for each element of the loops that read and write an array by index."""
    figure, both = plt.subplots(1, 2, figsize=(13, 5))
    for axes, name, title in zip(both, ("index_reads", "recurrence"), ("reads", "writes")):
        lines_by_size(axes, rows, name, lambda row: 1e9 * float(row["steady"]) / float(row["size"]))
        axes.set_xlabel("elements of the array")
        axes.set_title(f"{PANELS[name]} ({title}): ns for each element")
    return figure


def first(rows: list[Row]) -> Figure:
    """Draw the time to the first derivative, for the tools that compile and over the length of a loop."""
    figure, both = plt.subplots(1, 2, figsize=(14, 8), layout="constrained")
    tools = [OURS, *COMPILED]
    marks(both[0], {name: shared(rows, name, tools) for name in PROGRAMS}, tools, "first")
    both[0].set_title("Tools that compile: seconds to the first derivative")
    legend(figure, tools)
    lines_by_size(both[1], rows, "unrolled", lambda row: float(row["first"]))
    both[1].set_xlabel("steps of the loop")
    both[1].set_title("Loop of array steps: seconds to the first derivative")
    return figure


def memory(found: dict[str, float]) -> Figure:
    """Draw the bytes for each operation."""
    figure, axes = plt.subplots(figsize=(9, 0.8 + 0.42 * len(found)))
    bars(axes, found, {})
    axes.set_xlim(right=axes.get_xlim()[1] * 3)
    axes.set_title("Particles, 1000 steps: growth of the process's peak, bytes for each operation")
    return figure


def native(found: dict[str, dict[str, float]]) -> Figure:
    """Draw the time to the first gradient against that of a later one, a line between two tools for each program."""
    figure, axes = plt.subplots(figsize=(11, 8))
    tools = {"native": ("te.program, native", COLOURS[OURS], "o"), "jax": ("JAX jit", COLOURS["JAX jit"], "X")}
    ends = {tool: [(t[tool] * 1e6, t[f"first_{tool}"]) for t in found.values()] for tool in tools}
    for ours, theirs in zip(*ends.values(), strict=True):
        axes.plot(*zip(ours, theirs, strict=True), color="#d6d3d1", linewidth=0.8, zorder=1)
    for tool, (label, colour, mark) in tools.items():
        x, y = zip(*ends[tool], strict=True)
        axes.scatter(x, y, color=colour, marker=mark, s=42, label=label, zorder=2)
    axes.set(xscale="log", yscale="log", xlabel="microseconds for value and gradient, compiled")
    axes.set_title("Programs as users write them: CPU seconds to the first gradient, over the time of a later one")
    name_points(axes, dict(zip(found, ends["native"], strict=True)))
    axes.legend(frameon=False, loc="upper left")
    return figure


def name_points(axes: Axes, points: dict[str, tuple[float, float]]) -> None:
    """Write names below points, or above, or where there is room."""
    taken: list[tuple[float, float]] = []
    axes.figure.canvas.draw()
    for name, point in sorted(points.items(), key=lambda item: item[1][1]):
        x, y = axes.transData.transform(point)
        places = ((x + right, y + up) for right, up in ((0, -14), (0, 7), (38, -4), (-38, -4), (0, -25), (0, -36)))
        x, y = next(p for p in places if not any(abs(p[0] - a) < 58 and abs(p[1] - b) < 11 for a, b in taken))
        taken.append((x, y))
        axes.annotate(name, point, xytext=axes.transData.inverted().transform((x, y)), ha="center", fontsize=8)


def save(name: str, figure: Figure, folder: Path) -> None:
    """Write a picture as SVG and as PNG."""
    if figure.get_layout_engine() is None:
        figure.tight_layout()
    figure.savefig(folder / f"{name}.svg", metadata={"Date": None})
    figure.savefig(folder / f"{name}.png", dpi=110)
    plt.close(figure)


def main(arguments: list[str] | None = None) -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(description="Make the pictures of the performance page.")
    parser.add_argument("--peers", type=Path, default=PEERS)
    parser.add_argument("--native", type=Path, default=NATIVE)
    parser.add_argument("--folder", type=Path, default=FOLDER)
    options = parser.parse_args(arguments)
    plt.switch_backend("Agg")
    data = json.loads(options.peers.read_text())
    rows = data["rows"]
    options.folder.mkdir(parents=True, exist_ok=True)
    with plt.rc_context(STYLE):
        for draw in (cost, programs, growth, index, first):
            save(draw.__name__, draw(rows), options.folder)
        if data["memory"]:
            save("memory", memory(data["memory"]), options.folder)
        if options.native.exists():
            save("native", native(json.loads(options.native.read_text())), options.folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
