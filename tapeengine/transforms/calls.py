"""Call functions that have their own derivative rule: structures in, structures out, one record on the tape."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from .._core.arrays.array import Array, as_python, call, refuse_writes
from .._core.scalars.complex import ComplexDual
from .._core.structures.boundary import overlapping, place
from .._core.tape.swallowed import carry
from ..errors import CotangentError
from ..forms import NUMBERS, Form, flatten, form_around, is_continuous, is_plain, unflatten
from ..structure import refused
from .captures.array_copies import same_bits
from .captures.generators import generator_states, same_states, set_generators
from .contract import Engine

#: Python's complex numbers, which the core records as arrays without dimensions.
PAIRS = (complex, ComplexDual)
#: The classes of the leaves of the arguments and of the result of a call.
Classes = tuple[list[type], list[type]]


class Derivative(Protocol):
    """The derivative of one call, on structures."""

    def pull(self, cotangent: Any) -> Any:
        """Return the cotangents of the arguments as a tuple; None stands for a zero cotangent."""

    def push(self, tangents: tuple[Any, ...]) -> Any:
        """Return the tangent of the result."""


#: Repeats a recorded call at other plain arguments, which it may keep, for a replay of the program that made it: gives
#: the result and the derivative, or None if the program must run. A derivative has it as an attribute `again` if the
#: call can be repeated. A method `join` shares the recordings of another recording of the same call.
Again = Callable[[tuple[Any, ...]], tuple[Any, Derivative] | None]


@dataclass(slots=True, eq=False, repr=False)
class FlatRule:
    """Adapts a `Derivative` to the core, which handles lists of leaves only."""

    derivative: Derivative
    arguments: Form
    result: Form
    classes: Classes
    name: str
    repeated: Repeated | None = None

    def bind(self, outward: Callable[[Any], Any]) -> None:
        """Store the values that the derivative's functions captured at the time of the call."""
        bind = getattr(self.derivative, "bind", None)
        if bind is not None:
            bind(outward)

    def pull(self, cotangents: list[Any]) -> list[Any]:
        """Map cotangents of the result's leaves to cotangents of the arguments' leaves; None stands for zero."""
        found = self.derivative.pull(filled(self.result, cotangents, self.classes[1]))
        return parts_by_argument(self.arguments, found, f"cotangents that {self.name}'s rule returned")

    def push(self, tangents: list[Any]) -> list[Any]:
        """Map tangents of the arguments' leaves to tangents of the result's leaves; None stands for zero."""
        tangent = self.derivative.push(filled(self.arguments, tangents, self.classes[0]))
        return self.result.parts(tangent, f"tangent that {self.name}'s rule returned")


class Repeated:
    """Adapts an `Again` to the core, which handles lists of leaves only."""

    __slots__ = ("_arguments", "_pairs", "_result", "again", "name")

    def __init__(self, again: Again, arguments: Form, pairs: set[int], result: Form, name: str) -> None:
        self.name = name
        self.again = again
        self._arguments = arguments
        self._pairs = pairs
        self._result = result

    def __call__(self, values: list[Any]) -> list[Any]:
        """Return the leaves of the result, and the rule; nothing if the program must run."""
        own = [value.copy("K") if type(value) is np.ndarray else value for value in values]  # overwritten later
        given, states = with_pairs(own, self._pairs), generator_states()
        answer = self.again(unflatten(self._arguments.steps, given))
        if not same_states(states, generator_states()):
            set_generators(states)
            return []
        if answer is None or not all(x is y or same_bits(x, y) for x, y in zip(own, values, strict=True)):
            return []
        results, steps = flatten(self._result.structures, answer[0])
        if steps != self._result.steps:
            return []
        classes = list(map(type, given)), list(map(type, results))
        return [*map(as_array, results), FlatRule(answer[1], self._arguments, self._result, classes, self.name)]

    def join(self, other: Repeated) -> None:
        """Share the recordings of another recording of the same call."""
        if hasattr(self.again, "join"):
            self.again.join(other.again)


def with_pairs(values: list[Any], pairs: set[int]) -> list[Any]:
    """Leaves as the program had them: some arrays without dimensions were complex numbers."""
    return [as_python(value) if k in pairs else value for k, value in enumerate(values)]


def filled(form: Form, leaves: list[Any], classes: list[type]) -> Any:
    """Build a structure from leaves, with zeros where a leaf is None; numbers have the classes of their values."""
    whole = [
        of_class(space.zeros() if leaf is None else leaf, cls) if space is not None else leaf
        for leaf, space, cls in zip(leaves, form.spaces, classes, strict=True)
    ]
    return unflatten(form.steps, whole)


def of_class(tangent: Any, cls: type) -> Any:
    """The tangent of a number as a number of the class that the program's value has.

    A rule may then use it as the value: ``cotangent[..., None]`` is right for numpy's numbers, not for Python's.
    """
    is_number = type(tangent) is float or (type(tangent) is np.ndarray and not tangent.ndim)
    return cls(tangent) if is_number and issubclass(cls, (float, complex, np.inexact)) else tangent


def parts_by_argument(form: Form, found: Any, what: str) -> list[Any]:
    """The leaves of a tuple of cotangents, in which a whole entry may be None."""
    is_flat = len(form.steps) == len(form.spaces) + 1
    if is_flat and type(found) is tuple and NUMBERS.issuperset(map(type, found)) and form.takes(found):
        return list(found)
    pieces = split_tuple(form)
    if not isinstance(found, (tuple, list)) or len(found) != len(pieces):
        raise CotangentError(f"the {what} must be a tuple of {len(pieces)}, of the form {form}, not {found!r}")
    leaves: list[Any] = []
    for k, (piece, value) in enumerate(zip(pieces, found, strict=True)):
        own = f"part for argument {k} of the {what}"
        leaves.extend([None] * len(piece.spaces) if value is None else piece.parts(value, own))
    return leaves


def split_tuple(form: Form) -> list[Form]:
    """The forms of a tuple's entries."""
    if form.steps[-1] is not None and form.steps[-1][3] == 1:
        return [Form(form.structures, form.spaces, form.steps[:-1])]
    ends: list[int] = []  # a stack: the index after the last step of each structure
    starts: list[int] = []
    for position, step in enumerate(form.steps[:-1]):
        count = 0 if step is None else step[3]
        start = starts[len(starts) - count] if count else position
        del starts[len(starts) - count :], ends[len(ends) - count :]
        starts.append(start)
        ends.append(position + 1)
    pieces, taken = [], 0
    for start, end in zip(starts, ends, strict=True):
        steps = form.steps[start:end]
        leaves = sum(step is None for step in steps)
        pieces.append(Form(form.structures, form.spaces[taken : taken + leaves], steps))
        taken += leaves
    return pieces


def check_leaves(engine: Engine, leaves: list[Any], name: str) -> None:
    """Refuse a result that may hide numbers from the engine: a generator, a closure, an object of an unknown class."""
    for leaf in leaves:
        if type(leaf) in NUMBERS:
            continue
        known = is_continuous(leaf) or engine.structures.is_discrete(leaf) or isinstance(leaf, (np.ndarray, np.generic))
        if not known or not is_plain(leaf) or (callable(leaf) and not isinstance(leaf, type)):
            raise refused(type(leaf), name, "returned", "Return")


def call_with_rule(
    engine: Engine,
    args: tuple[Any, ...],
    run: Callable[[tuple[Any, ...]], tuple[Any, Derivative]],
    name: str,
) -> tuple[bool, Any]:
    """Call a function of structures that has its own derivative rule.

    Parameters
    ----------
    engine : Engine
    args : tuple
        The arguments; their leaves may be traced.
    run : callable
        ``run(args) -> (result, derivative)``. It receives the arguments as values of the enclosing trace.
    name : str
        The function's name, for errors.

    Returns
    -------
    traced, result
        Whether an argument is traced. If none is, `run` is not called.
    """
    leaves, steps = flatten(engine.structures, args)
    pairs = {k for k, leaf in enumerate(leaves) if type(leaf) is ComplexDual}
    made: list[Any] = []

    def on_leaves(values: list[Any]) -> tuple[list[Any], FlatRule]:
        given = with_pairs(values, pairs)
        try:
            result, derivative = run(unflatten(steps, given))
        except Exception as error:
            carry(error, name)
            raise
        results, out = flatten(engine.structures, result)
        check_leaves(engine, results, name)
        made.extend((out, [type(leaf) in PAIRS for leaf in results], values + results))
        classes = list(map(type, given)), list(map(type, results))
        results = list(map(as_array, results))
        arguments, form = form_around(engine.structures, values, steps), form_around(engine.structures, results, out)
        again: Again | None = getattr(derivative, "again", None)
        repeated = None if again is None else Repeated(again, arguments, pairs, form, name)
        return results, FlatRule(derivative, arguments, form, classes, name, repeated)

    results = call(on_leaves, list(map(as_array, leaves)))
    if results is None:
        return False, None
    out, are_pairs, values = made
    refuse_shared(values, leaves + results, len(leaves))
    return True, unflatten(out, [as_python(x) if pair else x for x, pair in zip(results, are_pairs, strict=True)])


def refuse_shared(values: list[Any], made: list[Any], first: int) -> None:
    """Refuse writes to results, from `first` on, that share memory, and to what they share it with."""
    places = [place(x, k, made[k]) for k, x in enumerate(values) if type(x) in (np.ndarray, Array)]
    for pair in overlapping(places):
        if any(number >= first for _, _, number, _, _ in pair):
            for *_, array in pair:
                refuse_writes(array)


def as_array(leaf: Any) -> Any:
    """A leaf as the core records it: a traced complex number is an array without dimensions."""
    return leaf._array() if type(leaf) is ComplexDual else leaf
