"""Remove functions that are only called, by inlining their calls or by turning them into definitions.

This is the first half of closure conversion (EC section 9): a local function that never leaves its scope needs no
closure. It is inlined if it is called once, is small, or takes or captures functions (which specialises it). Otherwise
it becomes a definition whose further parameters are the values it captures, so that programs do not grow.
"""

from __future__ import annotations

from tapeengine.chad.terms import Apply, Call, Definition, Lambda, Let, Term, Var, lets
from tapeengine.chad.traverse import Names, children, count, free_variables, freshen, map_children, size, substitute
from tapeengine.chad.types import Function, has_functions

#: The largest function that is copied to each of its calls.
SMALL = 60


class Inliner:
    """Inlines within one definition; `lifted` collects the definitions that it makes."""

    def __init__(self, symbol: str, names: Names) -> None:
        self.symbol = symbol
        self.names = names
        self.lifted: dict[str, Definition] = {}

    def __call__(self, term: Term) -> Term:
        """Remove functions that are only called."""
        match term:
            case Let(Var(of=Function()), bound, _):
                return self.let_function(term, bound)
            case Apply(Lambda(params, body), args):
                return self(lets(zip(params, args, strict=True), body))
            case Apply(Let(var, bound, function), args):
                return self(Let(var, bound, Apply(function, args)))
        return map_children(term, self)

    def let_function(self, term: Let, bound: Term) -> Term:
        """Remove a function bound to a variable."""
        name = term.var.name
        match bound:
            case Let(inner, first, then):
                return self(Let(inner, first, Let(term.var, then, term.body)))
            case Var():
                return self(substitute(term.body, {name: bound}))
            case Lambda():
                uses = count(term.body, name)
                if uses == 0:
                    return self(term.body)
                if uses == calls(term.body, name):
                    return self.only_called(term, bound, uses)
        return map_children(term, self)

    def only_called(self, term: Let, bound: Lambda, uses: int) -> Term:
        """Inline or lift a function that is called only."""
        captured = free_variables(bound)
        higher = any(has_functions(v.of) for v in (*captured.values(), *bound.params)) or has_functions(bound.body.type)
        if uses == 1 or higher or size(bound) <= SMALL:
            return self(self.replace(term.body, term.var.name, lambda args: Apply(freshen(bound, self.names), args)))
        symbol = self.names(f"{self.symbol}_{term.var.name}")
        params = (*captured.values(), *bound.params)
        self.lifted[symbol] = Definition(symbol, params, bound.body.type, self(bound.body))
        context = tuple(captured.values())
        return self(
            self.replace(term.body, term.var.name, lambda args: Call(symbol, (*context, *args), bound.body.type))
        )

    def replace(self, term: Term, name: str, made: object) -> Term:
        """Replace the calls of a function."""
        assert callable(made)
        if isinstance(term, Apply) and isinstance(term.function, Var) and term.function.name == name:
            result: Term = made(tuple(self.replace(a, name, made) for a in term.args))
            return result
        return map_children(term, lambda child: self.replace(child, name, made))


def calls(term: Term, name: str) -> int:
    """Count the calls of a function variable."""
    own = isinstance(term, Apply) and isinstance(term.function, Var) and term.function.name == name
    return int(own) + sum(calls(child, name) for child, _ in children(term))


def inline(definition: Definition, names: Names) -> dict[str, Definition]:
    """Remove functions that are only called from a definition; return it and the definitions lifted out of it."""
    inliner = Inliner(definition.name, names)
    body = inliner(definition.body)
    return {**inliner.lifted, definition.name: Definition(definition.name, definition.params, definition.result, body)}
