"""The two passes of a program in imperative form, and their text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from tapeengine.chad.evaluate.evaluator import deep
from tapeengine.chad.generate.activity import activate, declarations
from tapeengine.chad.generate.boundary import parameter
from tapeengine.chad.generate.builder import Builder
from tapeengine.chad.generate.expressions import MATH
from tapeengine.chad.generate.liveness import defined, needed, used
from tapeengine.chad.generate.lower import RESERVED, Lower, Scope
from tapeengine.chad.generate.registered import called
from tapeengine.chad.generate.reverse import Reverse
from tapeengine.chad.generate.text import Writer
from tapeengine.chad.generate.values import Value, leaves
from tapeengine.chad.imperative import Const, Function, Operand, Ref
from tapeengine.chad.terms import Module
from tapeengine.chad.traverse import Names
from tapeengine.primitive import Primitive

__all__ = ["Passes", "passes"]


@dataclass
class Passes:
    """A program's forward and reverse pass.

    Attributes
    ----------
    forward, reverse : Function
    residuals : list of Ref
        What the forward pass hands to the reverse pass.
    params : list of Value
        The parameters of the program; their leaves are the parameters of ``forward``.
    value : Value
        The result; its leaves are the results of ``forward``, and their cotangents the parameters of ``reverse``.
    labels : dict of str to str
        Names of the source program.
    exact : bool
    primitives : mapping of str to Primitive
        The registry primitives that the program calls.
    """

    forward: Function
    reverse: Function
    residuals: list[Ref]
    params: list[Value]
    value: Value
    labels: dict[str, str]
    exact: bool
    primitives: Mapping[str, Primitive]

    def text(self) -> str:
        """Write both passes as Python."""
        ahead, back = (Writer(self.labels, self.exact, self.primitives) for _ in range(2))
        forward = ahead.function(self.forward, self.residuals, takes_residuals=False)
        reverse = back.function(self.reverse, self.residuals, takes_residuals=True)
        used_math = ", ".join(sorted(ahead.math | back.math))
        head = f"from math import {used_math}\n" if used_math else ""
        head += "import numpy as np\n" if "np." in forward + reverse else ""
        return f"{head}\n\n{forward}\n\n{reverse}".lstrip("\n")


def passes(
    module: Module,
    exact: bool = False,
    primitives: Mapping[str, Primitive] = MappingProxyType({}),
    general: bool = False,
) -> Passes:
    """Write the passes of a module's main definition.

    Parameters
    ----------
    module : Module
        Without function values.
    exact : bool
        Whether to write the form that is right also where infinities meet zeros.
    primitives : mapping of str to Primitive
        The registry primitives that the program calls.
    general : bool
        Whether to write the form that takes rows of different sizes, indices from the end wherever indices are, and
        arrays of different sizes side by side.

    Raises
    ------
    NotGenerated
        Where the program has no imperative form.
    """
    definition = module.definitions[module.main]
    L = Lower(module, exact, primitives, general)
    L.calls.append(module.main)
    with deep():
        refs: list[Ref] = []
        params = [parameter(L, p.name, p.of, refs) for p in definition.params]
        env = {p.name: v for p, v in zip(definition.params, params, strict=True)}
        value = L.settled(L.all_forced(L(definition.body, Scope(env))))
        results = [x for x in leaves(value) if isinstance(x, Const | Ref)]
        reverse, gave = _reverse(L, refs, results, exact)
        return _divided(L, refs, results, reverse, gave, params, value, exact)


def _reverse(L: Lower, refs: list[Ref], results: list[Operand], exact: bool) -> tuple[Function, list[Operand]]:
    """Write the reverse pass."""
    active = {r.name for r in refs if r.kind == "float"}
    activate(L.b.block, active)
    declared = {r.name: r for r in refs}
    declarations(L.b.block, declared)
    b = Builder(L.b.names, L.axes)
    b.know(L.b.block)
    R = Reverse(b, declared, active, exact, L.primitives)
    R.local = set(declared)
    cts = []
    for i, x in enumerate(results):
        ct = b.fresh("ct" if len(results) == 1 else f"ct_{i}", x.axes)
        cts.append(ct)
        R.one(x, ct)
    R.block(L.b.block)
    found = [R.take(r.name) if r.kind == "float" else None for r in refs]
    gave: list[Operand] = [R.full(Const(0.0) if d is None else d, r) for d, r in zip(found, refs, strict=True)]
    body = needed(b.block, {x.name for x in gave if isinstance(x, Ref)})
    return Function("reverse", cts, body, gave), gave


def _divided(
    L: Lower,
    refs: list[Ref],
    results: list[Operand],
    reverse: Function,
    gave: list[Operand],
    params: list[Value],
    value: Value,
    exact: bool,
) -> Passes:
    """Find the residuals between the passes, and drop what neither needs."""
    wanted = {**used(reverse.body), **{x.name: x for x in gave if isinstance(x, Ref)}}
    ahead = defined(L.b.block) | {r.name for r in refs}
    residuals = [x for n, x in wanted.items() if n in ahead]
    live = {x.name for x in [*results, *residuals] if isinstance(x, Ref)}
    forward = Function("forward", refs, needed(L.b.block, live), list(results))
    return Passes(forward, reverse, residuals, params, value, _labels(L), exact, L.primitives)


def _labels(L: Lower) -> dict[str, str]:
    """Give variables the names that the program gives them, each once."""
    names = Names({*RESERVED, *called(L.primitives), *MATH.values(), *L.b.depth, "residuals", "forward", "reverse"})
    return {n: names(_plain(label)) for n, label in L.labels.items() if n.rstrip("0123456789_") == "t"}


def _plain(label: str) -> str:
    """Give a label without the numbers that made it unique."""
    return label if label.isidentifier() and label.isascii() else "x"
