"""Make the tables and the pictures of docs/ladder.md.

    python asv_bench/ladder.py

The tables are written between the marks of the page, the pictures into docs/ladder, for light and for dark pages.
`tests/ladder/test_page.py` computes the tables again and compares.
"""

import re
from pathlib import Path

from tapeengine.ladder.growth import FAMILIES, table
from tapeengine.ladder.wn.costs import COSTS

PAGE = Path(__file__).resolve().parents[1] / "docs" / "ladder.md"
LIGHT = {"background": "#fdfcf9", "text": "#1f2937", "grid": "#e5e7eb"}
DARK = {"background": "#0d1117", "text": "#e5e7eb", "grid": "#30363d"}
COLOURS = {
    "forward": "#9ca3af",
    "naive": "#ef4444",
    "staged": "#f59e0b",
    "cayley": "#84cc16",
    "scalars": "#14b8a6",
    "arrays": "#0ea5e9",
    "taping": "#8b5cf6",
}
NOTES_COLOURS = ("#ef4444", "#f59e0b", "#14b8a6", "#0ea5e9", "#9ca3af", "#8b5cf6")


def rows(name: str) -> str:
    """A table: the work of each step at each size of a family, or the costs of the working notes' systems."""
    if name not in FAMILIES:
        lines = [f"| {name} | {' | '.join(map(str, SIZES))} |", "|---|" + "---:|" * len(SIZES)]
        lines += [f"| {system} | {' | '.join(f'{cost(n):,}' for n in SIZES)} |" for system, cost in COSTS.items()]
        return "\n".join(lines)
    sizes = FAMILIES[name].sizes
    lines = [f"| {name} | {' | '.join(map(str, sizes))} |", "|---|" + "---:|" * len(sizes)]
    for step, found in table(name).items():
        lines.append(f"| {step} | {' | '.join('' if c is None else f'{c.work:,}' for c in found)} |")
    return "\n".join(lines)


def filled(page: str) -> str:
    """The page with its tables computed again."""

    def computed(match: re.Match[str]) -> str:
        return f"<!-- table: {match[1]} -->\n{rows(match[1])}\n<!-- end -->"

    return re.sub(r"<!-- table: (.*?) -->\n.*?<!-- end -->", computed, page, flags=re.DOTALL)


def draw(name: str, look: dict[str, str]) -> None:
    """The work for a record, by size, on a log axis: one panel a family."""
    from matplotlib import pyplot as plt

    text = dict.fromkeys(("text.color", "axes.labelcolor", "xtick.color", "ytick.color"), look["text"])
    plt.rcParams.update({"font.size": 9, "svg.hashsalt": "tapeengine", "axes.edgecolor": look["grid"], **text})
    figure, axes = plt.subplots(2, 2, figsize=(9.5, 7.2), facecolor=look["background"], layout="constrained")
    for panel, family in zip(axes.flat, FAMILIES):
        counts, sizes = table(family), FAMILIES[family].sizes
        records = [c.records for c in counts["taping"] if c]
        for step, colour in COLOURS.items():
            points = [(n, c.work / r) for n, r, c in zip(sizes, records, counts[step]) if c]
            panel.plot(*zip(*points), marker="o", markersize=3.5, linewidth=1.6, color=colour, label=step)
        panel.set(yscale="log", xlabel=family, facecolor=look["background"])
        panel.grid(color=look["grid"], linewidth=0.6)
        panel.spines[["top", "right"]].set_visible(False)
    figure.supylabel("work of the reverse pass for each record (log axis)")
    figure.legend(*axes.flat[0].get_legend_handles_labels(), loc="outside upper center", ncols=7, frameon=False)
    figure.savefig(PAGE.parent / "ladder" / f"dual-numbers-{name}.svg", metadata={"Date": None})
    figure.savefig(f"/tmp/dual-numbers-{name}.png", dpi=110)
    plt.close(figure)


def draw_notes(name: str, look: dict[str, str]) -> None:
    """The costs of the working notes' systems for each operation of the chain, on a log axis."""
    from matplotlib import pyplot as plt

    text = dict.fromkeys(("text.color", "axes.labelcolor", "xtick.color", "ytick.color"), look["text"])
    plt.rcParams.update({"font.size": 9, "svg.hashsalt": "tapeengine", "axes.edgecolor": look["grid"], **text})
    figure, panel = plt.subplots(figsize=(8.5, 4.2), facecolor=look["background"], layout="constrained")
    for (system, cost), colour in zip(COSTS.items(), NOTES_COLOURS):
        points = [cost(n) / n for n in SIZES]
        # Two of the lines lie on each other: the later one is dashed.
        dashes = (4, 4) if system.endswith("of the program") else ()
        panel.plot(SIZES, points, marker="o", markersize=3.5, linewidth=1.8, color=colour, label=system, dashes=dashes)
    panel.set(yscale="log", xlabel="operations of the chain", ylabel="cost for each (log axis)")
    panel.set_facecolor(look["background"])
    panel.grid(color=look["grid"], linewidth=0.6)
    panel.spines[["top", "right"]].set_visible(False)
    figure.legend(loc="outside right upper", frameon=False)
    figure.savefig(PAGE.parent / "ladder" / f"working-notes-{name}.svg", metadata={"Date": None})
    figure.savefig(f"/tmp/working-notes-{name}.png", dpi=110)
    plt.close(figure)


def main() -> None:
    """Write the page and the pictures."""
    PAGE.write_text(filled(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    for name, look in (("light", LIGHT), ("dark", DARK)):
        draw(name, look)
        draw_notes(name, look)


if __name__ == "__main__":
    main()
