"""ADBench's programs in torch's eager mode, as other tools' programs of native code are."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import torch

from asv_bench.peers import torch_eager
from asv_bench.programs import ba, gmm, hand

__all__ = ["prepare"]

#: The mixture has 25 components.
LARGE = replace(gmm.PROGRAM, inputs=partial(gmm.inputs, components=25))
PROGRAMS = {"gmm": LARGE, "hand": hand.PROGRAM, "ba": ba.SUM}


def prepare(name: str, args: tuple[Any, ...]) -> Callable[[], Any]:
    """Return value and gradient of a program, as a thunk; the only argument is its size."""
    torch.set_num_threads(1)
    derivative = torch_eager.prepare(PROGRAMS[name], *args)

    def thunk() -> Any:
        value, gradients = derivative()
        return value, tuple(g.numpy() for g in gradients)

    return thunk
