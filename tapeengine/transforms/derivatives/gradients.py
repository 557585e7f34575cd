"""Gradients of programs that return one real number."""

from __future__ import annotations

from collections.abc import Callable
from operator import itemgetter
from typing import Any

import numpy as np

from ..._core.programs.native import Enterable
from ..._core.programs.replay import Replays
from ...errors import ResultError
from ...forms import form_of, ones
from ..contract import Engine
from ..transformed import named
from .arguments import Argnums, Arguments, arguments_of
from .holomorphic import check_holomorphic, check_holomorphic_number


def gradient_of(
    engine: Engine, transform: str, f: Callable[..., Any], argnums: Argnums, has_aux: bool, holomorphic: bool
) -> Callable[..., Any]:
    """See `Engine.grad` and `Engine.value_and_grad`; the name of the transform tells which of them."""
    arguments, with_value = arguments_of(argnums), transform == "value_and_grad"
    alone = arguments.first and not has_aux and not holomorphic
    needed, replayed, choose = _replays(f, arguments, has_aux or holomorphic)

    def derivative_f(*args: Any, **kwargs: Any) -> Any:
        if (alone or replayed) and not kwargs:  # the common cases skip the selection of arguments
            found = (
                engine.vjp(f, args[0])
                if alone and len(args) == 1
                else replayed and len(args) >= needed and replayed(engine, args, kwargs)
            )
            if found:
                value, backpropagator = found
                if type(value) is not float:
                    check_scalar(value, backpropagator, transform)
                return (value, choose(backpropagator(1.0))) if with_value else choose(backpropagator(1.0))
        program, primals = arguments.split(f, args, kwargs)
        if holomorphic:
            check_holomorphic("the inputs", form_of(engine.structures, arguments.result(primals)))
        aux: Any = None
        if has_aux:
            value, backpropagator, aux = engine.trace(program, primals, order=0, has_aux=True)
        else:
            value, backpropagator = engine.vjp(program, *primals)
        if holomorphic:
            check_holomorphic_number(value, transform)
        elif type(value) is not float:
            check_scalar(value, backpropagator, transform)
        gradient = arguments.result(backpropagator(1.0))
        if has_aux:
            return ((value, aux), gradient) if with_value else (gradient, aux)
        return (value, gradient) if with_value else gradient

    return named(derivative_f, engine, transform, f, argnums, has_aux, holomorphic)


def _replays(f: Any, arguments: Arguments, never: bool) -> tuple[int, Any, Callable[[tuple[Any, ...]], Any]]:
    """The number of arguments with which a program runs at once, how, and what chooses among its cotangents."""
    highest, chosen = arguments.highest, arguments.chosen
    is_known = isinstance(f, Replays | Enterable)
    if never or highest is None or not is_known or (len(chosen) == 1 and not arguments.single):
        return 0, None, itemgetter(0)
    return highest + 1, f.vjp_at_once, itemgetter(*chosen)


def elementwise_grad(engine: Engine, f: Callable[..., Any], argnums: Argnums = 0) -> Callable[..., Any]:
    """Return a function that computes the derivative of each element of the result by the same input element.

    The program must be elementwise; one backpropagation of ones gives all the derivatives.

    Parameters
    ----------
    f : callable
        Each element of its result depends on the same element of the argument alone.
    argnums : int, str, or tuple of these
        The arguments by which it is differentiated.

    Examples
    --------
    >>> import numpy as np
    >>> import tapeengine as te
    >>> te.elementwise_grad(np.square)(np.arange(3.0))
    array([0., 2., 4.])
    """
    arguments = arguments_of(argnums)

    def elementwise_grad_f(*args: Any, **kwargs: Any) -> Any:
        program, primals = arguments.split(f, args, kwargs)
        value, backpropagator = engine.vjp(program, *primals)
        return arguments.result(backpropagator(ones(engine.structures, value)))

    return named(elementwise_grad_f, engine, "elementwise_grad", f, argnums)


def check_scalar(value: Any, backpropagator: Any, transform: str) -> None:
    """Raise an error that says what to do instead, unless the result is one real number."""
    if not is_real_number(value, backpropagator):
        found = _kind(value)
        raise ResultError(f"{transform} needs a program that returns one real number, and this one returned {found}")


def is_real_number(value: Any, backpropagator: Any) -> bool:
    """Whether a program's result is one real number."""
    known = getattr(backpropagator, "is_scalar", None)
    if known is None:
        return isinstance(value, (float, np.floating)) or getattr(value, "shape", None) == ()
    return bool(known)


def _kind(value: Any) -> str:
    """Describe an unsuitable result, and say how to change the program or the call."""
    kind = type(value).__name__
    if isinstance(value, tuple) and len(value) == 2:
        return "a tuple of 2. If the second is not to be differentiated, say has_aux=True; else use jacobian, or vjp"
    if isinstance(value, (tuple, list, dict)):
        return f"a {kind} of {len(value)}. Combine them into one number, or use jacobian, or vjp with a cotangent"
    dtype = getattr(value, "dtype", None)
    if isinstance(value, complex) or (dtype is not None and dtype.kind == "c"):
        return (
            "a complex number. Return its real part, or abs of it, or say holomorphic=True, or use vjp with a cotangent"
        )
    if isinstance(value, int) or (dtype is not None and dtype.kind in "iub"):
        return f"{value!r} ({kind}). Integers and truth values have no derivative: pass floats, such as 3.0 for 3"
    if dtype is not None and value.shape == ():
        return f"a {kind} of shape (). Return the number in it: value.item()"
    if dtype is not None and dtype.kind == "f":
        return f"an array of shape {value.shape}. Sum it, or use jacobian, or vjp with a cotangent"
    return f"{value!r} ({kind}), which has no derivative" if dtype is None else f"{dtype} values, without a derivative"
