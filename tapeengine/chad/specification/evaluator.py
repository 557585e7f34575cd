"""The evaluator: the meaning of source and target terms."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import ClassVar

from ..language.terms import Term
from . import accumulation, linear, source
from .evaluation import Evaluation, Rule


class Evaluator(Evaluation):
    """Evaluates source and target terms; see `Evaluation` for its parameters."""

    rules: ClassVar[Mapping[type[Term], Rule]] = MappingProxyType(
        {**source.RULES, **linear.RULES, **accumulation.RULES}
    )
