"""Classes that do not say which module they are from, such as arrays of ctypes made in code without a name."""

import ctypes
import math
from typing import Any

import numpy as np
import pytest

import tapeengine as te
from tapeengine.errors import TapeEngineError


class Held:
    """An object with what numpy and Python ask for."""

    __module__ = None  # type: ignore[assignment]

    def __init__(self, value: float = 2.0) -> None:
        self.value = value

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.array([self.value, self.value], dtype)

    def __mul__(self, other: Any) -> Any:
        return other * self.value

    def __call__(self, x: Any) -> Any:
        return x * self.value


def array_of_ctypes() -> Any:
    scope: dict[str, Any] = {"ctypes": ctypes}
    exec("made = type(ctypes.Array)('Doubles', (ctypes.Array,), {'_type_': ctypes.c_double, '_length_': 2})", scope)
    scope["made"].__module__ = None
    return scope["made"](2.0, 3.0)


HELD = {"an object": Held, "an array of ctypes": array_of_ctypes}
USES = {
    "a primal": lambda held: te.vjp(lambda x: x, held),
    "a primal in a list": lambda held: te.vjp(lambda x: x[0] * 2.0, [2.0, held]),
    "a result": lambda held: te.vjp(lambda x: held, 2.0),
    "a result beside others": lambda held: te.vjp(lambda x: (x, held), 2.0),
    "captured": lambda held: te.vjp(lambda x: x * (held is not None), 2.0)[1](1.0),
    "captured by a staged program": lambda held: te.vjp(te.stage(lambda x: x * (held is not None)), 2.0)[1](1.0),
    "run again": lambda held: te.vjp(te.checkpoint(lambda x: x * (held is not None)), 2.0)[1](1.0),
    "an operand of a number": lambda held: te.vjp(lambda x: x * held, 2.0),
    "an operand on the left": lambda held: te.vjp(lambda x: held * x, 2.0),
    "an operand of an array": lambda held: te.vjp(lambda x: x * held, np.ones(2)),
    "an argument of a ufunc": lambda held: te.vjp(lambda x: np.maximum(x, held), np.ones(2)),
    "an argument of numpy": lambda held: te.vjp(lambda x: np.dot(x, held), np.ones(2)),
    "compared": lambda held: te.vjp(lambda x: x * 2.0 if x == held else x, 2.0),
    "a tangent": lambda held: te.jvp(lambda x: x * 2.0, (2.0,), (held,)),
    "a cotangent": lambda held: te.vjp(lambda x: x * 2.0, np.ones(2))[1](held),
    "lifted": lambda held: te.grad(te.lift(lambda x: math.sin(x) * (held is not None)))(2.0),
    "called when lifted": lambda held: te.grad(te.lift(lambda x: held(x)))(2.0),
    "an argument of a primitive": lambda held: te.vjp(lambda x: te.numpy.exp(held) * x, 2.0),
    "mapped": lambda held: te.vmap(lambda x: x * (held is not None))(np.ones(3)),
    "converted": lambda held: te.vjp(lambda x: np.asarray(held) * x, np.ones(2)),
}


@pytest.mark.filterwarnings("ignore::tapeengine.errors.StagingWarning", "ignore::DeprecationWarning")
@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("held", HELD)
def test_a_class_of_no_module_is_used_or_refused(held: str, use: str) -> None:
    try:
        USES[use](HELD[held]())
    except AttributeError as error:
        raise AssertionError("its module was read") from error
    except (TapeEngineError, TypeError, ValueError):
        pass
