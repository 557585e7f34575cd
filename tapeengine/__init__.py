"""tapeengine: derivatives of ordinary Python programs."""

from tapeengine._core.scalar import Dual
from tapeengine._core.trace import value_of as value
from tapeengine.engine import Engine

_engine = Engine()
vjp, grad, value_and_grad = _engine.vjp, _engine.grad, _engine.value_and_grad

__all__ = ["Dual", "Engine", "grad", "value", "value_and_grad", "vjp"]
