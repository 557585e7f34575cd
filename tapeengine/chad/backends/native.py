"""A program's two passes on the register machine."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from tapeengine._core.programs.native import Native
from tapeengine.chad.backends.machine import NotAssembled, assemble
from tapeengine.chad.backends.passes import Passes
from tapeengine.chad.intermediate.analysis import blocks, raises, walk
from tapeengine.chad.intermediate.statements import Const, For, If, Statement, While

#: Loops of at most this many steps, if the number is known, always run on the machine.
FEW = 16


def native(passes: Passes, again: Callable[..., Any] | None = None, is_few: bool = False) -> Native | None:
    """Assemble a forward and a reverse pass; None where the machine cannot run them.

    Parameters
    ----------
    passes : Passes
    again : callable, optional
        The fallback for runs that the machine refers to Python.
    is_few : bool
        Whether arguments have few numbers, so that loops may make arrays.
    """
    if not {p.function.name for p in passes.pair}.issuperset(passes.program.functions):
        return None  # recursion
    try:
        ahead, back = (assemble(p.function, p.results, p.shared, p.may_raise, is_few) for p in passes.pair)
    except NotAssembled:
        return None
    return passes.native(ahead, back, again)


def is_short(s: For) -> bool:
    """Tell whether a loop has few steps for all arguments."""
    return isinstance(s.count, Const) and isinstance(s.count.value, int) and s.count.value <= FEW


def has_guards(statements: list[Statement]) -> bool:
    """Tell whether a branch among statements contains something that may raise an error."""
    inner = (s for s, around in walk(statements) if any(isinstance(flow, If) for flow in around))
    return any(map(raises, inner))


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
