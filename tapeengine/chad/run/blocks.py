"""Linear passes for blocks of unit vectors: rows and columns of Jacobians, and products with Hessians."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import numpy as np

from ..._core.programs.native import Form, Native, is_finite, leaves
from ..backends.forms import Forms
from ..backends.machine import NotAssembled
from ..backends.over_block import over_block
from ..backends.passes import of_block
from ..backends.poles import at_poles
from ..backends.tiers import COMPILED, native
from ..backends.whole.passes import POLES, on_whole_arrays
from ..backends.whole.values import NotWhole
from ..intermediate.analysis import linear
from ..intermediate.operations import REAL
from ..intermediate.statements import Assign, Const, Function, Operand, Program, Var
from ..language.terms import Definition
from ..language.types import Array, Float, Product, Type, numbers_of, rank_of
from ..lowering.passes import Lowered
from ..lowering.patterns import leaf_types

#: Computes a pass for a number of unit vectors from one on, as rows; None if the result is not finite.
Rows = Callable[[int, int], Any]
#: The vectors of a first block, which tells the bytes that loops keep for one, and the bytes for the next blocks.
FIRST, LARGEST = 32, 1 << 26
#: A function of the leaves of all primals and of those that vary; these; the results that are wanted; and the number of
#: statements at its beginning that do not depend on what varies.
Passed = tuple[Function, Sequence[Var], Sequence[Operand], int]


def rows(definition: Definition, lowered: Lowered, places: Sequence[int]) -> Passed | None:
    """Give the pass from cotangents of the value to those of the parameters in some places; None for recursion."""
    made = both_passes(definition, lowered, places)
    if made is None:
        return None
    forward, reverse, results = made
    body = [*forward.body, *reverse.body]
    return Function("rows", [*forward.params, *reverse.params], body, []), reverse.params, results, len(forward.body)


def products(definition: Definition, lowered: Lowered, along: int, wanted: int) -> Passed | None:
    """Give the pass from a parameter of a directional derivative to the cotangent of another one; None as `rows`."""
    made = both_passes(definition, lowered, [wanted])
    if made is None or [p.type for p in made[1].params] != [REAL, REAL]:
        return None
    forward, reverse, results = made
    seed = Assign(tuple(reverse.params), (Const(0.0, REAL), Const(1.0, REAL)))
    varied = leaves_of(definition, forward.params, along)
    others = [Var(f"{p.name}.other", p.type) if p in varied else p for p in forward.params]  # not read
    return Function("products", [*others, *varied], [*forward.body, seed, *reverse.body], []), varied, results, 0


def both_passes(
    definition: Definition, lowered: Lowered, places: Sequence[int]
) -> tuple[Function, Function, list[Operand]] | None:
    """Give the two passes, and the results of the second one for parameters in some places."""
    if len(lowered.program.functions) > 2 or not lowered.is_dense:
        return None
    forward, reverse = (lowered.program.functions[name] for name in ("forward", "reverse"))
    real = [p for p in forward.params if linear(p.type) is not None]
    wanted = [p for k in places for p in leaves_of(definition, forward.params, k)]
    return forward, reverse, [reverse.results[real.index(p)] for p in wanted if p in real]


def leaves_of(definition: Definition, params: Sequence[Var], place: int) -> Sequence[Var]:
    """Give the leaves of a parameter among those of all."""
    counts = [len(leaf_types(p.of, True)) for p in definition.params[: place + 1]]
    return params[sum(counts[:-1]) : sum(counts)]


def columns(definition: Definition, lowered: Lowered) -> Passed | None:
    """Give the pass from tangents of parameters to that of the value; None as `rows`."""
    if len(lowered.program.functions) > 1 or not lowered.is_dense:
        return None
    function = lowered.program.functions[lowered.main]
    of_primals = sum(len(leaf_types(p.of, True)) for p in definition.params)
    of_value = len(leaf_types(definition.result, True))
    return function, function.params[of_primals:], function.results[of_value:], 0


@dataclass(eq=False)
class Blocks:
    """A pass for blocks of vectors, in one run of a loop over the block.

    There are blocks where the order of the numbers in leaves is their order in Python's values.

    * `params`, `varied`, `made`: the types of the primals, of what varies, and of what the pass makes.
    * `program`: the program of the function.
    * `by_numpy`: whether numpy runs it, on whole arrays.
    """

    passed: Passed
    params: Sequence[Type]
    varied: Sequence[Type]
    made: Sequence[Type]
    classes: Mapping[str, type]
    program: Program
    by_numpy: bool
    backend: str | None

    @functools.cached_property
    def forms(self) -> tuple[Form, ...] | None:
        """The forms of the primals, of what varies, and of what the pass makes; None without blocks."""
        if not all(map(self.is_ordered, (*self.varied, *self.made))):
            return None
        try:
            types = (self.params, self.varied, self.made)
            return tuple(Form("tuple", items=tuple(map(Forms(self.classes), each))) for each in types)
        except NotAssembled:
            return None

    def is_ordered(self, of: Type) -> bool:
        """Whether values of a type are real numbers, arrays of these, and tuples and records of such values."""
        if isinstance(of, Product):
            return self.classes.get(of.name) is not dict and all(map(self.is_ordered, of.items))
        return isinstance(of, Float) or (isinstance(of, Array) and bool(rank_of(of)) and numbers_of(of) == Float())

    @functools.cached_property
    def run(self) -> Callable[[tuple[Any, ...], Sequence[Any], Sequence[Any]], Any] | None:
        """What runs a block, given the primals, their leaves, and the other arguments."""
        if self.forms is None or (len(self.passed[1]), len(self.passed[2])) != tuple(f.width for f in self.forms[1:]):
            return None
        try:
            function, self.unknown = over_block(*self.passed)
        except NotWhole:
            return None
        return (self.on_arrays(function) if self.by_numpy else None) or self.in_loops(function)

    def on_arrays(self, function: Function) -> Callable[..., Any] | None:
        """Run a block as operations on whole arrays; None if its steps cannot run at once."""
        try:
            run = at_poles("ignore", on_whole_arrays([function], self.program.primitives)["value"])
        except NotWhole:
            return None
        return lambda primals, given, others: run(*given, *others)

    def in_loops(self, function: Function) -> Callable[..., Any] | None:
        """Run a block in loops, on the machine at first, which makes arrays in the steps of a block."""
        passes = of_block(self.program, function, tuple(map(Forms(self.classes), self.params)))
        made = native(passes, function.name, not_run, self.backend, is_few=self.backend not in COMPILED)

        def run(entry: Native, primals: tuple[Any, ...], given: Any, others: Sequence[Any]) -> Any:
            found = entry.vjp(*primals, *others)
            self.each = 0 if found is None else found[1].nbytes // len(others[0])
            return None if found is None else found[0]

        return None if made is None else functools.partial(run, made)

    def at(self, primals: tuple[Any, ...], varied: tuple[Any, ...], made: tuple[Any, ...]) -> Rows | None:
        """Give what runs blocks at some primals; None if there are none for these values.

        `varied`, `made`: values of the shapes of what varies, and of what the pass makes.
        """
        if self.run is None or self.forms is None:
            return None
        given = leaves(self.forms[0], primals) if self.by_numpy else ()
        along, like = leaves(self.forms[1], varied), leaves(self.forms[2], made)
        if given is None or along is None or like is None:
            return None
        shapes, sizes = list(map(np.shape, along)), [n for k in self.unknown for n in np.shape(like[k])]

        def found(start: int, count: int) -> Any:
            first = count if self.by_numpy else min(count, FIRST)
            made = self.block(primals, given, (*basis(shapes, start, first), *sizes), first)
            if first == count or made is None:
                return made
            parts, size = [made], max(1, LARGEST // max(1, self.each))
            for at in range(first, count, size):
                n = min(size, count - at)
                parts.append(self.block(primals, given, (*basis(shapes, start + at, n), *sizes), n))
                if parts[-1] is None:
                    return None
            return np.concatenate(parts)

        return found

    def block(self, primals: tuple[Any, ...], given: Sequence[Any], others: Sequence[Any], count: int) -> Any:
        """Run one block."""
        assert self.run is not None
        try:
            found = self.run(primals, given, others)
        except POLES:
            return None
        if found is None or not is_finite(found):
            return None
        rows = [x.reshape(count, -1) for x in found]
        return rows[0] if len(rows) == 1 else np.concatenate(rows, axis=1)


def basis(shapes: Sequence[tuple[int, ...]], start: int, count: int) -> list[Any]:
    """Give the unit vectors from one on, so many, as a block for each of some shapes."""
    sizes = [*map(math.prod, shapes)]
    rows = np.zeros((count, sum(sizes)))
    rows.ravel()[start :: rows.shape[1] + 1] = 1.0
    if len(shapes) == 1:
        return [rows.reshape(count, *shapes[0])]
    parts = np.split(rows, list(accumulate(sizes))[:-1], axis=1)
    return [part.reshape(count, *shape) for part, shape in zip(parts, shapes, strict=True)]


def not_run(primals: tuple[Any, ...]) -> Any:
    """Give nothing where a run is referred to Python."""
