r"""CHAD and Efficient CHAD (EC), step by step: the forms of `tapeengine.chad.specification`, with counts.

    step     form         cotangents      an environment vector is
    copower  copower      dense           a tuple with a part for each variable; a function's derivative has two halves
    dense    vector       dense           the same; functions are closed first (EC section 9), and have one derivative
    sparse   sparse       zeros are free  a search tree; where parts of a term meet, trees are united (EC 4.1, Fig. 5)
    monad    accumulate   zeros are free  one search tree that all computations have in turn (EC 4.2, Fig. 6)
    mutable  accumulate   zeros are free  an array that is changed in place (EC section 5, Table 2)

What the reverse pass does with cotangents is counted by EC's cost model: the steps of linear operations, and accesses
to environment vectors. Evaluating the terms between them is not counted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType

from ...chad.display import display as written
from ..derivative import Derivative
from .step import run
from .vectors import Cells, Narrow, Tree, Wide

__all__ = ["STEPS", "written"]

#: The steps: each maps a module and its primals to a `Derivative`.
STEPS: Mapping[str, Callable[..., Derivative]] = MappingProxyType(
    {
        "copower": partial(run, "copower", Wide, Cells),
        "dense": partial(run, "vector", Wide, Cells),
        "sparse": partial(run, "sparse", Narrow, Cells),
        "monad": partial(run, "accumulate", Narrow, Tree),
        "mutable": partial(run, "accumulate", Narrow, Cells),
    }
)
