"""Callables that users pass to solvers, with their traced values extracted.

A solver's derivative is taken with respect to all traced values that its callable uses: those in ``args``, and those
that the callable itself captured. `Closed` finds these values (in closures, defaults, partials, bound methods, objects,
containers and global data) and packs them into one vector of parameters. The solver runs once, on plain values; a rule
runs the callable again, as a function of the parameters, with all other captured values as they were at the call.
"""

import copy
import functools
from collections.abc import Callable, Iterable
from typing import Any

import numpy

import tapeengine as te
import tapeengine.numpy as np
from tapeengine.duals.creation import sample_of
from tapeengine.duals.outputs import constant_of
from tapeengine.errors import UnsupportedError
from tapeengine.transforms.captures.array_copies import ArrayCopies
from tapeengine.transforms.captures.closures import Made, Snapshot
from tapeengine.transforms.captures.generators import generator_states, same_states
from tapeengine.transforms.repeated.rerun import FirstRun, Outcome, Places, not_repeatable, restored
from tapeengine_scipy._values import is_traced


class _Slot:
    """The range of a traced value's numbers in the parameters."""

    def __init__(self, value: Any, packed: list[Any]) -> None:
        self.start = sum(part.shape[0] for part in packed)
        self.shape: tuple[int, ...] = tuple(getattr(value, "shape", ()))
        self.size = int(numpy.prod(self.shape, dtype=int))
        self.is_pythons = type(sample_of(value)) in (float, complex)
        flat = np.ravel(value) if self.shape else np.array([value])
        self.dtype, self.is_complex = flat.dtype, flat.dtype.kind == "c"
        packed.extend([np.real(flat), np.imag(flat)] if self.is_complex else [flat])

    def read(self, vector: Any) -> Any:
        """The value, of the class and the precision that it has in the program."""
        end = self.start + self.size
        part = vector[self.start : end]
        if self.is_complex:
            part = part + 1j * vector[end : end + self.size]
        part = part if part.dtype == self.dtype else part.astype(self.dtype)
        if self.shape:
            return np.reshape(part, self.shape)
        return part[0].item() if self.is_pythons else part[0]


class Closed:
    """A callable and further values, with traced values extracted.

    Parameters
    ----------
    held : tuple
        The callable, and further values to search, such as ``(fun, args)``.
    solver : str
        The solver's name, for errors.
    moves : bool
        Whether the points at which the callable is called depend on traced values.

    Attributes
    ----------
    params : array
        The traced values, packed into one vector; an empty plain one if there are none.
    """

    def __init__(self, held: tuple[Any, ...], solver: str, moves: bool = True) -> None:
        self.solver, self._moves = solver, moves
        self._engine = te.default_engine()
        self._snapshot = Snapshot(self._engine.structures, held, self._engine.copies)
        packed: list[Any] = []
        self._slots = [_Slot(value, packed) for value in self._snapshot.captured]
        self._draws = False
        self._seen: tuple[Any, Outcome] | None = None
        self.params = np.concatenate(packed) if packed else numpy.zeros(0)
        plain_value(self.params)  # a recording is replayed at these values only, as a solver returns plain results too

    @property
    def is_traced(self) -> bool:
        """Whether any value was extracted."""
        return bool(self._slots)

    def run(self, solve: Callable[..., Any], params: Any) -> Any:
        """Compute ``solve(fun, *rest)`` with the program's own objects and plain parameters.

        Replays run it again, several at once in threads: as it was at the call, and they leave nothing here.

        Raises
        ------
        RepeatError
            If the callable gives different values at the same point.
        DroppedDerivativeError
            If it writes values that depend on traced ones into captured objects.
        """
        if self._seen is not None:
            return solve(*self.at(params))
        states, places = generator_states(), Places(self._snapshot.generators, draws=False)
        own, self._still = places.here(), params
        name = f"the callable of {self.solver}"
        with FirstRun(self._engine, self._snapshot, self._values(params), name, (params,)) as run:
            fun, *rest = run.bound
            result = solve(self._noted(fun), *rest)
        self._draws = not same_states(states, generator_states()) or repr(places.here()) != repr(own)
        self.check_that_it_repeats()
        run.settle(self._once, generator_states() if self._draws else None, whole=False)
        return result

    def at(self, params: Any) -> Any:
        """Build the structure from a vector of parameters, with everything else as it was at the call."""
        fun, *rest = self._snapshot.again(self._values(params))
        return (self._with_generators_put_back(fun) if self._draws else fun, *rest)

    def for_calls(self, params: Any) -> Callable[[], Any]:
        """Return what gives the structure for the next of several calls: one for all, unless they change it."""
        if self._draws or self._snapshot.written:
            return lambda: self.at(params)
        one = self.at(params)
        return lambda: one

    def _values(self, params: Any) -> list[Any]:
        return [slot.read(params) for slot in self._slots]

    def _noted(self, fun: Callable[..., Any]) -> Callable[..., Any]:
        """Wrap the callable to keep its first point and the value there."""

        def noted(*args: Any, **named: Any) -> Any:
            point = None if self._seen is not None else copy.deepcopy(plain_values((args, named)))
            value = fun(*args, **named)
            if point is not None:
                self._seen = point, Outcome(self._engine.structures, value)
            return value

        return noted

    def check_that_it_repeats(self) -> None:
        """Compare exactly with the callable as it was at the call; other random numbers are drawn.

        The rules of integrals compare as well: what the callable reads elsewhere, as in classes, may have changed.
        """
        if self._seen is None:
            return
        params = self._still
        point, outcome = self._seen
        made = Made()
        fun = self._snapshot.again(self._values(params), made)[0]
        Places(self._snapshot.generators_in(made), draws=False).resume(
            Places(self._snapshot.generators, draws=False).here()
        )
        with restored(generator_states() if self._draws else None):
            difference = outcome.difference(
                plain(functools.partial(fun, **copy.deepcopy(point[1])), self.solver)(*copy.deepcopy(point[0]))
            )
        if difference:
            raise not_repeatable(f"the callable of {self.solver}", difference)

    def _once(self, values: Any, done: dict[int, Any]) -> None:
        """Call the callable at its first point, traced if the point moves, on copies of its captured values."""
        fun = self._snapshot.again(values, done=done)[0]
        if self._seen is not None:
            args, named = copy.deepcopy(self._seen[0])
            fun = functools.partial(fun, **named)
            te.vjp(fun, *args) if self._moves else fun(*args)

    def _with_generators_put_back(self, fun: Any) -> Any:
        def called(*args: Any, **named: Any) -> Any:
            with restored(generator_states()):
                return fun(*args, **named)

        return called if callable(fun) else fun


class _Originals(ArrayCopies):
    """Keeps arrays that are only inspected, without copies."""

    def of(self, array: Any) -> Any:
        return array


_ORIGINALS = _Originals()


def holds_traced(*values: Any) -> bool:
    """Whether any value is traced, or contains or captures a traced value."""
    near = (part for value in values for part in (value if type(value) is tuple else (value,)))  # found at once
    return any(map(is_traced, near)) or bool(_looked_through(values).captured)


def plain_value(value: Any) -> Any:
    """Return a value without its traces, of which there may be several nested ones."""
    while is_traced(value):
        value = te.value(value)
    return value


def plain_values(held: Any) -> Any:
    """Build a structure of values and callables without traces; parts that have none remain the same objects."""
    found = _looked_through(held)
    return found.around([plain_value(value) for value in found.captured])


def constants(held: Any) -> Any:
    """Build a structure in which arrays that depend on no input, as those of `tapeengine.numpy`, are plain."""
    found = _looked_through(held)
    return found.around([constant_of(value) for value in found.captured])


def depends(*values: Any) -> bool | None:
    """Whether any value is, contains or captures a traced value, other than an array that depends on no input.

    None if there are no such arrays either.
    """

    def any_depends(found: Iterable[Any]) -> bool:
        return any(is_traced(constant_of(value)) for value in found)

    near = (part for value in values for part in (value if type(value) is tuple else (value,)))  # found at once
    if any_depends(near):
        return True
    captured = _looked_through(values).captured
    return any_depends(captured) if captured else None


def _looked_through(held: Any) -> Snapshot:
    return Snapshot(te.default_engine().structures, held, _ORIGINALS, is_traced)


def plain(fun: Any, solver: str) -> Any:
    """Return `fun` as a function of plain values for a solver; an option that is no function is unchanged.

    It runs in its own trace, which converts arrays made by `tapeengine.numpy` to plain ones when it ends. A result that
    is still traced depends on a traced value that was not found in the callable, and is refused.
    """
    if not callable(fun):
        return fun
    return refusing_traced(lambda *args: te.vjp(lambda: fun(*args))[0], solver, UnsupportedError, [])


def refusing_traced(
    fun: Callable[..., Any], solver: str, kind: type[Exception], errors: list[Exception]
) -> Callable[..., Any]:
    """Return `fun` as a function with plain results, which refuses traced values, and adds its error to a list.

    Arrays of `tapeengine.numpy` that depend on no input are plain values.
    """

    def has_traces(value: Any) -> bool:
        return is_traced(value) or (isinstance(value, (list, tuple)) and any(map(is_traced, value)))

    @functools.wraps(fun)
    def called(*args: Any, **named: Any) -> Any:
        value = fun(*args, **named)
        if type(value) is float:
            return value
        if has_traces(value):
            value = constants(value)
        if has_traces(value):
            errors.append(
                kind(
                    f"{solver}: the callable uses a traced value that was not found, as in an attribute of a class: "
                    "pass it in args="
                )
            )
            raise errors[0]
        return value

    return called


def as_array(value: Any) -> Any:
    """Return a callable's result as an array; lists and tuples may hold traced scalars."""
    return np.array(value) if isinstance(value, (list, tuple)) else np.asarray(value)


def as_vector(value: Any) -> Any:
    """Return a callable's result as a vector."""
    return np.reshape(as_array(value), (-1,))


def jacobian(back: Callable[..., Any], size: int, position: int) -> Any:
    """Return the Jacobian with respect to one primal, row by row, of a backpropagator for a vector of length `size`."""
    return np.stack([back(row)[position] for row in numpy.eye(size)])


def directional(function: Callable[[Any], Any], x: Any, tangent: Any) -> tuple[Any, Any]:
    """Return the value of a vector function and its derivative in a direction, as the transpose of its transpose."""
    value, back = te.vjp(function, x)
    _, forward = te.vjp(lambda ct: back(ct)[0], np.zeros_like(value))
    return value, forward(tangent)[0]
