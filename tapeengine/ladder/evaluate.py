r"""Call by value: the evaluator for the source language and for target languages that consist of terms.

[[x]] e = e(x)        [[let x = s in t]] e = [[t]] (e, x = [[s]] e)        [[\x. t]] e = v |-> [[t]] (e, x = v)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..chad.terms import (
    Apply,
    Build,
    Call,
    Case,
    Definition,
    If,
    Index,
    Inject,
    Lambda,
    Let,
    Literal,
    Module,
    Op,
    Proj,
    Size,
    Term,
    Total,
    Tuple,
    Var,
)
from ..chad.values import Tagged
from .operations import DISCRETE, partial, value
from .source import Ccl, FoldLeft, Fork, LetTuple, NTimes
from .target import Interface, Partial

Environment = Mapping[str, Any]
#: The terms with a body in tail position.
TAIL = (Let, LetTuple, If, Case, Call)


class Evaluator:
    """Evaluates terms, given the definitions that they call and the operations of an interface.

    Attributes
    ----------
    operations : int
        The number of scalar operations computed.
    terms : int
        The number of terms evaluated.
    """

    def __init__(self, definitions: Mapping[str, Definition], interface: Mapping[str, Callable[..., Any]]) -> None:
        self.definitions = definitions
        self.interface = interface
        self.operations = 0
        self.terms = 0

    def term(self, term: Term, environment: Environment) -> Any:
        """The value of a term. Bodies in tail position are evaluated in a loop, so chains of `Let` need no stack."""
        self.terms += 1
        if not isinstance(term, TAIL):
            return self.simple(term, environment)
        scope = dict(environment)
        while True:
            match term:
                case Let(var, bound, body):
                    scope[var.name] = self.term(bound, scope)
                    term = body
                case If(condition, then, orelse):
                    term = then if self.term(condition, scope) else orelse
                case Case(subject, branches):
                    tagged = self.term(subject, scope)
                    branch = branches[tagged.option]
                    scope[branch.var.name] = tagged.payload
                    term = branch.body
                case LetTuple(names, bound, body):
                    whole = self.term(bound, scope)
                    scope |= zip((x.name for x in names), parts(whole, len(names)), strict=True)
                    term = body
                case Call(name, args):
                    values = [self.term(arg, scope) for arg in args]
                    called = self.definitions[name]
                    scope = dict(zip((p.name for p in called.params), values, strict=True))
                    term = called.body
                case _:
                    return self.simple(term, scope)
            self.terms += 1

    def simple(self, term: Term, scope: Environment) -> Any:
        """The value of a term without a body in tail position."""

        def values(terms: tuple[Term, ...]) -> list[Any]:
            return [self.term(t, scope) for t in terms]

        match term:
            case Var(name):
                return scope[name]
            case Literal(known):
                return known
            case Tuple(items):
                return tuple(values(items))
            case Proj(whole, index):
                return self.term(whole, scope)[index]
            case Inject(index, payload):
                return Tagged(index, self.term(payload, scope))
            case Lambda(params, body):
                return self.closure(tuple(p.name for p in params), body, dict(scope))
            case Apply(function, args):
                return self.term(function, scope)(*values(args))
            case Op(op, args):
                self.operations += 1
                return DISCRETE[op](*values(args)) if op in DISCRETE else value(op, *values(args))
            case Partial(op, which, operands, cotangent):
                return self.term(cotangent, scope) * partial(op, which, tuple(values(operands)))
            case Interface(name, args):
                return self.interface[name](*values(args))
            case Fork(left, right):
                return (self.term(left, scope), self.term(right, scope))
        return self.vector(term, scope)

    def vector(self, term: Term, scope: Environment) -> Any:
        """The value of an operation on vectors, which are represented by tuples."""
        match term:
            case Build(size, index, body):
                return tuple(self.term(body, {**scope, index.name: k}) for k in range(self.term(size, scope)))
            case Index(array, at):
                return self.term(array, scope)[self.term(at, scope)]
            case Size(array):
                return len(self.term(array, scope))
            case Total(array):
                return sum(self.term(array, scope))
        return self.loop(term, scope)

    def loop(self, term: Term, scope: Environment) -> Any:
        """The value of a loop."""
        match term:
            case FoldLeft(pair, body, init, array):
                state, elements = self.term(init, scope), self.term(array, scope)
                for element in elements:
                    state = self.term(body, {**scope, pair.name: (state, element)})
                return state
            case NTimes(name, size, init):
                count, state = times(self.term(size, scope)), self.term(init, scope)
                for _ in range(count):
                    state = self.call(name, state)
                return state
            case Ccl(name, size, init):
                count, state = times(self.term(size, scope)), self.term(init, scope)
                for i in reversed(range(count)):
                    state = self.call(name, i, state)
                return state
        raise ValueError(f"{type(term).__name__} is not a term of the ladder's languages")

    def call(self, name: str, *args: Any) -> Any:
        """The value of a definition."""
        called = self.definitions[name]
        return self.term(called.body, dict(zip((p.name for p in called.params), args, strict=True)))

    def closure(self, names: tuple[str, ...], body: Term, scope: Environment) -> Callable[..., Any]:
        """A function value."""
        return lambda *args: self.term(body, {**scope, **dict(zip(names, args, strict=True))})


def parts(whole: Any, width: int) -> tuple[Any, ...]:
    """The components of a tuple; a zero has zeros as components."""
    return (None,) * width if whole is None else tuple(whole)


def times(count: int) -> int:
    """The number of iterations of a loop."""
    if count < 0:
        raise ValueError(f"a loop cannot run {count} times; the count must be 0 or more")
    return count


def run(module: Module, *args: Any) -> Any:
    """The value of a source program."""
    return Evaluator(module.definitions, {}).call(module.main, *args)
