"""The tangent function of a program in imperative form, and its text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tapeengine.chad.evaluate.evaluator import deep
from tapeengine.chad.generate.activity import activate
from tapeengine.chad.generate.boundary import parameter
from tapeengine.chad.generate.builder import Builder
from tapeengine.chad.generate.expressions import MATH, Text
from tapeengine.chad.generate.liveness import defined, needed
from tapeengine.chad.generate.lower import RESERVED, Lower, Scope
from tapeengine.chad.generate.tangent import Tangent
from tapeengine.chad.generate.text import Writer
from tapeengine.chad.generate.values import Value, leaves
from tapeengine.chad.imperative import Assign, Const, Function, Operand, Ref
from tapeengine.chad.terms import Module
from tapeengine.chad.traverse import Names

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
    primal : set of str
        The variables of the program itself.
    exact : bool
    """

    function: Function
    params: list[Value]
    value: Value
    labels: dict[str, str]
    primal: set[str]
    exact: bool

    def text(self) -> str:
        """Write the function as Python."""
        writer = TangentWriter(self.labels, self.exact, self.primal)
        text = writer.pairs(self.function)
        used = ", ".join(sorted(writer.math))
        head = f"from math import {used}\n" if used else ""
        head += "import numpy as np\n" if "np." in text else ""
        return f"{head}\n\n{text}".lstrip("\n")


class TangentWriter(Writer):
    """Writes a function of values and tangents; those of values are Python's own also in the exact form.

    Parameters
    ----------
    labels : mapping of str to str
        Names to write instead of the form's own.
    exact : bool
        Whether tangents are infinite or NaN where Python would raise.
    primal : set of str
        The variables of the program itself.
    """

    def __init__(self, labels: dict[str, str], exact: bool, primal: set[str]) -> None:
        super().__init__(labels, exact)
        self.is_exact = exact
        self.primal = primal

    def operation(self, s: Assign) -> Text:
        """Write an operation."""
        self.exact = self.is_exact and s.out.name not in self.primal
        return super().operation(s)

    def pairs(self, f: Function) -> str:
        """Write the function: it gives a tuple of values and a tuple of their tangents."""
        self.count(f.body)
        for r in f.results:
            self.use(r)
        self.block(f.body, 1)
        if self.lines == ["    pass"]:
            self.lines.clear()
        half = len(f.results) // 2
        values, tangents = (self.tupled(part) for part in (f.results[:half], f.results[half:]))
        self.lines.append(f"    return {values}, {tangents}")
        params = ", ".join(self.name(p.name) for p in f.params)
        return "\n".join([f"def {f.name}({params}):", *self.lines, ""])

    def tupled(self, operands: Sequence[Operand]) -> str:
        """Write a tuple of any number of operands."""
        inside = ", ".join(self.operand(x) for x in operands)
        return f"({inside},)" if len(operands) == 1 else f"({inside})"


def tangent_pass(module: Module, exact: bool = False) -> TangentPass:
    """Write the tangent function of a module's main definition.

    Parameters
    ----------
    module : Module
        Without function values.
    exact : bool
        Whether to write the form that is right also where infinities meet zeros.

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
    L = Lower(module, exact)
    L.calls.append(module.main)
    with deep():
        refs: list[Ref] = []
        params = [parameter(L, p.name, p.of, refs) for p in definition.params]
        env = {p.name: v for p, v in zip(definition.params, params, strict=True)}
        value = L.settled(L.all_forced(L(definition.body, Scope(env))))
        results = [x for x in leaves(value) if isinstance(x, Const | Ref)]
        T = _differentiated(L, refs, exact)
        given = [T.tangents[r.name] for r in refs if r.name in T.tangents]
        gave: list[Operand] = [*results, *(T.whole(x) for x in results)]
    body = needed(T.b.block, {x.name for x in gave if isinstance(x, Ref)})
    function = Function("tangent", [*refs, *(d for d in given if isinstance(d, Ref))], body, gave)
    primal = defined(L.b.block) | {r.name for r in refs}
    return TangentPass(function, params, value, _labels(L, T), primal, exact)


def _differentiated(L: Lower, refs: Sequence[Ref], exact: bool) -> Tangent:
    """Write the statements of a program with their tangents."""
    active = {r.name for r in refs if r.kind == "float"}
    activate(L.b.block, active)
    T = Tangent(Builder(L.b.names, L.axes), active, exact)
    for r in refs:
        if r.kind == "float":
            T.give(r, T.fresh(r))
    T.block(L.b.block)
    return T


def _labels(L: Lower, T: Tangent) -> dict[str, str]:
    """Give variables the names that the program gives them, each once, and tangents those of their variables."""
    names = Names({*RESERVED, *MATH.values(), *L.b.depth, *T.b.depth, "tangent"})
    plain = {n: x if x.isidentifier() and x.isascii() else "x" for n, x in L.labels.items()}
    labels = {n: names(x) for n, x in plain.items() if _is_temporary(n)}
    for name, tangent in T.tangents.items():
        if isinstance(tangent, Ref) and _is_temporary(tangent.name) and tangent.name not in labels and name in plain:
            labels[tangent.name] = names(f"t_{plain[name]}")
    return labels


def _is_temporary(name: str) -> bool:
    return name.rstrip("0123456789_") == "t"
