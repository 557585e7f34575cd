"""Calls that are run again later for their derivative: the same program, or an error.

A `Repeatable` binds what a call captures (`captures`), keeps the states of the global random generators, and the bits
of its value. A later run starts from the same, and its value is compared to the last bit.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeengine._core.arrays.array import Array
from tapeengine._core.sweeps.trace import value_of
from tapeengine.errors import DroppedDerivativeError, RepeatError, TraceError
from tapeengine.structure import Structures
from tapeengine.transforms.captures import Snapshot, same_bits
from tapeengine.transforms.effects import Effects
from tapeengine.transforms.forms import flatten, is_traced, unflatten
from tapeengine.transforms.generators import States, generator_states, same_states, set_generators

if TYPE_CHECKING:
    from tapeengine.transforms.contract import Engine

__all__ = [
    *("FirstRun", "Moment", "Outcome", "Places", "Repeatable", "Unwritten"),
    *("called", "frozen", "not_repeatable", "paths", "plain", "read_only", "restored"),
]

#: Arrays of up to so many bytes are kept, so that a difference can be told to the element; of larger ones a digest is.
KEPT_BYTES = 1 << 16


# -- random numbers ---------------------------------------------------------------------------------------------------
class Guard:
    """The program's own states of the global generators, while calls in any thread are run again."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.running = 0
        self.program: States = (None, None)

    @contextmanager
    def restored(self, states: States | None) -> Iterator[None]:
        """Run with the generators in given states; afterwards they are as the program left them."""
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


#: The states of the global generators and of those that a call captures.
Moment = tuple[States, list[Any]]


class Places:
    """Where generators of random numbers are: the global ones, and those that a call captures.

    Parameters
    ----------
    generators : sequence
        The captured ones.
    draws : bool
        Whether the call draws from the global ones. Where it draws from none at all, nothing is looked at.
    """

    def __init__(self, generators: Sequence[Any], draws: bool = True) -> None:
        self.generators = generators
        self.draws = draws

    def here(self) -> Moment:
        """Where they are now."""
        states = generator_states() if self.draws else (None, None)
        return states, [_state(generator) for generator in self.generators]

    def resume(self, moment: Moment) -> None:
        """Put them where they were at a moment."""
        if self.draws:
            set_generators(moment[0])
        for generator, state in zip(self.generators, moment[1], strict=True):
            _set_state(generator, state)


def _state(generator: Any) -> Any:
    if isinstance(generator, np.random.RandomState):
        return generator.get_state(legacy=False)
    if hasattr(generator, "getstate"):
        return generator.getstate()
    return getattr(generator, "bit_generator", generator).state


def _set_state(generator: Any, state: Any) -> None:
    if isinstance(generator, np.random.RandomState):
        generator.set_state(state)
    elif hasattr(generator, "setstate"):
        generator.setstate(state)
    else:
        getattr(generator, "bit_generator", generator).state = state


# -- values -----------------------------------------------------------------------------------------------------------
class Outcome:
    """The bits of a value: of each leaf the number itself, or a digest where it is a large array.

    Examples
    --------
    >>> outcome = Outcome(Structures(), {"loss": [1.0, 2.0]})
    >>> outcome.difference({"loss": [1.0, 2.5]})
    "value['loss'][1] was 2.0 and is 2.5"
    """

    __slots__ = ("leaves", "steps", "structures")

    def __init__(self, structures: Structures, value: Any) -> None:
        leaves, steps = flatten(structures, value)
        self.structures = structures
        self.steps = [step if step is None else (step[0], step[3]) for step in steps]
        self.leaves = [_kept(leaf) for leaf in leaves]

    def difference(self, value: Any) -> str:
        """What differs first in another value, with its path; empty where nothing does."""
        leaves, steps = flatten(self.structures, value)
        if [step if step is None else (step[0], step[3]) for step in steps] != self.steps:
            return "the value has another structure"
        for k, (was, leaf) in enumerate(zip(self.leaves, leaves, strict=True)):
            now = _kept(leaf)
            if not _same(was, now):
                return _told(paths(self.structures, "value", value)[k], was, now)
        return ""


def _kept(leaf: Any) -> Any:
    """What a leaf is compared by: a plain number, or (dtype, shape, numbers or digest) of an array."""
    if type(leaf) is float:
        return leaf
    value = plain(leaf)
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


def _told(path: str, was: Any, now: Any) -> str:
    """One difference in words; in an array kept whole, its first element that differs."""
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
    """How each leaf of a structure is written, from left to right."""
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


def plain(value: Any) -> Any:
    """The plain number or array of a leaf, whatever traces it belongs to."""
    while is_traced(value):
        value = value_of(value)
    return value


# -- what a run leaves behind ------------------------------------------------------------------------------------------
def frozen(value: Any) -> Any:
    """A traced array as a view that cannot be written to; any other value as it is."""
    return np.broadcast_to(value, value.shape) if type(value) is Array else value


@contextmanager
def read_only(values: Iterable[Any], name: str) -> Iterator[None]:
    """Say what a write to one of the `values` means that `frozen` made read-only."""
    try:
        yield
    except ValueError as error:
        refuse_writes(error, values, name)
        raise


def refuse_writes(error: BaseException | None, values: Iterable[Any], name: str) -> None:
    """Raise what a write to a `frozen` value means, if this error may be one; other arrays may be read-only too."""
    if isinstance(error, ValueError) and "read-only" in str(error) and any(type(value) is Array for value in values):
        raise _lost(name) from error


def _lost(name: str) -> DroppedDerivativeError:
    return DroppedDerivativeError(
        f"what {name} writes into arrays and objects that it captures or is given would have no derivative, because it "
        "is run apart from the rest of the program. Return it instead, and copy an array before you write into it"
    )


class Unwritten:
    """Arrays that a function is given, which it must not write to: they are copies of the program's own."""

    __slots__ = ("_pairs",)

    def __init__(self, values: Sequence[Any]) -> None:
        arrays = [value for value in values if isinstance(value, np.ndarray) and value.flags.writeable]
        self._pairs = [(value, value.copy(order="K")) for value in arrays]

    def check(self, name: str) -> None:
        """Refuse a function that has written to one."""
        if not all(same_bits(value, before) for value, before in self._pairs):
            raise _lost(name)


class FirstRun:
    """A run of what a snapshot holds, for its value, on the program's own objects.

    What it writes there is as in the plain program where it does not depend on the values that were lifted out.

    Parameters
    ----------
    engine : Engine
    snapshot : Snapshot
    values : sequence
        Take the places of what the snapshot has lifted out; `also` are further leaves that the run is given.
    name : str
        For errors.

    Attributes
    ----------
    bound : object
        What is to be run.
    """

    __slots__ = ("_done", "_given", "_name", "_seen", "bound", "engine", "snapshot", "values")

    def __init__(
        self, engine: Engine, snapshot: Snapshot, values: Sequence[Any], name: str, also: Sequence[Any] = ()
    ) -> None:
        self.engine, self.snapshot, self.values = engine, snapshot, values
        self._done: dict[int, Any] = {}
        self._name = name
        self._seen = (*values, *also)
        self._given = Unwritten(self._seen)
        self.bound = snapshot.around(list(map(frozen, values)), self._done)

    def __enter__(self) -> FirstRun:
        return self

    def __exit__(self, kind: Any, error: Any, where: Any) -> None:
        refuse_writes(error, self.values, self._name)

    def settle(
        self, again: Callable[[Sequence[Any], dict[int, Any]], Any], states: States | None, whole: bool = True
    ) -> None:
        """Refuse what would have a derivative, and write the rest into the objects that were made anew.

        `again` runs it once more, around other values and on copies of what it captures, and fills a dict with these.
        Where that is not the `whole` run, but one of the calls that a solver makes, the first run alone says which
        elements were moved.

        Raises
        ------
        DroppedDerivativeError
            Where it wrote into an array that it was given, or what depends on the values into what it captures.
        """
        self._given.check(self._name)
        left = self._left(self._done)
        if not left:
            return
        for shared in left.shared():
            raise not_repeatable(self._name, f"it writes into {shared!r}, of which later runs have no copy")
        sources = left.sources()
        is_discrete = self.engine.structures.is_discrete
        written = left.values()
        if self._seen and not all(is_discrete(value) and not callable(value) for value in written):
            self._look(left)
            if not any(map(is_traced, self._seen)):
                # Plain numbers do not say where they come from; traced ones do.
                found: list[Any] = []
                self.engine.vjp(lambda own: found.append(self._again(again, own, states)), list(self.values))
                if whole and [list(places) for places in sources] != [list(places) for places in found[0]]:
                    raise not_repeatable(self._name, "a later run writes into other places of what it captures")
                sources = found[0] if whole else sources
        if not left.write_on(sources):
            raise _lost(self._name)

    def _left(self, done: dict[int, Any]) -> Effects:
        return Effects(self.engine.structures, self.snapshot, done)

    def _again(self, again: Callable[..., Any], own: Sequence[Any], states: States | None) -> Any:
        done: dict[int, Any] = {}
        try:
            with restored(states):
                again(list(map(frozen, own)), done)
        except TraceError as error:  # a step reads what an earlier one has left, which depends on the values
            raise _lost(self._name) from error
        left = self._left(done)
        self._look(left)
        return left.sources()

    def _look(self, left: Effects) -> None:
        if Snapshot(self.engine.structures, left.fresh(), self.engine.copies, with_globals=False).captured:
            raise _lost(self._name)


# -- calls ------------------------------------------------------------------------------------------------------------
class Repeatable:
    """A call that can be run again, as a function of the traced values that it captures.

    Parameters
    ----------
    engine : Engine
    snapshot : Snapshot
        Of a tuple: the callable, its arguments and its keyword arguments.
    name : str
        For errors.

    Attributes
    ----------
    values : list
        The traced values that the call captures or is given.

    Examples
    --------
    >>> import tapeengine as te
    >>> factors = [2.0]
    >>> call = Repeatable.of(te.default_engine(), (lambda: factors[-1] * 5.0, (), {}), "product")
    >>> call.first([])
    10.0
    >>> factors.append(3.0)
    >>> call([])
    10.0
    """

    __slots__ = ("engine", "name", "outcome", "snapshot", "states", "values")

    def __init__(self, engine: Engine, snapshot: Snapshot, name: str) -> None:
        self.engine = engine
        self.name = name
        self.snapshot = snapshot
        self.values = snapshot.captured
        self.states: States | None = None
        self.outcome: Outcome | None = None

    @classmethod
    def of(cls, engine: Engine, call: tuple[Any, ...], name: str) -> Repeatable:
        """Make one of a call as it is now."""
        return cls(engine, Snapshot(engine.structures, call, engine.copies), name)

    def first(self, values: Sequence[Any]) -> Any:
        """Run the call for its value, on the program's own objects; see `FirstRun`."""
        before = generator_states()
        with FirstRun(self.engine, self.snapshot, values, self.name) as run:
            value = called(run.bound)
        if not same_states(before, generator_states()):
            self.states = before
        run.settle(lambda own, done: called(self.snapshot.again(own, done=done)), self.states)
        self.outcome = Outcome(self.engine.structures, value)
        return value

    def __call__(self, values: Sequence[Any]) -> Any:
        """Run the call again.

        Raises
        ------
        RepeatError
            Where the value is not that of the first run.
        """
        with read_only(values, self.name):
            value = self.again(list(map(frozen, values)))
        self.check(value, values)
        return value

    def again(self, values: Sequence[Any]) -> Any:
        """The value of another run, with the random numbers of the first."""
        with restored(self.states):
            try:
                return called(self.snapshot.again(values))
            except StopIteration as error:  # next() of an iterator that the first run took from
                raise not_repeatable(self.name, "a later run met the end of an iterator") from error

    def check(self, value: Any, values: Sequence[Any]) -> None:
        """Compare a value to the last bit with that of the first run."""
        if self.outcome is None or not self.outcome.difference(value):
            return
        # A traced program may round otherwise than the plain one did: that one decides.
        leaves, steps = flatten(self.engine.structures, list(values))
        bare = unflatten(steps, [plain(leaf) for leaf in leaves])
        difference = self.outcome.difference(self.again(bare))
        if difference:
            raise not_repeatable(self.name, difference)


def called(call: tuple[Callable[..., Any], Sequence[Any], dict[str, Any]]) -> Any:
    """The value of a call."""
    f, args, kwargs = call
    return f(*args, **kwargs) if kwargs else f(*args)


def not_repeatable(name: str, difference: str) -> RepeatError:
    """The error of a program that does not give the same value twice."""
    return RepeatError(
        f"{name} is run again for its derivative, and it does not give the same value twice: {difference}. "
        "It must depend on nothing but its arguments, what it captures, and random numbers of random, numpy.random or "
        "generators that it captures; not on iterators that it captures (give it a list, or the items as arguments), "
        "attributes of classes, files, clocks or what other threads change"
    )
