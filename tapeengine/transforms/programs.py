"""Programs that have their own derivatives, under every transform: a call on traced values is one record.

The record's rule runs the program's own derivative. If that is differentiated again (the arguments or the cotangent
belong to an enclosing trace), it uses the program's directional derivative ``(x, dx) -> (f(x), Df(x) dx)``, which is
such a program itself: the derivative of ``u -> Df(x)^T u`` is ``(dx, du) -> d/dx <u, Df(x) dx> + Df(x)^T du``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from .._core.arrays.array import Array, fresh, is_number
from .._core.programs import native
from .._core.programs.callables import own_derivative
from .._core.programs.native import kept_array
from .._core.sweeps.linear import has_array_records
from .._core.sweeps.trace import Backpropagator, value_unseen
from ..errors import RepeatError, UnsupportedError, no_pair
from ..forms import add, flatten, form_of, holds_traced, is_continuous, leaves_like, map_leaves, unflatten
from .calls import Derivative, FlatRule, call_with_rule
from .contract import Engine


def call(engine: Engine, program: Any, args: tuple[Any, ...], keep: bool = True) -> Any:
    """Call a program that has its own derivative: on traced values, this leaves one record.

    Parameters
    ----------
    program, args
        The program and its arguments.
    keep : bool
        Whether to keep the values that its reverse pass needs, or to compute them again then.
    """

    def run(values: tuple[Any, ...]) -> tuple[Any, Derivative]:
        if holds_traced(engine.structures, values):
            values = kept(engine, values)
            return call(engine, program, values, keep), Call(engine, program, values, None)
        return Again(engine, program, keep)(values)

    traced, result = call_with_rule(engine, args, run, program.__name__)
    return result if traced else map_leaves(engine.structures, fresh, engine.vjp(program, *bare(engine, args))[0])


def for_values(engine: Engine, f: Callable[..., Any]) -> Callable[..., Any]:
    """Give a function that computes the values: for a program, the forward pass of its own derivative."""
    own = own_derivative(f, "__tapeengine_value__")
    return f if own is None else partial(own, f, engine)


def bare(engine: Engine, args: tuple[Any, ...]) -> tuple[Any, ...]:
    """Arguments that depend on no input, as plain values: arrays of a trace may hold constants."""
    return map_leaves(engine.structures, value_unseen, args)  # type: ignore[no-any-return]


def kept(engine: Engine, args: tuple[Any, ...]) -> tuple[Any, ...]:
    """Arguments for a later run, with copies of traced and of small plain arrays, which the program may change."""
    if NUMBERS.issuperset(map(type, args)):
        return args
    leaves, steps = flatten(engine.structures, args)
    return unflatten(steps, [x.copy("K") if type(x) is Array and not is_number(x) else kept_array(x) for x in leaves])  # type: ignore[no-any-return]


#: The backpropagators of passes that programs have themselves.
OWN = (native.Backpropagator, native.WholeBackpropagator)
#: The classes of arguments that cannot change.
NUMBERS = frozenset((float, int, bool))


@dataclass(slots=True, eq=False, repr=False)
class Again:
    """Repeats a call in replays of the staged program that made it."""

    engine: Engine
    program: Any
    keep: bool

    def __call__(self, args: tuple[Any, ...]) -> tuple[Any, Call]:
        """Return the program's value and its derivative at plain arguments."""
        value, backpropagator = self.engine.vjp(self.program, *args)
        args = kept(self.engine, args)
        return value, Call(self.engine, self.program, args, backpropagator if self.keep else None, self)


@dataclass(slots=True, eq=False, repr=False)
class Ruled:
    """Makes the rules of calls that the core has recorded."""

    engine: Engine

    def __call__(self, program: Any, args: tuple[Any, ...], value: Any, backpropagator: Any) -> FlatRule:
        """Return the rule of a call at plain arguments."""
        structures = self.engine.structures
        classes = [*map(type, flatten(structures, args)[0])], [type(value)]
        derivative = Call(self.engine, program, args, backpropagator)
        return FlatRule(derivative, form_of(structures, args), form_of(structures, value), classes, program.__name__)

    def along(self, program: Any, args: tuple[Any, ...], tangents: tuple[Any, ...]) -> Any:
        """Return the tangent, and the backpropagator of value and tangent; None where no pass gives them."""
        try:
            made = program.along_at_once(self.engine, args, tangents)
            if made is None:
                along = program.__tapeengine_directional__()
                made = self.engine.vjp(along, *args, *program.tangents(args, tangents))
        except (ArithmeticError, ValueError, LookupError, UnsupportedError):
            return None
        return (made[0][1], made[1]) if type(made[1]) in OWN else None


class Call:
    """The derivative of one call."""

    __slots__ = ("again", "args", "backpropagator", "constants", "engine", "program")

    def __init__(
        self, engine: Engine, program: Any, args: tuple[Any, ...], backpropagator: Any, again: Again | None = None
    ) -> None:
        self.engine = engine
        self.program = program
        self.args = args
        self.backpropagator = backpropagator
        self.constants = getattr(program, "watched", None)  # by the call
        self.again = again

    def pull(self, cotangent: Any) -> Any:
        """Return the cotangents of the arguments."""
        if self.backpropagator is not None and not holds_traced(self.engine.structures, cotangent):
            return without_discrete(self.engine, self.args, self.backpropagator(cotangent))
        check_constants(self.program, self.constants)
        return transposed(self.engine, self.program, self.args, cotangent)

    def push(self, tangents: tuple[Any, ...]) -> Any:
        """Return the tangent of the result."""
        check_constants(self.program, self.constants)
        if not holds_traced(self.engine.structures, (self.args, tangents)):
            return self.engine.jvp(self.program, self.args, tangents)[1]
        return jvp(self.engine, self.program, self.args, tangents)[1]


def is_call(rule: Any) -> bool:
    """Whether a rule is that of a call of a program."""
    return isinstance(getattr(rule, "derivative", None), Call)


def check_constants(program: Any, constants: Any) -> None:
    """Require that what a program reads from outside is as it was at a call, whose `constants` compare it."""
    if constants is not None and not constants.same():
        raise RepeatError(
            f"{program.__name__} is run again for its derivative, and something that it reads from outside has changed "
            "since the call. Pass it as an argument"
        )


def transposed(engine: Engine, program: Any, args: tuple[Any, ...], cotangent: Any) -> tuple[Any, ...]:
    """The cotangents of a program's arguments, as a function of the arguments and the result's cotangent."""

    def run(values: tuple[Any, ...]) -> tuple[Any, Derivative]:
        inner, given = values
        return transposed(engine, program, inner, given), Transposed(engine, program, inner, given)

    traced, found = call_with_rule(engine, (args, cotangent), run, f"the derivative of {program.__name__}")
    if not traced:
        found = without_discrete(engine, args, engine.vjp(program, *bare(engine, args))[1](cotangent))
    return tuple(found)


@dataclass(slots=True, eq=False, repr=False)
class Transposed:
    """The derivative of a reverse pass."""

    engine: Engine
    program: Any
    args: tuple[Any, ...]
    cotangent: Any

    def along(self, tangents: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return the derivative of <cotangent, Df(x) tangents> with respect to the arguments."""
        if not self.program.is_twice_differentiable:
            plain = self.program.with_others(())
            found = self.engine.vjp(lambda *args: self.engine.jvp(plain, args, tangents)[1], *self.args)
            return found[1](self.cotangent)  # type: ignore[no-any-return]
        zeros = form_of(self.engine.structures, self.cotangent).zeros()
        given = (*self.args, *self.program.tangents(self.args, tangents))
        found = transposed(self.engine, self.program.__tapeengine_directional__(), given, (zeros, self.cotangent))
        return found[: len(self.args)]

    def push(self, tangents: tuple[Any, ...]) -> Any:
        """Return the tangent of the cotangents."""
        of_args, of_cotangent = tangents
        first = transposed(self.engine, self.program, self.args, of_cotangent)
        return add(self.engine.structures, first, self.along(of_args))

    def pull(self, cotangents: tuple[Any, ...]) -> Any:
        """Return the cotangents of the arguments and of the cotangent."""
        derivative = Call(self.engine, self.program, self.args, None)
        return self.along(cotangents), derivative.push(cotangents)


def without_discrete(engine: Engine, value: Any, found: Any) -> Any:
    """The tangent or cotangent of a value, with None for discrete leaves: a program takes an integer for a float."""
    if type(value) is tuple and set(map(type, value)) == {float}:
        return found
    leaves, steps = flatten(engine.structures, value)
    parts = leaves_like(engine.structures, steps, found)
    if parts is None:
        return found
    return unflatten(steps, [part if is_continuous(x) else None for x, part in zip(leaves, parts, strict=True)])


def vjp(engine: Engine, program: Any, primals: tuple[Any, ...]) -> tuple[Any, Callable[[Any], tuple[Any, ...]]]:
    """The value and the backpropagator of a program at traced primals."""
    primals = kept(engine, primals)
    return call(engine, program, primals), lambda cotangent: transposed(engine, program, primals, cotangent)


def jvp(engine: Engine, program: Any, primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> tuple[Any, Any]:
    """The value and the tangent of a program at traced primals or tangents."""
    if not program.is_twice_differentiable:
        return engine.jvp(program.with_others(()), primals, tangents)
    along = program.tangents(primals, tangents)
    value, tangent = call(engine, program.__tapeengine_directional__(), (*primals, *along))
    return value, without_discrete(engine, tangent, tangent)


def derivative_of(
    engine: Engine, program: Any, primals: tuple[Any, ...], has_aux: bool = False, order: int = 0
) -> tuple[Any, ...]:
    """The value and the derivative, used as a backpropagator; with `has_aux`, also the program's auxiliary result."""
    unread = own_derivative(program, "unread_at")
    function = None if unread is None else unread(program, primals)
    if function is not None:
        return engine.trace(function, primals, order=order, has_aux=has_aux)
    value, back = engine.vjp(program, *primals)
    if has_aux and (type(value) is not tuple or len(value) != 2):
        raise no_pair(value)
    # The tape of a run on dual numbers gives tangents as well, where no record of arrays would have to keep more.
    if isinstance(back, Backpropagator) and not has_aux and not has_array_records(back.tape):
        return value, back
    derivative = OwnDerivative(engine, program, primals, value, back, has_aux)
    return (value[0], derivative, value[1]) if has_aux else (value, derivative)


def at_value(engine: Engine, program: Any, primals: tuple[Any, ...]) -> tuple[Any, OwnDerivative] | None:
    """The same for a program whose value is quick to compute alone; its forward pass waits until it is needed."""
    plain = own_derivative(program, "plain_value")
    found = () if plain is None or engine.switches is not None else plain(program, primals)
    return (found[0], OwnDerivative(engine, program, primals, found[0], None, False)) if found else None


class OwnDerivative:
    """A program's derivative at given arguments, with the interface of a backpropagator.

    `back`: the backpropagator of its run, if it has run.
    """

    __slots__ = ("_at", "_constants", "_engine", "_has_aux", "_program", "_value", "back")

    def __init__(
        self, engine: Engine, program: Any, primals: tuple[Any, ...], value: Any, back: Any, has_aux: bool
    ) -> None:
        self._engine, self._program, self._at = engine, program, primals
        self._value, self.back, self._has_aux = value, back, has_aux
        self._constants = program.constants_at(primals) if hasattr(program, "constants_at") else None

    def __call__(self, cotangent: Any) -> tuple[Any, ...]:
        """Return the cotangents of the arguments."""
        if self._has_aux:
            cotangent = cotangent, form_of(self._engine.structures, self._value[1]).zeros()
        if self.back is None:
            check_constants(self._program, self._constants)
            self.back = self._engine.vjp(self._program, *self._at)[1]
        found = self.back(cotangent)
        return found if self.is_passed else without_discrete(self._engine, self._at, found)  # type: ignore[no-any-return]

    @property
    def is_passed(self) -> bool:
        """Whether `back` is a pass in the core, which gives None for discrete leaves, and has no auxiliary result."""
        back = None if self._has_aux else self.back
        return type(back.back if type(back) is Part else back) is native.Backpropagator

    def for_later(self) -> OwnDerivative:
        """Return the derivative, at arguments that later changes of the caller's arrays do not reach."""
        self._at = kept(self._engine, self._at)
        return self

    def push(self, tangents: tuple[Any, ...]) -> Any:
        """Return the tangent of the result."""
        check_constants(self._program, self._constants)
        found = self._engine.jvp(self._program, self._at, tangents)[1]
        return found[0] if self._has_aux else found

    def blocks(self, forward: bool) -> Callable[[int, int], Any] | None:
        """Return a function that computes some columns or rows of the Jacobian; None if there is no such pass."""
        if self._has_aux:
            return None
        way = "columns" if forward else "rows"
        return self._program.blocks(way, self._at, self._value)  # type: ignore[no-any-return]

    def has_own_rules(self) -> bool:
        """Return whether no primitive's rule has a part in it, so that both sweeps give the same derivative."""
        return self._program.has_own_rules(self._at)  # type: ignore[no-any-return]

    def recorded(self, forward: bool) -> Any:
        """Return the backpropagator of a run on dual numbers, if the program has no other derivative in a direction."""
        found = None if self._has_aux else self._program.recorded(self._engine, self._at, forward)
        if found is None:
            return None
        sizes = [form_of(self._engine.structures, x).size for x in (found[0], self._value)]
        return found[1] if sizes[0] == sizes[1] else None


@dataclass(slots=True, eq=False, repr=False)
class Part:
    """The backpropagator of a program for some of its arguments."""

    back: Callable[[Any], tuple[Any, ...]]
    places: tuple[int, ...]

    def __call__(self, cotangent: Any) -> tuple[Any, ...]:
        """Return the cotangents of these arguments."""
        found = self.back(cotangent)
        return tuple([found[place] for place in self.places])


class Chosen:
    """A program as a function of some of its arguments; it keeps the program's own derivative.

    `args` are all arguments by position, and `places` the positions of those that remain.
    """

    def __init__(self, program: Any, args: tuple[Any, ...], places: tuple[int, ...]) -> None:
        self.program = program
        self.args = args
        self.places = places
        self.__name__ = program.__name__

    def filled(self, given: tuple[Any, ...], others: tuple[Any, ...]) -> tuple[Any, ...]:
        """Put values that belong to the chosen arguments into their places among all."""
        whole = list(others)
        for place, x in zip(self.places, given, strict=True):
            whole[place] = x
        return tuple(whole)

    def __call__(self, *primals: Any) -> Any:
        """Call the program with all arguments."""
        return self.program(*self.filled(primals, self.args))

    def __tapeengine_vjp__(self, engine: Engine, *primals: Any) -> tuple[Any, Callable[[Any], tuple[Any, ...]]]:
        value, back = engine.vjp(self.program, *self.filled(primals, self.args))
        return value, Part(back, self.places)

    def __tapeengine_jvp__(self, engine: Engine, primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> Any:
        others = (None,) * len(self.args)
        return engine.jvp(self.program, self.filled(primals, self.args), self.filled(tangents, others))

    def plain_value(self, primals: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return the value, in a tuple, where the plain function takes least time."""
        return self.program.plain_value(self.filled(primals, self.args), self.places)  # type: ignore[no-any-return]

    def blocks(self, way: str, primals: tuple[Any, ...], value: Any) -> Callable[[int, int], Any] | None:
        """Return what computes columns or rows of the Jacobian; None if the program has no such pass."""
        found: Callable[[int, int], Any] | None
        found = self.program.blocks(way, self.filled(primals, self.args), value, self.places)
        return found

    def has_own_rules(self, primals: tuple[Any, ...]) -> bool:
        """Return whether no primitive's rule has a part in the derivative."""
        return self.program.has_own_rules(self.filled(primals, self.args))  # type: ignore[no-any-return]

    def recorded(self, engine: Engine, primals: tuple[Any, ...], forward: bool) -> Any:
        """Return value and backpropagator of a run on dual numbers, if the program has no other derivative."""
        return self.program.recorded(engine, self.filled(primals, self.args), forward, self.places)
