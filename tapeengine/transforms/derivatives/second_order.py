"""Products with a Hessian, without building it."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from functools import partial
from types import FunctionType, MethodType
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._core.programs.callables import own_derivative
from ..._core.programs.native import Enterable
from ..._core.sweeps import linear
from ..._core.tape.tape import live_traces
from ...forms import flatten, is_traced, unflatten
from ...naming import attribute_of
from ..contract import Engine
from ..programs import is_call
from ..transformed import named
from . import jacobians
from .arguments import Argnums, Arguments, arguments_of
from .gradients import check_scalar, is_real_number
from .jacobians import all_finite
from .tangents import as_tuple

if TYPE_CHECKING:
    from ..repeated.rerun import Outcome

#: The largest number of primals whose Hessian has a product for each.
MOST = 32


class OfScalars:
    """Functions whose tapes held scalars only; for these, two further sweeps over one tape give the product.

    The same for those that have called programs as well. A function is known by its code and by the types of its
    captures, so that a new lambda with old code is known.
    """

    def __init__(self) -> None:
        self.known: dict[Any, weakref.ref[Any]] = {}

    def __contains__(self, f: Any) -> bool:
        return holds(f, self)

    def note(self, f: Any, of_scalars: bool) -> None:
        """Record whether a function's tape held scalars only."""
        if code_of(f) is None:
            return
        key = kind_of(f)
        if of_scalars and key not in self.known:
            self.known[key] = weakref.ref(code_of(f) or f, lambda ref: self.known.pop(key, None))
        elif not of_scalars:
            self.known.pop(key, None)


def holds(f: Any, *registers: OfScalars) -> bool:
    """Whether a function is known to one of some registers."""
    if attribute_of(f, "is_of_scalars", False):
        return True
    kind = kind_of(f)
    return any(kind in register.known for register in registers)


def code_of(f: Any) -> Any:
    """The code that a function, a method of one or a partial call of one runs; None for other callables."""
    if type(f) is partial:
        return code_of(f.func)
    return code_of(f.__func__) if type(f) is MethodType else f.__code__ if type(f) is FunctionType else None


def kind_of(f: Any) -> tuple[Any, ...]:
    """The code of a function and the kinds of what it captures and of its defaults; other callables stand alone."""
    if type(f) is partial:
        return (*kind_of(f.func), *map(type, f.args), *f.keywords, *map(type, f.keywords.values()))
    if type(f) is MethodType:
        return (*kind_of(f.__func__), type(f.__self__))
    if type(f) is not FunctionType:
        return (id(f),)
    return id(f.__code__), *map(captured_kind, f.__closure__ or ()), *map(type, f.__defaults__ or ())


def captured_kind(cell: Any) -> Any:
    """The type of what a cell of a closure holds, the code of a function, or None for an empty cell."""
    try:
        held = cell.cell_contents
    except ValueError:
        return None
    return held.__code__ if type(held) is FunctionType else type(held)


def hessian(
    engine: Engine, f: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False, holomorphic: bool = False
) -> Callable[..., Any]:
    """Return the function that computes all second derivatives of each number of the result of `f`.

    Each leaf of the result is replaced by a structure like the argument's, and each leaf of that one again.

    Parameters
    ----------
    f, argnums, has_aux, holomorphic
        Those of `jacobian`.

    Examples
    --------
    >>> import tapeengine as te
    >>> te.hessian(lambda x: x[0] ** 2 * x[1])([3.0, 2.0])
    [[4.0, 6.0], [6.0, 0.0]]
    """
    # A product for each of few numbers where the program calls others, and otherwise forward over reverse.
    nested = jacobians.hessian(engine, f, argnums, has_aux, holomorphic)
    if has_aux or holomorphic or own_derivative(f, "__tapeengine_vjp__") is not None:
        return nested
    arguments = arguments_of(argnums)

    def hessian_f(*args: Any, **kwargs: Any) -> Any:
        found = None
        if f in engine.of_programs and engine.switches is None:
            found = by_products(engine, arguments, *arguments.split(f, args, kwargs))
        return nested(*args, **kwargs) if found is None else found

    return named(hessian_f, engine, "hessian", f, argnums, has_aux, holomorphic)


def by_products(engine: Engine, arguments: Arguments, program: Callable[..., Any], primals: tuple[Any, ...]) -> Any:
    """The Hessian by a product for each number of the primals; None if they are many, or there is no such tape."""
    numbers, steps = flatten(engine.structures, arguments.result(primals))
    if len(numbers) > MOST or any(type(x) is not float for x in numbers):
        return None
    value, backpropagator = engine.trace(program, primals, order=2)
    rows = []
    for k in range(len(numbers) if is_real_number(value, backpropagator) else 0):
        axis = unflatten(steps, [float(i == k) for i in range(len(numbers))])
        products = linear.hessian_product(backpropagator, (axis,) if arguments.single else axis)
        rows.append(None if products is None else arguments.result(products))
        if products is None or not all_finite(engine, rows[-1]):
            return None
    return unflatten(steps, rows) if rows else None


def hvp(engine: Engine, f: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any]) -> Any:
    """Return the product of the Hessian of `f` with a tangent, forward over reverse, without building the Hessian.

    The program runs once. If a program of scalars has since become one of arrays, it runs again, and must repeat.

    Parameters
    ----------
    f : callable
        A program that returns one real number.
    primals, tangents : tuple
        One entry for each argument.

    Returns
    -------
    structure
        The structure of the primal, or of the tuple of several primals.

    Examples
    --------
    >>> import tapeengine as te
    >>> te.hvp(lambda x: x[0] ** 2 * x[1], ([3.0, 2.0],), ([1.0, 0.0],))
    [4.0, 6.0]
    """
    primals, tangents = as_tuple(primals, "primals"), as_tuple(tangents, "tangents")
    found = f.hvp_at_once(engine, primals, tangents) if isinstance(f, Enterable) else None
    if found is not None:
        return found[0] if len(primals) == 1 else found
    if own_derivative(f, "__tapeengine_directional__") is not None and not any(map(is_traced, (*primals, *tangents))):
        products = of_program(engine, f, primals, tangents)
        is_found = products is not None and all_finite(engine, products)
        return products if is_found else hvp(engine, f.python, primals, tangents)  # type: ignore[attr-defined]
    is_watched = engine.switches is not None and engine.switches.nans  # the second sweep over one tape is not checked
    has_tape = own_derivative(f, "__tapeengine_vjp__") is None or own_derivative(f, "__tapeengine_tape__") is not None
    first = None
    may_fit = not is_watched and has_tape and not any(map(is_array, primals))
    if may_fit and holds(f, engine.of_scalars, engine.of_programs):
        value, backpropagator = engine.trace(f, primals, order=2)
        check_scalar(value, backpropagator, "hvp")
        products = linear.hessian_product(backpropagator, tangents)
        if products is not None:
            return products[0] if len(primals) == 1 else products
        from ..repeated.rerun import Outcome

        first = Outcome(engine.structures, value)
    tapes: list[Any] = []
    is_outermost = live_traces() == 0  # then no tangent is traced, and a tape that can be swept twice suffices
    _, outer = engine.trace(_gradient(engine, f, tapes if may_fit else None, first, is_outermost), primals)
    products = linear.hessian_product(tapes[0], tangents, outer) if tapes else None
    if products is None:
        products = linear.jvp(outer, tangents)
    return products[0] if len(primals) == 1 else products


def _gradient(
    engine: Engine, f: Any, tapes: list[Any] | None, first: Outcome | None, is_outermost: bool
) -> Callable[..., Any]:
    """The gradient in all arguments; it appends its tape to `tapes` if that can be swept twice, and notes whether."""

    def gradient(*primals: Any) -> Any:
        value, backpropagator = engine.vjp(f, *primals)
        check_scalar(value, backpropagator, "hvp")
        if tapes is not None and hasattr(backpropagator, "tape"):
            is_twice = linear.is_twice(backpropagator)
            if is_twice:
                tapes.append(backpropagator)
            engine.of_scalars.note(f, is_twice)
            engine.of_programs.note(f, linear.has_calls(backpropagator, is_call))
            if is_twice and is_outermost and first is None:
                return 0.0
        difference = "" if first is None else first.difference(value)
        if difference:
            from ..repeated.rerun import not_repeatable

            name = attribute_of(f, "__name__") or repr(f)
            raise not_repeatable(f"{name}, which computes with arrays now and did with scalars only,", difference)
        return backpropagator(1.0)

    return gradient


def of_program(engine: Engine, f: Any, primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> Any:
    """The gradient of a program's directional derivative; None if that has no derivative of its own."""
    whole = f.positional(primals, {})[1]
    f = f.for_values(whole)
    if not f.is_twice_differentiable:
        return None
    along = f.tangents(whole, (*tangents, *[None] * (len(whole) - len(primals))))
    (value, _), backpropagator = engine.vjp(f.__tapeengine_directional__(), *whole, *along)
    check_scalar(value, None, "hvp")
    products = backpropagator((0.0, 1.0))[: len(primals)]
    return products[0] if len(primals) == 1 else products


def is_array(value: Any) -> bool:
    """Whether a primal is an array or traced, so that a tape of scalars is not enough."""
    return is_traced(value) or isinstance(value, np.ndarray)
