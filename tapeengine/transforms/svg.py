"""A graph as an SVG picture: boxes in layers from the inputs down, one colour for each source line.

An edge that passes layers has a place of its own in each of them, its way, so that no box hides it.
"""

from __future__ import annotations

import colorsys
import zlib
from html import escape
from typing import Any

from tapeengine.transforms.drawing import Graph

__all__ = ["layers_of", "placed", "to_svg"]

HEIGHT, GAP, LAYER, MARGIN = 34, 14, 66, 20
CHARACTER, WAY, LOOP = 6.8, 6.0, 30.0
MOST_WAYS = 1000  # above, edges run straight
Box = tuple[float, float, float]  # left, top, width
Way = tuple[int, int]  # of the edges from a box through a layer
Item = int | Way


def to_svg(graph: Graph) -> str:
    """Return the picture as text."""
    layers = layers_of(graph)
    boxes = placed(graph, layers)
    lines = [edge(path, count) for path, count in paths(graph, layers, boxes)]
    loops = any("Q" in line for line, _ in lines)
    right = max((left + width for left, _, width in boxes.values()), default=0.0) + MARGIN + loops * LOOP
    bottom = max((top for _, top, _ in boxes.values()), default=0.0) + HEIGHT + MARGIN
    width = max(right, 1.2 * len(graph.heading) * CHARACTER + 2 * MARGIN)
    rows = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{bottom:.0f}" '
        f'viewBox="0 0 {width:.0f} {bottom:.0f}" font-family="Helvetica, Arial, sans-serif" font-size="11">',
        f'<rect width="{width:.0f}" height="{bottom:.0f}" fill="white"/>',
        f'<text x="{MARGIN}" y="{MARGIN + 4}" font-size="13" font-weight="bold">{escape(graph.heading)}</text>',
    ]
    rows += [line for line, _ in lines]
    rows += [box(boxes[n], v.title, v.detail, v.group) for n, v in graph.vertices.items()]
    rows += [note for _, note in lines if note]
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


def paths(graph: Graph, layers: list[list[Item]], boxes: dict[Item, Box]) -> list[tuple[list[Box], int]]:
    """The boxes that each edge begins at, passes by its ways, and ends at; and how often it is meant."""
    depth = {item: level for level, layer in enumerate(layers) for item in layer if isinstance(item, int)}
    found = []
    for number, vertex in graph.vertices.items():
        for parent, count in vertex.parents.items():
            ways = [(parent, level) for level in range(depth[parent] + 1, depth[number])]
            passed = [boxes[way] for way in ways if way in boxes]
            found.append(([boxes[parent], *passed, boxes[number]], count))
    return found


# -- drawing -----------------------------------------------------------------------------------------------------------
def box(place: Box, title: str, detail: str, group: str) -> str:
    """A box with its two lines of text."""
    left, top, width = place
    middle = left + width / 2
    first = f'<text x="{middle:.1f}" y="{top + 14:.1f}" text-anchor="middle">{escape(title)}</text>'
    second = f'<text x="{middle:.1f}" y="{top + 27:.1f}" text-anchor="middle" fill="#555555">{escape(detail)}</text>'
    frame = f'<rect x="{left:.1f}" y="{top:.1f}" width="{width:.1f}" height="{HEIGHT}" rx="5" fill="{colour(group)}"'
    return f'<g><title>{escape(group)}</title>{frame} stroke="#666666"/>{first}{second}</g>'


def colour(group: str) -> str:
    """A light colour for a group, as six digits, which every viewer reads."""
    if group == "input":
        return "#eeeeee"
    parts = colorsys.hls_to_rgb(zlib.crc32(group.encode()) % 360 / 360, 0.88, 0.55)
    return "#" + "".join(f"{round(255 * part):02x}" for part in parts)


def edge(passed: list[Box], count: int) -> tuple[str, str]:
    """A curve from a parent to what depends on it, and its count; one that leads back up, as loops do, goes round."""
    weight = min(1.0 + 0.5 * len(str(count)), 3.5) if count > 1 else 1.0
    path, shade, x, y = downwards(passed) if passed[-1][1] > passed[0][1] else around(passed[0], passed[-1])
    line = f'<path d="{path}" fill="none" stroke="{shade}" stroke-width="{weight}"/>'
    return line, label(x, y, f"{count:,}", shade) if count > 1 else ""


def downwards(passed: list[Box]) -> tuple[str, str, float, float]:
    """The path of an edge by its ways, its colour and the place of its count."""
    left, top, width = passed[0]
    x, y = left + width / 2, top + HEIGHT
    path = f"M{x:.1f},{y:.1f}"
    for left, top, width in passed[1:]:
        begin, y_begin, x = x, y, left + width / 2
        bend = (y + top) / 2
        path += f" C{begin:.1f},{bend:.1f} {x:.1f},{bend:.1f} {x:.1f},{top:.1f}"
        y = top + HEIGHT
        path += f" L{x:.1f},{y:.1f}" if width == WAY else ""
    return path, "#888888", (begin + x) / 2, (y_begin + top) / 2


def around(start: Box, end: Box) -> tuple[str, str, float, float]:
    """The same for an edge that leads back up, on the right of the boxes."""
    x1, x2 = start[0] + start[2], end[0] + end[2]
    y1, y2 = start[1] + HEIGHT / 2, end[1] + HEIGHT / 2
    out = max(x1, x2) + LOOP
    middle = (y1 + y2) / 2
    path = f"M{x1:.1f},{y1:.1f} Q{out:.1f},{y1:.1f} {out:.1f},{middle:.1f} Q{out:.1f},{y2:.1f} {x2:.1f},{y2:.1f}"
    return path, "#cc8844", out, middle


def label(x: float, y: float, text: str, shade: str) -> str:
    """A count on its edge, on white."""
    width = 5.5 * len(text) + 4
    frame = f'<rect x="{x - width / 2:.1f}" y="{y - 6:.1f}" width="{width:.1f}" height="12" fill="white"/>'
    return f'{frame}<text x="{x:.1f}" y="{y + 3:.1f}" text-anchor="middle" fill="{shade}" font-size="9">{text}</text>'
