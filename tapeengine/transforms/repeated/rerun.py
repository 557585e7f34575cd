"""Calls that are run again for their derivative: they repeat exactly, or raise an error.

A `Repeatable` binds what a call captures (`captures`), and keeps the states of the global random generators and the
bits of the value. A later run starts from the same state, and its value must have the same bits.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from hashlib import blake2b
from typing import Any

import numpy as np

from ..._core.arrays.array import Array, is_number
from ..._core.sweeps.trace import value_unseen
from ...errors import DroppedDerivativeError, RepeatError, TapeEngineError, TraceError, pass_on
from ...forms import flatten, is_traced, map_leaves, outline
from ...structure import Structures
from ..captures.array_copies import same_bits
from ..captures.closures import Made, Snapshot
from ..captures.effects import Effects
from ..captures.generators import (
    States,
    generator_states,
    same_states,
    set_generators,
    set_state,
    state_of,
)
from ..contract import Engine

#: Arrays of up to this many bytes are kept, so that an error can name the element that differs; larger ones are hashed.
KEPT_BYTES = 1 << 16


# -- random numbers ---------------------------------------------------------------------------------------------------
class Guard:
    """The program's own states of the global generators, while calls in any thread run again."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.running = 0
        self.program: States = (None, None)

    @contextmanager
    def restored(self, states: States | None) -> Iterator[None]:
        """Run with the generators in the given states; afterwards restore the program's states."""
        if states is None:
            yield
            return
        with self.lock:
            before = generator_states()
            if self.running == 0:
                self.program = before
            self.running += 1
            set_generators(states)
        try:
            yield
        finally:
            with self.lock:
                self.running -= 1
                set_generators(before if self.running else self.program)


restored = Guard().restored


def reports_of_errors() -> dict[str, Any]:
    """numpy's reports of errors for later runs: they raise what the first run raises, which has made all warnings."""
    return {name: mode if mode in ("raise", "call") else "ignore" for name, mode in np.geterr().items()}


#: The states of the global generators and of the captured ones.
Moment = tuple[States, list[Any]]


class Places:
    """The positions of the random generators that a call captures, and of the global ones if it `draws` from them."""

    def __init__(self, generators: Sequence[Any], draws: bool = True) -> None:
        self.generators = generators
        self.draws = draws

    def here(self) -> Moment:
        """Return their present positions."""
        states = generator_states() if self.draws else (None, None)
        return states, [state_of(generator) for generator in self.generators]

    def resume(self, moment: Moment) -> None:
        """Set them to the positions of a moment."""
        if self.draws:
            set_generators(moment[0])
        for generator, state in zip(self.generators, moment[1], strict=True):
            set_state(generator, state)


# -- gradients of solvers ---------------------------------------------------------------------------------------------
class Repeated(threading.local):
    """The number of calls under way in this thread that run on plain values as well as on traced ones.

    Both runs must have the same bits, so solvers use the same gradients in them.
    """

    calls = 0

    def __enter__(self) -> None:
        self.calls += 1

    def __exit__(self, *error: object) -> None:
        self.calls -= 1


REPEATED = Repeated()


# -- values -----------------------------------------------------------------------------------------------------------
class Outcome:
    """The bits of a value: for each leaf the number itself, or a hash of a large array."""

    __slots__ = ("leaves", "steps", "structures")

    def __init__(self, structures: Structures, value: Any) -> None:
        leaves, steps = flatten(structures, value)
        self.structures = structures
        self.steps = outline(steps)
        self.leaves = [_kept(leaf) for leaf in leaves]

    def difference(self, value: Any) -> str:
        """Describe the first difference from another value, with its path; empty if there is none."""
        leaves, steps = flatten(self.structures, value)
        if outline(steps) != self.steps:
            return "the value has another structure"
        for k, (was, leaf) in enumerate(zip(self.leaves, leaves, strict=True)):
            now = _kept(leaf)
            if not _same(was, now):
                return _told(paths(self.structures, "value", value)[k], was, now)
        return ""


def _kept(leaf: Any) -> Any:
    """What a leaf is compared by: the plain number, or (dtype, shape, numbers or hash) of an array."""
    if type(leaf) is float:
        return leaf
    value = value_unseen(leaf)
    if isinstance(value, (np.ndarray, np.generic)) and not value.dtype.hasobject:
        array = np.asarray(value)
        if array.shape == () and array.dtype.kind in "fcbiu":
            return array.item()
        if array.nbytes <= KEPT_BYTES:
            return array.dtype, array.shape, array.tobytes()
        return array.dtype, array.shape, blake2b(np.ascontiguousarray(array).data, digest_size=16).hexdigest()
    return value if isinstance(value, (float, complex, int, str, bytes, bool, type(None))) else type(value)


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, (float, complex)) and isinstance(b, (float, complex)):
        return np.complex128(a).tobytes() == np.complex128(b).tobytes() or (a != a and b != b)
    return bool(a == b)


def beyond_rounding(structures: Structures, plain: Any, traced: Any) -> int:
    """The number, from 1, of the first leaf that differs by more than a traced run's rounding; 0 if none does."""
    (leaves, steps), (others, traced_steps) = (flatten(structures, value) for value in (plain, traced))
    if outline(steps) != outline(traced_steps):
        return 1
    pairs = enumerate(zip(leaves, others, strict=True), 1)
    return next((k for k, (a, b) in pairs if not _close(value_unseen(a), value_unseen(b))), 0)


def _close(a: Any, b: Any) -> bool:
    x, y = np.asarray(a), np.asarray(b)
    if x.dtype.kind not in "fc" or x.dtype != y.dtype or x.shape != y.shape:
        return _same(_kept(a), _kept(b))
    size = np.abs(x[np.isfinite(x)]).max(initial=0.0)
    return bool(np.isclose(x, y, 0.0, size * np.finfo(x.dtype).eps ** 0.6, equal_nan=True).all())


def _told(path: str, was: Any, now: Any) -> str:
    """Describe one difference; for an array that was kept, its first differing element."""
    if isinstance(was, tuple) and isinstance(now, tuple):
        if was[:2] != now[:2]:
            return f"{path} was {was[0]}{list(was[1])} and is {now[0]}{list(now[1])}"
        if isinstance(was[2], str):
            return f"{path} has other numbers"
        a, b = (np.frombuffer(x[2], x[0]).reshape(x[1]) for x in (was, now))
        place = np.argwhere((a != b) | (np.signbit(a.real) != np.signbit(b.real)))
        index = tuple(map(int, place[0])) if len(place) else ()
        return f"{path}[{', '.join(map(str, index))}] was {a[index].item()!r} and is {b[index].item()!r}"
    return f"{path} was {was!r} and is {now!r}"


def paths(structures: Structures, root: str, value: Any) -> list[str]:
    """The path of each leaf of a structure as Python writes it, from left to right."""
    found: list[str] = []
    pending: list[tuple[str, Any]] = [(root, value)]
    while pending:
        path, item = pending.pop()
        children = structures.named(item)
        if children is None:
            found.append(path)
        else:
            pending.extend((path + name, child) for name, child in reversed(children))
    return found


# -- what a run leaves behind ------------------------------------------------------------------------------------------
def frozen(value: Any) -> Any:
    """A read-only view of a traced array; any other value, also a number of numpy's, unchanged."""
    return np.broadcast_to(value, value.shape) if type(value) is Array and not is_number(value) else value


@contextmanager
def read_only(values: Iterable[Any], name: str) -> Iterator[None]:
    """Turn errors of writes to `values`, which `frozen` made read-only, into errors that say why."""
    try:
        yield
    except ValueError as error:
        refuse_writes(error, values, name)
        raise


def refuse_writes(error: BaseException | None, values: Iterable[Any], name: str) -> None:
    """Raise the error that explains a write to a `frozen` value, if this error may be one; others stay unchanged."""
    if isinstance(error, ValueError) and "read-only" in str(error) and any(type(value) is Array for value in values):
        raise _lost(name) from error


def _lost(name: str) -> DroppedDerivativeError:
    return DroppedDerivativeError(
        f"what {name} writes into arrays and objects that it captures or is given would have no derivative, because it "
        "is run apart from the rest of the program. Return it instead, and copy an array before you write into it"
    )


def _is_same(now: Any, was: Any) -> bool:
    if now is was or (type(now) is type(was) and isinstance(now, (float, complex)) and now == was):
        return True
    a, b = value_unseen(now), value_unseen(was)  # some containers give a new array each time
    return isinstance(a, (np.ndarray, np.generic)) and isinstance(b, (np.ndarray, np.generic)) and same_bits(a, b)


class Unwritten:
    """What is given to a function that must not write to it: containers, and arrays, which are compared with copies."""

    __slots__ = ("_before", "_structures", "_value")

    def __init__(self, structures: Structures, value: Any, arrays: bool = True) -> None:
        leaves, steps = flatten(structures, value)
        if arrays:
            leaves = [x.copy(order="K") if isinstance(x, np.ndarray) and x.flags.writeable else x for x in leaves]
        self._structures, self._value, self._before = structures, value, (leaves, steps)

    def check(self, name: str) -> None:
        """Refuse a function that wrote to one of these arrays or containers."""
        leaves, steps = flatten(self._structures, self._value)
        if steps != self._before[1] or not all(map(_is_same, leaves, self._before[0])):
            raise _lost(name)


class FirstRun:
    """A run of a snapshot's callable for its value, on the program's own objects.

    Its writes there are those of the plain program if they do not depend on the lifted values. `values` replace the
    leaves that the snapshot lifted out, and `also` are further leaves that the run, of the callable `bound`, is given.
    """

    __slots__ = ("_done", "_given", "_name", "_seen", "_undone", "bound", "engine", "left_behind", "snapshot", "values")

    def __init__(
        self, engine: Engine, snapshot: Snapshot, values: Sequence[Any], name: str, also: Sequence[Any] = ()
    ) -> None:
        self.engine, self.snapshot, self.values = engine, snapshot, values
        self._done: dict[int, Any] = {}
        self._name = name
        self._seen = (*values, *also)
        self._given = Unwritten(engine.structures, self._seen)
        self._undone: frozenset[int] = frozenset()
        self.bound = snapshot.around(list(map(frozen, values)), self._done)

    def __enter__(self) -> FirstRun:
        return self

    def __exit__(self, kind: Any, error: Any, where: Any) -> None:
        refuse_writes(error, self.values, self._name)
        if error is None:
            self.left_behind = self._left(self._done)
            self.snapshot.written = self.left_behind.written | self._undone

    def look(self) -> None:
        """Note what the run has written so far, which it may undo before it ends."""
        self._undone |= self._left(self._done).written

    def settle(
        self, again: Callable[[Sequence[Any], dict[int, Any]], Any], states: States | None, whole: bool = True
    ) -> bool:
        """Refuse writes that would have a derivative, and apply the others to the program's own objects.

        `again` repeats the run with other values, on copies of the captured objects, which it adds to a dict. If it
        repeats one of a solver's calls instead of the `whole` run, the first run alone decides which elements moved.
        Returns whether there were any.

        Raises
        ------
        DroppedDerivativeError
            If the run wrote to an array that it was given, or wrote values that depend on the lifted ones.
        """
        self._given.check(self._name)
        left = self.left_behind
        if not left:
            return False
        for shared in left.shared():
            raise not_repeatable(self._name, f"it writes into {shared!r}, of which later runs have no copy")
        sources = left.sources()
        is_discrete = self.engine.structures.is_discrete
        written = left.values()
        if self._seen and not all(is_discrete(value) and not callable(value) for value in written):
            self._look(left)
            if not any(map(is_traced, self._seen)):
                # The sources of plain numbers are unknown; those of traced numbers are known.
                found: list[Any] = []
                self.engine.vjp(lambda own: found.append(self._again(again, own, states)), list(self.values))
                if whole and [list(places) for places in sources] != [list(places) for places in found[0]]:
                    raise not_repeatable(self._name, "a later run writes into other places of what it captures")
                sources = found[0] if whole else sources
        if not left.write_on(sources):
            raise _lost(self._name)
        return True

    def _left(self, done: dict[int, Any]) -> Effects:
        return Effects(self.engine.structures, self.snapshot, done)

    def _again(self, again: Callable[..., Any], own: Sequence[Any], states: States | None) -> Any:
        done: dict[int, Any] = {}
        try:
            with restored(states):
                again(list(map(frozen, own)), done)
        except TraceError as error:  # a step reads what an earlier one wrote, which depends on the values
            raise _lost(self._name) from error
        left = self._left(done)
        self._look(left)
        return left.sources()

    def _look(self, left: Effects) -> None:
        if Snapshot(self.engine.structures, left.fresh(), self.engine.copies, with_globals=False).captured:
            raise _lost(self._name)


def without_effects(
    structures: Structures, snapshot: Snapshot, values: Sequence[Any], run: Callable[[Any], Any]
) -> Any:
    """Run what a snapshot holds, on copies of all that can change; return None if it has written into them."""
    made, done = Made(), dict[int, Any]()
    made.copied = snapshot.to_copy(every=True)
    with REPEATED:
        found = run(snapshot.again(values, made, done))
    return None if Effects(structures, snapshot, done).written else found


# -- calls ------------------------------------------------------------------------------------------------------------
class Repeatable:
    """A call that can be run again, as a function of the traced values that it captures or is given.

    The snapshot is of a tuple: the callable, its arguments and its keyword arguments. `has_effects` is whether the
    first run drew random numbers, or wrote into what it captures.
    """

    __slots__ = ("engine", "has_effects", "name", "outcome", "reports", "snapshot", "states", "values")

    def __init__(self, engine: Engine, snapshot: Snapshot, name: str) -> None:
        self.engine = engine
        self.name = name
        self.snapshot = snapshot
        self.values = snapshot.captured
        self.states: States | None = None
        self.reports = reports_of_errors()
        self.outcome: Outcome | None = None
        self.has_effects = False

    @classmethod
    def of(cls, engine: Engine, call: tuple[Any, ...], name: str) -> Repeatable:
        """Make one from a call in its present state."""
        return cls(engine, Snapshot(engine.structures, call, engine.copies), name)

    def first(self, values: Sequence[Any]) -> Any:
        """Run the call for its value, on the program's own objects; see `FirstRun`."""
        before = generator_states()
        here = REPEATED if self.values else nullcontext()
        with FirstRun(self.engine, self.snapshot, values, self.name) as run, here:
            value = called(run.bound)
        if not same_states(before, generator_states()):
            self.states = before
        wrote = run.settle(lambda own, done: called(self.snapshot.again(own, done=done)), self.states)
        self.has_effects = wrote or self.states is not None
        self.outcome = Outcome(self.engine.structures, value)
        return value

    def __call__(self, values: Sequence[Any]) -> Any:
        """Run the call again.

        Raises
        ------
        RepeatError
            If the value differs from that of the first run.
        """
        with read_only(values, self.name):
            value = self.again(list(map(frozen, values)))
        self.check(value, values)
        return value

    def again(self, values: Sequence[Any]) -> Any:
        """Return the value of another run, with the random numbers and the `numpy.errstate` of the first."""
        plain = lambda: called(self.snapshot.again(self._bare(values)))  # noqa: E731
        with np.errstate(**self.reports), restored(self.states), repeating(self.name, plain):
            return called(self.snapshot.again(values))

    def check(self, value: Any, values: Sequence[Any]) -> None:
        """Require that a value has the bits of the first run's value."""
        if self.outcome is None or not self.outcome.difference(value):
            return
        # A traced program may round differently from the plain one; the plain one decides only about such differences.
        plain = self.again(self._bare(values))
        difference = self.outcome.difference(plain)
        if beyond_rounding(self.engine.structures, plain, value):
            difference = difference or self.outcome.difference(value)
        if difference:
            raise not_repeatable(self.name, difference)

    def _bare(self, values: Sequence[Any]) -> list[Any]:
        return map_leaves(self.engine.structures, value_unseen, list(values))  # type: ignore[no-any-return]


@contextmanager
def repeating(name: str, plain: Callable[[], Any]) -> Iterator[None]:
    """Say of an error of a later run that the first run did not raise it, unless a `plain` run does not either."""
    try:
        with REPEATED:
            yield
    except TapeEngineError:
        raise
    except Exception as error:
        pass_on(error)
        try:
            plain()
        except Exception:
            raise not_repeatable(name, f"a later run raises {error!r}") from error
        raise


def called(call: tuple[Callable[..., Any], Sequence[Any], dict[str, Any]]) -> Any:
    """The value of a call."""
    f, args, kwargs = call
    return f(*args, **kwargs) if kwargs else f(*args)


def not_repeatable(name: str, difference: str) -> RepeatError:
    """The error for a program that does not return the same value twice."""
    return RepeatError(
        f"{name} is run again for its derivative, and it does not give the same value twice: {difference}. "
        "It may depend only on its arguments, what it captures, and random numbers of random, numpy.random or captured "
        "generators; not on captured iterators (pass a list, or the items as arguments), attributes of classes, files, "
        "clocks or what other threads change"
    )
