"""Closure conversion and defunctionalisation (EC section 9 and appendix B), before differentiation.

First functions that are only called are removed: a local function that never leaves its scope needs no closure. It is
inlined if it is called once, is small, or takes or captures functions (which specialises it). Otherwise it becomes a
definition whose further parameters are the values it captures, so that programs do not grow.

Then a function value becomes a member of a sum type with one option for each lambda of its type in the whole program,
whose payload is the tuple of the values it captures; an application becomes a call of a definition that matches on that
sum. No function types are left, so reverse CHAD keeps its cost bound (EC 9: naive CHAD differentiates with respect to
argument and context separately; here they are one tuple).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

from ...errors import UnsupportedError
from ...recursion import deep
from ..language import terms as S
from ..language.traverse import (
    Names,
    all_names,
    children,
    every_term,
    free_variables,
    freshen,
    map_children,
    retype,
    size,
    substitute,
)
from ..language.types import Function, Named, Product, Sum, Type, has_functions, show, with_parts

#: The largest function that is copied to each of its calls.
SMALL = 60


class Inliner:
    """Inlines within one definition.

    * `lifted`: the definitions that it makes.
    * `uses`, `calls`: how often variables occur, and are called.
    * `instead`: what stands for a call, by the name of the function.
    """

    def __init__(self, symbol: str, names: Names) -> None:
        self.symbol = symbol
        self.names = names
        self.lifted: dict[str, S.Definition] = {}
        self.uses, self.calls = Counter[str](), Counter[str]()
        self.instead: dict[str, Callable[[tuple[S.Term, ...]], S.Term]] = {}

    def counted(self, term: S.Term) -> S.Term:
        """Count the variables of a new term."""
        for one in every_term(term):
            match one:
                case S.Var(name):
                    self.uses[name] += 1
                case S.Apply(S.Var(name)):
                    self.calls[name] += 1
        return term

    def __call__(self, term: S.Term) -> S.Term:
        """Remove functions that are only called."""
        match term:
            case S.Let(S.Var(of=Function()), bound, _):
                return self.let_function(term, bound)
            case S.Apply(S.Var(name), args) if name in self.instead:
                return self.instead[name](args)
            case S.Apply(S.Lambda(params, body), args):
                return self(S.lets(zip(params, args, strict=True), body))
            case S.Apply(S.Let(var, bound, function), args):
                return self(S.Let(var, bound, S.Apply(function, args)))
        return map_children(term, self)

    def let_function(self, term: S.Let, bound: S.Term) -> S.Term:
        """Remove a function bound to a variable."""
        name = term.var.name
        match bound:
            case S.Let(inner, first, then):
                return self(S.Let(inner, first, S.Let(term.var, then, term.body)))
            case S.Var():
                self.uses[bound.name] += self.uses[name] - 1
                self.calls[bound.name] += self.calls[name]
                return self(substitute(term.body, {name: bound}))
            case S.Lambda():
                if self.uses[name] == self.calls[name]:
                    if self.uses[name]:
                        self.only_called(name, bound)
                    return self(term.body)
        return map_children(term, self)

    def only_called(self, name: str, bound: S.Lambda) -> None:
        """Inline or lift a function that is called only."""
        body = self(bound.body)
        bound = S.Lambda(bound.params, body)
        captured = free_variables(bound)
        higher = any(has_functions(v.of) for v in (*captured.values(), *bound.params)) or has_functions(body.type)
        if self.uses[name] == 1 and not higher:
            self.instead[name] = lambda args: S.lets(zip(bound.params, map(self, args), strict=True), body)
            return
        if higher or size(bound) <= SMALL:
            self.instead[name] = lambda args: self(S.Apply(self.counted(freshen(bound, self.names)), args))
            return
        symbol, context = self.names(f"{self.symbol}_{name}"), tuple(captured.values())
        self.lifted[symbol] = S.Definition(symbol, (*context, *bound.params), body.type, body)
        self.instead[name] = lambda args: S.Call(symbol, (*context, *map(self, args)), body.type)


def inline(definition: S.Definition, names: Names) -> dict[str, S.Definition]:
    """Remove functions that are only called from a definition; return it and the definitions lifted out of it."""
    inliner, name = Inliner(definition.name, names), definition.name
    body = inliner(inliner.counted(definition.body))
    return {**inliner.lifted, name: S.Definition(name, definition.params, definition.result, body)}


def anonymous(of: Function) -> Function:
    """Return a function type without names of products: two lambdas of one type may differ in these."""

    def plain(t: Type) -> Type:
        match t:
            case Product(items):
                return Product(tuple(map(plain, items)))
            case Sum(options):
                return Sum(tuple(map(plain, options)))
            case Function(params, result):
                return Function(tuple(map(plain, params)), plain(result))
        return with_parts(t, plain)

    return Function(tuple(map(plain, of.params)), plain(of.result))


class Defunctionaliser:
    """Gives each function type of a module a sum type, and each lambda an option of it."""

    def __init__(self, names: Names) -> None:
        self.names = names
        self.sums: dict[Function, str] = {}
        self.lambdas: dict[Function, list[S.Lambda]] = {}
        self.position: dict[int, tuple[Function, int]] = {}

    def collect(self, term: S.Term) -> None:
        """Note every lambda in a term."""
        if isinstance(term, S.Lambda):
            assert isinstance(term.type, Function)
            of = anonymous(term.type)
            self.name(of)
            found = self.lambdas[of]
            self.position[id(term)] = (of, len(found))
            found.append(term)
        for child, _ in children(term):
            self.collect(child)

    def name(self, of: Function) -> str:
        """Return the name of the sum type of a function type; it does not depend on the names of products."""
        of = anonymous(of)
        if of not in self.sums:
            self.sums[of] = self.names("closure")
            self.lambdas[of] = []
        return self.sums[of]

    def type(self, of: Type) -> Type:
        """Rewrite a type."""
        return Named(self.name(of)) if isinstance(of, Function) else with_parts(of, self.type)

    # [\x. t]  :=  inj_k <FV(\x. t)>        [t s]  :=  apply(t, s)
    def term(self, term: S.Term) -> S.Term:
        """Rewrite a term; the types in it are rewritten afterwards."""
        if isinstance(term, S.Lambda):
            of, k = self.position[id(term)]
            return S.Inject(k, S.Tuple(tuple(free_variables(term).values())), Named(self.name(of)))
        if isinstance(term, S.Apply):
            of_ = term.function.type
            assert isinstance(of_, Function)
            args = tuple(map(self.term, (term.function, *term.args)))
            return S.Call(self.applier(of_), args, of_.result)
        return map_children(term, self.term)

    def applier(self, of: Function) -> str:
        """Give the name of the definition that applies functions of a type."""
        return f"apply_{self.name(of)}"

    # apply(f, x)  :=  case f of {inj_k <FV> -> t_k}
    def appliers(self) -> dict[str, S.Definition]:
        """Give the definitions that apply functions, and convert their bodies."""
        made = {}
        for of, found in list(self.lambdas.items()):
            closure = S.Var(self.names("f"), self.type(of))
            params = tuple(S.Var(self.names("x"), self.type(t)) for t in of.params)
            if found:
                body: S.Term = S.Case(closure, tuple(self.branch(f, params) for f in found))
                made[self.applier(of)] = S.Definition(self.applier(of), (closure, *params), self.type(of.result), body)
        return made

    def branch(self, function: S.Lambda, params: tuple[S.Var, ...]) -> S.Branch:
        """Give the branch for one lambda: bind what it captured and its parameters, then its body."""
        captured = tuple(free_variables(function).values())
        payload = S.Var(self.names("c"), Product(tuple(v.of for v in captured)))
        parts = ((var, S.Proj(payload, i)) for i, var in enumerate(captured))
        body = S.lets((*parts, *zip(function.params, params, strict=True)), self.term(function.body))
        return S.Branch(self.var(payload), retype(body, self.type))

    def var(self, var: S.Var) -> S.Var:
        """Rewrite a binder."""
        return S.Var(var.name, self.type(var.of))

    def options(self) -> dict[str, Sum]:
        """Give the sum types of all function types."""

        def captured(f: S.Lambda) -> Product:
            return Product(tuple(self.type(v.of) for v in free_variables(f).values()))

        return {name: Sum(tuple(map(captured, self.lambdas[of])), name) for of, name in self.sums.items()}


@deep()
def close(module: S.Module) -> S.Module:
    """Remove all functions from a module.

    It raises `UnsupportedError` if the program itself takes or returns functions: a sum type cannot represent functions
    from outside.
    """
    main = module.definitions[module.main]
    for of in (*(p.of for p in main.params), main.result):
        if has_functions(of):
            raise UnsupportedError(
                f"{module.main} takes or returns a {show(of)}, and only whole programs are differentiated; "
                "call it from a program that fixes the function"
            )
    inlined = inlined_definitions(module)
    if not any(mentions_functions(d.body) for d in inlined.values()):
        return S.Module(module.main, inlined, module.types)
    return defunctionalised(S.Module(module.main, inlined, module.types))


def inlined_definitions(module: S.Module) -> dict[str, S.Definition]:
    """Inline local functions in every definition."""
    inlined: dict[str, S.Definition] = {}
    for definition in module.definitions.values():
        used = all_names(definition.body) | {p.name for p in definition.params} | set(module.definitions) | set(inlined)
        inlined.update(inline(definition, Names(used)))
    return inlined


def mentions_functions(term: S.Term) -> bool:
    """Tell whether functions are left in a term, in which many parts have one and the same type."""
    types = {id(one.type): one.type for one in every_term(term)}
    return any(map(has_functions, types.values()))


def defunctionalised(module: S.Module) -> S.Module:
    """Replace the function values of a module by members of sums."""
    used: set[str] = set(module.definitions) | set(module.types)
    for definition in module.definitions.values():
        used |= all_names(definition.body)
    D = Defunctionaliser(Names(used))
    for definition in module.definitions.values():
        D.collect(definition.body)
    definitions: dict[str, S.Definition] = {}
    for name, d in module.definitions.items():
        params = tuple(map(D.var, d.params))
        definitions[name] = S.Definition(name, params, D.type(d.result), retype(D.term(d.body), D.type))
    definitions.update(D.appliers())
    types: dict[str, Any] = {name: with_parts(of, D.type) for name, of in module.types.items()}
    return S.Module(module.main, definitions, {**types, **D.options()})
