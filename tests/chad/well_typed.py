"""The typing rules (CHAD Fig. 3 and 5, EC Fig. 1), checked on source and target terms.

Every term computes its type when it is built. `check` verifies that the types of its parts fit together, and that every
variable is bound exactly once, with the type of its uses. It is used to test transformations.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from tapeengine.chad.intermediate.operations import OPERATIONS_BY_NAME, REAL, WHOLE
from tapeengine.chad.language import target as T
from tapeengine.chad.language import terms as S
from tapeengine.chad.language.terms import Module, Term, Var
from tapeengine.chad.language.traverse import children
from tapeengine.chad.language.types import (
    BOOL,
    EVM,
    FLOAT,
    INT,
    UNIT,
    Array,
    LArray,
    LReal,
    LSum,
    Named,
    Product,
    Sum,
    Type,
    is_addable,
    show,
)
from tapeengine.chad.primitives import DISCRETE

__all__ = ["IllTyped", "check", "check_module"]


#: The types of the results of operations of the intermediate form.
RESULTS = MappingProxyType({REAL: FLOAT, WHOLE: INT})


class IllTyped(TypeError):
    """A term whose parts do not fit together."""


def check_module(module: Module) -> None:
    """Check every definition of a module.

    Raises
    ------
    IllTyped
        If a term is not well typed.
    """
    checker = Checker(module)
    for definition in module.definitions.values():
        checker(definition.body, {p.name: p.of for p in definition.params})
        checker.same(definition.body, definition.body.type, definition.result, "the body of a definition")


def check(term: Term, context: Mapping[str, Type], module: Module | None = None) -> Type:
    """Check a term in a context and give its type.

    Raises
    ------
    IllTyped
        If the term is not well typed.

    Examples
    --------
    >>> check(Var("x", FLOAT), {"x": FLOAT})
    Float()
    """
    Checker(module or Module("", {}))(term, context)
    return term.type


class Checker:
    """Checks terms of one module."""

    def __init__(self, module: Module) -> None:
        self.module = module

    def __call__(self, term: Term, context: Mapping[str, Type]) -> None:
        """Check a term and its parts."""
        if isinstance(term, Var):
            if term.name not in context:
                raise IllTyped(f"{term.name} is not bound")
            self.same(term, term.of, context[term.name], f"the variable {term.name}")
            return
        for child, binders in children(term):
            if not all(isinstance(b.name, str) and isinstance(b.of, Type) for b in binders):
                raise IllTyped(f"{type(term).__name__} binds what is no variable with a name and a type")
            self(child, {**context, **{b.name: b.of for b in binders}} if binders else context)
        rule = RULES.get(type(term))
        if rule is not None:
            rule(self, term)

    def same(self, term: Term, found: Type, wanted: Type, what: str) -> None:
        """Require that two types are the same."""
        if found != wanted:
            raise IllTyped(f"{what} is of type {show(found)} where {show(wanted)} is wanted, in {type(term).__name__}")

    def options(self, of: Type) -> tuple[Type, ...]:
        """Give the options of a sum type."""
        if isinstance(of, Named):
            of = self.module.types[of.name]
        if not isinstance(of, Sum):
            raise IllTyped(f"{show(of)} is not a sum")
        return of.options

    def array(self, term: Term) -> Type:
        """Require an array, and return the type of its elements."""
        if not isinstance(term.type, Array):
            raise IllTyped(f"{show(term.type)} is not an array")
        return term.type.element


# G |- t : s    G, x : s |- e : r   gives   G |- let x = t in e : r
def let(C: Checker, t: Any) -> None:
    C.same(t, t.bound.type, t.var.of, "what is bound")


def op(C: Checker, t: S.Op) -> None:
    C.same(t, t.of, RESULTS.get(OPERATIONS_BY_NAME[t.op].gives, BOOL), "the result of an operation")
    if t.op not in DISCRETE:
        for arg in t.args:
            C.same(t, arg.type, FLOAT, "an argument of an operation")


def tuple_(C: Checker, t: S.Tuple) -> None:
    if t.of is not None:
        C.same(t, Product(tuple(i.type for i in t.items), t.of.name, t.of.fields), t.of, "a tuple")


def inject(C: Checker, t: S.Inject) -> None:
    C.same(t, t.term.type, C.options(t.of)[t.index], "what is injected")


def resize(C: Checker, t: S.Resize) -> None:
    found = [of.options if isinstance(of, LSum) else C.options(of) for of in (t.term.type, t.of)]
    for option, other in zip(*found, strict=False):
        C.same(t, option, other, "an option")


def case(C: Checker, t: S.Case) -> None:
    options = C.options(t.term.type)
    if not t.options and len(options) != len(t.branches):
        raise IllTyped(f"{len(t.branches)} branches for {len(options)} options")
    if len(t.by_option) != len(t.branches) or S.OTHERS in t.options[:-1]:
        raise IllTyped(f"branches for the options {t.options}")
    for option, branch in t.by_option.items():
        C.same(t, branch.var.of, UNIT if option == S.OTHERS else options[option], "a branch's variable")
        C.same(t, branch.type, t.type, "a branch")


def if_(C: Checker, t: S.If) -> None:
    C.same(t, t.condition.type, BOOL, "a condition")
    C.same(t, t.orelse.type, t.then.type, "the second branch")


def apply(C: Checker, t: Any) -> None:
    params = t.function.type.params
    if len(params) != len(t.args):
        raise IllTyped(f"{len(t.args)} arguments for {len(params)} parameters")
    for arg, param in zip(t.args, params, strict=True):
        C.same(t, arg.type, param, "an argument")


def call(C: Checker, t: S.Call) -> None:
    definition = C.module.definitions.get(t.name)
    if definition is None:
        raise IllTyped(f"{t.name} is not defined")
    C.same(t, t.of, definition.result, "the result of a call")
    for arg, param in zip(t.args, definition.params, strict=True):
        C.same(t, arg.type, param.of, "an argument")


def sized(C: Checker, t: Any) -> None:
    C.same(t, t.size.type, INT, "a size")


def elements(C: Checker, t: S.Elements) -> None:
    for item in t.items:
        C.same(t, item.type, t.of, "an element")


def index(C: Checker, t: S.Index) -> None:
    C.array(t.array)
    C.same(t, t.index.type, INT, "an index")


def map_(C: Checker, t: S.Map) -> None:
    for var, array in zip(t.vars, t.arrays, strict=True):
        C.same(t, var.of, C.array(array), "a map's variable")


def fold(C: Checker, t: S.Fold) -> None:
    for part in (t.left.of, t.right.of, t.body.type):
        C.same(t, part, C.array(t.array), "a part of a fold")


def scan(C: Checker, t: S.Scan) -> None:
    C.same(t, t.var.of, C.array(t.array), "a scan's variable")
    loop(C, t)


def loop(C: Checker, t: Any) -> None:
    C.same(t, t.init.type, t.state.of, "the first state")
    C.same(t, t.body.type, t.state.of, "the next state")
    if hasattr(t, "condition"):
        C.same(t, t.condition.type, BOOL, "a condition")


def gather(C: Checker, t: S.Gather) -> None:
    C.array(t.array)
    C.same(t, t.indices.type, Array(INT), "the indices")


def scatter(C: Checker, t: S.Scatter) -> None:
    if not is_addable(C.array(t.array)):
        raise IllTyped(f"{show(t.array.type)} is not an array of what can be added")
    C.same(t, t.indices.type, Array(INT), "the indices")
    C.same(t, t.values.type, t.array.type, "the values")


def filter_(C: Checker, t: S.Filter) -> None:
    C.same(t, t.var.of, C.array(t.array), "a filter's variable")
    C.same(t, t.condition.type, BOOL, "a condition")


def concatenate(C: Checker, t: S.Concatenate) -> None:
    C.array(t.first)
    C.same(t, t.second.type, t.first.type, "the second array")


def plus(C: Checker, t: T.Plus) -> None:
    T.linear_type(t.left)
    C.same(t, t.right.type, t.left.type, "the second summand")


def lscale(C: Checker, t: T.LScale) -> None:
    C.same(t, t.term.type, LReal(), "what is scaled")
    C.same(t, t.factor.type, FLOAT, "a factor")


def larray(C: Checker, t: Any) -> None:
    if not isinstance(t.term.type, LArray):
        raise IllTyped(f"{show(t.term.type)} is not a linear array")


def bind(C: Checker, t: T.Bind) -> None:
    C.same(t, t.first.type, EVM(t.var.of), "the first computation")


def then(C: Checker, t: T.Then) -> None:
    C.same(t, t.first.type, EVM(UNIT), "the first computation")


def for_each(C: Checker, t: T.ForEach) -> None:
    sized(C, t)
    C.same(t, t.body.type, EVM(UNIT), "the body of a loop")


def descend(C: Checker, t: T.Descend) -> None:
    sized(C, t)
    C.same(t, t.init.type, t.state.of, "the first state")
    C.same(t, t.body.type.result.items[0], t.state.of, "the next state")  # type: ignore[attr-defined]


def accum(C: Checker, t: Any) -> None:
    C.same(t, t.init.type, t.state.of, "the first state")
    C.same(t, t.body.type.items[0], t.state.of, "the next state")


def run(C: Checker, t: T.Run) -> None:
    if not isinstance(t.body.type, EVM):
        raise IllTyped(f"{show(t.body.type)} is not a computation")


RULES: Mapping[type[Term], Callable[..., None]] = MappingProxyType(
    {
        S.Let: let,
        S.Op: op,
        S.Tuple: tuple_,
        S.Inject: inject,
        S.Resize: resize,
        S.Case: case,
        S.If: if_,
        S.Apply: apply,
        S.Call: call,
        S.Build: sized,
        S.Elements: elements,
        S.Index: index,
        S.Size: lambda C, t: C.array(t.array),
        S.Map: map_,
        S.Fold: fold,
        S.Scan: scan,
        S.Gather: gather,
        S.Scatter: scatter,
        S.Replicate: sized,
        S.Filter: filter_,
        S.Concatenate: concatenate,
        S.For: loop,
        S.While: loop,
        T.Plus: plus,
        T.LScale: lscale,
        T.LIndex: larray,
        T.LTotal: larray,
        T.LScatter: larray,
        T.Collect: larray,
        T.LApply: apply,
        T.Bind: bind,
        T.Then: then,
        T.ForEach: for_each,
        T.Descend: descend,
        T.MapAccum: accum,
        T.WhileAccum: accum,
        T.Run: run,
    }
)
