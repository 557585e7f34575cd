"""Parallel Dual-Numbers Reverse AD (DN), step by step.

Read the modules in the order of `STEPS`. `pure` and `monadic` define the homomorphic rules, including those of section
11 (coproducts, recursion, recursive types), `wrapper` the code that the monadic steps share.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from ..derivative import Derivative
from . import forward, naive
from .arrays import Arrays
from .cayley import Cayley
from .contrib import Contrib
from .one_array import OneArray
from .parallel import Parallel
from .scalars import Scalars
from .staged import Staged
from .taping import Taping

__all__ = ["STEPS"]

#: The steps: each maps a module and its primals to a `Derivative`.
STEPS: Mapping[str, Callable[..., Derivative]] = MappingProxyType(
    {
        "forward": forward.derivative,
        "naive": naive.derivative,
        "staged": Staged.derivative,
        "cayley": Cayley.derivative,
        "scalars": Scalars.derivative,
        "arrays": Arrays.derivative,
        "one array": OneArray.derivative,
        "contrib": Contrib.derivative,
        "taping": Taping.derivative,
        "parallel": Parallel.derivative,
    }
)
