"""A program's two passes on the register machine, with the forms of its values."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tapeengine._core.machine import Code
from tapeengine._core.native import Form, Native
from tapeengine.chad.imperative import Function, Operand, Ref
from tapeengine.chad.native.assemble import NotAssembled, assemble
from tapeengine.chad.types import Array, Bool, Float, Int, Product, Type

__all__ = ["NativePasses", "native_passes"]


@dataclass(frozen=True)
class NativePasses:
    """The code of two passes.

    Attributes
    ----------
    forward, reverse : Code
    params, results, cotangents : tuple of Form
        The forms of the leaves of the parameters, of the value and of its cotangent.
    """

    forward: Code
    reverse: Code
    params: tuple[Form, ...]
    results: tuple[Form, ...]
    cotangents: tuple[Form, ...]

    def on_leaves(self) -> Native:
        """Give the passes as they run on leaves: ``vjp(*leaves) -> (results, backpropagator of cotangents)``."""
        return Native(
            self.forward,
            self.reverse,
            self.params,
            Form("tuple", items=self.results),
            Form("tuple", items=self.cotangents),
        )

    def on_values(
        self, params: Sequence[Type], result: Type, classes: Mapping[str, type], again: Callable[..., Any]
    ) -> Native | None:
        """Give the passes as they run on a program's values; None for types that take a longer way.

        Parameters
        ----------
        params : sequence of Type
        result : Type
        classes : mapping of str to type
            The classes that named products stand for.
        again : callable
            The longer way, for what the machine refers to Python.
        """
        forms = [form(of, classes) for of in (*params, result)]
        found = [f for f in forms if f is not None]
        if len(found) < len(forms):
            return None
        *inward, outward = found
        given = [leaf for f in inward for leaf in f.leaves()]
        if not same(given, self.params) or not same(outward.leaves(), self.results):
            return None
        if not same(self.results, self.cotangents):
            return None
        return Native(self.forward, self.reverse, tuple(inward), outward, outward, again)


def native_passes(forward: Function, reverse: Function, residuals: Sequence[Ref], exact: bool) -> NativePasses | None:
    """Assemble two passes; None where the machine cannot run them.

    Parameters
    ----------
    forward, reverse : Function
    residuals : sequence of Ref
        What the forward pass hands to the reverse pass.
    exact : bool
        Whether scalar operations answer with an infinity or a NaN where Python would raise.
    """
    try:
        params, results, cotangents = (
            tuple(map(leaf_form, xs)) for xs in (forward.params, forward.results, reverse.params)
        )
        ahead = assemble(forward, exact, kept=residuals)
        back = assemble(reverse, exact, given=residuals)
    except NotAssembled:
        return None
    return NativePasses(ahead, back, params, results, cotangents)


def leaf_form(x: Operand) -> Form:
    """Give the form of a number or an array."""
    if len(x.axes) > MOST_AXES or x.kind not in ("float", "int", "bool"):
        raise NotAssembled("a value that is neither a number nor an array of few dimensions")
    return Form(x.kind, len(x.axes))


#: The dimensions of an array of the machine (``TE_RANK`` in ``machine.h``).
MOST_AXES = 4


def same(a: Sequence[Form], b: Sequence[Form]) -> bool:
    """Tell whether leaves have the same kinds and numbers of dimensions."""
    return [(f.kind, f.rank) for f in a] == [(f.kind, f.rank) for f in b]


def form(of: Type, classes: Mapping[str, type]) -> Form | None:
    """Give the form of the values of a type; None where a leaf is no number and no array of numbers.

    Records with arrays have none either: the passes could not keep them safe from changes in place.
    """
    match of:
        case Float() | Int() | Bool():
            return Form(type(of).__name__.lower())
        case Array():
            return array_form(of)
        case Product(items, name, fields) if items:
            parts = [f for f in (form(item, classes) for item in items) if f is not None]
            if len(parts) < len(items):
                return None
            if name and any(leaf.rank for part in parts for leaf in part.leaves()):
                return None
            if name:
                return Form("record", items=tuple(parts), cls=classes[name], fields=fields)
            return Form("tuple", items=tuple(parts))
    return None


def array_form(of: Type) -> Form | None:
    """Give the form of an array of numbers."""
    rank = 0
    while isinstance(of, Array):
        of, rank = of.element, rank + 1
    if rank > MOST_AXES or not isinstance(of, Float | Int | Bool):
        return None
    return Form(type(of).__name__.lower(), rank)
