"""A graph as an SVG picture: boxes in layers from the inputs down, one colour for each source line.

An edge that passes layers has a place of its own in each of them, its way, so that no box hides it.
"""

from __future__ import annotations

from html import escape
from typing import Any

from tapeengine.transforms.drawing import Graph, Vertex

__all__ = ["layers_of", "placed", "to_svg"]

HEIGHT, GAP, LAYER, MARGIN = 34, 14, 66, 20
CHARACTER, WAY, LOOP = 6.8, 6.0, 30.0
MOST_WAYS = 1000  # above, edges run straight
ROW, STRIPE = 17.0, 5.0
EDGES = "On an edge: the partial derivative, or how many edges it stands for. A heavy frame: the result."
#: Colours on light and on dark ground: of inputs, and of source lines (Okabe and Ito).
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
Box = tuple[float, float, float]  # left, top, width
Way = tuple[int, int]  # of the edges from a box through a layer
Item = int | Way


def to_svg(graph: Graph) -> str:
    """Return the picture as text."""
    layers = layers_of(graph)
    boxes = placed(graph, layers)
    lines = [edge(path, note) for path, note in paths(graph, layers, boxes)]
    loops = any("Q" in line for line, _ in lines)
    groups = {group: k for k, group in enumerate(dict.fromkeys(v.group for v in graph.vertices.values()))}
    named = {group: text for group, text in graph.legend.items() if group in groups}
    right = max((left + width for left, _, width in boxes.values()), default=0.0) + MARGIN + loops * LOOP
    bottom = max((top for _, top, _ in boxes.values()), default=0.0) + HEIGHT + MARGIN
    texts = [1.2 * len(graph.heading), 1.1 * len(EDGES), *(3 + len(text) for text in named.values())]
    width = max(right, max(texts) * CHARACTER + 2 * MARGIN)
    height = bottom + (len(named) + 1) * ROW
    rows = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="te-tape" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}" font-family="Helvetica, Arial, sans-serif" font-size="11">',
        f"<style>{STYLE}</style>",
        f'<text x="{MARGIN}" y="{MARGIN + 4}" font-size="13" font-weight="bold" {INK}>{escape(graph.heading)}</text>',
    ]
    rows += [line for line, _ in lines]
    rows += [box(boxes[n], v, groups[v.group]) for n, v in graph.vertices.items()]
    rows += [note for _, note in lines if note]
    for k, (group, text) in enumerate(named.items()):
        rows.append(legend(bottom + k * ROW, text, groups[group]))
    rows.append(f'<text x="{MARGIN}" y="{bottom + len(named) * ROW + 10:.1f}" {MUTED}>{EDGES}</text>')
    return "\n".join([*rows, "</svg>", ""])


# -- layers ------------------------------------------------------------------------------------------------------------
def depths_of(graph: Graph) -> dict[int, int]:
    """How far below the inputs each vertex is, by the longest way."""
    depth: dict[int, int] = {}
    for number, vertex in graph.vertices.items():
        depth[number] = 1 + max((depth[p] for p in vertex.parents if p in depth), default=-1)
    lower_to_use(graph, depth)
    return depth


def layers_of(graph: Graph) -> list[list[Item]]:
    """The vertices by their depth, and the ways of edges; each layer in the order that crosses few edges."""
    depth = depths_of(graph)
    layers: list[list[Item]] = [[] for _ in range(max(depth.values(), default=-1) + 1)]
    for number, level in depth.items():
        layers[level].append(number)
    ways = [(p, level) for p, last in lowest_child(graph, depth).items() for level in range(depth[p] + 1, last)]
    for parent, level in ways if len(ways) <= MOST_WAYS else ():
        layers[level].append((parent, level))
    position: dict[Item, float] = {item: float(k) for layer in layers for k, item in enumerate(layer)}
    for layer in layers[1:]:
        layer.sort(key=lambda item: _centre([_of(position, p) for p in above(graph, depth, item)], position[item]))
        position.update({item: float(k) for k, item in enumerate(layer)})
    return layers


def lower_to_use(graph: Graph, depth: dict[int, int]) -> None:
    """Move what depends on inputs alone down to just above where it is used."""
    first_use: dict[int, int] = {}
    for number, vertex in graph.vertices.items():
        for parent in vertex.parents:
            first_use[parent] = min(first_use.get(parent, depth[number]), depth[number])
    for number, vertex in graph.vertices.items():
        if vertex.parents and all(depth.get(parent, 0) == 0 for parent in vertex.parents) and number in first_use:
            depth[number] = max(depth[number], first_use[number] - 1)


def lowest_child(graph: Graph, depth: dict[int, int]) -> dict[int, int]:
    """The depth that the edges of each vertex reach down to."""
    last: dict[int, int] = {}
    for number, vertex in graph.vertices.items():
        for parent in vertex.parents:
            last[parent] = max(last.get(parent, 0), depth[number])
    return last


def above(graph: Graph, depth: dict[int, int], item: Item) -> list[Item]:
    """What an item hangs on, in the layer above it."""
    if isinstance(item, tuple):
        return [_passing(depth, item[0], item[1] - 1)]
    level = depth[item] - 1
    return [_passing(depth, p, level) for p in graph.vertices[item].parents if depth[p] <= level]


def _passing(depth: dict[int, int], parent: int, level: int) -> Item:
    """Where the edges of a vertex are in a layer: at its box, or on their way."""
    return parent if depth[parent] == level else (parent, level)


def _of(table: dict[Item, Any], item: Item) -> Any:
    """The entry of an item; of a way that there is none of, that of its vertex."""
    return table[item] if item in table or not isinstance(item, tuple) else table[item[0]]


def _centre(positions: list[float], own: float) -> float:
    return sum(positions) / len(positions) if positions else own


# -- places ------------------------------------------------------------------------------------------------------------
def placed(graph: Graph, layers: list[list[Item]]) -> dict[Item, Box]:
    """Where each box and each way is: under its parents where there is room."""
    depth = {item: level for level, layer in enumerate(layers) for item in layer if isinstance(item, int)}
    boxes: dict[Item, Box] = {}
    for level, layer in enumerate(layers):
        edge_of_last = float(MARGIN)
        for item in layer:
            width = width_of(graph, item)
            hung = [left + wide / 2 for left, _, wide in (_of(boxes, p) for p in above(graph, depth, item))]
            wanted = sum(hung) / len(hung) - width / 2 if hung else edge_of_last
            left = max(edge_of_last, wanted)
            boxes[item] = (left, MARGIN + 24 + level * LAYER, width)
            edge_of_last = left + width + GAP
    return boxes


def width_of(graph: Graph, item: Item) -> float:
    """The width of a box around its text, or of a way."""
    if isinstance(item, tuple):
        return WAY
    vertex = graph.vertices[item]
    return 14 + CHARACTER * max(len(vertex.title), len(vertex.detail), 6)


def paths(graph: Graph, layers: list[list[Item]], boxes: dict[Item, Box]) -> list[tuple[list[Box], str]]:
    """The boxes that each edge begins at, passes by its ways, and ends at; and what is written on it."""
    depth = {item: level for level, layer in enumerate(layers) for item in layer if isinstance(item, int)}
    found = []
    for number, vertex in graph.vertices.items():
        for parent, count in vertex.parents.items():
            ways = [(parent, level) for level in range(depth[parent] + 1, depth[number])]
            passed = [boxes[way] for way in ways if way in boxes]
            note = vertex.partials.get(parent, f"{count:,}" if count > 1 else "")
            found.append(([boxes[parent], *passed, boxes[number]], note))
    return found


# -- drawing -----------------------------------------------------------------------------------------------------------
def box(place: Box, vertex: Vertex, group: int) -> str:
    """A box with its two lines of text, and its group's colour on its left; of a result with a heavy frame."""
    left, top, width = place
    middle = left + width / 2
    first = f'<text x="{middle:.1f}" y="{top + 14:.1f}" text-anchor="middle" {INK}>{escape(vertex.title)}</text>'
    second = f'<text x="{middle:.1f}" y="{top + 27:.1f}" text-anchor="middle" {MUTED}>{escape(vertex.detail)}</text>'
    kind, line, weight = ("result", "#1f2937", 2.5) if vertex.is_result else ("frame", "#98a2b3", 1)
    frame = f'<rect class="{kind}" x="{left:.1f}" y="{top:.1f}" width="{width:.1f}" height="{HEIGHT}" rx="3"'
    frame += f' fill="#ffffff" stroke="{line}" stroke-width="{weight}"/>'
    stripe = square(left, top, STRIPE, HEIGHT, 0 if vertex.group == "input" else group)
    return f"<g><title>{escape(vertex.group)}</title>{frame}{stripe}{first}{second}</g>"


def square(left: float, top: float, width: float, height: float, group: int) -> str:
    """A patch of a group's colour; 0 is that of inputs."""
    k = 1 + (group - 1) % (len(PAIRS) - 1) if group else 0
    place = f'x="{left:.1f}" y="{top:.1f}" width="{width:.0f}" height="{height:.0f}"'
    return f'<rect class="g{k}" {place} fill="{PAIRS[k][0]}"/>'


def legend(top: float, text: str, group: int) -> str:
    """What a colour means: the source line."""
    words = f'<text x="{MARGIN + 18}" y="{top + 10:.1f}" xml:space="preserve" {INK}>{escape(text)}</text>'
    return square(MARGIN, top, 12, 12, group) + words


def edge(passed: list[Box], note: str) -> tuple[str, str]:
    """A curve from a parent to what depends on it, and its note; one that leads back up, as loops do, goes round."""
    path, kind, shade, x, y = downwards(passed) if passed[-1][1] > passed[0][1] else around(passed[0], passed[-1])
    line = f'<path class="{kind}" d="{path}" fill="none" stroke="{shade}"/>'
    return line, label(x, y, note) if note else ""


def downwards(passed: list[Box]) -> tuple[str, str, str, float, float]:
    """The path of an edge by its ways, its kind, its colour and the place of its note."""
    left, top, width = passed[0]
    x, y = left + width / 2, top + HEIGHT
    path = f"M{x:.1f},{y:.1f}"
    for left, top, width in passed[1:]:
        begin, y_begin, x = x, y, left + width / 2
        bend = (y + top) / 2
        path += f" C{begin:.1f},{bend:.1f} {x:.1f},{bend:.1f} {x:.1f},{top:.1f}"
        y = top + HEIGHT
        path += f" L{x:.1f},{y:.1f}" if width == WAY else ""
    return path, "edge", "#98a2b3", (begin + x) / 2, (y_begin + top) / 2


def around(start: Box, end: Box) -> tuple[str, str, str, float, float]:
    """The same for an edge that leads back up, on the right of the boxes."""
    x1, x2 = start[0] + start[2], end[0] + end[2]
    y1, y2 = start[1] + HEIGHT / 2, end[1] + HEIGHT / 2
    out = max(x1, x2) + LOOP
    middle = (y1 + y2) / 2
    path = f"M{x1:.1f},{y1:.1f} Q{out:.1f},{y1:.1f} {out:.1f},{middle:.1f} Q{out:.1f},{y2:.1f} {x2:.1f},{y2:.1f}"
    return path, "back", "#d55e00", out, middle


def label(x: float, y: float, text: str) -> str:
    """A note on its edge, on the ground's colour."""
    width = 5.5 * len(text) + 4
    place = f'x="{x - width / 2:.1f}" y="{y - 6:.1f}" width="{width:.1f}" height="12"'
    words = f'<text x="{x:.1f}" y="{y + 3:.1f}" text-anchor="middle" font-size="9" {INK}>{escape(text)}</text>'
    return f'<rect class="under" {place} fill="#ffffff" fill-opacity="0.85"/>{words}'
