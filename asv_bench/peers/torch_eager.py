"""torch: eager tensors, one for each scalar or array."""

from typing import Any

import numpy as np
import torch

from asv_bench.peers.leaves import leaves, mapped, rebuilt, total
from asv_bench.peers.tool import Derivative, Tool
from asv_bench.programs.program import Program


class NumpyNames:
    """torch's functions under numpy's names and with numpy's arguments."""

    sin, cos, tanh, exp, log, sqrt = torch.sin, torch.cos, torch.tanh, torch.exp, torch.log, torch.sqrt
    sum, concatenate, swapaxes = torch.sum, torch.concatenate, torch.swapaxes
    max, min, asarray = torch.amax, torch.amin, torch.as_tensor

    @staticmethod
    def where(condition: Any, x: Any, y: Any) -> Any:
        """Choose elements; numbers are taken as float64."""
        number = {"dtype": torch.float64}
        return torch.where(condition, torch.as_tensor(x, **number), torch.as_tensor(y, **number))

    @staticmethod
    def stack(parts: list[Any], axis: int = 0) -> Any:
        """Join along an additional axis."""
        return torch.stack(parts, dim=axis)

    @staticmethod
    def maximum(x: Any, bound: float) -> Any:
        """Clamp from below."""
        return torch.clamp(x, min=bound)

    @staticmethod
    def zeros(shape: Any) -> Any:
        """Return zeros in float64."""
        return torch.zeros(shape, dtype=torch.float64)


def tensor(part: Any) -> torch.Tensor:
    """Return a float64 tensor that requires a gradient."""
    return torch.tensor(part, dtype=torch.float64, requires_grad=True)


def prepare(program: Program, size: int) -> Derivative:
    """Build the graph by running the program, and call `torch.autograd.grad`."""
    torch.set_default_dtype(torch.float64)
    constants = program.inputs(size)[program.active :] if program.active else ()
    run = program.functional or program.run
    fixed = mapped(lambda part: torch.as_tensor(part) if isinstance(part, np.ndarray) else part, constants)
    primals = program.inputs(size)[: program.active]
    parts = leaves(primals)

    def derivative() -> tuple[float, list[Any]]:
        inputs = [tensor(part) for part in parts]
        value = total(run(NumpyNames, *rebuilt(primals, inputs), *fixed))
        return value.item(), list(torch.autograd.grad(value, inputs, allow_unused=True))

    return derivative


TOOLS = (Tool("torch", prepare),)
