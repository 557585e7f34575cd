"""Draw a graph as SVG: a row for each record or source line, and an arc from each row to the rows that use it.

The rows follow the order of the tape, so the picture needs no layout, and no row covers an arc.
"""

from __future__ import annotations

from html import escape
from math import sqrt

from .drawing import Graph, Vertex

HEIGHT, ROW, MARGIN, STRIPE = 17.0, 20.0, 20.0, 5.0
CHARACTER = 6.8
NOTES = (
    "An arc leads from a row to a row that reads it. There the partial derivative stands, or the number of reads.",
    "A heavy frame marks the result.",
)
#: Colours on light and dark backgrounds, for inputs and for source lines (Okabe and Ito).
PAIRS = (
    ("#98a2b3", "#667085"), ("#0072b2", "#5ab4f0"), ("#d55e00", "#ff9248"), ("#00805a", "#34d3a2"),
    ("#b5478a", "#f0a0d0"), ("#a87400", "#f0b429"), ("#5b4bc4", "#a99cff"),
)  # fmt: skip
INK, MUTED = 'class="ink" fill="#1f2937"', 'class="muted" fill="#667085"'
DARK = {
    ".ink": "fill:#e5e7eb", ".muted": "fill:#98a2b3", ".frame": "fill:#1d2430;stroke:#667085",
    ".result": "fill:#1d2430;stroke:#e5e7eb", ".under": "fill:#14181e",
    ".edge": "stroke:#98a2b3", ".back": "stroke:#ff9248",
} | {f".g{k}": f"fill:{dark}" for k, (_, dark) in enumerate(PAIRS)}  # fmt: skip
STYLE = (
    "@media(prefers-color-scheme:dark){" + "".join(f".te-tape {name}{{{rule}}}" for name, rule in DARK.items()) + "}"
)


def to_svg(graph: Graph) -> str:
    """Return the picture as text."""
    tops = {number: MARGIN + 14 + k * ROW for k, number in enumerate(graph.vertices)}
    groups = {group: k for k, group in enumerate(dict.fromkeys(v.group for v in graph.vertices.values()))}
    named = {group: text for group, text in graph.legend.items() if group in groups}
    columns = [max((len(row[k]) for row in map(texts, graph.vertices.values())), default=0) for k in range(3)]
    inside = sum(columns) * CHARACTER + 40
    spans = [tops[n] - tops[p] for n, v in graph.vertices.items() for p in v.parents]
    bottom = max(tops.values(), default=MARGIN) + ROW + 12
    words = [
        1.2 * len(graph.heading),
        *(1.0 * len(note) for note in NOTES),
        *(3 + len(text) for text in named.values()),
    ]
    width = max(2 * MARGIN + inside + max(map(reach, spans), default=0.0), max(words) * CHARACTER + 2 * MARGIN)
    height = bottom + (len(named) + len(NOTES)) * HEIGHT
    rows = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="te-tape" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}" font-family="Helvetica, Arial, sans-serif" font-size="11">',
        f"<style>{STYLE}</style>",
        f'<text x="{MARGIN}" y="{MARGIN}" font-size="13" font-weight="bold" {INK}>{escape(graph.heading)}</text>',
    ]
    for number, vertex in graph.vertices.items():
        rows += [arc(MARGIN + inside, tops[parent], tops[number]) for parent in vertex.parents]
    rows += [frame(tops[n], inside, columns, v, groups[v.group]) for n, v in graph.vertices.items()]
    rows += [legend(bottom + k * HEIGHT, text, groups[group]) for k, (group, text) in enumerate(named.items())]
    for k, note in enumerate(NOTES, len(named)):
        rows.append(f'<text x="{MARGIN}" y="{bottom + k * HEIGHT + 10:.1f}" {MUTED}>{note}</text>')
    return "\n".join([*rows, "</svg>", ""])


def texts(vertex: Vertex) -> tuple[str, str, str]:
    """The texts of a row: the title, the detail, and the labels of its arcs."""
    notes = [vertex.partials.get(parent, f"{count:,}" if count > 1 else "") for parent, count in vertex.parents.items()]
    return vertex.title, vertex.detail, "  ".join(filter(None, notes))


def frame(top: float, width: float, columns: list[int], vertex: Vertex, group: int) -> str:
    """A row with its texts and its group's colour on the left; a result has a heavy frame."""
    kind, line, weight = ("result", "#1f2937", 2.5) if vertex.is_result else ("frame", "#98a2b3", 1)
    found = f'<rect class="{kind}" x="{MARGIN}" y="{top:.1f}" width="{width:.1f}" height="{HEIGHT}" rx="3"'
    found += f' fill="#ffffff" stroke="{line}" stroke-width="{weight}"/>'
    found += square(MARGIN, top, STRIPE, HEIGHT, 0 if vertex.group == "input" else group)
    left = MARGIN + STRIPE + 6
    for text, characters, ink in zip(texts(vertex), columns, (INK, MUTED, INK), strict=True):
        found += (
            f'<text x="{left:.1f}" y="{top + 12:.1f}" xml:space="preserve" {ink}>{escape(text)}</text>' if text else ""
        )
        left += characters * CHARACTER + 10
    return f"<g><title>{escape(vertex.group)}</title>{found}</g>"


def reach(span: float) -> float:
    """How far an arc extends to the right, given its length downward; an arc upward extends further."""
    return 8.0 + (2.5 if span > 0 else 4.0) * sqrt(abs(span))


def arc(x: float, begin: float, end: float) -> str:
    """An arc from one row to another; an arc upward, as in a loop, has a separate colour."""
    kind, shade = ("edge", "#98a2b3") if end > begin else ("back", "#d55e00")
    y1, y2, out = begin + HEIGHT / 2, end + HEIGHT / 2, x + 4 / 3 * reach(end - begin)
    path = f"M{x:.1f},{y1:.1f} C{out:.1f},{y1:.1f} {out:.1f},{y2:.1f} {x:.1f},{y2:.1f}"
    return f'<path class="{kind}" d="{path}" fill="none" stroke="{shade}"/>'


def square(left: float, top: float, width: float, height: float, group: int) -> str:
    """A patch in a group's colour; group 0 is the inputs."""
    k = 1 + (group - 1) % (len(PAIRS) - 1) if group else 0
    place = f'x="{left:.1f}" y="{top:.1f}" width="{width:.0f}" height="{height:.0f}"'
    return f'<rect class="g{k}" {place} fill="{PAIRS[k][0]}"/>'


def legend(top: float, text: str, group: int) -> str:
    """A line of the legend: a colour and its source line."""
    words = f'<text x="{MARGIN + 18}" y="{top + 10:.1f}" xml:space="preserve" {INK}>{escape(text)}</text>'
    return square(MARGIN, top, 12, 12, group) + words
