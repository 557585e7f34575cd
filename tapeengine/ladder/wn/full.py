"""The derivatives of WN Fig. 6 to 8: the linear map of a program, applied in both directions.

fwd$f(x, dx) = df(x) @ dx        rev$f(x, dr) = dr @R df(x)        Fig. 8 too: (df(x))' @ dr
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from ...chad.language.terms import Module, Term
from ..evaluate import Evaluator
from . import linear_maps as lm
from .families import Family
from .fold import FoldMap
from .jacobian import Jacobian
from .tupling import Tupling

#: The definitions of the constructors of linear maps in terms.
MAPS: Mapping[str, Callable[..., Any]] = MappingProxyType(
    {
        "0": lm.Zero,
        "1": lm.One,
        "S": lm.Scale,
        "o": lm.Compose,
        "+": lm.Add,
        "VCat": lambda *parts: lm.VCat(parts),
        "HCat": lambda *parts: lm.HCat(parts),
        "V": lm.VCat,
        "H": lm.HCat,
        "L": lambda maps: lm.Lambda(Family(maps)),
        "at": lambda index: lm.TLambda(Family(lambda j: lm.One(), frozenset({index}))),
        "lmFold": FoldMap,
    }
)


class Linearization(NamedTuple):
    """A program's value and linear map at a point.

    Attributes
    ----------
    value : object
    map : LinearMap
        From the tuple of primals to the value.
    program : Term
        The term that was evaluated to get the map.
    operations : int
        The number of scalar operations in that evaluation.
    """

    value: Any
    map: lm.LinearMap
    program: Term
    operations: int


def jacobian(module: Module, *primals: Any) -> Linearization:
    """Run Fig. 6: the program for the value, and ``df`` for the map."""
    main = module.definitions[module.main]
    program = Jacobian().function(main.params, main.body)
    scope = dict(zip((x.name for x in main.params), primals, strict=True))
    evaluator = Evaluator({}, MAPS)
    value, map_ = evaluator.term(main.body, scope), evaluator.term(program, scope)
    return Linearization(value, map_, program, evaluator.operations)


def tupling(module: Module, *primals: Any) -> Linearization:
    """Run Fig. 7 and 8: the value and the map together."""
    main = module.definitions[module.main]
    points, program = Tupling().function(main.params, main.body)
    evaluator = Evaluator({}, MAPS)
    value, map_ = evaluator.term(program, dict(zip((x.name for x in points), primals, strict=True)))
    return Linearization(value, map_, program, evaluator.operations)
