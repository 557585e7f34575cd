"""A graph as an SVG picture: boxes in layers from the inputs down, one colour for each source line."""

from __future__ import annotations

import zlib
from html import escape

from tapeengine.transforms.drawing import Graph

__all__ = ["to_svg"]

HEIGHT, GAP, LAYER, MARGIN = 34, 14, 66, 20
CHARACTER = 6.8
Box = tuple[float, float, float]  # left, top, width


def to_svg(graph: Graph) -> str:
    """Return the picture as text."""
    boxes = placed(graph, layers_of(graph))
    right = max((left + width for left, _, width in boxes.values()), default=0.0) + MARGIN
    bottom = max((top for _, top, _ in boxes.values()), default=0.0) + HEIGHT + MARGIN
    width = max(right, len(graph.heading) * CHARACTER + 2 * MARGIN)
    rows = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{bottom:.0f}" '
        f'viewBox="0 0 {width:.0f} {bottom:.0f}" font-family="Helvetica, Arial, sans-serif" font-size="11">',
        f'<rect width="{width:.0f}" height="{bottom:.0f}" fill="white"/>',
        f'<text x="{MARGIN}" y="{MARGIN + 4}" font-size="13" font-weight="bold">{escape(graph.heading)}</text>',
    ]
    rows += [
        edge(boxes[parent], boxes[n], count) for n, v in graph.vertices.items() for parent, count in v.parents.items()
    ]
    rows += [box(boxes[n], v.title, v.detail, v.group) for n, v in graph.vertices.items()]
    return "\n".join([*rows, "</svg>", ""])


def layers_of(graph: Graph) -> list[list[int]]:
    """The vertices by their longest way from an input; each layer in the order that crosses few edges."""
    depth: dict[int, int] = {}
    for number, vertex in graph.vertices.items():
        depth[number] = 1 + max((depth[p] for p in vertex.parents if p in depth), default=-1)
    lower_to_use(graph, depth)
    layers: list[list[int]] = [[] for _ in range(max(depth.values(), default=-1) + 1)]
    for number, level in depth.items():
        layers[level].append(number)
    position = {number: float(k) for layer in layers for k, number in enumerate(layer)}
    for layer in layers[1:]:
        layer.sort(key=lambda number: _centre([position[p] for p in graph.vertices[number].parents], position[number]))
        position.update({number: float(k) for k, number in enumerate(layer)})
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


def _centre(positions: list[float], own: float) -> float:
    return sum(positions) / len(positions) if positions else own


def placed(graph: Graph, layers: list[list[int]]) -> dict[int, Box]:
    """Where each box is: under its parents where there is room."""
    boxes: dict[int, Box] = {}
    for depth, layer in enumerate(layers):
        edge_of_last = float(MARGIN)
        for number in layer:
            vertex = graph.vertices[number]
            width = 14 + CHARACTER * max(len(vertex.title), len(vertex.detail), 6)
            above = [boxes[p][0] + boxes[p][2] / 2 for p in vertex.parents if p in boxes]
            wanted = sum(above) / len(above) - width / 2 if above else edge_of_last
            left = max(edge_of_last, wanted)
            boxes[number] = (left, MARGIN + 24 + depth * LAYER, width)
            edge_of_last = left + width + GAP
    return boxes


def box(place: Box, title: str, detail: str, group: str) -> str:
    """A box with its two lines of text."""
    left, top, width = place
    hue = zlib.crc32(group.encode()) % 360
    fill = "#eeeeee" if group == "input" else f"hsl({hue}, 55%, 88%)"
    middle = left + width / 2
    first = f'<text x="{middle:.1f}" y="{top + 14:.1f}" text-anchor="middle">{escape(title)}</text>'
    second = f'<text x="{middle:.1f}" y="{top + 27:.1f}" text-anchor="middle" fill="#555555">{escape(detail)}</text>'
    frame = f'<rect x="{left:.1f}" y="{top:.1f}" width="{width:.1f}" height="{HEIGHT}" rx="5" fill="{fill}"'
    return f'<g><title>{escape(group)}</title>{frame} stroke="#666666"/>{first}{second}</g>'


def edge(start: Box, end: Box, count: int) -> str:
    """A curve from a parent to what depends on it; one that leads back up, as loops do, goes round on the right."""
    x1, y1, x2, y2 = start[0] + start[2] / 2, start[1] + HEIGHT, end[0] + end[2] / 2, end[1]
    weight = min(1.0 + 0.5 * len(str(count)), 3.5) if count > 1 else 1.0
    if y2 > y1:
        bend = (y1 + y2) / 2
        path = f"M{x1:.1f},{y1:.1f} C{x1:.1f},{bend:.1f} {x2:.1f},{bend:.1f} {x2:.1f},{y2:.1f}"
        colour, x, y = "#888888", (x1 + x2) / 2, bend
    else:
        x1, x2 = start[0] + start[2], end[0] + end[2]
        y1, y2 = start[1] + HEIGHT / 2, end[1] + HEIGHT / 2
        out = max(x1, x2) + 30
        path = f"M{x1:.1f},{y1:.1f} C{out:.1f},{y1:.1f} {out:.1f},{y2:.1f} {x2:.1f},{y2:.1f}"
        colour, x, y = "#cc8844", out - 6, (y1 + y2) / 2
    note = f'<text x="{x + 3:.1f}" y="{y:.1f}" fill="{colour}" font-size="9">{count:,}</text>' if count > 1 else ""
    return f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="{weight}"/>{note}'
