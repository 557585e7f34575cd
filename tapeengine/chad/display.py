"""Write derivative programs as readable Python.

Control flow and accumulation are written as statements: a slot of the environment vector is a variable ``d_x`` that
is added to. The text is for reading: in Python ``d_x += e`` does not add to the slot that is open when it runs.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from ..recursion import deep
from .intermediate.operations import ATOM as CALL
from .intermediate.operations import LOOPS, OPERATIONS_BY_NAME
from .language import target as T
from .language import terms as S
from .language.terms import Definition, Module, Term, Var
from .language.traverse import Name, Names, children
from .language.types import EVM, Product, show

#: The precedence of a name or a call, and of a choice; operators follow from their records, those above by this much.
ATOM, CHOICE, ABOVE = 20, 1, 2
Structure = str | tuple["Structure", str]


@deep()
def display(module: Module) -> str:
    """Write every definition of a module as Python for reading."""
    return "\n\n\n".join(Writer(d).text() for d in module.definitions.values())


class Writer:
    """Writes one definition."""

    def __init__(self, definition: Definition) -> None:
        self.definition = definition
        self.lines: list[str] = []
        self.depth = 0
        self.names = Names()
        self.shown: dict[str, str] = {}
        self.slots: dict[str, str] = {}
        self.scopes: dict[str, Structure] = {}

    def text(self) -> str:
        """Give the definition's text."""
        params = ", ".join(f"{self.bind(p)}: {show(p.of)}" for p in self.definition.params)
        self.emit(f"def {self.definition.name}({params}):")
        self.inside(lambda: self.tail(self.definition.body, lambda e: self.emit(f"return {e}")))
        return "\n".join(self.lines)

    def bind(self, var: Var) -> str:
        """Choose the displayed name of a binder: without the number that made it unique, if that name is free."""
        given = var.name.shown if isinstance(var.name, Name) else re.sub(r"(_\d+)+$", "", var.name)
        self.shown[var.name] = self.names(given or "v")
        return self.shown[var.name]

    def slot(self, name: str) -> str:
        """Give the displayed name of a slot, which no variable has."""
        if name not in self.slots:
            self.slots[name] = self.names("d_" + self.shown.get(name, name))
        return self.slots[name]

    def emit(self, line: str) -> None:
        """Write a line."""
        self.lines.append("    " * self.depth + line)

    def inside(self, write: Callable[[], None]) -> None:
        """Write indented lines."""
        self.depth += 1
        before = len(self.lines)
        write()
        if len(self.lines) == before:
            self.emit("pass")
        self.depth -= 1

    # ------------------------------------------------------------ statements

    def tail(self, term: Term, use: Callable[[str], None]) -> None:
        """Write a term as statements, the last of which uses its value."""
        match term:
            case S.Let(var, bound, body):
                self.assign(var, bound)
                self.tail(body, use)
            case S.If(condition, then, orelse):
                self.emit(f"if {self.expr(condition)}:")
                self.inside(lambda: self.tail(then, use))
                self.emit("else:")
                self.inside(lambda: self.tail(orelse, use))
            case S.Case():
                self.case(term, use)
            case S.Tuple(items) if any(isinstance(i, S.Lambda) for i in items):
                use(", ".join([self.value(i) for i in items]))
            case _ if isinstance(term.type, EVM):
                self.run(term, use)
            case _:
                use(self.value(term))

    def case(self, term: S.Case, use: Callable[[str], None]) -> None:
        """Write a case."""
        self.emit(f"match {self.expr(term.term)}:")

        def arms() -> None:
            for option, branch in term.by_option.items():
                named = "_" if option == S.OTHERS else f"{show(branch.var.of)}() as {self.bind(branch.var)}"
                self.emit(f"case {named}:")
                self.inside(lambda branch=branch: self.tail(branch.body, use))  # type: ignore[misc]

        self.inside(arms)

    def assign(self, var: Var, bound: Term) -> None:
        """Write a let."""
        match bound:
            case S.If() | S.Case() | S.Let():
                holder: list[str] = []

                def use(e: str) -> None:
                    if not holder:
                        holder.append(self.bind(var))
                    self.emit(f"{holder[0]} = {e}")

                self.tail(bound, use)
            case S.Lambda():
                self.function(self.bind(var), bound)
            case _:
                value = self.value(bound)
                name = self.bind(var)
                if value != name:
                    self.emit(f"{name} = {value}")

    def value(self, term: Term) -> str:
        """Write the statements that a term needs, and return the expression of its value."""
        match term:
            case S.Lambda():
                name = self.names("backpropagator")
                self.function(name, term)
                return name
            case S.For() | S.While() | T.MapAccum() | T.WhileAccum():
                return self.loop(term)
            case S.Build(size, index, body) if self.needs_statements(body):
                return self.build(size, index, body)
            case T.Run(slots, body):
                for slot, of in slots:
                    self.emit(f"{self.slot(slot)} = {self.zero(of)}")
                self.run(body, lambda e: None)
                return f"({''.join(self.slot(s) + ', ' for s, _ in slots)})"
            case _ if isinstance(term.type, EVM):
                found: list[str] = []
                self.run(term, found.append)
                return found[0] if found else "None"
        return self.expr(term)

    def zero(self, of: object) -> str:
        """Write a zero."""
        is_large = len(getattr(of, "items", ())) >= S.MANY
        return "0.0" if type(of).__name__ == "LReal" else "zero" if is_large else f"zero({show(of)})"  # type: ignore[arg-type]

    def needs_statements(self, term: Term) -> bool:
        """Tell whether a term cannot be one expression."""
        kinds = (S.Let, S.Lambda, S.For, S.While, S.Case, T.MapAccum, T.WhileAccum, T.Run)
        return isinstance(term, kinds) or any(self.needs_statements(c) for c, _ in children(term))

    def function(self, name: str, term: S.Lambda) -> None:
        """Write a local function."""
        self.emit(f"def {name}({', '.join(self.bind(p) for p in term.params)}):")
        self.inside(lambda: self.tail(term.body, lambda e: self.emit(f"return {e}")))

    def build(self, size: Term, index: Var, body: Term) -> str:
        """Write a build whose elements need statements."""
        name = self.names("kept")
        self.emit(f"{name} = []")
        n = self.expr(size)
        self.emit(f"for {self.bind(index)} in range({n}):")
        self.inside(lambda: self.tail(body, lambda e: self.emit(f"{name}.append(({e}))")))
        return name

    def loop(self, term: S.For | S.While | T.MapAccum | T.WhileAccum) -> str:
        """Write a loop with carried state, which may keep a value for each step."""
        keeps = isinstance(term, T.MapAccum | T.WhileAccum)
        head = f"for {{}} in range({self.expr(term.size)}):" if isinstance(term, S.For | T.MapAccum) else "while {}:"
        start = self.value(term.init)
        name, kept = self.bind(term.state), self.names("kept") if keeps else ""
        self.emit(f"{name}, {kept} = {start}, []" if keeps else f"{name} = {start}")
        over = self.bind(term.index) if isinstance(term, S.For | T.MapAccum) else self.expr(term.condition)
        self.emit(head.format(over))

        def step(e: str) -> None:
            if not keeps:
                self.emit(f"{name} = {e}")
                return
            keep = self.names("keep")
            self.emit(f"{name}, {keep} = {e}")
            self.emit(f"{kept}.append({keep})")

        self.inside(lambda: self.tail(term.body, step))
        return f"({name}, {kept})" if keeps else name

    # ------------------------------------------------------------ accumulation

    def run(self, term: Term, use: Callable[[str], None]) -> None:
        """Write a computation; its result, if any, is used at the end."""
        match term:
            case T.Return(value):
                if value != S.unit():
                    use(self.value(value))
            case T.One(slot, d):
                self.emit(f"{self.slot(slot)} += {self.expr(d)}")
            case T.Then(first, second):
                self.run(first, lambda e: None)
                self.run(second, use)
            case T.Bind(var, T.Scope() as scope, body):
                self.run(scope, lambda e: None)
                self.scopes[var.name] = self.structure(scope)
                self.shown[var.name] = "scope"
                self.run(body, use)
            case T.Bind(var, first, body):
                self.run(first, lambda e: self.emit(f"{self.bind(var)} = {e}"))
                if var.name not in self.shown:
                    self.bind(var)
                self.run(body, use)
            case T.Scope(slot, of, body):
                self.emit(f"{self.slot(slot)} = {self.zero(of)}")
                result = ["()"]
                self.run(body, lambda e: result.__setitem__(0, e))
                use(f"({result[0]}, {self.slot(slot)})")
            case T.ForEach(size, index, body):
                n = self.expr(size)
                self.emit(f"for {self.bind(index)} in range({n}):")
                self.inside(lambda: self.run(body, lambda e: None))
            case T.Descend(size, index, state, init, body):
                self.descend(size, index, state, init, body, use)
            case S.Let(var, bound, body):
                self.assign(var, bound)
                self.run(body, use)
            case S.If() | S.Case():
                self.tail(term, use)
            case _:
                self.emit(self.expr(term))

    def structure(self, term: Term) -> Structure:
        """Give the result of nested scopes: pairs of the inner result and the slot."""
        if isinstance(term, T.Scope):
            return (self.structure(term.body), self.slot(term.slot))
        return "()"

    def resolved(self, term: Term) -> Structure | None:
        """Give the part of a scope's result to which a chain of projections refers."""
        if isinstance(term, Var):
            return self.scopes.get(term.name)
        if isinstance(term, S.Proj):
            inner = self.resolved(term.term)
            return inner[term.index] if isinstance(inner, tuple) else None
        return None

    def descend(self, size: Term, index: Var, state: Var, init: Term, body: Term, use: Callable[[str], None]) -> None:
        """Write a loop from the last index to the first."""
        start, n = self.value(init), self.expr(size)
        name, kept = self.bind(state), self.names("out")
        self.emit(f"{name}, {kept} = {start}, [None] * {n}")
        k = self.bind(index)
        self.emit(f"for {k} in reversed(range({n})):")
        self.inside(lambda: self.run(body, lambda e: self.emit(f"{name}, {kept}[{k}] = {e}")))
        use(f"({name}, {kept})")

    # ------------------------------------------------------------ expressions

    def expr(self, term: Term, level: int = 0) -> str:
        """Write a term as one expression, in parentheses if it binds less tightly than `level`."""
        text, own = self.expression(term)
        return f"({text})" if own < level else text

    def args(self, *terms: Term) -> str:
        """Write arguments."""
        return ", ".join(self.expr(t, 1) for t in terms)

    def expression(self, term: Term) -> tuple[str, int]:
        """Write a term, and give its binding precedence."""
        match term:
            case Var(name):
                return self.shown.get(name, name), ATOM
            case S.Literal(value):
                return repr(value), ATOM if not isinstance(value, bool) and value >= 0 else 8
            case S.Op():
                return self.op(term)
            case S.Tuple(()) | T.LTuple(()):
                return "()", ATOM
            case S.Tuple(items, of) if of is not None and of.name:
                return f"{of.name}({self.args(*items)})", ATOM
            case S.Tuple(items) | T.LTuple(items):
                return f"({self.args(*items)}{',' if len(items) == 1 else ''})", ATOM
            case S.Proj(inner, i) | T.LProj(inner, i):
                return self.projection(inner, i), ATOM
            case S.If(c, a, b):
                return f"{self.expr(a, 2)} if {self.expr(c, 2)} else {self.expr(b, 1)}", 1
            case T.Zero(of):
                return self.zero(of), ATOM
            case T.Plus(a, b):
                return f"{self.expr(a, 6)} + {self.expr(b, 7)}", 6
            case T.LScale(d, factor):
                return f"{self.expr(d, 7)} * {self.expr(factor, 8)}", 7
            case S.Index(array, i) | T.LIndex(array, i):
                return f"{self.expr(array, ATOM)}[{self.expr(i)}]", ATOM
            case S.Lambda(params, body) | T.LLambda(params, body):
                return f"lambda {', '.join(map(self.bind, params))}: {self.expr(body, 1)}", 0
            case S.Apply(f, args) | T.LApply(f, args):
                return f"{self.expr(f, ATOM)}({self.args(*args)})", ATOM
        return self.construct(term), ATOM

    def op(self, term: S.Op) -> tuple[str, int]:
        """Write a scalar operation."""
        if LOOPS.get(term.op, term.op) == "pow":
            return f"{self.expr(term.args[0], 10)} ** {self.expr(term.args[1], 9)}", 9
        record = OPERATIONS_BY_NAME[term.op]
        if record.binds == CALL:
            return record.text.format(*[self.expr(a, CHOICE) for a in term.args]), ATOM
        texts = [self.expr(a, ABOVE + level) for a, level in zip(term.args, record.levels, strict=True)]
        return record.text.format(*texts), ABOVE + record.binds

    def projection(self, inner: Term, i: int) -> str:
        """Write a projection, as a field if it has a name."""
        known = self.resolved(S.Proj(inner, i)) if isinstance(inner.type, Product) else None
        if isinstance(known, str):
            return known
        of = inner.type
        if isinstance(of, Product) and of.fields:
            return f"{self.expr(inner, ATOM)}.{of.fields[i]}"
        return f"{self.expr(inner, ATOM)}[{i}]"

    def construct(self, term: Term) -> str:
        """Write the remaining constructors as calls."""
        match term:
            case S.Build(size, index, body):
                n = self.expr(size)
                i = self.bind(index)
                return f"[{self.expr(body, 1)} for {i} in range({n})]"
            case S.Map(variables, body, arrays):
                over = self.args(*arrays) if len(arrays) == 1 else f"zip({self.args(*arrays)})"
                names = ", ".join(map(self.bind, variables))
                return f"[{self.expr(body, 1)} for {names} in {over}]"
            case S.Filter(var, condition, array):
                over = self.expr(array)
                name = self.bind(var)
                return f"[{name} for {name} in {over} if {self.expr(condition)}]"
            case T.LScatter(S.Build(size, S.Var(index), S.Var(name)), values) if name == index:
                return f"scattered(range({self.expr(size)}), {self.expr(values, 1)})"
            case S.Elements(items):
                return f"[{self.args(*items)}]"
            case S.Size(array):
                return f"len({self.expr(array)})"
            case S.Call(name, args):
                return f"{name}({self.args(*args)})"
            case (
                S.Primitive(name, args, static)
                | T.Vjp(name, _, _, args, _, static)
                | T.Jvp(name, _, _, args, _, static)
            ):
                return self.primitive(term, name, args, static)
            case S.Let(var, bound, body):
                value = self.expr(bound)
                return f"(lambda {self.bind(var)}: {self.expr(body, 1)})({value})"
        return self.named(term)

    def primitive(self, term: Any, name: str, args: tuple[Term, ...], static: Any) -> str:
        """Write a registry primitive or one of its rules."""
        more = "".join(f", {k}={v!r}" for k, v in static)
        if isinstance(term, S.Primitive):
            return f"{name}({self.args(*args)}{more})"
        rule = "vjp" if isinstance(term, T.Vjp) else "jvp"
        return f"{name}.{rule}[{term.argument}]({self.args(term.term, *args)}{more})"

    NAMES: Mapping[type, str] = MappingProxyType(
        {
            S.Total: "sum", T.LTotal: "sum", S.Gather: "gather", S.Scatter: "scatter", S.Replicate: "replicate",
            S.Concatenate: "concatenate", T.LDense: "dense", T.LSingle: "single", T.LScatter: "scattered",
            T.Collect: "collect", T.LInject: "linject", T.LCast: "lcast", S.Inject: "inject",
            T.Singleton: "singleton", T.EVOne: "one", T.Split: "split", S.Fold: "fold", S.Scan: "scan",
            T.CopowerFold: "copowfold", S.Update: "updated", T.LUpdate: "updated",
        }
    )  # fmt: skip

    def named(self, term: Term) -> str:
        """Write a constructor as a call: plain data first, subterms with binders as lambdas."""
        data = [
            repr(getattr(term, f.name))
            for f in dataclasses.fields(term)
            if f.init and isinstance(getattr(term, f.name), int | str) and f.type != "bool"
        ]
        parts = []
        for child, binders in children(term):
            if binders:
                names = ", ".join(map(self.bind, binders))
                parts.append(f"lambda {names}: {self.expr(child, 1)}")
            else:
                parts.append(self.expr(child, 1))
        return f"{self.NAMES.get(type(term), type(term).__name__.lower())}({', '.join(data + parts)})"
