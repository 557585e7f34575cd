"""Makes the pictures of docs/performance.md from docs/peers.json, and that of docs/native.md from docs/native.json.

    python asv_bench/pictures.py

Each picture is one SVG in docs/performance, which follows the reader's light or dark scheme. A hollow mark denotes a
tool that runs a rewritten program. Tools of one family share a colour; marks and names distinguish them.
"""

import argparse
import json
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

sys.path.append(str(Path(__file__).resolve().parents[1]))

from asv_bench.peers.idioms import COMPILED, OURS, REWRITTEN
from asv_bench.programs.catalogue import PROGRAMS
from docs.drawing import AMBER, BLUE, GREEN, GRID, INK, MUTED, ORANGE, PAPER, PINK, VIOLET, name_ends, new_figure, save

ROOT = Path(__file__).resolve().parents[1]
PEERS = ROOT / "docs" / "peers.json"
NATIVE = ROOT / "docs" / "native.json"
FOLDER = ROOT / "docs" / "performance"

Row = dict[str, Any]
COLOURS = {
    OURS: ORANGE,
    "te.program": AMBER,
    "Python tape": MUTED,
    "XAD": MUTED,
    "micrograd": MUTED,
    "autograd": VIOLET,
    "torch": BLUE,
    "mygrad": PINK,
    "JAX eager": GREEN,
    "JAX jit": GREEN,
    "JAX scan": GREEN,
    "CasADi SX": BLUE,
    "numba by hand": INK,
}
MARKERS = dict(zip(COLOURS, "DdosPv^<XhHps", strict=True))
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
    """Return the tools' rows for one size: the one that most of them finished, and the larger of two at a tie."""
    found = [row for row in measured(rows, program) if row["tool"] in set(tools)]
    sizes = [row["size"] for row in found]
    size = max(sizes, key=lambda size: (sizes.count(size), size), default=0)
    return {row["tool"]: row for row in found if row["size"] == size}


def power(size: int) -> str:
    """Write a size, as a power of ten if it is one."""
    digits = len(str(size)) - 1
    return rf"$10^{digits}$" if size == 10**digits and digits > 1 else str(size)


def number(value: float) -> str:
    """Write a positive number with two or three digits."""
    return f"{value:,.0f}" if value >= 20 else f"{value:.2g}"


def dots(axes: Axes, values: dict[str, float], notes: dict[str, str], unit: str) -> None:
    """Draw one dot for each tool, smallest at the top, with its number beside it.

    A log axis has no zero, so bars would have no meaning.
    """
    tools = sorted(values, key=lambda tool: -values[tool])
    for place, tool in enumerate(tools):
        axes.axhline(place, color=GRID, linewidth=0.8, zorder=0)
        mark(axes, values[tool], place, tool)
        text = f"{number(values[tool])}{notes.get(tool, '')}"
        weight = "bold" if tool == OURS else "normal"
        axes.annotate(text, (values[tool], place), (7, 0), textcoords="offset points", va="center", fontweight=weight)
    axes.set_yticks(range(len(tools)), tools)
    for label in axes.get_yticklabels():
        label.set_fontweight("bold" if label.get_text() == OURS else "normal")
    axes.set(xscale="log", xlabel=unit, ylim=(-0.6, len(tools) - 0.4))
    low, high = min(values.values()), max(values.values())
    axes.set_xlim(0.6 * low, 2 * high * (high / low) ** 0.35)
    axes.minorticks_off()


def mark(axes: Axes, x: float, y: float, tool: str) -> None:
    """Draw a tool's mark: large for this engine, hollow if the program was rewritten."""
    ours, hollow = tool == OURS, tool in REWRITTEN
    style = {"s": 70 if ours else 32, "facecolor": PAPER if hollow else COLOURS[tool], "edgecolor": COLOURS[tool]}
    axes.scatter(x, y, marker=MARKERS[tool], linewidths=1.2, zorder=3 + ours, **style)


def marks(axes: Axes, best: dict[str, dict[str, Row]], tools: Iterable[str], value: str) -> None:
    """Draw one line for each program, ordered by this engine's figure, with a mark for each tool."""
    order = sorted((name for name in best if OURS in best[name]), key=lambda name: -best[name][OURS][value])
    for place, name in enumerate(order):
        axes.axhline(place, color=GRID, linewidth=0.8, zorder=0)
        for tool in tools:
            if tool in best[name]:
                mark(axes, best[name][tool][value], place, tool)
    sizes = {name: max(row["size"] for row in best[name].values()) for name in order}
    axes.set_yticks(range(len(order)), [f"{name}  {power(sizes[name])}" for name in order])
    axes.set_ylim(-0.7, len(order) - 0.3)
    axes.set_xscale("log")
    axes.grid(axis="x")
    axes.set_axisbelow(True)
    axes.minorticks_off()


def legend(figure: Figure, tools: Iterable[str]) -> None:
    """Name the marks below the axes."""
    shown = [tool for tool in COLOURS if tool in set(tools)]
    faces = ["none" if tool in REWRITTEN else COLOURS[tool] for tool in shown]
    handles = [
        Line2D([], [], linestyle="", marker=MARKERS[tool], markeredgecolor=COLOURS[tool], markerfacecolor=face)
        for tool, face in zip(shown, faces)
    ]
    figure.legend(handles, shown, loc="outside lower center", ncols=5)


def cost(rows: list[Row]) -> Figure:
    """Draw the cost of value and gradient over the plain program, for all programs and tools."""
    kinds = [[name for name in PROGRAMS if PROGRAMS[name].flavour == kind] for kind in ("scalars", "arrays")]
    figure, both = new_figure(9.2, 11.5, nrows=2, height_ratios=[len(names) for names in kinds])
    for axes, names, title in zip(both, kinds, ("Programs on scalars", "Programs on arrays")):
        marks(axes, {name: largest(rows, name) for name in names}, COLOURS, "ratio")
        axes.axvline(1.0, color=MUTED, linewidth=1.0, linestyle="--", zorder=1)
        axes.set(title=title, xlabel="times the plain program (log axis); each tool at its largest size")
    legend(figure, {row["tool"] for row in rows})
    return figure


def programs(rows: list[Row]) -> Figure:
    """Draw the cost of value and gradient over the plain program, one panel for each of twelve programs."""
    shown = [name for name in PANELS if largest(rows, name)]
    lines = (len(shown) + 1) // 2
    heights = [0.9 + 0.22 * max(len(largest(rows, name)) for name in shown[2 * k : 2 * k + 2]) for k in range(lines)]
    figure, grid = new_figure(9.2, sum(heights), nrows=lines, ncols=2, squeeze=False, height_ratios=heights)
    figure.get_layout_engine().set(h_pad=0.12)
    for axes in grid.flat[len(shown) :]:
        axes.set_visible(False)
    for name, axes in zip(shown, grid.flat):
        best = largest(rows, name)
        most = max(row["size"] for row in best.values())
        notes = {tool: f"  at {power(row['size'])}" for tool, row in best.items() if row["size"] < most}
        dots(axes, {tool: row["ratio"] for tool, row in best.items()}, notes, "times the plain program (log axis)")
        axes.axvline(1.0, color=MUTED, linewidth=0.8, linestyle="--", zorder=0)
        axes.set_title(f"{PANELS[name]}, n = {power(most)}")
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
            axes.plot(*zip(*points), style, color=COLOURS[tool], linewidth=width, marker=MARKERS[tool], markersize=4)
            ends.append((points[-1], tool, COLOURS[tool], tool == OURS))
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.minorticks_off()
    axes.grid(axis="y")
    name_ends(axes, ends)


def growth(rows: list[Row]) -> Figure:
    """Draw the cost of the scalar loop over its length."""
    figure, axes = new_figure(8.4, 5)
    lines_by_size(axes, rows, "scalar_loop", lambda row: float(row["ratio"]))
    axes.set(xlabel="elements of the list, 3 operations each (log axis)", ylabel="times the plain program (log axis)")
    return figure


def index(rows: list[Row]) -> Figure:
    """Draw nanoseconds for each element of the loops that read and write an array by index."""
    figure, both = new_figure(8.4, 8.5, nrows=2)
    for axes, name in zip(both, ("index_reads", "recurrence")):
        lines_by_size(axes, rows, name, lambda row: 1e9 * float(row["steady"]) / float(row["size"]))
        axes.set(title=PANELS[name], xlabel="elements of the array (log axis)", ylabel="ns for each element (log axis)")
    return figure


def first(rows: list[Row]) -> Figure:
    """Draw the time to the first derivative, for the tools that compile and over the length of a loop."""
    figure, both = new_figure(8.4, 12, nrows=2, height_ratios=(8, 4))
    tools = [OURS, *COMPILED]
    marks(both[0], {name: shared(rows, name, tools) for name in PROGRAMS}, tools, "first")
    both[0].set(title="Tools that compile", xlabel="seconds to the first derivative (log axis)")
    legend(figure, tools)
    lines_by_size(both[1], rows, "unrolled", lambda row: float(row["first"]))
    both[1].set(title="A loop of array steps", xlabel="steps of the loop (log axis)")
    both[1].set_ylabel("seconds to the first derivative (log axis)")
    return figure


def memory(found: dict[str, float]) -> Figure:
    """Draw the bytes for each operation."""
    figure, axes = new_figure(8.4, 0.8 + 0.36 * len(found))
    dots(axes, found, {}, "growth of the process's peak, bytes for each operation (log axis)")
    return figure


def native(found: dict[str, dict[str, float]]) -> Figure:
    """Draw the time to the first gradient against that of a later one, with a line between two tools per program."""
    figure, axes = new_figure(9.2, 6.5)
    tools = {"native": ("te.program, native", COLOURS[OURS], "o"), "jax": ("JAX jit", COLOURS["JAX jit"], "X")}
    ends = {tool: [(t[tool] * 1e6, t[f"first_{tool}"]) for t in found.values()] for tool in tools}
    for ours, theirs in zip(*ends.values(), strict=True):
        axes.plot(*zip(ours, theirs, strict=True), color=GRID, linewidth=0.8, zorder=1)
    for tool, (label, colour, mark) in tools.items():
        x, y = zip(*ends[tool], strict=True)
        axes.scatter(x, y, color=colour, marker=mark, s=42, label=label, zorder=2)
    axes.set(xscale="log", yscale="log", xlabel="microseconds for value and gradient, compiled (log axis)")
    axes.set_ylabel("CPU seconds to the first gradient (log axis)")
    axes.minorticks_off()
    name_points(axes, dict(zip(found, ends["native"], strict=True)), [*ends["native"], *ends["jax"]])
    axes.legend(loc="upper left")
    return figure


def name_points(axes: Axes, points: dict[str, tuple[float, float]], marks: list[tuple[float, float]]) -> None:
    """Write names beside points, each near its own point and away from other marks and names."""
    axes.figure.canvas.draw()
    to_pixels = axes.transData.transform
    taken = [(*to_pixels(mark), 7.0, 7.0) for mark in marks]
    for name, point in sorted(points.items(), key=lambda item: item[1][1]):
        x, y = to_pixels(point)
        half = 3.4 * len(name)
        box = next(b for b in boxes(x, y, half) if is_inside(axes, b) and not any(touches(b, t) for t in taken))
        taken.append(box)
        line = {"arrowstyle": "-", "color": MUTED, "linewidth": 0.6} if abs(box[1] - y) > 20 else None
        where = axes.transData.inverted().transform(box[:2])
        axes.annotate(name, point, xytext=where, ha="center", va="center", fontsize=8, arrowprops=line)


#: The middle of a name or a mark, and half of its width and of its height, in pixels.
Box = tuple[float, float, float, float]


def boxes(x: float, y: float, half: float) -> Iterator[Box]:
    """Iterate over the positions for a name beside a point, the nearest first."""
    for far in range(14, 400, 6):
        for side in (0.0, half + 7.0, -half - 7.0):
            yield x + side, y - far, half, 6.0
            yield x + side, y + far, half, 6.0
        if far == 14:
            yield x + half + 8.0, y, half, 6.0
            yield x - half - 8.0, y, half, 6.0


def touches(a: Box, b: Box) -> bool:
    """Tell whether two boxes intersect."""
    return abs(a[0] - b[0]) < a[2] + b[2] and abs(a[1] - b[1]) < a[3] + b[3]


def is_inside(axes: Axes, box: Box) -> bool:
    """Tell whether a box lies inside the axes."""
    around = axes.bbox
    return around.x0 < box[0] - box[2] and box[0] + box[2] < around.x1 and around.y0 < box[1] - box[3]


def main(arguments: list[str] | None = None) -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(description="Make the pictures of the performance page.")
    parser.add_argument("--peers", type=Path, default=PEERS)
    parser.add_argument("--native", type=Path, default=NATIVE)
    parser.add_argument("--folder", type=Path, default=FOLDER)
    options = parser.parse_args(arguments)
    data = json.loads(options.peers.read_text())
    rows = data["rows"]
    options.folder.mkdir(parents=True, exist_ok=True)
    for draw in (cost, programs, growth, index, first):
        save(draw(rows), options.folder / f"{draw.__name__}.svg")
    if data["memory"]:
        save(memory(data["memory"]), options.folder / "memory.svg")
    if options.native.exists():
        save(native(json.loads(options.native.read_text())), options.folder / "native.svg")
    return 0


if __name__ == "__main__":
    sys.exit(main())
