"""CHAD and Efficient CHAD (EC), step by step.

Read the modules in the order of `STEPS`. `rules` and `arrays` define the rules that all steps share, `vectors` and
`monadic` two ways to construct environment vectors in terms, `linear` and `sparse` the cotangents, `close` the closure
conversion.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from tapeengine.ladder.chad.copower import Copower
from tapeengine.ladder.chad.dense import Dense
from tapeengine.ladder.chad.monad import Monad
from tapeengine.ladder.chad.mutable import Mutable
from tapeengine.ladder.chad.sparse_vectors import SparseVectors
from tapeengine.ladder.derivative import Derivative

__all__ = ["STEPS"]

#: The steps: each maps a module and its primals to a `Derivative`.
STEPS: Mapping[str, Callable[..., Derivative]] = MappingProxyType(
    {
        "copower": Copower.derivative,
        "dense": Dense.derivative,
        "sparse": SparseVectors.derivative,
        "monad": Monad.derivative,
        "mutable": Mutable.derivative,
    }
)
