"""Make the tables and the pictures of docs/ladder.md.

    python asv_bench/ladder.py

The tables are written between the marks of the page, the pictures into docs/ladder, for light and for dark pages.
`tests/ladder/test_page.py` computes the tables again and compares.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from tapeengine.ladder import chad, dn
from tapeengine.ladder.growth import FAMILIES, table
from tapeengine.ladder.wn.costs import COSTS

PAGE = Path(__file__).resolve().parents[1] / "docs" / "ladder.md"
LOOKS = {
    "light": {"background": "#fdfcf9", "text": "#1f2937", "grid": "#e5e7eb"},
    "dark": {"background": "#0d1117", "text": "#e5e7eb", "grid": "#30363d"},
}
COLOURS = {
    "forward": "#9ca3af", "naive": "#ef4444", "staged": "#f59e0b", "cayley": "#84cc16", "scalars": "#14b8a6",
    "arrays": "#0ea5e9", "taping": "#8b5cf6",
    "copower": "#ef4444", "dense": "#f59e0b", "sparse": "#84cc16", "monad": "#0ea5e9", "mutable": "#8b5cf6",
}  # fmt: skip
OTHERS = ("#ef4444", "#f59e0b", "#14b8a6", "#0ea5e9", "#9ca3af", "#8b5cf6")
#: For each picture its last step, whose records the work is divided by, and its axis.
PAPERS = {
    "dual-numbers": (dn.STEPS, "taping", "work of the reverse pass for each record (log axis)"),
    "chad": (chad.STEPS, "mutable", "work of the reverse pass for each backpropagator (log axis)"),
    "working-notes": (None, "", "count for each of what grows (log axis)"),
}
Lines = Mapping[str, list[tuple[int, float]]]


def rows(name: str) -> str:
    """A table: the work of each step at each size of a family, or the costs of the working notes' systems."""
    sizes, numbers = (FAMILIES[name].sizes, works(name)) if name in FAMILIES else (COSTS[name].sizes, costs(name))
    lines = [f"| {name} | {' | '.join(map(str, sizes))} |", "|---|" + "---:|" * len(sizes)]
    for row, found in numbers.items():
        lines.append(f"| {row} | {' | '.join('' if n is None else f'{n:,}' for n in found)} |")
    return "\n".join(lines)


def works(name: str) -> dict[str, list[int | None]]:
    """The work of each step of a family."""
    return {step: [c and c.work for c in found] for step, found in table(name).items()}


def costs(name: str) -> dict[str, list[int | None]]:
    """The costs of the working notes' systems."""
    return {row: COSTS[name].numbers(row) for row in COSTS[name].rows}


def filled(page: str) -> str:
    """The page with its tables computed again."""

    def computed(match: re.Match[str]) -> str:
        return f"<!-- table: {match[1]} -->\n{rows(match[1])}\n<!-- end -->"

    return re.sub(r"<!-- table: (.*?) -->\n.*?<!-- end -->", computed, page, flags=re.DOTALL)


def panels(paper: str) -> Iterator[tuple[str, Lines]]:
    """What the panels of a picture show: what grows, and the points of each line."""
    steps, last, _ = PAPERS[paper]
    if steps is None:
        for name, cost in COSTS.items():
            yield (
                name,
                {row: [(n, y and y / n) for n, y in zip(cost.sizes, numbers)] for row, numbers in costs(name).items()},
            )
    for name in [name for name, family in FAMILIES.items() if family.steps is steps]:
        counts, sizes = table(name), FAMILIES[name].sizes
        records = [c.records for c in counts[last]]
        yield (
            name,
            {
                step: [(n, c and c.work / r) for n, r, c in zip(sizes, records, counts[step])]
                for step in steps
                if step in COLOURS
            },
        )


def draw(paper: str, name: str, look: dict[str, str], shown: list[tuple[str, Lines]]) -> None:
    """One picture: four panels, with a log axis."""
    from matplotlib import pyplot as plt
    from matplotlib.ticker import LogLocator, NullLocator

    text = dict.fromkeys(("text.color", "axes.labelcolor", "xtick.color", "ytick.color"), look["text"])
    plt.rcParams.update({"font.size": 9, "svg.hashsalt": "tapeengine", "axes.edgecolor": look["grid"], **text})
    figure, axes = plt.subplots(2, 2, figsize=(9.5, 7.2), facecolor=look["background"], layout="constrained")
    for panel, (family, lines) in zip(axes.flat, shown):
        for (step, points), other in zip(lines.items(), OTHERS * 2):
            points = [(n, y) for n, y in points if y is not None]
            # Where two lines lie on each other, both are seen: the later one is dashed.
            hidden = any(points == [p for p in earlier if p[1] is not None] for earlier in before(lines, step))
            colour, style = COLOURS.get(step, other), (0, (4, 4)) if hidden else "-"
            panel.plot(*zip(*points), marker="o", markersize=3.5, lw=1.6, color=colour, linestyle=style, label=step)
        panel.set(yscale="log", xlabel=family, facecolor=look["background"])
        panel.grid(color=look["grid"], linewidth=0.6)
        panel.spines[["top", "right"]].set_visible(False)
        if PAPERS[paper][0] is None:
            low, high = panel.get_ylim()
            panel.set_ylim(low, high * (high / low) ** 0.5)
            panel.legend(fontsize=7.5, frameon=False, loc="upper left")
        low, high = panel.get_ylim()
        panel.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if high < 1e4 * low else (1,)))
        panel.yaxis.set_major_formatter("{x:g}")
        panel.yaxis.set_minor_locator(NullLocator())
    figure.supylabel(PAPERS[paper][2])
    if PAPERS[paper][0] is not None:
        handles = axes.flat[0].get_legend_handles_labels()
        figure.legend(*handles, loc="outside upper center", ncols=7, frameon=False)
    figure.savefig(PAGE.parent / "ladder" / f"{paper}-{name}.svg", metadata={"Date": None})
    figure.savefig(f"/tmp/{paper}-{name}.png", dpi=110)
    plt.close(figure)


def before(lines: Lines, step: str) -> list[list[tuple[int, float]]]:
    """The lines before one."""
    return [points for name, points in list(lines.items())[: list(lines).index(step)]]


def main() -> None:
    """Write the page and the pictures."""
    PAGE.write_text(filled(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    for paper in PAPERS:
        shown = list(panels(paper))
        for name, look in LOOKS.items():
            draw(paper, name, look, shown)


if __name__ == "__main__":
    main()
