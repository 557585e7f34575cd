"""Which arguments of a call are differentiated: positions, names of keyword arguments, or a tuple of both."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from operator import index
from typing import Any, cast

import numpy as np

from ..._core.arrays.array import from_values, refuse_writes
from ..._core.programs.callables import own_derivative
from ..._core.structures.boundary import overlap
from ...errors import StructureError
from ..programs import Chosen

Argnums = int | str | tuple[int | str, ...]


class Arguments:
    """The arguments that `argnums` selects.

    Parameters
    ----------
    argnums : int, str, or tuple of them
        Positions of positional arguments (negative ones count from the end) and names of keyword arguments.
    """

    __slots__ = ("chosen", "first", "highest", "single")

    def __init__(self, argnums: Argnums) -> None:
        self.single = isinstance(argnums, str) or not isinstance(argnums, Iterable)
        self.chosen = tuple([_named(item) for item in ([argnums] if self.single else cast(Iterable[Any], argnums))])
        self.first = self.single and self.chosen == (0,)
        positions = [item for item in self.chosen if isinstance(item, int)]
        is_simple = len(positions) == len(self.chosen) and min(positions, default=-1) >= 0
        self.highest = max(positions) if is_simple else None  # where all are positions from the left
        _refuse_repeated(self.chosen, self.chosen)
        if not self.chosen:
            raise StructureError("argnums is empty: name at least one argument to differentiate")

    def split(
        self, f: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        """Return a program of the chosen arguments alone, and their values."""
        if self.first and len(args) == 1 and not kwargs:
            return f, args
        choose = own_derivative(f, "__tapeengine_chosen__")
        if choose is not None and (self.highest is not None or all(isinstance(item, int) for item in self.chosen)):
            at: Any = self.chosen
            if self.highest is None or self.highest >= len(args):
                at = self.places(args, kwargs)
            return choose(f, at, args, kwargs), tuple([args[place] for place in at])
        if own_derivative(f, "__tapeengine_directional__") is not None:
            return self._of_own(f, args, kwargs)
        rest = args[1:]
        if self.first and args and not kwargs and not any_overlaps(args[0], rest):
            return (lambda x: f(x, *rest)), args[:1]
        places = self.places(args, kwargs)
        whole: dict[Any, Any] = {**dict(enumerate(args)), **kwargs}
        shared = overlapping(places, whole)

        def program(*primals: Any) -> Any:
            given = {**whole, **dict(zip(places, primals, strict=True))}
            for place in shared:
                array = given[place] if place in places else from_values(given[place], order="K")
                given[place] = refuse_writes(array)
            return f(*(given[k] for k in range(len(args))), **{name: given[name] for name in kwargs})

        return program, tuple(whole[place] for place in places)

    def _of_own(
        self, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        """Do the same for a program with its own derivative; the returned program has its own derivative as well."""
        is_simple = self.highest is not None and self.highest < len(args) and not kwargs
        places = self.chosen if is_simple else self.places(args, kwargs)
        names, whole = f.positional(args, kwargs)
        f = f.for_values(whole)
        if not f.is_read:
            return self.split(f.python, args, kwargs)
        at: Any = places if is_simple else tuple([names.index(k) if isinstance(k, str) else k for k in places])
        return Chosen(f, whole, at), tuple([whole[place] for place in at])

    def result(self, parts: tuple[Any, ...]) -> Any:
        """Return one result per chosen argument: a tuple if `argnums` was a tuple, the bare result otherwise."""
        return parts[0] if self.single else parts

    def places(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[int | str, ...]:
        """The chosen arguments of a call, with positions from the left."""
        places = tuple([self._place(item, args, kwargs) for item in self.chosen])
        _refuse_repeated(places, self.chosen)
        return places

    def _place(self, item: int | str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> int | str:
        if isinstance(item, str):
            if item not in kwargs:
                given = ", ".join(kwargs) or "none"
                raise StructureError(
                    f"argnums names the keyword argument {item!r}, but the keyword arguments of this call are: {given}"
                )
            return item
        if not -len(args) <= item < len(args):
            raise StructureError(
                f"argnums={item}, but this call has {len(args)} positional arguments; "
                "a keyword argument is chosen by its name"
            )
        return item % len(args)


def any_overlaps(own: Any, others: tuple[Any, ...]) -> bool:
    """Whether an array shares memory with another; a loop, since a comprehension takes as long as the comparison."""
    if type(own) is np.ndarray:
        for x in others:
            if type(x) is np.ndarray and overlap(own, x):
                return True
    return False


def overlapping(places: tuple[int | str, ...], given: Mapping[Any, Any]) -> set[int | str]:
    """The places of arrays that share memory, one of which is differentiated and the other is not.

    A write to one would have to change the other, which the trace does not see.

    Parameters
    ----------
    places : tuple of int or str
        The places of the differentiated arguments.
    given : mapping of int or str to object
        All arguments, by place.
    """
    arrays = {place: x for place, x in given.items() if type(x) is np.ndarray}
    own = [place for place in places if place in arrays]
    others = [place for place in arrays if place not in places] if own else []
    return {k for a in own for b in others if overlap(arrays[a], arrays[b]) for k in (a, b)}


def _named(item: Any) -> int | str:
    """An entry of `argnums`: the name of a keyword argument, or a position as a Python integer."""
    if isinstance(item, str):
        return item
    if isinstance(item, type) or not hasattr(item, "__index__") or isinstance(item, (bool, np.bool_)):
        kind = type(item).__name__
        raise StructureError(f"argnums holds positions and names of keyword arguments, not {item!r} ({kind})")
    return index(item)


def _refuse_repeated(places: tuple[int | str, ...], chosen: tuple[int | str, ...]) -> None:
    """Refuse an argument that is chosen twice: it would be two primals with one value."""
    if len(set(places)) < len(places):
        raise StructureError(f"argnums={chosen} chooses an argument twice; name each argument once")


_FIRST = Arguments(0)


def arguments_of(argnums: Argnums) -> Arguments:
    """The arguments that `argnums` selects. Those for the first argument, the usual ones, are made once."""
    return _FIRST if type(argnums) is int and argnums == 0 else Arguments(argnums)
