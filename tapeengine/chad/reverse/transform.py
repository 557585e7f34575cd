"""The reverse transformation: dispatch, methods for the rules, and definitions.

For a context ``x1: t1, ..., xn: tn`` and a term of type ``t`` the transformation gives (EC equation 1)

    D[x1: t1, ..., xn: tn]1  |-  D[term] : D[t]1 * (D[t]2 -> effect)

where a `Form` determines the effect, which represents the cotangent of the context.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..language.derivative_types import cotangent, reverse_primal
from ..language.target import LProj, LTuple, Zero
from ..language.terms import Apply, Call, Definition, Lambda, Proj, Term, Tuple, Var
from ..language.traverse import Lets, Name, Names, rebuild
from ..language.types import Function, Linear, Product, Type, is_discrete
from .environment import Context, Form

Rule = Callable[["Reverse", Any, Context], Term]


class Reverse(Lets):
    """The reverse transformation in one form.

    * `form`: how cotangents of the context are combined.
    * `names`: supplies the names of bound variables.
    * `rules`: one rule for each constructor.
    """

    def __init__(self, form: Form, names: Names, rules: Mapping[type[Term], Rule]) -> None:
        super().__init__(names)
        self.form = form
        self.rules = rules
        self.hint = "y"

    def __call__(self, term: Term, context: Context, hint: str = "y") -> Term:
        """Give D[term] in a context; its value is bound to the hint where the rule binds it."""
        self.hint = hint
        if is_discrete(term.type):
            return self.discrete(term, context)
        return self.scoped(self.rules[type(term)], self, term, context)  # type: ignore[no-any-return]

    # A backpropagator with domain 1 cannot compute anything useful (EC note 28): pair the primal with no effect.
    def discrete(self, term: Term, context: Context) -> Term:
        """Give D[term] for a term of discrete type."""
        return self.result(self.primal(term, context), lambda d: self.form.nothing(context), cotangent(term.type))

    # D[t]1: the term itself, except that definitions and functions return pairs, whose first component is taken
    def primal(self, term: Term, context: Context) -> Term:
        """Give the primal of a term whose cotangent is not needed."""
        match term:
            case Var():
                return self.binder(term)
            case Call(name, args, of):
                pair = derivative_type(tuple(a.type for a in args), of)
                return Proj(Call(name, tuple(self.primal(a, context) for a in args), pair), 0)
            case Apply(function, args):
                return Proj(Apply(self.primal(function, context), tuple(self.primal(a, context) for a in args)), 0)
            case Lambda():
                return Proj(self(term, context), 0)
        return rebuild(term, lambda child, binders: self.primal(child, self.extend(context, *binders)), reverse_primal)

    def bind(self, hint: str, term: Term, context: Context) -> Var:
        """Bind D[term]: ``let <x, x'> = D[term]``."""
        return self.let(hint, self(term, context, hint if isinstance(hint, Name) else "y"))

    def bind_all(self, terms: tuple[Term, ...], context: Context) -> list[Var]:
        """Bind D of several terms."""
        return [self.bind(term.name if isinstance(term, Var) else "p", term, context) for term in terms]

    def result(self, primal: Term, back: Callable[[Var], Term], of: Linear) -> Term:
        """Pair a primal with the backpropagator that maps ``d`` to ``back(d)``."""
        d = Var(self.names("d"), of)
        return Tuple((primal, Lambda((d,), self.scoped(back, d))))

    def around(self, term: Term, context: Context, back: Callable[[Var, Var], Term]) -> Term:
        """Give D[term] with another backpropagator, made of this pair and a cotangent."""
        y = self.bind("p", term, context)
        return self.result(Proj(y, 0), lambda d: back(y, d), cotangent(term.type))

    def back(self, pair: Term, cotangent_: Term) -> Term:
        """Call the backpropagator of a pair."""
        return Apply(Proj(pair, 1), (cotangent_,))

    def extend(self, context: Context, *variables: Var) -> Context:
        """Extend a context by the given variables that carry a derivative."""
        return context + tuple((v.name, cotangent(v.of)) for v in variables if not is_discrete(v.of))

    def binder(self, var: Var) -> Var:
        """Give the binder of a variable's primal."""
        return Var(var.name, reverse_primal(var.of))

    # D[f(x1, ..., xn) = t]  :=  f(x1, ..., xn) = let <y, y'> = D[t] in <y, \d. run (y' d)>  (a closed function, EC B)
    def definition(self, definition: Definition) -> Definition:
        """Transform a definition; its backpropagator gives the linear tuple of the parameters' cotangents."""
        context = self.extend((), *definition.params)
        back = lambda p, d: self.run(definition, context, self.back(p, d))  # noqa: E731
        body = self.scoped(self.around, definition.body, context, back)
        return Definition(definition.name, tuple(map(self.binder, definition.params)), body.type, body)

    def run(self, definition: Definition, context: Context, effect: Term) -> Term:
        """Give the cotangents of all parameters: zero for the discrete ones."""
        got = self.form.run(context, effect)
        if len(context) == len(definition.params):
            return got
        position, r = {name: i for i, (name, _) in enumerate(context)}, self.let("r", got)
        parts = (LProj(r, position[p.name]) if p.name in position else Zero(cotangent(p.of)) for p in definition.params)
        return LTuple(tuple(parts))


def derivative_type(params: tuple[Type, ...], result: Type) -> Product:
    """Give the result type of the derivative of a function."""
    of = reverse_primal(Function(params, result))
    assert isinstance(of, Function)
    assert isinstance(of.result, Product)
    return of.result
