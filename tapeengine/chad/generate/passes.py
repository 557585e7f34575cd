"""The two passes of a program in imperative form, and their text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from tapeengine.chad.depth import deep
from tapeengine.chad.generate.activity import CONTINUOUS, activate_all, declarations
from tapeengine.chad.generate.boundary import parameter
from tapeengine.chad.generate.boxes import canonical
from tapeengine.chad.generate.builder import Builder
from tapeengine.chad.generate.first import first_contributions
from tapeengine.chad.generate.labels import is_temporary, plain
from tapeengine.chad.generate.liveness import defined, needed, used
from tapeengine.chad.generate.lower import RESERVED, Lower, Scope
from tapeengine.chad.generate.products import summed_products
from tapeengine.chad.generate.recursion import Unit
from tapeengine.chad.generate.registered import called
from tapeengine.chad.generate.reverse import Reverse
from tapeengine.chad.generate.reverse_boxes import BOXED, is_accumulated
from tapeengine.chad.generate.sized import LONGEST, MOST_OPERATIONS, Shapes, itemised
from tapeengine.chad.generate.text import Writer
from tapeengine.chad.generate.values import Value, leaves
from tapeengine.chad.imperative import Const, Function, Operand, Ref
from tapeengine.chad.terms import Call, Module
from tapeengine.chad.traverse import Names
from tapeengine.primitive import Primitive

__all__ = ["Passes", "passes"]


@dataclass
class Pair:
    """The forward and the reverse pass of the program or of a recursive definition.

    Attributes
    ----------
    forward, reverse : Function
    residuals : list of Ref
        What the forward pass hands to the reverse pass.
    """

    forward: Function
    reverse: Function
    residuals: list[Ref]


@dataclass
class Passes:
    """A program's forward and reverse pass.

    Attributes
    ----------
    forward, reverse : Function
    residuals : list of Ref
        What the forward pass hands to the reverse pass.
    inner : dict of str to Pair
        The passes of the recursive definitions that are called.
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
    inner: dict[str, Pair]
    params: list[Value]
    value: Value
    labels: dict[str, str]
    exact: bool
    primitives: Mapping[str, Primitive]

    def text(self) -> str:
        """Write all passes as Python."""
        names = {name: (p.forward.name, p.reverse.name) for name, p in self.inner.items()}
        functions = []
        used_math: set[str] = set()
        for pair in (*self.inner.values(), Pair(self.forward, self.reverse, self.residuals)):
            ahead, back = (Writer(self.labels, self.exact, self.primitives, names) for _ in range(2))
            functions.append(ahead.function(pair.forward, pair.residuals, takes_residuals=False))
            functions.append(back.function(pair.reverse, pair.residuals, takes_residuals=True))
            used_math |= ahead.math | back.math
        head = f"from math import {', '.join(sorted(used_math))}\n" if used_math else ""
        head += "import numpy as np\n" if any("np." in f for f in functions) else ""
        return "\n\n".join([head, *functions]).lstrip("\n")


def passes(
    module: Module,
    exact: bool = False,
    primitives: Mapping[str, Primitive] = MappingProxyType({}),
    general: bool = False,
    shapes: Shapes | None = None,
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
    shapes : tuple of tuple of int, optional
        The shapes of the leaves of the parameters, for passes that are for these shapes alone.

    Raises
    ------
    NotGenerated
        Where the program has no imperative form.
    """
    definition = module.definitions[module.main]
    L = Lower(module, exact, primitives, general)
    main = Unit(module.main, "forward", "reverse", L.b.names, L.axes)
    L.b = main.b
    with deep():
        params = [parameter(L, p.name, p.of, main.params) for p in definition.params]
        given = params
        if shapes is not None:
            L.is_sized, L.unrolled, L.b.most = True, LONGEST, MOST_OPERATIONS
            known = {p.name: shape for p, shape in zip(main.params, shapes, strict=True)}
            given = [itemised(L, value, known, Scope({})) for value in params]
        env = {p.name: v for p, v in zip(definition.params, given, strict=True)}
        body = (
            Call(module.main, definition.params, definition.result) if module.main in L.recursive else definition.body
        )
        value = L.all_forced(L(body, Scope(env)))
        if L.layout.has_sums(definition.result):
            value = canonical(L, value, definition.result)
        value = L.settled(value)
        main.results = [x for x in leaves(value) if isinstance(x, Const | Ref)]
        L.write_units()
        D = Differentiated(L, main)
        found = D.pair(main)
        inner = {name: D.pair(unit) for name, unit in L.units.items()}
    labels = _labels(L, main)
    return Passes(found.forward, found.reverse, found.residuals, inner, params, value, labels, exact, L.primitives)


class Differentiated:
    """Writes the reverse passes of a program and of its recursive definitions.

    Parameters
    ----------
    lower : Lower
        Has written the forward passes.
    main : Unit
        The program.
    """

    def __init__(self, lower: Lower, main: Unit) -> None:
        self.lower = lower
        self.main = main
        self.active = {r.name for r in main.params if r.kind in CONTINUOUS}
        activate_all(main.b.block, lower.units, self.active)
        self.declared: dict[str, Ref] = {}
        for unit in (main, *lower.units.values()):
            self.declared |= self.declarations(unit)

    def declarations(self, unit: Unit) -> dict[str, Ref]:
        """Give the variables of a forward pass."""
        found = {r.name: r for r in unit.params}
        declarations(unit.b.block, found)
        return found

    def pair(self, unit: Unit) -> Pair:
        """Give both passes; what neither needs is dropped from the forward pass, once the reverse pass is there."""
        reverse = self.reverse(unit)
        wanted = {**used(reverse.body), **{x.name: x for x in reverse.results if isinstance(x, Ref)}}
        ahead = defined(unit.b.block) | {r.name for r in unit.params}
        residuals = [x for n, x in wanted.items() if n in ahead]
        live = {x.name for x in [*unit.results, *residuals] if isinstance(x, Ref)}
        body = needed(unit.b.block, live)
        forward = Function(unit.forward, unit.params, body, list(unit.results), unit is not self.main)
        return Pair(forward, reverse, residuals)

    def reverse(self, unit: Unit) -> Function:
        """Write the reverse pass."""
        is_main = unit is self.main
        b = Builder(self.lower.b.names, self.lower.axes)
        b.know(unit.b.block)
        R = Reverse(b, self.declared, self.active, self.lower.exact, self.lower.primitives, self.lower.units)
        R.local = set(self.declarations(unit))
        wanted = unit.params if is_main else [p for p in unit.params if p.name in self.active]
        into = [] if is_main else [p for p in wanted if is_accumulated(p)]
        R.local -= {p.name for p in into}
        R.slots = {p.name: R.cotangent(p) for p in into}
        cts = self.cotangents(R, unit)
        R.block(unit.b.block)
        gave = [R.full(self.taken(R, p), p) for p in wanted if p not in into]
        slots = [R.slots[p.name] for p in into]
        body = needed(b.block, {x.name for x in [*gave, *slots] if isinstance(x, Ref)})
        first_contributions(body)
        summed_products(body, [x.name for x in [*gave, *slots] if isinstance(x, Ref)])
        return Function(unit.reverse, [*cts, *slots], body, gave, not is_main)

    def cotangents(self, R: Reverse, unit: Unit) -> list[Ref]:
        """Hand the cotangents of the results to what they are."""
        cts = []
        for i, x in enumerate(unit.results):
            if unit is self.main or (isinstance(x, Ref) and x.name in self.active):
                kind = x.kind if x.kind in BOXED else "float"
                cts.append(R.b.fresh("ct" if len(unit.results) == 1 else f"ct_{i}", x.axes, kind))
                R.one(x, cts[-1])
        return cts

    def taken(self, R: Reverse, param: Ref) -> Operand:
        """Take the cotangent of a parameter."""
        found = R.take(param.name) if param.kind in CONTINUOUS else None
        return R.zero(param) if found is None else found


def _labels(L: Lower, main: Unit) -> dict[str, str]:
    """Give variables the names that the program gives them, each once."""
    taken = {name for unit in (main, *L.units.values()) for name in (*unit.b.depth, unit.forward, unit.reverse)}
    names = Names({*RESERVED, *called(L.primitives), *taken})
    return {n: names(plain(label)) for n, label in L.labels.items() if is_temporary(n)}
