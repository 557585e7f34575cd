"""`iterate`: n equal steps whose reverse pass stores few states."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import count
from typing import Any

import numpy as np

from ..._core.scalars.scalar import Dual
from ..._core.sweeps.trace import value_unseen
from ..._core.tape.tape import outside
from ...errors import RepeatError, StructureError, TraceError, UnsupportedError
from ...forms import add, flatten, form_of, holds_traced, map_leaves
from ..calls import Again, Derivative, call_with_rule
from ..captures.closures import Made, Snapshot
from ..captures.generators import generator_states, same_states
from ..contract import Engine
from ..programs import for_values
from ..progress import Progress, told
from ..transformed import check_program, whole
from .passed_states import Comparison, PassedStates, hashes, sketch
from .recorded_tasks import RecordedFunction
from .rerun import (
    REPEATED,
    FirstRun,
    Places,
    Unwritten,
    beyond_rounding,
    frozen,
    not_repeatable,
    paths,
    read_only,
    repeating,
    reports_of_errors,
    restored,
    without_effects,
)
from .treeverse import Chain

Step = Callable[[Any], Any]

NAME = "the step of iterate"
HIDDEN = (
    f"{NAME} uses a traced value that is neither in its state nor in its closure, such as one in an attribute of a "
    "class. Make it a part of the state, or capture it as a local variable"
)


def iterate(engine: Engine, step: Step, n: int, x: Any, checkpoints: int, progress: Progress | None = None) -> Any:
    """See `Engine.iterate`."""
    check_program("iterate", step, "({}, n, x)")
    n, checkpoints = whole("iterate(step, n, x)", "n", n, 0), whole("iterate", "checkpoints", checkpoints)
    steps = Steps(engine, step, n, checkpoints, progress)
    traced, result = call_with_rule(engine, (steps.snapshot.captured, x), steps.called, "iterate")
    if traced:
        return result
    step = for_values(engine, step)
    for _ in steps.shown(range(n), "value"):
        x = step(x)
    return x


def _check(engine: Engine, start: Any, final: Any) -> None:
    """Refuse steps that change the state's form, and traced values that the engine cannot find."""
    before, after = form_of(engine.structures, start), form_of(engine.structures, final)
    if before != after:
        raise StructureError(f"the step of iterate must keep the state's form {before}; it returned {after}")
    if holds_traced(engine.structures, final):
        raise UnsupportedError(HIDDEN)


class Steps:
    """The steps of one call: the values that they capture, and the hashes of the states that they passed."""

    def __init__(self, engine: Engine, step: Step, n: int, checkpoints: int, progress: Progress | None = None) -> None:
        self.engine = engine
        self.n = n
        self.checkpoints = checkpoints
        self.progress = progress
        self.snapshot = Snapshot(engine.structures, step, engine.copies)
        self.passed = PassedStates(n)
        self.sketches: dict[int, Any] = {}  # of a later plain run
        self.draws = False  # from the global generators
        self.begin = Places(self.snapshot.generators).here()
        self.reports = reports_of_errors()

    @contextmanager
    def resumed(self) -> Iterator[None]:
        """Run steps again with the global generators and the `numpy.errstate` of the first run."""
        with np.errstate(**self.reports), restored(self.begin[0] if self.draws else None):
            yield

    def shown(self, steps: range, passed: str) -> Iterable[int]:
        """Report the steps of a pass as they are done."""
        return steps if self.progress is None else self.progress(steps, total=self.n, desc=f"iterate: {passed}")

    def called(self, args: tuple[Any, ...]) -> tuple[Any, Derivative]:
        """Run the steps; if an enclosing trace follows the values, leave a record there as well."""
        traced, result = call_with_rule(self.engine, args, self.called, "iterate")
        if traced:
            return result, Reversal(self, args, None)
        try:
            chain = outside(self.first, *args)  # lifted steps make their constants on a trace of this thread
        except TraceError as error:
            if "its trace has ended" not in str(error):
                raise
            raise UnsupportedError(HIDDEN) from error
        return chain.final, Reversal(self, args, chain)

    def checked(self, step: Step) -> Step:
        """A step that must not write to its state, and whose result is kept as a hash."""

        def passed(state: Any) -> Any:
            given = None if type(state) is float else Unwritten(self.engine.structures, state, arrays=False)
            state = step(state)
            if given is not None:
                given.check(NAME)
            self.passed.add(hashes(self.engine.structures, state))
            return state

        return passed

    def first(self, values: list[Any], start: Any) -> Chain:
        """Run the steps for their value, on the program's own objects."""

        def noted(state: Any) -> Any:
            state = passed(state)
            k = next(done)
            if not k & (k - 1):
                run.look()
            if tell is not None:
                tell(1)
            return state

        leaves, done = flatten(self.engine.structures, start)[0], count(1)
        with (
            FirstRun(self.engine, self.snapshot, values, NAME, leaves) as run,
            told(self.progress, self.n, "iterate: value") as tell,
            REPEATED,
        ):
            passed = self.checked(for_values(self.engine, run.bound))
            chain = Chain(noted, self.n, self.checkpoints, start, Places(self.snapshot.generators))
        _check(self.engine, start, chain.final)
        self.draws = not same_states(self.begin[0], generator_states())
        self.takes = any(len(now) < len(node.keys) for node, now in run.left_behind.changed)
        self.renewed = self.snapshot.renewed
        if self.renewed or self.takes:  # then the program may write to the state that it gets
            self.final = map_leaves(self.engine.structures, copy.copy, chain.final)
        wrote = run.settle(self._traced_steps(start), self.begin[0] if self.draws else None)
        self.has_effects = wrote or self.draws or bool(self.renewed or self.takes or self.snapshot.generators)
        return chain

    def _traced_steps(self, start: Any) -> Callable[..., Any]:
        """A function that runs the steps again, each traced in all its values on its own tape."""

        def again(values: Sequence[Any], done: dict[int, Any]) -> None:
            step = self.snapshot.again(values, done=done)
            state = start
            for _ in range(self.n):
                state = self.engine.vjp(lambda s: step(s), state)[0]

        return again

    def again(self, values: Sequence[Any], made: Made) -> Step:
        """The step for a later run: what steps write to is as it was before the first one."""
        if self.takes and self.n > 1:
            raise not_repeatable(NAME, "it takes items out of what it captures, and later runs are of single steps")
        for number in self.renewed:
            made.pop(number, None)
        step: Step = self.snapshot.again(values, made)
        return step

    def places(self, made: Made) -> Places | None:
        """The generators of a later run; None if the steps draw from none."""
        generators = self.snapshot.generators_in(made)
        return Places(generators, self.draws) if self.draws or generators else None

    def check(self, made: Made) -> None:
        """Require that later runs changed no object that they share with the program."""
        if made.copied != self.snapshot.to_copy():
            raise not_repeatable(NAME, "a step writes into what it captures, and a later one undoes that")

    def refuse(self, state: Any, k: int, position: int) -> None:
        """Raise the error that the k-th leaf of the state differs after a step, or within its block of steps."""
        path, block = paths(self.engine.structures, "state", state)[k - 1], self.passed.steps_of(position)
        after = f"step {block[0] + 1}" if len(block) == 1 else f"one of the steps {block[0] + 1} to {block[-1] + 1}"
        raise not_repeatable(NAME, f"{path} differs after {after}")


class Reversal:
    """The derivative of the steps with respect to their captured values and the first state."""

    __slots__ = ("args", "chain", "steps", "vjp")
    runs_again = True

    def __init__(self, steps: Steps, args: tuple[Any, ...], chain: Chain | None, vjp: Any = None) -> None:
        self.steps = steps
        self.args = args
        self.chain = chain
        self.vjp = steps.engine.vjp if vjp is None else vjp

    @property
    def again(self) -> Again | None:
        """What repeats the steps in a replay; None if their first run had effects."""
        if self.chain is None or self.steps.has_effects or self.steps.progress is not None:
            return None
        return partial(self._repeated, RecordedFunction(self.steps.engine).vjp)

    def _repeated(self, vjp: Any, args: tuple[Any, ...]) -> tuple[Any, Reversal] | None:
        steps, (values, start) = copy.copy(self.steps), args
        steps.passed, steps.sketches = PassedStates(steps.n), {}

        def run(step: Step) -> Chain:
            return Chain(steps.checked(step), steps.n, steps.checkpoints, start)

        chain = without_effects(steps.engine.structures, steps.snapshot, values, run)
        return None if chain is None else (chain.final, Reversal(steps, args, chain, vjp))

    def pull(self, cotangent: Any) -> Any:
        """Reverse the steps."""

        def at_once() -> tuple[Any, Any]:
            final, back = self.steps.engine.vjp(self._whole, *self.args)
            return final, back(cotangent)

        return self._either(partial(self._pull, cotangent), at_once)

    def push(self, tangents: tuple[Any, ...]) -> Any:
        """Run the steps with tangents."""
        return self._either(
            partial(self._push, tangents), lambda: self.steps.engine.jvp(self._whole, self.args, tangents)
        )

    def _either(self, by_steps: Callable[[Made], Any], at_once: Callable[[], Any]) -> Any:
        """Run single steps; if they read what earlier ones wrote into captured objects, all of them on one tape."""
        steps, made = self.steps, Made()
        try:
            return by_steps(made)
        except RepeatError:
            if not (steps.renewed or steps.takes):
                raise
            if made.copied is not None:
                steps.check(made)
            with steps.resumed(), REPEATED:
                final, found = at_once()
            if beyond_rounding(steps.engine.structures, steps.final, final):
                raise
        return found

    def _whole(self, values: list[Any], state: Any) -> Any:
        """All steps, on one copy of all that they capture."""
        made, snapshot = Made(), self.steps.snapshot
        made.copied = snapshot.to_copy(every=True)
        step = snapshot.again(list(map(frozen, values)), made)
        with read_only(values, NAME):
            for _ in range(self.steps.n):
                state = step(map_leaves(self.steps.engine.structures, frozen, state))
        return state

    def _pull(self, cotangent: Any, made: Made) -> Any:
        """Reverse the steps, each on its own tape."""
        steps, (values, start) = self.steps, self.args
        steps.again(values, made)
        step = partial(self._step(made), values)
        places = steps.places(made)
        total: Any = None

        comparison = Comparison(steps.passed)

        def undo(state: Any, position: int) -> None:
            nonlocal cotangent, total
            after, back = self.vjp(self._step(made), values, state)
            self._check(comparison, after, position)
            given, cotangent = back(cotangent)
            if values:
                total = given if total is None else add(steps.engine.structures, total, given)

        with steps.resumed(), repeating(NAME, partial(self._plain, made)):
            if places is not None:
                places.resume(steps.begin)
            chain = self.chain or Chain(step, steps.n, steps.checkpoints, start, places)
            chain.reverse(undo, step, places, steps.shown(range(steps.n), "cotangents"))
            steps.check(made)
        return total, cotangent

    def _push(self, tangents: tuple[Any, ...], made: Made) -> Any:
        steps, (values, state), (given, tangent) = self.steps, self.args, tangents
        steps.again(values, made)
        comparison = Comparison(steps.passed)
        with steps.resumed(), repeating(NAME, partial(self._plain, made)):
            for position in steps.shown(range(steps.n), "tangents"):
                state, tangent = steps.engine.jvp(self._step(made), (values, state), (given, tangent))
                self._check(comparison, state, position)
            steps.check(made)
        return tangent

    def _check(self, comparison: Comparison, state: Any, position: int) -> None:
        """At the end of a block compare its states with those of the first run; plain runs decide about rounding."""
        structures = self.steps.engine.structures
        if comparison.add(hashes(structures, state), position) and comparison.differs(position):
            far = beyond_rounding(structures, self._sketches()[position], map_leaves(structures, sketch, state))
            if far:
                self.steps.refuse(state, far, position)

    def _sketches(self) -> dict[int, Any]:
        """Sketches of the states at the ends of blocks, of a run on plain values, which must repeat the first one."""
        steps, structures, found = self.steps, self.steps.engine.structures, dict[int, Any]()
        if steps.sketches:
            return steps.sketches
        comparison = Comparison(steps.passed)
        with steps.resumed():
            for position, state in self._plain_steps():
                ends = comparison.add(hashes(structures, state), position)
                leaf = comparison.differs(position) if ends else 0
                if leaf:
                    steps.refuse(state, leaf, position)
                if ends or position == steps.passed.steps_of(position)[0]:
                    found[position] = map_leaves(structures, sketch, state)
        steps.sketches = found
        return found

    def _step(self, made: Made) -> Callable[[list[Any], Any], Any]:
        """The step as a function of its captured values and the state."""
        structures = self.steps.engine.structures

        def step(values: list[Any], state: Any) -> Any:
            given = state if type(state) is Dual else map_leaves(structures, frozen, state)
            seen = (leaf for part in (values, state) for leaf in flatten(structures, part)[0])
            with read_only(seen, NAME):
                return self.steps.again(list(map(frozen, values)), made)(given)

        return step

    def _plain(self, made: Made) -> None:
        """Run all steps on plain values; see `Steps.check`."""
        for _ in self._plain_steps():
            pass
        self.steps.check(made)

    def _plain_steps(self) -> Iterator[tuple[int, Any]]:
        """Repeat the steps on plain values, each on copies of all that is captured; yield the states after them."""
        steps, now = self.steps, self.steps.begin
        bare, state = (map_leaves(steps.engine.structures, value_unseen, part) for part in self.args)
        for position in range(steps.n):
            made = Made()
            made.copied = steps.snapshot.to_copy(every=True)
            step, places = steps.again(bare, made), steps.places(made)
            if places is not None:
                places.resume(now)
            state = outside(step, state)  # as the first run
            now = now if places is None else places.here()
            yield position, state
