r"""Closure conversion (EC section 9): functions become closures, with a sum type for each type of functions.

    F(s -> t) = a sum with an option for each \x. u of this type in the program: the types of its captured variables
    F(\x. u) = in_l (y1, ..., yn)           l is the number of the function, y1, ..., yn are the variables free in it
    F(t s) = apply (F(t), F(s))             apply (f, x) = case f of in_l ys -> let (y1, ..., yn) = ys in F(u); ...

A closure is a tuple of captured values. So its cotangent is a tuple too, and one call of one backpropagator gives the
cotangents of the argument and of the captured values; copowers need two calls.
"""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

from tapeengine.chad.terms import (
    Apply,
    Branch,
    Call,
    Case,
    Definition,
    Inject,
    Lambda,
    Let,
    Module,
    Term,
    Tuple,
    Var,
)
from tapeengine.chad.types import Function, Named, Product, Sum, Type
from tapeengine.ladder.scope import free_variables
from tapeengine.ladder.structure import homomorphic
from tapeengine.ladder.target import Fresh, unpack

__all__ = ["close"]


def close(module: Module) -> Module:
    """The program without function values."""
    return Closing().module(module)


class Closing:
    """The conversion F; it collects the functions of each type."""

    def __init__(self) -> None:
        self.fresh = Fresh()
        self.names: dict[Function, str] = {}
        self.branches: dict[Function, list[Branch]] = {}
        self.arguments: dict[Function, tuple[Var, ...]] = {}

    def type(self, of: Type) -> Type:
        """F on types."""
        return Named(self.name(of)) if isinstance(of, Function) else homomorphic(of, self.type)

    def var(self, x: Var) -> Var:
        """A variable with its converted type."""
        return Var(x.name, self.type(x.of))

    def name(self, of: Function) -> str:
        """The name of the sum for a type of functions."""
        if of not in self.names:
            self.names[of] = f"F{len(self.names) + 1}"
            self.branches[of] = []
            self.arguments[of] = tuple(self.fresh("a", self.type(p)) for p in of.params)
        return self.names[of]

    def term(self, term: Term) -> Term:
        """F on terms: homomorphic except for functions and applications."""
        match term:
            case Lambda():
                return self.closure(term)
            case Apply(function, args):
                of = function.type
                assert isinstance(of, Function)
                called = (self.term(function), *map(self.term, args))
                return Call("apply" + self.name(of), called, self.type(of.result))
        changed: dict[str, Any] = {}
        for item in fields(term):
            value = getattr(term, item.name)
            if isinstance(value, Term):
                changed[item.name] = self.term(value)
            elif isinstance(value, Type) and item.init:
                changed[item.name] = self.type(value)
            elif isinstance(value, tuple) and value and isinstance(value[0], Term):
                changed[item.name] = tuple(map(self.term, value))
        return replace(term, **changed)

    def closure(self, function: Lambda) -> Term:
        """Convert a function: add a branch to its apply, and return the tuple of its captured variables."""
        of = function.type
        assert isinstance(of, Function)
        name = self.name(of)
        captured = tuple(map(self.var, free_variables(function).values()))
        index = len(self.branches[of])
        environment = self.fresh("e", Product(tuple(x.of for x in captured)))
        self.branches[of].append(Branch(environment, environment))
        body = unpack(self.fresh, captured, environment, self.term(function.body))
        for param, argument in zip(function.params, self.arguments[of], strict=True):
            body = Let(Var(param.name, argument.of), argument, body)
        self.branches[of][index] = Branch(environment, body)
        return Inject(index, Tuple(captured), Named(name))

    def module(self, module: Module) -> Module:
        """F on all definitions, with the apply functions that they need."""
        closed = {
            name: Definition(name, tuple(map(self.var, f.params)), self.type(f.result), self.term(f.body))
            for name, f in module.definitions.items()
        }
        types = {name: homomorphic(of, self.type) for name, of in module.types.items()}
        for of, name in self.names.items():
            types[name] = Sum(tuple(branch.var.of for branch in self.branches[of]))
            function = self.fresh("f", Named(name))
            body = Case(function, tuple(self.branches[of]))
            params = (function, *self.arguments[of])
            closed["apply" + name] = Definition("apply" + name, params, self.type(of.result), body)
        return Module(module.main, closed, types)
