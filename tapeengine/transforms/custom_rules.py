"""`custom_vjp` and `custom_jvp`: functions with user-defined derivative rules, forward, reverse, or both."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import FunctionType, MappingProxyType
from typing import Any

import numpy as np

from .._core.arrays.array import Array
from .._core.sweeps.linear import is_recorded
from ..errors import DroppedDerivativeError, PrimitiveError, note
from ..forms import flatten, form_of, holds_traced, is_traced, leaves_like, unflatten
from ..naming import attribute_of, reduced, wrap
from .calls import call_with_rule, parts_by_argument
from .captures.closures import Made, Snapshot
from .contract import Engine
from .repeated.rerun import Unwritten, frozen, read_only, without_effects
from .transformed import check_program

INTEGERS = (int, np.integer, np.bool_, np.ndarray)
#: The keyword arguments of most calls.
NOTHING: Mapping[str, Any] = MappingProxyType({})


class CustomFunction:
    """A function with its own derivative rule. Made by `Engine.custom_vjp` and `Engine.custom_jvp`.

    There may be one rule per direction; a missing rule is derived as the transpose of the other, which is a linear
    program. Rules may capture traced values, and may be differentiated themselves. Values that the *function* captures
    are differentiated through its operations.

    Examples
    --------
    >>> import tapeengine as te
    >>> @te.custom_vjp
    ... def clipped(x):
    ...     return x * x
    >>> clipped.defvjp(lambda x: (x * x, x), lambda x, ct: (min(max(2.0 * x * ct, -1.0), 1.0),))
    >>> te.grad(clipped)(3.0), te.grad(clipped)(0.25)
    (1.0, 0.5)
    >>> te.jvp(clipped, (0.25,), (2.0,))
    (0.0625, 1.0)
    """

    #: Calls that run again look into the attributes.
    __tapeengine_parts__ = True

    def __init__(self, engine: Engine, function: Callable[..., Any]) -> None:
        check_program("custom_vjp or custom_jvp", function)
        wrap(self, function)
        self.engine = engine
        self.function = function
        #: Calls with fewer arguments may leave out some that have defaults.
        self.count = function.__code__.co_argcount if type(function) is FunctionType and function.__defaults__ else 0
        self.fwd: Callable[..., Any] | None = None
        self.bwd: Callable[..., Any] | None = None
        self.jvp: Callable[..., Any] | None = None

    def __reduce_ex__(self, protocol: Any) -> Any:
        return reduced(self, self.function, super().__reduce_ex__(protocol))

    def defvjp(self, fwd: Callable[..., Any], bwd: Callable[..., Any]) -> None:
        """Set the reverse rule.

        Parameters
        ----------
        fwd : callable
            ``fwd(*args) -> (value, residuals)``; `bwd` receives the residuals.
        bwd : callable
            ``bwd(residuals, cotangent) -> tuple``: the cotangent of each argument, in its structure; None is zero.
        """
        self.fwd, self.bwd = fwd, bwd

    def defjvp(self, jvp: Callable[..., Any]) -> Callable[..., Any]:
        """Set the forward rule, ``jvp(primals, tangents) -> (value, tangent)``; usable as a decorator."""
        self.jvp = jvp
        return jvp

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function; on traced values it leaves one record.

        Rules get the arguments that have a position by position, with their defaults, and others by keyword.
        """
        if not kwargs:
            if len(args) < self.count:
                args = _with_defaults(self.function, args)
            traced, result = call_with_rule(self.engine, args, self._run, self._name)
            return result if traced else self.function(*args)
        args, others = self._sorted(args, kwargs)
        traced, result = call_with_rule(self.engine, args, lambda values: self._run(values, others), self._name)
        return result if traced else self.function(*args, **others)

    def _sorted(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments that have a position, and the given ones that are passed by keyword only."""
        bound = _signature(self.function).bind(*args, **kwargs)
        bound.apply_defaults()
        others = {name: value for name, value in bound.kwargs.items() if name in kwargs}
        for name, value in others.items():
            if holds_traced(self.engine.structures, value):
                raise DroppedDerivativeError(
                    f"{self._name} takes {name} by keyword only, and its rule returns derivatives by position: "
                    f"write def {self._name}(..., {name}), without the * before it"
                )
        return bound.args, others

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        """Bind the function as a method of an object."""
        return self if instance is None else functools.partial(self, instance)

    @property
    def _name(self) -> str:
        return attribute_of(self.function, "__name__") or repr(self.function)

    def _run(self, args: tuple[Any, ...], others: Mapping[str, Any] = NOTHING) -> tuple[Any, Call]:
        leaves, steps = flatten(self.engine.structures, args)
        args = unflatten(steps, list(map(frozen, leaves)))
        given = Unwritten(self.engine.structures, args)
        again = Again(self, others) if is_recorded(False) else None
        if self.fwd is not None:
            with read_only(leaves, self._name):
                pair = self.fwd(*args, **others)
            given.check(self._name)
            if not isinstance(pair, tuple) or len(pair) != 2:
                raise PrimitiveError(f"{self._name}: fwd must return (value, residuals), not {pair!r}")
            return pair[0], Call(self, others, args, pair[0], pair[1], again)
        if self.jvp is None:
            raise PrimitiveError(f"{self._name} has no derivative rule yet: give one with defvjp or defjvp")
        with read_only(leaves, self._name):
            result = self(*args, **others)
        given.check(self._name)
        return result, Call(self, others, args, result, None, again)


def _signature(function: Any) -> inspect.Signature:
    """The signature of a function's own code; that of the function which it wraps if it passes all names on."""
    own = inspect.signature(function, follow_wrapped=False)
    return inspect.signature(function) if any(p.kind is p.VAR_KEYWORD for p in own.parameters.values()) else own


def _with_defaults(function: Any, args: tuple[Any, ...]) -> tuple[Any, ...]:
    """The arguments of a call with those that are missing at the end, if they have defaults."""
    defaults: tuple[Any, ...] = function.__defaults__
    missing = function.__code__.co_argcount - len(args)
    return args + defaults[-missing:] if missing <= len(defaults) else args


class Again:
    """Repeats a call in replays of the staged program that made it, with the rules as of the call."""

    __slots__ = ("_custom", "_snapshot")

    def __init__(self, custom: CustomFunction, others: Mapping[str, Any]) -> None:
        self._custom = custom
        rules = custom.function, custom.fwd, custom.bwd, custom.jvp, others
        self._snapshot = Snapshot(custom.engine.structures, rules, custom.engine.copies)
        self._snapshot.written = frozenset()

    def is_same(self) -> bool:
        """Whether the rules capture nothing that is traced, and nothing that has changed."""
        return not self._snapshot.captured and not self._snapshot.to_copy() and not self._snapshot.generators

    def __call__(self, args: tuple[Any, ...]) -> tuple[Any, Call] | None:
        """Return the result and the derivative at other arguments; None if the call has effects."""
        engine = self._custom.engine

        def run(bound: Any) -> tuple[Any, Call]:
            custom = CustomFunction(engine, bound[0])
            custom.fwd, custom.bwd, custom.jvp = bound[1:4]
            result, derivative = custom._run(args, bound[4])
            derivative.bind(lambda value: value)
            return result, derivative

        return without_effects(engine.structures, self._snapshot, (), run)  # type: ignore[no-any-return]


class Call:
    """The derivative of one call: the given rules, and the transpose of one if the other is missing.

    The rules and what they captured are fixed at the time of the call; later changes by the program have no effect.
    Items that a rule appends to a captured list are appended to the program's list.
    """

    __slots__ = ("again", "custom", "parts", "result", "snapshot", "values")

    def __init__(
        self,
        custom: CustomFunction,
        others: Mapping[str, Any],
        args: tuple[Any, ...],
        result: Any,
        residuals: Any,
        again: Again | None,
    ) -> None:
        self.custom = custom
        self.result = result
        self.again = again if again is not None and again.is_same() else None
        jvp = functools.partial(custom.jvp, **others) if others and custom.jvp is not None else custom.jvp
        self.parts = (custom.bwd, jvp, residuals, args)

    def bind(self, outward: Callable[[Any], Any]) -> None:
        """Store the values that the rules capture."""
        engine = self.custom.engine
        self.snapshot = Snapshot(engine.structures, self.parts, engine.copies)
        self.values = [outward(value) for value in self.snapshot.captured]
        del self.parts

    def pull(self, cotangent: Any) -> Any:
        """Return the cotangents of the arguments."""
        with self._bound() as (bwd, jvp, residuals, args):
            if bwd is not None:
                return bwd(residuals, cotangent)
            engine = self.custom.engine
            zeros = [form_of(engine.structures, arg).zeros() for arg in args]
            found, backpropagator = engine.vjp(lambda *tangents: self._tangent(jvp, args, tangents), *zeros)
            form_of(engine.structures, self.result).parts(found, f"tangent that {self.custom._name}'s rule returned")
            return backpropagator(self._like(found, cotangent))

    def push(self, tangents: tuple[Any, ...]) -> Any:
        """Return the tangent of the result."""
        with self._bound() as (bwd, jvp, residuals, args):
            if jvp is not None:
                return self._tangent(jvp, args, tangents)
            engine = self.custom.engine
            zeros = form_of(engine.structures, self.result).zeros()
            found, backpropagator = engine.vjp(lambda cotangent: tuple(bwd(residuals, cotangent)), zeros)
            form = form_of(engine.structures, args)
            parts_by_argument(form, found, f"cotangents that {self.custom._name}'s rule returned")
            kept = [None if part is None else self._like(part, t) for part, t in zip(found, tangents, strict=True)]
            return backpropagator(tuple(kept))[0]

    def _like(self, part: Any, tangent: Any) -> Any:
        """A tangent in the order of what a rule returned."""
        structures = self.custom.engine.structures
        steps = flatten(structures, part)[1]
        return unflatten(steps, leaves_like(structures, steps, tangent) or ())

    @contextmanager
    def _bound(self) -> Iterator[Any]:
        """Give the rules, the residuals and the arguments as of the call; add the function's name to errors."""
        made = Made()
        values = [
            value.copy("K") if type(value) is Array else value for value in self.values
        ]  # rules may write to them
        bound = self.snapshot.again(values, made)
        try:
            yield bound
        except Exception as error:
            note(error, f"in a derivative rule of {self.custom._name}")
            raise
        finally:
            self.snapshot.take_over(made)

    def _tangent(self, jvp: Callable[..., Any], args: tuple[Any, ...], tangents: tuple[Any, ...]) -> Any:
        pair = jvp(args, self._with_zeros(args, tangents))
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise PrimitiveError(f"{self.custom._name}: the jvp rule must return (value, tangent), not {pair!r}")
        return pair[1]

    def _with_zeros(self, args: tuple[Any, ...], tangents: tuple[Any, ...]) -> Any:
        """Tangents with zeros for integers, as for other numbers that are not traced."""
        if all(is_traced(t) or type(t) in (float, np.ndarray) for t in tangents):
            return tangents
        structures = self.custom.engine.structures
        leaves, steps = flatten(structures, args)
        parts = leaves_like(structures, steps, tangents) or ()
        zeros = [np.zeros(np.shape(x))[()] if isinstance(x, INTEGERS) else None for x in leaves]
        return unflatten(steps, [zero if part is None else part for part, zero in zip(parts, zeros, strict=True)])
