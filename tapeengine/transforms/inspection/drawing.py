"""The graph of a tape: its records and their parents, or its source lines if there are many records."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from .source_lines import Line


class View(Protocol):
    """The data of a picture: a `TapeView`."""

    tape: Any
    recorder: Any

    def __len__(self) -> int: ...

    def records(self) -> list[tuple[int, str, tuple[int, ...], tuple[float, ...]]]:
        """All records."""

    def value_of(self, id: int) -> float | None:
        """The value of an id."""

    def results(self) -> frozenset[int]:
        """The ids of the result."""

    def _pieces(self) -> list[tuple[Line, int, int]]: ...

    @property
    def nbytes(self) -> int:
        """Bytes of the records."""

    @property
    def by_line(self) -> Any:
        """The records of each source line."""


MOST = 300  # a picture of more records shows source lines
DEEPEST = 24  # so does one with a path of more records


@dataclass
class Vertex:
    """A box of the picture: a title, a line of detail, the group that sets its colour, and its parents.

    `partials` holds the labels of the edges from the parents.
    """

    title: str
    detail: str
    group: str
    parents: Counter[int] = field(default_factory=Counter)
    partials: dict[int, str] = field(default_factory=dict)
    is_result: bool = False


@dataclass
class Graph:
    """Boxes by number, a heading, and the name of each group; parents precede children except in loops."""

    heading: str
    vertices: dict[int, Vertex]
    legend: dict[str, str] = field(default_factory=dict)


def graph_of(view: View, fold: int | None = None) -> Graph:
    """Return the graph of the records, or of the source lines if there are more than `fold` records.

    By default long chains are folded as well: loops, drawn record by record, show no more than their source lines.
    """
    heading = f"{len(view):,} records, {view.nbytes:,} bytes"
    if len(view) > (MOST if fold is None else fold):
        return Graph(heading, _lines(view))
    vertices = _records(view)
    if fold is None and _depth(vertices) > DEEPEST:
        return Graph(heading, _lines(view))
    legend = {str(line): f"{line}   {_cut(line.text, 60)}" for line in view.by_line}
    return Graph(heading, vertices, legend)


def _depth(vertices: dict[int, Vertex]) -> int:
    """The number of records on the longest path from an input."""
    depth: dict[int, int] = {}
    for number, vertex in vertices.items():
        depth[number] = 1 + max((depth.get(parent, 0) for parent in vertex.parents), default=0)
    return max(depth.values(), default=0)


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


def _shown(value: float | None) -> str:
    return "array" if value is None else f"{value:.4g}"


def _records(view: View) -> dict[int, Vertex]:
    """One box for each record and for each used input."""
    records = view.records()
    used = {parent for record in records for parent in record[2]}
    vertices = {
        i: Vertex(f"input {i}", _shown(view.value_of(i)), "input") for i in range(1, view.tape.inputs + 1) if i in used
    }
    results = view.results()
    for id, name, parents, partials in records:
        line = view.recorder.line_of(id)
        detail = f"{_shown(view.value_of(id))}  line {line.number}" if line else _shown(view.value_of(id))
        along = {p: ", ".join(_shown(d) for q, d in zip(parents, partials) if q == p) for p in parents[: len(partials)]}
        vertices[id] = Vertex(f"{id} {name}", detail, str(line or ""), Counter(parents), along, id in results)
    return vertices


def _lines(view: View) -> dict[int, Vertex]:
    """One box for each source line, and one for all inputs."""
    numbers: dict[Line | None, int] = {None: 0}
    vertices = {0: Vertex("inputs", f"{view.tape.inputs:,} numbers", "input")}
    counts = view.by_line
    for line, count in counts.items():
        numbers[line] = len(numbers)
        vertices[numbers[line]] = Vertex(
            f"{line}   {_cut(line.text, 48)}", f"{count:,} record{'s' * (count > 1)}", str(line)
        )
    owner = [0] * (view.tape.inputs + len(view) + 1)
    for line, start, stop in view._pieces():
        owner[start:stop] = [numbers[line]] * (stop - start)
    for id in view.results():
        vertices[owner[id]].is_result = owner[id] > 0
    for id, _, parents, _ in view.records():
        vertices[owner[id]].parents.update(owner[parent] for parent in parents if owner[parent] != owner[id])
    return vertices


def to_dot(graph: Graph) -> str:
    """Write a graph in Graphviz's language."""
    rows = ["digraph tape {", "  node [shape=box, fontname=Helvetica];", f'  label="{graph.heading}";']
    for number, vertex in graph.vertices.items():
        label = f"{vertex.title}\n{vertex.detail}".replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
        rows.append(f'  r{number} [label="{label}", tooltip="{vertex.group}"];')
    for number, vertex in graph.vertices.items():
        for parent, count in vertex.parents.items():
            note = f' [label="{count:,}"]' if count > 1 else ""
            rows.append(f"  r{parent} -> r{number}{note};")
    return "\n".join([*rows, "}", ""])
