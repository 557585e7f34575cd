"""The graph of a tape: records and what they depend on, or source lines in their place where there are many."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from tapeengine.transforms.source_lines import Line

__all__ = ["Graph", "Vertex", "graph_of", "to_dot"]


class View(Protocol):
    """What a picture is drawn of: a `TapeView`."""

    tape: Any
    recorder: Any

    def __len__(self) -> int: ...

    def records(self) -> list[tuple[int, str, tuple[int, ...], tuple[float, ...]]]:
        """Each record."""

    def value_of(self, id: int) -> float | None:
        """The value of an id."""

    def _pieces(self) -> list[tuple[Line, int, int]]: ...

    @property
    def nbytes(self) -> int:
        """Bytes of the records."""

    @property
    def by_line(self) -> Any:
        """The records of each source line."""


@dataclass
class Vertex:
    """A box of the picture: a title, a line of detail, the group that its colour shows, and what it depends on."""

    title: str
    detail: str
    group: str
    parents: Counter[int] = field(default_factory=Counter)


@dataclass
class Graph:
    """Boxes by number, a parent before its children except in loops, and a heading."""

    heading: str
    vertices: dict[int, Vertex]


def graph_of(view: View, fold: int) -> Graph:
    """Return the graph of the records, or of the source lines where there are more than `fold` records."""
    heading = f"{len(view):,} records, {view.nbytes:,} bytes"
    return Graph(heading, _records(view)) if len(view) <= fold else Graph(heading, _lines(view))


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


def _shown(value: float | None) -> str:
    return "array" if value is None else f"{value:.4g}"


def _records(view: View) -> dict[int, Vertex]:
    """One box for each record and for each input that is used."""
    records = view.records()
    used = {parent for record in records for parent in record[2]}
    vertices = {
        i: Vertex(f"input {i}", _shown(view.value_of(i)), "input") for i in range(1, view.tape.inputs + 1) if i in used
    }
    for id, name, parents, _ in records:
        line = view.recorder.line_of(id)
        vertices[id] = Vertex(f"{id} {name}", _shown(view.value_of(id)), str(line or ""), Counter(parents))
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
