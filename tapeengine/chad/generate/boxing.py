"""Members of recursive sum types at the boundary of generated programs: objects on one side, boxes on the other.

For each type there are four functions, made once: box a value, unbox it, and the same for its cotangents. They call one
another as deeply as the values are nested, with nothing of C's stack in between.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from tapeengine.chad.generate.layout import Layout
from tapeengine.chad.generate.values import Along, Boxed, Choice, NotGenerated, Tup, Value, leaves
from tapeengine.chad.imperative import Ref
from tapeengine.chad.types import UNIT, Array, Bool, Float, Int, Product, Type, is_discrete, show

__all__ = ["Boxing", "form_of"]

Convert = Callable[..., Any]
#: A field of an option: its name, what converts it, and how many leaves it has, or `BOX`.
Part = list[Any]
BOX = 0


class Unboxed(Protocol):
    """What boxing needs of the boundary: the conversion of values that are not boxed."""

    def leaves_in(self, of: Type, value: Any) -> list[Any]:
        """Take a value apart."""
        ...

    def out(self, of: Type, value: Value, leaves: Any, like: Any = None) -> Any:
        """Put a value together."""
        ...

    def cotangent_in(self, of: Type, value: Value, cotangent: Any, results: Sequence[Any]) -> list[Any]:
        """Take a cotangent apart."""
        ...

    def cotangent_out(self, of: Type, value: Value, leaves: Any, like: Any) -> Any:
        """Put a cotangent together."""
        ...


def form_of(layout: Layout, of: Type, axes: tuple[str, ...] = ()) -> Value:
    """Give the form that all values of a type have, with variables without names."""
    if layout.is_boxed(of):
        return Boxed(Ref("", (), layout.kind(of)), of)
    match of:
        case Float() | Int() | Bool():
            return Ref("", axes, layout.kind(of))
        case Product(items):
            return Tup(tuple(form_of(layout, item, axes) for item in items))
        case Array(element):
            axis = f"a{len(axes)}"
            return Along(axis, form_of(layout, element, (*axes, axis)))
    options = tuple(form_of(layout, option, axes) for option in layout.options(of))
    return Choice(of, Ref("", axes, "int"), options)


def _own(x: Any) -> Any:
    """Give an array in memory of its own: what lies in boxes is kept, and the caller may change arrays in place."""
    return x.copy() if isinstance(x, np.ndarray) else x


class Boxing:
    """Converts values of types that are boxed, and their cotangents.

    Parameters
    ----------
    layout : Layout
    classes : mapping of str to type
        The classes that named products stand for.
    boundary : Unboxed
    """

    def __init__(self, layout: Layout, classes: Mapping[str, type], boundary: Unboxed) -> None:
        self.layout = layout
        self.classes = classes
        self.boundary = boundary
        self._made: dict[tuple[str, Type], Convert] = {}
        self._parts: list[Part] = []

    def into(self, of: Type) -> Convert:
        """Give the function from a value to its box."""
        return self._known("into", of, self._list_into, self._member_into)

    def out(self, of: Type) -> Convert:
        """Give the function from a box to its value."""
        return self._known("out", of, self._list_out, self._member_out)

    def cotangent_into(self, of: Type) -> Convert:
        """Give the function from a cotangent and the box of its primal to the cotangent's box."""
        return self._known("cotangent_into", of, self._list_cotangent_into, self._member_cotangent_into)

    def cotangent_out(self, of: Type) -> Convert:
        """Give the function from the box of a cotangent and its primal to the cotangent."""
        return self._known("cotangent_out", of, self._list_cotangent_out, self._member_cotangent_out)

    def _known(self, key: str, of: Type, make_list: Convert, make_member: Convert) -> Convert:
        """Make a function once; while that of a recursive type is made, another one stands for it in its fields."""
        if (key, of) not in self._made:
            # a call with a starred argument would take room on C's stack
            one: Convert = lambda value: self._made[key, of](value)  # noqa: E731
            two: Convert = lambda value, primal: self._made[key, of](value, primal)  # noqa: E731
            stand_in = self._made[key, of] = two if key.startswith("cotangent") else one
            made = make_list(of.element) if isinstance(of, Array) else make_member(of)
            self._made[key, of] = made
            for part in self._parts:
                if part[1] is stand_in:
                    part[1] = made
        return self._made[key, of]

    def _fields(self, fields: Sequence[str], converts: Sequence[tuple[Convert | None, Any]]) -> list[Part]:
        """Put the fields of an option beside what converts them."""
        parts = [[name, *convert] for name, convert in zip(fields, converts, strict=True)]
        self._parts += parts
        return parts

    def _options(self, of: Type) -> list[tuple[int, type, tuple[str, ...], tuple[Type, ...], Convert]]:
        """For each option: its number, its class, its fields and their types, and how it is made of them."""
        found: list[tuple[int, type, tuple[str, ...], tuple[Type, ...], Convert]] = []
        for k, option in enumerate(self.layout.options(of)):
            if option == UNIT:
                found.append((k, type(None), (), (), lambda: None))
            elif isinstance(option, Product) and option.name in self.classes:
                made = self.classes[option.name]
                found.append((k, made, option.fields, option.items, made))
            else:
                raise NotGenerated(f"an option of type {show(option)}, which is no class")
        return found

    # ------------------------------------------------------------ values

    def _member_into(self, of: Type) -> Convert:
        table: dict[type, tuple[int, list[Part]]] = {}

        def box(value: Any) -> tuple[Any, ...]:
            found = table.get(type(value))
            if found is None:
                raise NotGenerated(f"a {type(value).__name__} where {show(of)} is wanted")
            made: list[Any] = [found[0]]
            for name, convert, is_one in found[1]:
                if is_one:
                    made.append(convert(getattr(value, name)))
                else:
                    made += convert(getattr(value, name))
            return tuple(made)

        for k, cls, fields, types, _ in self._options(of):
            table[cls] = (k, self._fields(fields, list(map(self._part_into, types))))
        return box

    def _part_into(self, of: Type) -> tuple[Convert, bool]:
        """Give what converts a field, and whether it gives one leaf or a list of them."""
        if self.layout.is_boxed(of):
            return self.into(of), True
        if isinstance(of, Float):
            return lambda x: x if type(x) is float else self.boundary.leaves_in(of, x)[0], True
        return lambda x: list(map(_own, self.boundary.leaves_in(of, x))), False

    def _list_into(self, element: Type) -> Convert:
        convert, is_one = self._part_into(element)
        is_boxed = self.layout.is_boxed(element)

        def box(values: Any) -> list[Any]:
            if not isinstance(values, list | tuple | np.ndarray):
                raise NotGenerated(f"a {type(values).__name__} where an array is wanted")
            if is_boxed:
                return [convert(value) for value in values]
            return [(convert(value),) if is_one else tuple(convert(value)) for value in values]

        return box

    def _member_out(self, of: Type) -> Convert:
        each: list[tuple[list[Part], Convert]] = []

        def unbox(box: Any) -> Any:
            parts, make = each[box[0]]
            made = []
            start = 1
            for _, convert, size in parts:
                if size == 1:
                    made.append(box[start] if convert is None else convert(box[start]))
                elif convert is not None:
                    made.append(convert(box[start : start + size]))
                start += size
            return make(*made)

        for _, _, fields, types, make in self._options(of):
            each.append((self._fields(fields, list(map(self._part_out, types))), make))
        return unbox

    def _part_out(self, of: Type) -> tuple[Convert | None, int]:
        """Give what makes a field of its leaves, None where the leaf is the field, and the number of leaves."""
        if self.layout.is_boxed(of):
            return self.out(of), 1
        if isinstance(of, Float | Int | Bool):
            return None, 1
        whole = form_of(self.layout, of)
        size = sum(1 for _ in leaves(whole))
        if size == 1:
            return lambda leaf: self.boundary.out(of, whole, iter((_own(leaf),))), 1
        return lambda some: self.boundary.out(of, whole, map(_own, some)), size

    def _list_out(self, element: Type) -> Convert:
        convert, size = self._part_out(element)
        is_boxed = self.layout.is_boxed(element)

        def unbox(items: Any) -> list[Any]:
            if convert is None:
                return [item[0] for item in items]
            return [convert(item if is_boxed or size != 1 else item[0]) for item in items]

        return unbox

    # ------------------------------------------------------------ cotangents

    def _member_cotangent_into(self, of: Type) -> Convert:
        each: list[tuple[type, list[Part]]] = []

        def box(cotangent: Any, primal: Any) -> Any:
            if cotangent is None:
                return None
            cls, parts = each[primal[0]]
            if type(cotangent) is not cls:
                raise NotGenerated("a cotangent of another option")
            made: list[Any] = [None]
            start = 1
            for name, convert, size in parts:
                if size == BOX:
                    made.append(convert(getattr(cotangent, name), primal[start]))
                    start += 1
                else:
                    made += convert(getattr(cotangent, name), primal[start : start + size])
                    start += size
            return tuple(made)

        for _, cls, fields, types, _ in self._options(of):
            each.append((cls, self._fields(fields, list(map(self._part_cotangent_into, types)))))
        return box

    def _part_cotangent_into(self, of: Type) -> tuple[Convert, int]:
        """Give what converts the cotangent of a field, given its leaves too, to a list; and the number of leaves.

        What converts that of a box is given the box and gives one.
        """
        if self.layout.is_boxed(of):
            return self.cotangent_into(of), BOX
        whole = form_of(self.layout, of)
        parts = list(leaves(whole))
        discrete = [isinstance(x, Ref) and x.kind in ("int", "bool") for x in parts]
        arrays = [isinstance(x, Ref) and bool(x.axes) for x in parts]

        def convert(d: Any, primal: Sequence[Any]) -> list[Any]:
            found = self.boundary.cotangent_in(of, whole, d, primal)
            each = zip(found, discrete, arrays, strict=True)
            return [None if no or (many and np.ndim(x) == 0) else x for x, no, many in each]

        return convert, len(parts)

    def _list_cotangent_into(self, element: Type) -> Convert:
        convert, _ = self._part_cotangent_into(element)
        is_boxed = self.layout.is_boxed(element)

        def box(cotangents: Any, primal: Any) -> Any:
            if cotangents is None:
                return None
            if not isinstance(cotangents, list | tuple | np.ndarray) or len(cotangents) != len(primal):
                raise NotGenerated("a cotangent of another size")
            each = zip(cotangents, primal, strict=True)
            if is_boxed:
                return [convert(d, x) for d, x in each]
            return [None if d is None else tuple(convert(d, x)) for d, x in each]

        return box

    def _member_cotangent_out(self, of: Type) -> Convert:
        table: dict[type, tuple[tuple[Any, ...], list[Part], Convert]] = {}

        def unbox(box: Any, primal: Any) -> Any:
            zero, parts, make = table[type(primal)]
            box = box or zero
            made = []
            start = 1
            for name, convert, size in parts:
                if convert is None:
                    made.append(box[start])
                    start += 1
                elif size == BOX:
                    made.append(convert(box[start], getattr(primal, name)))
                    start += 1
                else:
                    made.append(convert(box[start : start + size], getattr(primal, name)))
                    start += size
            return make(*made)

        for _, cls, fields, types, make in self._options(of):
            parts = self._fields(fields, list(map(self._part_cotangent_out, types)))
            zeros = [0.0 if isinstance(t, Float) else None for t in types for _ in leaves(form_of(self.layout, t))]
            table[cls] = ((None, *zeros), parts, make)
        return unbox

    def _part_cotangent_out(self, of: Type) -> tuple[Convert | None, int]:
        """Give what makes the cotangent of a field of its leaves and its primal; None where it is its one leaf.

        What makes that of a box is given the box itself.
        """
        if isinstance(of, Float):
            return None, 1
        whole = form_of(self.layout, of)
        parts = list(leaves(whole))
        if is_discrete(of):
            return lambda some, primal: None, len(parts)
        if self.layout.is_boxed(of):
            return self.cotangent_out(of), BOX

        def convert(some: Sequence[Any], primal: Any) -> Any:
            plain = self.boundary.leaves_in(of, primal)
            each = zip(some, plain, strict=True)
            filled = [np.zeros(np.shape(x)) if d is None else np.array(d) if np.ndim(x) else d for d, x in each]
            return self.boundary.cotangent_out(of, whole, iter(filled), primal)

        return convert, len(parts)

    def _list_cotangent_out(self, element: Type) -> Convert:
        convert, _ = self._part_cotangent_out(element)
        is_boxed = self.layout.is_boxed(element)
        kinds = [isinstance(x, Ref) and x.kind == "float" and not x.axes for x in leaves(form_of(self.layout, element))]
        zero = tuple(0.0 if is_float else None for is_float in kinds)

        def unbox(items: Any, primal: Any) -> Any:
            made = []
            for item, like in zip(items or [None] * len(primal), primal, strict=True):
                some = item if is_boxed else item or zero
                made.append(some[0] if convert is None else convert(some, like))
            return tuple(made) if isinstance(primal, tuple) else made

        return unbox
