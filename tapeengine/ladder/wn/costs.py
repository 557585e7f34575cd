"""What the systems of the notes cost on two chains of n operations: nested calls, and lets with sharing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from tapeengine.chad.terms import Module, Op, Term, Var
from tapeengine.chad.types import FLOAT
from tapeengine.ladder.programs import sharing, single
from tapeengine.ladder.wn.categorical import convert
from tapeengine.ladder.wn.full import jacobian, tupling
from tapeengine.ladder.wn.gradient import gradient
from tapeengine.ladder.wn.split_categorical import Split

__all__ = ["COSTS", "SIZES", "nested"]

SIZES = (2, 4, 8, 16, 32)


def nested(n: int) -> Module:
    """``sin(sin(... sin(x)))``."""
    x = Var("x", FLOAT)
    term: Term = x
    for _ in range(n):
        term = Op("sin", (term,))
    return single((x,), term)


def cells(n: int, prune: bool) -> int:
    """Components of cotangents that the split passes make on a chain with sharing."""
    main, split = sharing(n).definitions["f"], Split()
    c = convert(main.body, ("x0",), prune)
    split.reverse(c, split.forward(c, (1.5,))[1], 1.0)
    return split.cells


#: For each system what is counted, by the length of the chain.
COSTS: Mapping[str, Callable[[int], int]] = MappingProxyType(
    {
        "Jacobian: values computed": lambda n: jacobian(nested(n), 0.5).operations,
        "tupling: values computed": lambda n: tupling(nested(n), 0.5).operations,
        "categorical: cells of cotangents": lambda n: cells(n, prune=False),
        "categorical, pruned: cells of cotangents": lambda n: cells(n, prune=True),
        "procedure: statements of the program": lambda n: gradient(sharing(n), 1.5).statements[0],
        "procedure: statements of both passes": lambda n: sum(gradient(sharing(n), 1.5).statements[1:]),
    }
)
