"""The tangent function of a program in imperative form, and its text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from tapeengine.chad.depth import deep
from tapeengine.chad.generate.activity import activate
from tapeengine.chad.generate.boundary import parameter
from tapeengine.chad.generate.builder import Builder
from tapeengine.chad.generate.expressions import MATH, Text
from tapeengine.chad.generate.labels import is_temporary, plain
from tapeengine.chad.generate.liveness import needed
from tapeengine.chad.generate.lower import RESERVED, Lower, Scope
from tapeengine.chad.generate.tangent import Tangent
from tapeengine.chad.generate.tangent_registered import called_with_jvp, jvp_identifier
from tapeengine.chad.generate.text import Writer
from tapeengine.chad.generate.values import NotGenerated, Value, leaves
from tapeengine.chad.imperative import Assign, Const, Function, Operand, Ref
from tapeengine.chad.terms import Module
from tapeengine.chad.traverse import Names
from tapeengine.primitive import Primitive

__all__ = ["TangentPass", "tangent_pass"]


@dataclass
class TangentPass:
    """A program's value with its tangent, in one function.

    Attributes
    ----------
    function : Function
        ``tangent``: its parameters are the leaves of the program's, then a tangent for each that is real; its results
        are the leaves of the value, then a tangent for each.
    params : list of Value
        The parameters of the program.
    value : Value
        The result.
    labels : dict of str to str
        Names of the source program.
    exact : bool
    primitives : mapping of str to Primitive
        The registry primitives that the program calls.
    """

    function: Function
    params: list[Value]
    value: Value
    labels: dict[str, str]
    exact: bool
    primitives: Mapping[str, Primitive]

    def text(self) -> str:
        """Write the function as Python."""
        writer = TangentWriter(self.labels, self.exact, self.primitives)
        text = writer.pairs(self.function)
        used = ", ".join(sorted(writer.math))
        head = f"from math import {used}\n" if used else ""
        head += "import numpy as np\n" if "np." in text else ""
        return f"{head}\n\n{text}".lstrip("\n")


class TangentWriter(Writer):
    """Writes a function of values and tangents."""

    def pairs(self, f: Function) -> str:
        """Write the function: it gives a tuple of values and a tuple of their tangents."""
        self.count(f.body)
        for r in f.results:
            self.use(r)
        self.block(f.body, 1)
        half = len(f.results) // 2
        values, tangents = (self.tupled(part) for part in (f.results[:half], f.results[half:]))
        self.lines.append(f"    return {values}, {tangents}")
        params = ", ".join(self.name(p.name) for p in f.params)
        return "\n".join([f"def {f.name}({params}):", *self.lines, ""])

    def op_jvp(self, s: Assign) -> Text:
        """The jvp rule of a registry primitive."""
        name, static, argument = s.params
        found = self.primitives[str(name)]
        assert isinstance(argument, int)
        assert isinstance(static, tuple)
        index = (("index", argument),) if found.variadic else ()
        return self.registered(jvp_identifier(found, argument), s.args, (*static, *index))

    def tupled(self, operands: Sequence[Operand]) -> str:
        """Write a tuple of any number of operands."""
        inside = ", ".join(self.operand(x) for x in operands)
        return f"({inside},)" if len(operands) == 1 else f"({inside})"


def tangent_pass(
    module: Module, exact: bool = False, primitives: Mapping[str, Primitive] = MappingProxyType({})
) -> TangentPass:
    """Write the tangent function of a module's main definition.

    Parameters
    ----------
    module : Module
        Without function values.
    exact : bool
        Whether to write the form that is right also where infinities meet zeros.
    primitives : mapping of str to Primitive
        The registry primitives that the program calls.

    Raises
    ------
    NotGenerated
        Where the program has no imperative form.

    Examples
    --------
    >>> from tapeengine.chad.terms import Definition, Module, Op, Var
    >>> from tapeengine.chad.types import FLOAT
    >>> x = Var("x", FLOAT)
    >>> square = Definition("square", (x,), FLOAT, Op("mul", (x, x)))
    >>> print(tangent_pass(Module("square", {"square": square})).text())
    def tangent(x, t_x):
        return (x * x,), (2.0 * t_x * x,)
    <BLANKLINE>
    """
    definition = module.definitions[module.main]
    L = Lower(module, exact, primitives)
    with deep():
        refs: list[Ref] = []
        params = [parameter(L, p.name, p.of, refs) for p in definition.params]
        env = {p.name: v for p, v in zip(definition.params, params, strict=True)}
        value = L.settled(L.all_forced(L(definition.body, Scope(env))))
        results = [x for x in leaves(value) if isinstance(x, Const | Ref)]
        if L.units:
            raise NotGenerated("a recursive definition has no tangent function")
        T = _differentiated(L, refs, exact)
        given = [T.tangents[r.name] for r in refs if r.name in T.tangents]
        gave: list[Operand] = [*results, *(T.whole(x) for x in results)]
    body = needed(T.b.block, {x.name for x in gave if isinstance(x, Ref)})
    function = Function("tangent", [*refs, *(d for d in given if isinstance(d, Ref))], body, gave)
    return TangentPass(function, params, value, _labels(L, T), exact, primitives)


def _differentiated(L: Lower, refs: Sequence[Ref], exact: bool) -> Tangent:
    """Write the statements of a program with their tangents."""
    active = {r.name for r in refs if r.kind == "float"}
    activate(L.b.block, active)
    T = Tangent(Builder(L.b.names, L.axes), active, exact, L.primitives)
    for r in refs:
        if r.kind == "float":
            T.give(r, T.fresh(r))
    T.block(L.b.block)
    return T


def _labels(L: Lower, T: Tangent) -> dict[str, str]:
    """Give variables the names that the program gives them, each once, and tangents those of their variables."""
    names = Names({*RESERVED, *called_with_jvp(L.primitives), *MATH.values(), *L.b.depth, *T.b.depth, "tangent"})
    labels = {n: names(plain(label)) for n, label in L.labels.items() if is_temporary(n)}
    for name, tangent in T.tangents.items():
        if isinstance(tangent, Ref) and is_temporary(tangent.name) and tangent.name not in labels and name in L.labels:
            labels[tangent.name] = names(f"t_{plain(L.labels[name])}")
    return labels
