"""Interleave and deinterleave: structures decomposed into numbered scalars and rebuilt (DN Fig. 7 to 10).

DN Fig. 10 keeps a rebuild function for each structure. Here a `Layout`, the list of its leaves and containers in
postorder, takes its place, so that a structure may be deeper than Python's stack.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy

from ..errors import CotangentError, StructureError
from ..structure import Container, Structures


class Leaf(NamedTuple):
    """A leaf: the id of its scalar (0 if it depends on no input), and the class of its cotangent."""

    id: int
    cls: type

    @property
    def is_discrete(self) -> bool:
        """Whether the leaf has no cotangent."""
        return self.cls is type(None)


class Branch(NamedTuple):
    """A container of the `n` results before it."""

    cls: type
    container: Container
    aux: Any
    n: int


Layout = list[Leaf | Branch]
#: Returns the leaf of the rebuilt structure, and its entry in the layout.
LeafRule = Callable[[Any, Callable[[], str]], tuple[Any, Leaf]]


class Frame(NamedTuple):
    """A container during the walk over its children."""

    source: Any
    branch: Branch
    children: Sequence[Any]
    done: list[Any]

    def place(self) -> str:
        """The present child's place, as a user would write it."""
        return str(self.branch.container.names(self.branch.aux)[len(self.done)])


def open_frame(value: Any, structures: Structures) -> Frame | None:
    """The frame of a container; None for a leaf."""
    opened = structures.opened(value)
    if opened is None:
        return None
    children, container, aux = opened
    return Frame(value, Branch(type(value), container, aux, len(children)), children, [])


def take_apart(value: Any, structures: Structures, root: str, leaf: LeafRule) -> tuple[Any, Layout]:
    """Walk a structure once and call `leaf` for each leaf; return the rebuilt structure and the layout."""
    frames: list[Frame] = []
    around: set[int] = set()
    layout: Layout = []

    def path() -> str:
        return "".join([root, *(frame.place() for frame in frames)])

    while True:
        frame = open_frame(value, structures)
        if frame is not None and frame.children:
            if id(value) in around:
                raise StructureError(f"{root} contains itself: a structure with a cycle has no cotangent")
            around.add(id(value))
            frames.append(frame)
            value = frame.children[0]
            continue
        done, step = leaf(value, path) if frame is None else (close(frame), frame.branch)
        layout.append(step)
        while frames:
            frames[-1].done.append(done)
            if len(frames[-1].done) < len(frames[-1].children):
                break
            around.discard(id(frames[-1].source))
            layout.append(frames[-1].branch)
            done = close(frames.pop())
        if not frames:
            return done, layout
        value = frames[-1].children[len(frames[-1].done)]


def close(frame: Frame) -> Any:
    """Rebuild a container from its processed children."""
    return frame.branch.container.make(frame.branch.aux, frame.done)


def rebuild(layout: Layout, scalar: Callable[[int], Any]) -> Any:
    """Run a layout forwards: the same structure with ``scalar(id)`` at each leaf, and None at discrete leaves."""
    stack: list[Any] = []
    for step in layout:
        if isinstance(step, Branch):
            children = stack[len(stack) - step.n :]
            del stack[len(stack) - step.n :]
            stack.append(step.container.make(step.aux, children))
        elif step.is_discrete:
            stack.append(None)
        else:
            stack.append(scalar(step.id) if step.cls is float else step.cls(scalar(step.id)))
    return stack[0]


def match(layout: Layout, cotangent: Any, root: str, stage: Callable[[int, Any], bool], structures: Structures) -> None:
    """Run a layout backwards against a cotangent, and stage each leaf with its id."""
    stack = [(cotangent, Path(root))]
    for step in reversed(layout):
        value, path = stack.pop()
        if isinstance(step, Branch):
            names = step.container.names(step.aux)
            places = [Path(name, path) for name in names]
            stack += zip(children_of(step, value, path), places, strict=True)
        elif step.is_discrete:
            if value is not None and not structures.is_discrete(value) and not (type(value) is float and value == 0):
                raise refusal(path, "None (the value here is discrete)", value)
        elif not stage(step.id, value):
            raise refusal(path, "a number", value)


class Path(NamedTuple):
    """A place in a structure: the last step to it, and the place before."""

    name: str
    before: "Path | None" = None

    def text(self) -> str:
        """The place as a user would write it: value['loss'][2]."""
        path, names = self, [self.name]
        while path.before is not None:
            path = path.before
            names.append(path.name)
        return "".join(reversed(names))


def children_of(branch: Branch, value: Any, path: Path) -> Sequence[Any]:
    """The children of a cotangent's container, in the layout's order, after checking that it fits."""
    if branch.cls in (list, tuple):
        if type(value) not in (list, tuple) or len(value) != branch.n:
            raise refusal(path, f"a {branch.cls.__name__} of {branch.n}", value)
        return list(value)
    if branch.cls is dict:
        if not isinstance(value, dict) or value.keys() != set(branch.aux):
            raise refusal(path, f"a dict with the keys {branch.aux}", value)
        return [value[key] for key in branch.aux]
    if type(value) is not branch.cls:
        raise refusal(path, f"a {branch.cls.__name__}", value)
    children, aux = branch.container.take(value)
    if list(branch.container.names(aux)) != list(branch.container.names(branch.aux)):
        raise refusal(path, f"a {branch.cls.__name__} with {branch.n} values", value)
    return list(children)


def refusal(path: Path, wanted: str, value: Any) -> CotangentError:
    """The error for a cotangent that does not fit."""
    got = type(value).__name__
    if isinstance(value, (list, tuple, dict)):
        got = f"a {got} of {len(value)}"
    elif isinstance(value, numpy.ndarray):
        got = f"an array of shape {value.shape} and dtype {value.dtype}"
    return CotangentError(f"{path.text()} must be {wanted}, not {got}")
