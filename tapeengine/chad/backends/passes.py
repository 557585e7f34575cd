"""What the core calls of a lowered program: two passes, with the forms of the values that they take and give."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..._core.programs.machine import Code
from ..._core.programs.native import Form, Native
from ..intermediate import statements as F
from ..intermediate.analysis import blocks, linear, raises, walk
from ..intermediate.operations import WHOLE
from ..intermediate.statements import Const, For, Function, If, Operand, Program, Statement, Var, While
from ..language.terms import Definition
from ..language.types import Array, Float, Named, Product, Sum, Type
from ..lowering.passes import Lowered
from .chunks import ordered
from .forms import Forms, leaf, same
from .machine import NotAssembled, assemble


@dataclass(frozen=True)
class Pass:
    """A function that the core calls.

    * `results`: its results, one for each requested leaf.
    * `shared`: the variables that the forward pass hands to the reverse pass.
    """

    function: Function
    results: Sequence[Operand]
    shared: Sequence[Var]
    may_raise: bool


@dataclass(frozen=True)
class Passes:
    """A forward and a reverse pass on Python values.

    `result`, `cotangent`: the forms of the value and of its cotangent.
    """

    program: Program
    pair: tuple[Pass, Pass]
    params: tuple[Form, ...]
    result: Form
    cotangent: Form

    @property
    def is_recursive(self) -> bool:
        """Whether the passes call further functions."""
        return not {p.function.name for p in self.pair}.issuperset(self.program.functions)

    def native(self, ahead: Code, back: Code, again: Callable[..., Any] | None = None) -> Native:
        """Give the code of both passes to the core, with the fallback for runs that are referred to Python."""
        return Native(ahead, back, self.params, self.result, self.cotangent, again)


def of_values(
    lowered: Lowered, definition: Definition, classes: Mapping[str, type], types: Mapping[str, Sum] | None = None
) -> Passes:
    """Give the passes on numbers, arrays, tuples and records of numbers.

    With the types of recursive data, they are those on arguments with references: rows of any sizes, records, members
    of recursive sums.

    It raises `NotAssembled` for other types.
    """
    params = tuple(Forms(classes, types)(p.of) for p in definition.params)
    result, cotangent = (Forms(classes).built(definition.result, definition.kind, linear) for linear in (False, True))
    if not takes(lowered.program.functions["forward"], params, types is not None):
        raise NotAssembled("arguments with references to rows")
    lowered = replace(lowered, program=ordered(lowered.program))
    forward, reverse = pair = reverse_pair(lowered)
    leaves = [leaf(x.type) for x in forward.results]
    given = [leaf(p.type) for p in reverse.function.params]
    if not (same(result.leaves(), leaves) and same(cotangent.leaves(), given)):
        raise NotAssembled("a value or a cotangent with references to rows")
    return Passes(lowered.program, pair, params, result, cotangent)


def reverse_pair(lowered: Lowered) -> tuple[Pass, Pass]:
    """Give the passes of a lowered derivative."""
    forward, reverse = lowered.program.functions["forward"], lowered.program.functions["reverse"]
    assert forward.kept is not None
    kept = forward.kept.fields
    ahead = Pass(forward, forward.results, kept, may_raise=True)
    return ahead, Pass(reverse, for_all_leaves(forward, reverse), kept, may_raise=False)


def for_all_leaves(forward: Function, reverse: Function) -> list[Operand]:
    """Give a result of the reverse pass for each parameter of the forward pass; discrete ones are never read."""
    gave = iter(reverse.results)
    found = [Const(0, WHOLE) if linear(p.type) is None else next(gave) for p in forward.params]
    if any(linear(p.type) not in (None, x.type) for p, x in zip(forward.params, found, strict=True)):
        raise NotAssembled("a cotangent with references to rows, of an array without")
    return found


def of_tangent(
    lowered: Lowered,
    definition: Definition,
    places: Sequence[int],
    classes: Mapping[str, type],
    types: Mapping[str, Sum] | None = None,
) -> Passes | None:
    """Give a tangent function as a forward pass from primals and tangents to the pair of value and tangent.

    The parameters in some places have tangents, which lie as their primals do. With the types of recursive data, both
    may have references.
    """
    lowered = replace(lowered, program=ordered(lowered.program))
    forms, function, of = Forms(classes, types), lowered.program.functions[lowered.main], definition.result
    varied = [definition.params[k].of for k in places]
    if not all(is_real(t, types or {}) for t in (*varied, of)):
        return None
    try:
        params = tuple(map(forms, (*(p.of for p in definition.params), *varied)))
        result = Forms(classes).built(of, definition.kind)
        fits = takes(function, params, types is not None)
        results = [leaf(x.type) for x in function.results]
    except NotAssembled:
        return None
    if not (fits and same(result.leaves() * 2, results)):
        return None
    return one_pass(lowered.program, function, params, Form("tuple", items=(result, result)))


def takes(function: Function, params: tuple[Form, ...], has_references: bool) -> bool:
    """Tell whether the leaves of forms are the parameters of a function; of references only their number counts."""
    given = [x for form in params for x in form.leaves()]
    if has_references:
        return len(given) == len(function.params)
    return same(given, [leaf(p.type) for p in function.params])


def is_real(of: Type, types: Mapping[str, Sum], around: tuple[str, ...] = ()) -> bool:
    """Tell whether values of a type consist of real numbers alone."""
    match of:
        case Array(element):
            return is_real(element, types, around)
        case Product(items):
            return all(is_real(item, types, around) for item in items)
        case Named(name):
            return name in around or all(is_real(t, types, (*around, name)) for t in types[name].options)
    return isinstance(of, Float)


def of_block(program: Program, function: Function, params: tuple[Form, ...]) -> Passes | None:
    """Give a function for a block as a forward pass; `params` are the forms of the primals."""
    try:
        given = [leaf(p.type) for p in function.params]
        result = Form("tuple", items=tuple(leaf(x.type) for x in function.results))
    except NotAssembled:
        return None
    of_primals = sum(form.width for form in params)
    alone = ordered(replace(program, functions={function.name: function}))
    return one_pass(alone, alone.functions[function.name], (*params, *given[of_primals:]), result)


def one_pass(program: Program, function: Function, params: tuple[Form, ...], result: Form) -> Passes:
    """Give a function as a forward pass, with a reverse pass that does nothing."""
    ahead = Pass(function, function.results, [], may_raise=True)
    back = Pass(Function("nothing", [], [], []), [Const(0, WHOLE)] * len(function.params), [], may_raise=False)
    return Passes(program, (ahead, back), params, result, Form("tuple"))


#: Loops of at most this many steps, if the number is known, always run on the machine.
FEW = 16


def native(passes: Passes, again: Callable[..., Any] | None = None, makes_arrays: bool = True) -> Native | None:
    """Assemble a forward and a reverse pass; None where the machine cannot run them."""
    if passes.is_recursive:
        return None
    try:
        primitives = passes.program.primitives
        ahead, back = (
            assemble(p.function, p.results, p.shared, p.may_raise, makes_arrays, primitives) for p in passes.pair
        )
    except NotAssembled:
        return None
    return passes.native(ahead, back, again)


def has_guards(statements: list[Statement]) -> bool:
    """Tell whether a branch among statements contains something that may raise an error."""
    inner = (s for s, around in walk(statements) if any(isinstance(flow, If) for flow in around))
    return any(map(raises, inner))


def is_stepwise(statements: Sequence[Statement]) -> bool:
    """Tell whether no outer loop of a forward pass should be a whole-array operation.

    A loop should not if its steps depend on one another, or have branches that may raise an error: in a whole-array
    operation all elements would take all branches.
    """
    found = list(independent(statements))
    has_sums = any(isinstance(s, F.Sum) for s in statements)
    return not (found or has_sums) or any(has_guards(loop.body) for loop in found)


def independent(statements: Sequence[Statement]) -> Iterator[For]:
    """Iterate over the outer loops whose steps are independent."""
    for s in statements:
        if isinstance(s, For) and not s.carried and not (isinstance(s.count, Const) and s.count.value <= FEW):  # type: ignore[operator]
            yield s
        if isinstance(s, If | While):
            for block in blocks(s):
                yield from independent(block)
