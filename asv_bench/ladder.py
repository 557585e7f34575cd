"""Makes the tables and the pictures of docs/ladder.md.

    python asv_bench/ladder.py

The tables are written between the marks in the page, the pictures into docs/ladder; their colours follow the reader's
scheme. `tests/ladder/test_page.py` computes the tables again and compares.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from asv_bench.ladder_costs import COSTS, TABLES
from docs.drawing import AMBER, BLUE, GREEN, MUTED, ORANGE, PINK, VIOLET, name_ends, new_figure, save

PAGE = Path(__file__).resolve().parents[1] / "docs" / "ladder.md"
COLOURS = {
    "forward": MUTED, "naive": ORANGE, "staged": AMBER, "cayley": GREEN, "scalars": PINK, "arrays": BLUE,
    "taping": VIOLET,
    "copower": ORANGE, "dense": AMBER, "sparse": GREEN, "monad": BLUE, "mutable": VIOLET,
}  # fmt: skip
OTHERS = (ORANGE, BLUE, GREEN, VIOLET, AMBER, PINK, MUTED)
#: For each picture the step by whose records the work is divided, or none, and the label of its axis.
PAPERS = {
    "dual-numbers": ("taping", "work of the reverse pass for each record (log axis)"),
    "chad": ("mutable", "work of the reverse pass for each backpropagator (log axis)"),
    "working-notes": ("", "count for each of what grows (log axis)"),
}
Lines = Mapping[str, list[tuple[int, float]]]


def rows(name: str) -> str:
    """A table: the work of each step at each size, or the costs of the working notes' systems."""
    sizes = COSTS[name].sizes
    lines = [f"| {name} | {' | '.join(map(str, sizes))} |", "|---|" + "---:|" * len(sizes)]
    for row, found in costs(name).items():
        lines.append(f"| {row} | {' | '.join('' if n is None else f'{n:,}' for n in found)} |")
    return "\n".join(lines)


def costs(name: str) -> dict[str, list[int | None]]:
    """The work of each step, or the costs of the working notes' systems."""
    return {row: [getattr(n, "work", n) for n in COSTS[name].numbers(row)] for row in COSTS[name].rows}


def filled(page: str) -> str:
    """The page with its tables recomputed."""

    def computed(match: re.Match[str]) -> str:
        return f"<!-- table: {match[1]} -->\n{rows(match[1])}\n<!-- end -->"

    return re.sub(r"<!-- table: (.*?) -->\n.*?<!-- end -->", computed, page, flags=re.DOTALL)


def panels(paper: str) -> Iterator[tuple[str, Lines]]:
    """The panels of a picture: the quantity that grows, and the points of each line."""
    last, _ = PAPERS[paper]
    for name, cost in TABLES[paper].items():
        by = [c.records for c in cost.numbers(last)] if last else cost.sizes
        found = {row: numbers for row, numbers in costs(name).items() if not last or row in COLOURS}
        yield name, {row: [(n, y and y / d) for n, d, y in zip(cost.sizes, by, found[row])] for row in found}


def draw(paper: str, shown: list[tuple[str, Lines]]) -> None:
    """One picture: four panels, with log axes."""
    from matplotlib.ticker import LogLocator, NullLocator

    rows = (len(shown) + 1) // 2
    figure, axes = new_figure(9.2, 3.5 * rows, nrows=rows, ncols=2)
    figure.get_layout_engine().set(h_pad=0.12)
    for panel, (family, lines) in zip(axes.flat, shown):
        ends = []
        for (step, points), other in zip(lines.items(), OTHERS * 2):
            points = [(n, y) for n, y in points if y is not None]
            # Where two lines coincide, the later one is dashed, so that both are visible.
            hidden = any(points == [p for p in earlier if p[1] is not None] for earlier in before(lines, step))
            colour, style = COLOURS.get(step, other), (0, (4, 4)) if hidden else "-"
            panel.plot(*zip(*points), marker="o", markersize=3.5, color=colour, linestyle=style)
            ends.append((points[-1], step, colour, False))
        panel.set(yscale="log", xlabel=family)
        panel.grid(axis="y")
        low, high = panel.get_ylim()
        panel.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if high < 1e4 * low else (1,)))
        panel.yaxis.set_major_formatter("{x:g}")
        panel.yaxis.set_minor_locator(NullLocator())
        name_ends(panel, ends)
    figure.supylabel(PAPERS[paper][1], fontsize=9)
    save(figure, PAGE.parent / "ladder" / f"{paper}.svg")


def before(lines: Lines, step: str) -> list[list[tuple[int, float]]]:
    """The lines before a given one."""
    return [points for name, points in list(lines.items())[: list(lines).index(step)]]


def main() -> None:
    """Write the page and the pictures."""
    PAGE.write_text(filled(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    for paper in PAPERS:
        draw(paper, list(panels(paper)))


if __name__ == "__main__":
    main()
