"""Closure conversion and defunctionalisation (EC section 9 and appendix B), before differentiation.

A function value becomes a member of a sum type with one option for each lambda of its type in the whole program, whose
payload is the tuple of the values it captures; an application becomes a call of a definition that matches
on that sum. No function types are left, so reverse CHAD keeps its cost bound (EC 9: naive CHAD differentiates with
respect to argument and context separately; here they are one tuple).
"""

from __future__ import annotations

from collections.abc import Mapping

from tapeengine.chad import terms as S
from tapeengine.chad.depth import deep
from tapeengine.chad.inline import inline
from tapeengine.chad.traverse import Names, all_names, children, free_variables, map_children, retype
from tapeengine.chad.types import Array, Function, Named, Product, Sum, Type, has_functions, show, with_parts
from tapeengine.errors import UnsupportedError


def anonymous(of: Function) -> Function:
    """Return a function type without names of products: two lambdas of one type may differ in these."""

    def plain(t: Type) -> Type:
        match t:
            case Product(items):
                return Product(tuple(map(plain, items)))
            case Sum(options):
                return Sum(tuple(map(plain, options)))
            case Array(element):
                return Array(plain(element))
            case Function(params, result):
                return Function(tuple(map(plain, params)), plain(result))
        return t

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
        return {
            name: Sum(
                tuple(Product(tuple(self.type(v.of) for v in free_variables(f).values())) for f in self.lambdas[of]),
                name,
            )
            for of, name in self.sums.items()
        }


@deep()
def close(module: S.Module) -> S.Module:
    """Remove all functions from a module.

    Raises
    ------
    UnsupportedError
        If the program itself takes or returns functions: a sum type cannot represent functions from outside.
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
    """Tell whether functions are left in a term."""
    return has_functions(term.type) or any(mentions_functions(child) for child, _ in children(term))


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
    types: Mapping[str, Sum] = {name: sum_type(D, of) for name, of in module.types.items()}
    return S.Module(module.main, definitions, {**types, **D.options()})


def sum_type(D: Defunctionaliser, of: Sum) -> Sum:
    """Rewrite a recursive sum type of the user's."""
    return Sum(tuple(map(D.type, of.options)), of.name)
