"""Draw a recorded path: a row for each instruction, and arcs to the instructions that read it."""

from __future__ import annotations

import re
from collections import Counter

from .._core.programs.replay import Path, Plan, Register, registers_of_value, spelled
from ..forms import flatten
from ..structure import Structures
from ..transforms.inspection.drawing import Graph, Vertex

#: The groups that have a colour, by the text of an instruction.
GROUPS = (
    ("check", re.compile("check |%\\d+: check"), "a check of what the program decided on"),
    ("constant", re.compile("%\\d+ = [^a-z@]|%\\d+ = (inf|nan)$"), "a constant"),
    ("array", re.compile("%\\d+ = @|@|%\\d+: "), "an operation on arrays"),
    ("operation", re.compile(""), "an operation"),
)


def graph_of_path(structures: Structures, plan: Plan, number: int, most: int) -> Graph:
    """Return the graph of the first `most` instructions of a path, and the inputs that they read."""
    path = plan.paths[number]
    left = len(path) - most
    heading = f"path {number} of {len(plan.paths)}: {len(path):,} instructions, {path.guards:,} of them checks"
    made = {register: _vertex(path, register, op, a, b) for register, op, a, b in path.instructions()}
    shown = dict(list(made.items())[:most])
    used = sorted({parent for vertex in shown.values() for parent in vertex.parents if parent < path.first})
    vertices = {i: Vertex(f"%{i}", "input", "input") for i in used} | shown
    value = () if plan.has_arrays else registers_of_value(path)
    for leaf in flatten(structures, value)[0]:
        if isinstance(leaf, Register) and leaf.number in vertices:
            vertices[leaf.number].is_result = True
    return Graph(
        heading + (f"; {left:,} more are not shown" if left > 0 else ""),
        vertices,
        {group: text for group, _, text in GROUPS},
    )


def _vertex(path: Path, register: int, op: int, a: int, b: int) -> Vertex:
    text = spelled(path, register, op, a, b)
    group = next(group for group, pattern, _ in GROUPS if pattern.match(text))
    read = [int(name) for name in re.findall("%(\\d+)", text)]
    parents = read if (group == "check" and text.startswith("check")) or text.startswith("@") else read[1:]
    return Vertex(text, "", group, Counter(parents))
