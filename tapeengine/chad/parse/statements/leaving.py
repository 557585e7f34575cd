"""Statements that jumps leave on some paths: the statements after them are read once; a number says which of them run.

Otherwise each arm of a branching statement would contain all statements after it, so that the text of a program of n
such statements would have the length 2^n.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ...language.terms import Elements, Inject, Term, Tuple, lit
from ...language.types import NEVER, UNIT, Array, Bool, Float, Int, Named, Product, Sum, Type, show
from ..expressions.closures import held_by, joined_held
from ..operations.functions import Env, Rest
from ..operations.raising import guarded, may_be_none, unguarded
from ..operations.state import Parser

#: What a path does at its end, and the name of its number and of what it returns; they are no Python names.
FALLS, BREAKS, CONTINUES, RETURNS = range(4)
WAY, GIVEN = " way", " given"
#: The prefix of the name of a flag that tells whether a variable has a value.
HAS = " has "


class Ends:
    """The ends of the paths through a statement.

    `of` has the types of the variables that are handed on; a name is in `unsure` if it has no value at some end.
    """

    def __init__(self, p: Parser, node: ast.stmt, env: Env, names: Iterable[str]) -> None:
        self.p, self.node, self.env = p, node, env
        self.names = list(names)
        self.of: dict[str, Type] = {n: env[n].type for n in self.names if value_of(n, env) is not None}
        self.unsure: frozenset[str] = frozenset()
        self.found: list[tuple[int, Env]] = []

    def read(self, read: Callable[[], Term]) -> Term:
        """Read the statement until the types of the variables at its ends are those that are handed on."""
        while True:
            self.found = []
            term = read()
            of = self.types()
            unsure = frozenset(n for n in of if n != GIVEN and not all(is_sure(n, env) for _, env in self.found))
            if (of, unsure) == (self.of, self.unsure):
                return term
            self.of, self.unsure = of, unsure

    def types(self) -> dict[str, Type]:
        """Give types of the variables that suit all ends where these have a value."""
        found: dict[str, Type] = {}
        for n in (*self.names, GIVEN):
            for _, env in self.found:
                value = value_of(n, env)
                if value is None and n in env and env[n] is not self.env.get(n):
                    self.p.on_duals(self.node, f"{n} is another function on another path", "give them other names")
                if value is not None and value.type != NEVER:
                    found[n] = self.p.joined(self.node, [found[n], value.type]) if n in found else value.type
        return found

    def end(self, way: int) -> Rest:
        """Give what a path does at its end: it hands on the way and the variables."""

        def reached(env: Env) -> Term:
            self.found.append((way, env))
            values: list[Term] = [lit(way)]
            for n, of in self.of.items():
                value = value_of(n, env)
                values.append(default(self.p, self.node, of) if value is None else self.p.coerce(self.node, value, of))
            return Tuple((*values, *(has(n, env) for n in self.of if n in self.unsure)))

        return reached

    def returned(self, at: ast.AST, term: Term, env: Env) -> Term:
        """Hand on what a path returns."""
        of = self.p.results[-1]
        return self.end(RETURNS)({**env, GIVEN: term if of is None else self.p.coerce(at, term, of)})

    @property
    def parts(self) -> list[str]:
        """The names of what is handed on, in order."""
        return [WAY, *self.of, *(HAS + n for n in self.of if n in self.unsure)]

    def after(self, way: int, parts: Mapping[str, Any]) -> Env:
        """Give the variables after one way."""
        ends = [end for k, end in self.found if k == way]
        found = dict(self.env)
        for n in (n for n in self.of if n != GIVEN and any(n in end for end in ends)):
            found[n] = parts[n]
            if not all(is_sure(n, end) for end in ends):
                found[n] = guarded(parts[HAS + n], parts[n], any(may_be_none(end.get(n)) for end in ends))
        return found

    def held(self, n: str) -> dict[str, Any]:
        """Give the captures of the functions in a variable."""
        each = [(env, value_of(n, env)) for _, env in self.found]
        return joined_held([held_by(self.p, value, env) for env, value in each if value is not None])


def value_of(n: str, env: Env) -> Term | None:
    """Give a variable's value at an end; None if it has none."""
    found = env.get(n)
    maybe = unguarded(found)
    return maybe[1] if maybe else found if isinstance(found, Term) else None


def has(n: str, env: Env) -> Term:
    """Tell whether a variable has a value at an end."""
    maybe = unguarded(env.get(n))
    return maybe[0] if maybe else lit(n in env)


def is_sure(n: str, env: Env) -> bool:
    """Tell whether a variable surely has a value at an end."""
    return n in env and unguarded(env[n]) is None


def default(p: Parser, node: ast.AST, of: Type) -> Term:
    """Give an arbitrary value of a type, which a loop carries as its result until it returns."""
    match of:
        case Float():
            return lit(0.0)
        case Int():
            return lit(0)
        case Bool():
            return lit(False)
        case Product(items, name):
            return Tuple(tuple(default(p, node, item) for item in items), of if name or not items else None)
        case Array(element):
            return Elements((), element)
        case Sum() | Named():
            options = p.table.options(of) or ()
            simplest = min(range(len(options)), key=lambda i: options[i] != UNIT)
            if simplest or options[0] == UNIT or isinstance(of, Sum):
                return Inject(simplest, default(p, node, options[simplest]), of)
    refuse = p.on_duals if of == NEVER else p.error  # of a type that grows with each step
    refuse(node, f"a return of {show(of)} inside a loop", "assign it, break, and return after the loop")
