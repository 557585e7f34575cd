"""A program's two passes on the register machine, on Python values."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from tapeengine._core.programs.machine import Code
from tapeengine._core.programs.native import Form, Native
from tapeengine.chad.backends.machine import NotAssembled, assemble
from tapeengine.chad.intermediate.analysis import blocks, raises, walk
from tapeengine.chad.intermediate.operations import REAL, TRUTH, WHOLE
from tapeengine.chad.intermediate.statements import ArrayOf, Const, For, Function, If, Operand, Statement, While
from tapeengine.chad.intermediate.statements import Type as FormType
from tapeengine.chad.kinds import Kind, ListOf, TupleOf, list_axes
from tapeengine.chad.lowering.passes import Lowered
from tapeengine.chad.terms import Definition
from tapeengine.chad.types import Array, Bool, Float, Int, Product, Type, is_discrete

__all__ = [
    "form",
    "form_of_result",
    "forms_of",
    "is_stepwise",
    "native",
    "native_tangent",
    "on_leaves",
    "same",
    "tangent_forms",
    "tangent_of",
]

KINDS: Mapping[FormType, str] = MappingProxyType({REAL: "float", WHOLE: "int", TRUTH: "bool"})


def native(
    lowered: Lowered,
    definition: Definition,
    classes: Mapping[str, type],
    again: Callable[..., Any],
    is_few: bool = False,
) -> Native | None:
    """Assemble a forward and a reverse pass; None where the machine cannot run them.

    Parameters
    ----------
    lowered : Lowered
        What `lower_reverse` gives.
    definition : Definition
        The program.
    classes : mapping of str to type
        The classes that named products stand for.
    again : callable
        The fallback for runs that the machine refers to Python.
    is_few : bool
        Whether arguments have few numbers, so that loops may make arrays.
    """
    if len(lowered.program.functions) > 2:
        return None
    forward, reverse = lowered.program.functions["forward"], lowered.program.functions["reverse"]
    try:
        forms = forms_of(lowered, definition, classes)
        if forms is None:
            return None
        assert forward.kept is not None
        ahead = assemble(forward, forward.results, forward.kept.fields, may_raise=True, is_few=is_few)
        gave = for_all_leaves(forward, reverse)
        back = assemble(reverse, gave, forward.kept.fields, may_raise=False, is_few=is_few)
    except NotAssembled:
        return None
    inward, outward = forms
    return Native(ahead, back, inward, outward, outward, again)


def forms_of(
    lowered: Lowered, definition: Definition, classes: Mapping[str, type]
) -> tuple[tuple[Form, ...], Form] | None:
    """Give the forms of the arguments and results of both passes; None if a value has no form, or other leaves."""
    found = [*(form(p.of, classes, IN) for p in definition.params), form_of_result(definition, classes)]
    forms = [f for f in found if f is not None]
    if len(forms) < len(found):
        return None
    *inward, outward = forms
    forward, reverse = lowered.program.functions["forward"], lowered.program.functions["reverse"]
    params, results = [leaf(p.type) for p in forward.params], [leaf(x.type) for x in forward.results]
    fits = same([x for f in inward for x in f.leaves()], params) and same(outward.leaves(), results)
    return (tuple(inward), outward) if fits and same(results, [leaf(x.type) for x in reverse.params]) else None


def tangent_forms(
    lowered: Lowered, definition: Definition, classes: Mapping[str, type]
) -> tuple[tuple[Form, ...], Form] | None:
    """Give the forms of the arguments and the result of a tangent function; None if a value has no form."""
    continuous = [p.of for p in definition.params if not is_discrete(p.of)]
    given = [form(of, classes) for of in (*(p.of for p in definition.params), *continuous)]
    found = [*given, form_of_result(definition, classes)]
    forms = [f for f in found if f is not None]
    if len(forms) < len(found) or any(not is_continuous(f) for f in forms[len(definition.params) :]):
        return None
    *inward, outward = forms
    function = lowered.program.functions[lowered.main]
    params, results = [leaf(p.type) for p in function.params], [leaf(x.type) for x in function.results]
    if not same([x for f in inward for x in f.leaves()], params) or not same(outward.leaves() * 2, results):
        return None
    return tuple(inward), Form("tuple", items=(outward, outward))


def on_leaves(lowered: Lowered) -> Native | None:
    """Assemble both passes for few numbers: ``vjp(*leaves)`` returns leaves; None if the machine cannot run them."""
    forward, reverse = lowered.program.functions["forward"], lowered.program.functions["reverse"]
    assert forward.kept is not None
    try:
        params = tuple(leaf(p.type) for p in forward.params)
        results = tuple(leaf(x.type) for x in forward.results)
        cotangents = tuple(leaf(x.type) for x in reverse.params)
        ahead = assemble(forward, forward.results, forward.kept.fields, may_raise=True, is_few=True)
        gave = for_all_leaves(forward, reverse)
        back = assemble(reverse, gave, forward.kept.fields, may_raise=False, is_few=True)
    except NotAssembled:
        return None
    return Native(ahead, back, params, Form("tuple", items=results), Form("tuple", items=cotangents))


def native_tangent(lowered: Lowered, definition: Definition, classes: Mapping[str, type]) -> Native | None:
    """Assemble a tangent function: ``vjp(*primals, *tangents)`` returns the pair of value and tangent, or None.

    Parameters
    ----------
    lowered : Lowered
        What `lower_value` gives of `tapeengine.chad.tangents.tangents`.
    definition : Definition
        The program. Its parameters are all discrete or all continuous, and only the latter have tangents.
    classes : mapping of str to type
    """
    if len(lowered.program.functions) > 1:
        return None
    function = lowered.program.functions[lowered.main]
    try:
        forms = tangent_forms(lowered, definition, classes)
        if forms is None:
            return None
        ahead = assemble(function, function.results, [], may_raise=True)
    except NotAssembled:
        return None
    nothing = [Const(0, WHOLE)] * len(function.params)
    return tangent_of(ahead, assemble(Function("nothing", [], [], []), nothing, [], may_raise=False), forms)


def tangent_of(ahead: Code, nothing: Code, forms: tuple[tuple[Form, ...], Form]) -> Native:
    """Give a tangent function to the core."""
    return Native(ahead, nothing, *forms, Form("tuple"), _no_reverse_pass)


def _no_reverse_pass(primals: tuple[Any, ...]) -> Any:
    """A tangent function has no backpropagator."""


def is_continuous(of: Form) -> bool:
    """Tell whether all leaves of a form are of real numbers."""
    return all(f.kind == FLOAT for f in of.leaves())


FLOAT = Form("float").kind
ROWS = Form("rows", items=(Form("float"),)).kind


#: The dimensions of an array of the machine (``TE_RANK`` in ``machine.h``).
MOST_AXES = 4


def same(a: Sequence[Form], b: Sequence[Form]) -> bool:
    """Tell whether leaves have the same kinds and numbers of dimensions; columns of rows are as rows need them."""
    each = zip(a, b, strict=False)
    return len(a) == len(b) and all(f.kind == ROWS or (f.kind, f.rank) == (g.kind, g.rank) for f, g in each)


def form_of_result(definition: Definition, classes: Mapping[str, type]) -> Form | None:
    """Give the form of a program's result, with the lists that it has in Python."""
    return form(definition.result, classes, definition.kind)


#: The kind of an argument, which may be a list as well as an array.
IN = ListOf()


def form_of_rows(of: Product, classes: Mapping[str, type]) -> Form | None:
    """Give the form of a list of records of numbers."""
    element = form(of, classes)
    if element is None or not element.width or any(not isinstance(item, Float | Int | Bool) for item in of.items):
        return None
    return Form("rows", items=(element,))


def form(of: Type, classes: Mapping[str, type], kind: Kind = None) -> Form | None:
    """Give the form of the values of a type; None if a leaf is neither a number nor an array of numbers.

    Records with arrays have none either, because the passes could not protect them from changes in place.
    """
    match of:
        case Float() | Int() | Bool():
            return Form(type(of).__name__.lower())
        case Array(Product() as element):
            return form_of_rows(element, classes) if isinstance(kind, ListOf) and kind.made is list else None
        case Array():
            return array_form(of, kind)
        case Product(items, name, fields) if items or name:
            kinds = (
                [kind] * len(items)
                if kind is IN
                else kind.items
                if isinstance(kind, TupleOf) and len(kind.items) == len(items)
                else [None] * len(items)
            )
            each = zip(items, kinds, strict=True)
            parts = [f for f in (form(item, classes, k) for item, k in each) if f is not None]
            if len(parts) < len(items):
                return None
            if name and name != "dict" and any(leaf.rank for part in parts for leaf in part.leaves()):
                return None
            if name:
                return Form("record", items=tuple(parts), cls=classes[name], fields=fields)
            return Form("tuple", items=tuple(parts))
    return None


def array_form(of: Type, kind: Kind) -> Form | None:
    """Give the form of an array of numbers."""
    rank = 0
    while isinstance(of, Array):
        of, rank = of.element, rank + 1
    if rank > MOST_AXES or not isinstance(of, Float | Int | Bool):
        return None
    lists = 0 if kind is IN else list_axes(kind, rank)
    return None if lists is None else Form(type(of).__name__.lower(), rank, lists=lists)


def leaf(of: FormType) -> Form:
    """Give the form of a number or an array of numbers."""
    rank = of.rank if isinstance(of, ArrayOf) else 0
    kind = KINDS.get(of.element if isinstance(of, ArrayOf) else of)
    if kind is None or rank > 4:
        raise NotAssembled("a value that is neither a number nor an array of few dimensions")
    return Form(kind, rank)


def for_all_leaves(forward: Function, reverse: Function) -> Sequence[Operand]:
    """Give a result of the reverse pass for each parameter of the forward pass; discrete ones are never read."""
    gave = iter(reverse.results)
    kinds = (p.type.element if isinstance(p.type, ArrayOf) else p.type for p in forward.params)
    return [next(gave) if kind == REAL else Const(0, WHOLE) for kind in kinds]


def is_short(s: For) -> bool:
    """Tell whether a loop has few steps for all arguments."""
    return isinstance(s.count, Const) and isinstance(s.count.value, int) and s.count.value <= FEW


def has_guards(statements: list[Statement]) -> bool:
    """Tell whether a branch among statements contains something that may raise an error."""
    inner = (s for s, around in walk(statements) if any(isinstance(flow, If) for flow in around))
    return any(map(raises, inner))


#: Loops of at most this many steps, if the number is known, always run on the machine.
FEW = 16


def is_stepwise(statements: Sequence[Statement]) -> bool:
    """Tell whether no outer loop of a forward pass should be a whole-array operation.

    A loop should not if its steps depend on one another, or have branches that may raise an error: in a whole-array
    operation all elements would take all branches.

    Examples
    --------
    >>> is_stepwise([])
    True
    """
    found = list(independent(statements))
    return not found or any(has_guards(loop.body) for loop in found)


def independent(statements: Sequence[Statement]) -> Iterator[For]:
    """Iterate over the outer loops whose steps are independent."""
    for s in statements:
        if isinstance(s, For) and not s.carried and not is_short(s):
            yield s
        if isinstance(s, If | While):
            for block in blocks(s):
                yield from independent(block)
