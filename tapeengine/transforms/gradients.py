"""Gradients of programs that return one real number."""

from __future__ import annotations

from collections.abc import Callable
from operator import itemgetter
from typing import Any

import numpy as np

from .._core.programs.replay import Replays
from ..errors import ResultError
from .arguments import Argnums, Arguments, arguments_of
from .contract import Engine
from .forms import form_of, ones
from .holomorphic import check_holomorphic, check_holomorphic_number
from .transformed import named


def value_and_grad(
    engine: Engine,
    f: Callable[..., Any],
    argnums: Argnums = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
) -> Callable[..., Any]:
    """See `Engine.value_and_grad`."""
    arguments = arguments_of(argnums)
    if holomorphic:
        function = of_complex_numbers(engine, f, arguments, has_aux)
        return named(function, engine, "value_and_grad", f, argnums, has_aux, holomorphic)

    alone, (needed, replayed, choose) = arguments.first and not has_aux, _replays(f, arguments, has_aux)

    def value_and_grad_f(*args: Any, **kwargs: Any) -> Any:
        if (alone or replayed) and not kwargs:  # the common cases skip the selection of arguments
            found = (
                engine.vjp(f, args[0])
                if alone and len(args) == 1
                else replayed and len(args) >= needed and replayed(engine, args, kwargs)
            )
            if found:
                value, backpropagator = found
                if type(value) is not float:
                    check_scalar(value, backpropagator, "value_and_grad")
                return value, choose(backpropagator(1.0))
        program, primals = arguments.split(f, args, kwargs)
        if has_aux:
            value, backpropagator, aux = engine.vjp_with_aux(program, primals)
            check_scalar(value, backpropagator, "value_and_grad")
            return (value, aux), arguments.result(backpropagator(1.0))
        value, backpropagator = engine.vjp(program, *primals)
        if type(value) is not float:
            check_scalar(value, backpropagator, "value_and_grad")
        return value, arguments.result(backpropagator(1.0))

    return named(value_and_grad_f, engine, "value_and_grad", f, argnums, has_aux, holomorphic)


def _replays(f: Any, arguments: Arguments, has_aux: bool) -> tuple[int, Any, Callable[[tuple[Any, ...]], Any]]:
    """The number of arguments with which a program is replayed at once, how, and what chooses among its cotangents."""
    highest, chosen = arguments.highest, arguments.chosen
    if has_aux or highest is None or not isinstance(f, Replays) or (len(chosen) == 1 and not arguments.single):
        return 0, None, itemgetter(0)
    return highest + 1, f.vjp_at_once, itemgetter(*chosen)


def of_complex_numbers(
    engine: Engine, f: Callable[..., Any], arguments: Arguments, has_aux: bool
) -> Callable[..., Any]:
    """Do `value_and_grad` of a holomorphic program: the cotangent one gives its complex derivative."""

    def value_and_grad_f(*args: Any, **kwargs: Any) -> Any:
        program, primals = arguments.split(f, args, kwargs)
        check_holomorphic("the inputs", form_of(engine.structures, arguments.result(primals)))
        value, backpropagator, *aux = (engine.vjp_with_aux if has_aux else _vjp_of(engine))(program, primals)
        check_holomorphic_number(value, "grad")
        return (value, *aux) if aux else value, arguments.result(backpropagator(1.0))

    return value_and_grad_f


def _vjp_of(engine: Engine) -> Callable[..., tuple[Any, ...]]:
    return lambda program, primals: engine.vjp(program, *primals)


def grad(
    engine: Engine,
    f: Callable[..., Any],
    argnums: Argnums = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
) -> Callable[..., Any]:
    """See `Engine.grad`."""
    arguments = arguments_of(argnums)
    if holomorphic:
        function = _gradient_only(of_complex_numbers(engine, f, arguments, has_aux), has_aux)
        return named(function, engine, "grad", f, argnums, has_aux, holomorphic)

    alone, (needed, replayed, choose) = arguments.first and not has_aux, _replays(f, arguments, has_aux)

    def grad_f(*args: Any, **kwargs: Any) -> Any:
        if (alone or replayed) and not kwargs:
            found = (
                engine.vjp(f, args[0])
                if alone and len(args) == 1
                else replayed and len(args) >= needed and replayed(engine, args, kwargs)
            )
            if found:
                value, backpropagator = found
                if type(value) is not float:
                    check_scalar(value, backpropagator, "grad")
                return choose(backpropagator(1.0))
        program, primals = arguments.split(f, args, kwargs)
        if has_aux:
            value, backpropagator, aux = engine.vjp_with_aux(program, primals)
            check_scalar(value, backpropagator, "grad")
            return arguments.result(backpropagator(1.0)), aux
        value, backpropagator = engine.vjp(program, *primals)
        if type(value) is not float:
            check_scalar(value, backpropagator, "grad")
        return arguments.result(backpropagator(1.0))

    return named(grad_f, engine, "grad", f, argnums, has_aux, holomorphic)


def _gradient_only(value_and_grad_f: Callable[..., Any], has_aux: bool) -> Callable[..., Any]:
    def grad_f(*args: Any, **kwargs: Any) -> Any:
        value, gradient = value_and_grad_f(*args, **kwargs)
        return (gradient, value[1]) if has_aux else gradient

    return grad_f


def elementwise_grad(engine: Engine, f: Callable[..., Any], argnums: Argnums = 0) -> Callable[..., Any]:
    """See `Engine.elementwise_grad`."""
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
