"""The form of a structure: its containers without the leaves, and the spaces of the leaves.

A linear map describes its domain and codomain by a `Form` each. Nothing here recurses, so depth is unlimited.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np

from ._core.arrays.array import Array, from_values
from ._core.arrays.array import is_traced as is_traced
from ._core.scalars.complex import ComplexDual
from ._core.scalars.scalar import Dual
from ._core.sweeps.trace import value_unseen
from .errors import CONTAINS_ITSELF, CotangentError, StructureError, UnsupportedError, class_name
from .primitive.spaces import Space, is_whole, space_of
from .structure import Structures

#: Classes of leaves that are recognised without searching the registered containers.
NUMBERS = frozenset((float, Dual, Array, np.ndarray))
#: One step of a form: the name of a container, its constructor and argument, its number of children, and what names
#: them in a path; None for a leaf.
Step = tuple[str, Callable[[Any, Sequence[Any]], Any], Any, int, Callable[[Any], Sequence[str]]] | None


def is_continuous(value: Any) -> bool:
    """Whether a leaf has a derivative: a real or complex floating-point number, an array of these, or a dual of one."""
    if type(value) is float or is_traced(value) or isinstance(value, (float, complex, np.inexact, ComplexDual)):
        return True
    return isinstance(value, np.ndarray) and value.dtype.kind in "fc"


def holds_traced(structures: Structures, value: Any) -> bool:
    """Whether a leaf of a structure is traced."""
    return any(map(is_traced, flatten(structures, value)[0]))


def is_plain(leaf: Any) -> bool:
    """Whether a leaf is not an array of a subclass (masked array, matrix), for which sums mean something else."""
    return not isinstance(leaf, np.ndarray) or type(leaf) in (np.ndarray, np.memmap)


def _opened(structures: Structures, value: Any) -> tuple[Sequence[Any], Step] | None:
    """The children and the step of a container; None for a leaf."""
    if type(value) in NUMBERS:
        return None
    opened = structures.opened(value)
    if opened is None:
        return None
    children, container, aux = opened
    return children, (type(value).__name__, container.make, aux, len(children), container.names)


def flatten(structures: Structures, value: Any) -> tuple[list[Any], list[Step]]:
    """Decompose a structure into its leaves, from left to right, and the steps that rebuild it."""
    opened = _opened(structures, value)
    if opened is None:
        return [_numbers_of(value)], [None]
    if NUMBERS.issuperset(map(type, opened[0])):
        return _leaves(opened[0]), [None] * len(opened[0]) + [opened[1]]
    leaves: list[Any] = []
    steps: list[Step] = []
    pending: list[tuple[Any, Step, bool]] = [(value, None, False)]
    around: set[int] = set()
    while pending:
        item, step, closing = pending.pop()
        if closing:
            steps.append(step)
            around.remove(id(item))
            continue
        opened = _opened(structures, item)
        if opened is None:
            leaves.append(_numbers_of(item))
            steps.append(None)
        elif NUMBERS.issuperset(map(type, opened[0])):
            leaves += _leaves(opened[0])
            steps += [None] * len(opened[0])
            steps.append(opened[1])
        else:
            if id(item) in around:
                raise StructureError(f"a {type(item).__name__}{CONTAINS_ITSELF}")
            around.add(id(item))
            pending.append((item, opened[1], True))
            pending.extend((child, None, False) for child in reversed(opened[0]))
    return leaves, steps


def _leaves(found: Sequence[Any]) -> list[Any]:
    return list(map(_numbers_of, found)) if np.ndarray in set(map(type, found)) else list(found)


def _numbers_of(value: Any) -> Any:
    """A leaf: for an array of objects that are numbers, the array of numbers that it is in the plain program.

    numpy makes an array of objects from traced numbers, and from what replaces them when a function runs again.
    """
    if type(value) is not np.ndarray or value.dtype.kind != "O":
        return value
    try:
        found = from_values(value.tolist())
    except (ValueError, UnsupportedError):  # rows of different lengths, or objects of other kinds
        return value
    return found if found.dtype.kind in "biufc" else value


def unflatten(steps: Sequence[Step], leaves: Sequence[Any]) -> Any:
    """Rebuild a structure from steps and other leaves."""
    whole = steps[-1]
    if whole is not None and whole[3] == len(leaves) == len(steps) - 1:  # no structure inside
        return whole[1](whole[2], list(leaves))
    remaining = iter(leaves)
    done: list[Any] = []
    for step in steps:
        if step is None:
            done.append(next(remaining))
        else:
            _, make, aux, count, _ = step
            children = done[len(done) - count :]
            del done[len(done) - count :]
            done.append(make(aux, children))
    return done[0]


def outline(steps: Sequence[Step]) -> list[Any]:
    """Describe the containers of a structure: for each its class, its number of children and their keys.

    Two structures have equal outlines if their containers agree and their leaves stand in the same order.
    """
    return [step if step is None else (step[0], step[3], _keys(step)) for step in steps]


def _keys(step: Any) -> tuple[Any, ...] | None:
    """What tells the children of a container apart; None if it is their order."""
    name, _, aux, _, names = step
    return None if name in ("list", "tuple") else tuple(aux if name == "dict" else names(aux))


def leaves_like(structures: Structures, steps: Sequence[Step], value: Any) -> list[Any] | None:
    """The leaves of a structure in the order of another one; None if it is of another form.

    Items of dicts, and attributes, may be in another order: they belong together by their keys.
    """
    leaves, found = flatten(structures, value)
    if len(found) == len(steps) == 1 or outline(found) == outline(steps):
        return leaves
    leaves, pending = [], [value]
    for step in reversed(steps):
        item = pending.pop()
        opened = _opened(structures, item)
        if (step is None) != (opened is None):
            return None
        if opened is None:
            leaves.append(_numbers_of(item))
            continue
        children = _ordered(step, *opened)
        if children is None:
            return None
        pending.extend(children)
    return leaves[::-1]


def _ordered(step: Any, children: Sequence[Any], other: Any) -> Sequence[Any] | None:
    """The children of a container in the order of another one; None if their keys differ."""
    if (step[0], step[3]) != (other[0], other[3]):
        return None
    keys, others = _keys(step), _keys(other)
    if keys is None or others is None or keys == others:
        return children
    by_key = dict(zip(others, children, strict=True))
    return [by_key[key] for key in keys] if by_key.keys() == set(keys) else None


def map_leaves(structures: Structures, function: Callable[[Any], Any], value: Any) -> Any:
    """Apply a function to every continuous leaf."""
    leaves, steps = flatten(structures, value)
    return unflatten(steps, [function(leaf) if is_continuous(leaf) else leaf for leaf in leaves])


def ones(structures: Structures, value: Any) -> Any:
    """A cotangent of ones for a value."""
    return map_leaves(structures, lambda leaf: np.ones_like(leaf) if np.shape(leaf) else 1.0, value)


def add(structures: Structures, a: Any, b: Any) -> Any:
    """The sum of two tangents of one form; None for discrete leaves."""
    if type(a) is float:
        return a + b
    left, steps = flatten(structures, a)
    right = leaves_like(structures, steps, b)
    if right is None:
        raise CotangentError(f"cannot add tangents of different structures: {a!r} and {b!r}")
    return unflatten(steps, [x + y if is_continuous(x) else x for x, y in zip(left, right, strict=True)])


class Form:
    """The space of a structure's tangents: its containers, and a `Space` for each leaf (None if discrete).

    Attributes
    ----------
    spaces : tuple of Space or None
        The spaces of the leaves, from left to right.
    size : int
        The total number of components of a tangent.
    is_complex : bool
        Whether a leaf is complex.
    are_floats : bool
        Whether all leaves are real numbers of double precision.
    """

    __slots__ = ("_size", "are_floats", "is_complex", "spaces", "steps", "structures")

    def __init__(self, structures: Structures, spaces: Sequence[Space | None], steps: Sequence[Step]) -> None:
        self.structures = structures
        self.spaces = tuple(spaces)
        self.steps = steps
        self.are_floats = self.spaces.count(_REAL) == len(self.spaces)
        self._size = len(self.spaces) if self.are_floats else -1
        self.is_complex = not self.are_floats and any(space is not None and space.is_complex for space in self.spaces)

    @property
    def size(self) -> int:
        """The total number of components of a tangent."""
        if self._size < 0:
            self._size = sum([space.size for space in self.spaces if space is not None])
        return self._size

    def zeros(self) -> Any:
        """Return the zero tangent."""
        return unflatten(self.steps, [None if space is None else space.zeros() for space in self.spaces])

    def value(self, vector: Any) -> Any:
        """Return the tangent whose components are those of a vector, in the order of the leaves."""
        leaves: list[Any] = []
        start = 0
        for space in self.spaces:
            if space is None:
                leaves.append(None)
                continue
            part = vector[start : start + space.size]
            leaves.append(_leaf(space, part))
            start += space.size
        return unflatten(self.steps, leaves)

    def basis(self, position: int) -> Any:
        """Return the tangent whose component at a position is one, all others zero."""
        if self.are_floats:
            leaves = [0.0] * len(self.spaces)
            leaves[position] = 1.0
            return unflatten(self.steps, leaves)
        vector = np.zeros(self.size, complex if self.is_complex else float)
        vector[position] = 1.0
        return self.value(vector)

    def units(self) -> list[Any]:
        """Return the tangents with a one at each leaf in turn, all others zero, of a structure of numbers.

        They share their parts without a one.
        """
        done: list[tuple[Any, list[Any]]] = []  # for each part of the structure its zero and its units
        for step in self.steps:
            if step is None:
                done.append((0.0, [1.0]))
                continue
            _, make, aux, count, _ = step
            parts = done[len(done) - count :]
            del done[len(done) - count :]
            zeros = [zero for zero, _ in parts]
            units = [
                make(aux, [*zeros[:k], unit, *zeros[k + 1 :]]) for k, (_, each) in enumerate(parts) for unit in each
            ]
            done.append((make(aux, zeros), units))
        return done[0][1]

    def takes(self, leaves: Sequence[Any]) -> bool:
        """Return whether leaves are those of a tangent."""
        return len(leaves) == len(self.spaces) and all(map(_fits, self.spaces, leaves))

    def parts(self, value: Any, name: str = "tangent") -> list[Any]:
        """Return a tangent's leaves, in the order of this form.

        Raises
        ------
        CotangentError
            If the tangent does not have this form; the message shows both forms.
        """
        leaves = leaves_like(self.structures, self.steps, value)
        if leaves is not None and self.takes(leaves):
            return leaves
        raise CotangentError(f"the {name} must have the form {self}, not {_told(self.structures, value)}")

    def vector(self, value: Any, name: str = "tangent") -> Any:
        """Return a tangent's components as one vector, which is traced if a leaf is."""
        leaves = [x for x, space in zip(self.parts(value, name), self.spaces, strict=True) if space is not None]
        if any(map(is_traced, leaves)):
            import tapeengine.numpy as tnp

            return tnp.concatenate([tnp.reshape(tnp.asarray(leaf), (-1,)) for leaf in leaves])
        dtype = complex if self.is_complex else float
        if all(type(leaf) is float for leaf in leaves):
            return np.array(leaves, dtype)
        return np.concatenate([np.ravel(leaf) for leaf in leaves]).astype(dtype, copy=False)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Form) and self.spaces == other.spaces and repr(self) == repr(other)

    def __hash__(self) -> int:
        return hash(self.spaces)

    def __repr__(self) -> str:
        return str(unflatten([_named(step) for step in self.steps], [_short(space) for space in self.spaces]))


def _told(structures: Structures, value: Any) -> str:
    """The form of an unsuitable tangent for an error; the class name for an array of another library."""
    leaves, steps = flatten(structures, value)
    if any(isinstance(leaf, int) and not is_whole(leaf) for leaf in leaves):
        return "a whole number beyond all floats"
    odd = [leaf for leaf in leaves if hasattr(type(leaf), "__array__") and not is_traced(leaf)]
    odd = [leaf for leaf in odd if not isinstance(leaf, np.generic) and type(leaf) is not np.ndarray]
    named = "".join(f" with a {class_name(leaf)}" for leaf in odd[:1])
    forms = [_short(_space(x)) if x is None or is_continuous(x) else _discrete(x) for x in leaves]
    return f"{unflatten([_named(step) for step in steps], forms)}{named}"


def _discrete(leaf: Any) -> str:
    return f"{leaf.dtype}{list(leaf.shape)}" if isinstance(leaf, np.ndarray) else type(leaf).__name__


def _named(step: Step) -> Step:
    """A step that formats a container instead of building it."""
    if step is None:
        return None
    name, _, aux, count, names = step
    keys = list(aux) if name == "dict" else None

    def make(aux: Any, children: Sequence[Any]) -> str:
        if keys is not None:
            return "{" + ", ".join(f"{key}: {child}" for key, child in zip(keys, children, strict=True)) + "}"
        inside = ", ".join(children)
        return {"list": f"[{inside}]", "tuple": f"({inside})"}.get(name, f"{name}({inside})")

    return name, make, aux, count, names


def _short(space: Space | None) -> str:
    if space is None:
        return "None"
    name = f"{space.dtype.kind}{8 * space.dtype.itemsize}"
    return f"{name}[{','.join(map(str, space.shape))}]" if space.shape else name


def _leaf(space: Space, part: Any) -> Any:
    if is_traced(part):
        return part.reshape(space.shape) if space.shape else part[0]
    if not space.shape:
        return float(part[0]) if space.dtype == np.float64 else space.dtype.type(part[0])
    return part.reshape(space.shape).astype(space.dtype, copy=False)


def _shape(leaf: Any) -> tuple[int, ...]:
    return leaf.shape if type(leaf) is Array else np.shape(leaf)


def _fits(space: Space | None, leaf: Any) -> bool:
    if space is None:
        return not is_continuous(leaf)
    if type(leaf) is float or type(leaf) is Dual:
        return not space.shape
    if not (is_continuous(leaf) or is_whole(leaf)) or not is_plain(leaf) or _shape(leaf) != space.shape:
        return False
    return isinstance(leaf, int) or space.is_complex or not _space(leaf).is_complex  # type: ignore[union-attr]


def form_of(structures: Structures, value: Any) -> Form:
    """Return the form of a structure's tangents."""
    return form_around(structures, *flatten(structures, value))


def form_around(structures: Structures, leaves: Sequence[Any], steps: Sequence[Step]) -> Form:
    """Return the form of the tangents of a structure that `flatten` has decomposed."""
    return Form(structures, [_space(leaf) for leaf in leaves], steps)


_REAL = cast(Space, space_of(0.0))


def _space(leaf: Any) -> Space | None:
    if type(leaf) is float or type(leaf) is Dual:
        return _REAL
    if not is_continuous(leaf):
        return None
    found = space_of(value_unseen(leaf))
    assert isinstance(found, Space)
    return found
