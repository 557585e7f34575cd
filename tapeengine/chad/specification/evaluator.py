"""The evaluator: the meaning of source and target terms."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import ClassVar

from ..terms import Term
from . import accumulation, linear, source
from .evaluation import Evaluation, Rule


class Evaluator(Evaluation):
    """Evaluates source and target terms; see `Evaluation` for its parameters.

    Examples
    --------
    >>> from tapeengine.chad.terms import Definition, Module, Op, Var
    >>> from tapeengine.chad.types import FLOAT
    >>> x = Var("x", FLOAT)
    >>> square = Module("square", {"square": Definition("square", (x,), FLOAT, Op("mul", (x, x)))})
    >>> evaluator = Evaluator(square)
    >>> evaluator.call("square", [3.0]), evaluator.steps
    (9.0, 4)
    """

    rules: ClassVar[Mapping[type[Term], Rule]] = MappingProxyType(
        {**source.RULES, **linear.RULES, **accumulation.RULES}
    )
