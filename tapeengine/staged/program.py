"""Programs that record their first call and replay later ones."""

from __future__ import annotations

import functools
import operator
import os
import sys
import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict
from types import FunctionType, MethodType
from typing import TYPE_CHECKING, Any

import numpy as np

from .._core.arrays.array import errors_are_seen
from .._core.programs.replay import MISS, Checks, NotReplayable, NotThisRun, Plan, Recording, Replays, is_plain
from .._core.sweeps import trace
from .._core.sweeps.linear import has_array_records, is_recorded, open_tape
from .._core.tape.tape import trace_here
from ..errors import RepeatError, StagingError, StagingWarning
from ..forms import flatten, holds_traced, is_continuous, is_traced, map_leaves, unflatten
from ..html import table
from ..naming import attribute_of, name_as, reduced
from ..transforms.captures.generators import generator_states, same_states
from ..transforms.repeated.recorded_tasks import RECORDING
from ..transforms.repeated.rerun import Outcome
from ..transforms.transformed import check_program, whole
from .batch import Batched
from .c_source import c_source
from .compiling import Compiler, is_installed
from .keeping import read, save
from .operations import Operations, kept
from .stats import Stats, listing
from .watch import Watch, is_of_library

if TYPE_CHECKING:
    from ..transforms.contract import Engine

_PACKAGE = os.path.dirname(os.path.dirname(__file__))
#: The largest number of argument forms, and of sets of keyword arguments, whose recordings are kept.
MOST_FORMS = 32
#: The largest number of instances whose staged methods are kept.
MOST_INSTANCES = 16
#: The number of runs after which a program that has no path yet warns.
FIRST_RUNS = 3
#: The number of changes of captured values after which a program is no longer recorded.
MOST_CHANGES = 16


class Family:
    """The recordings for one set of keyword arguments, valid while the captured values stay the same.

    Attributes
    ----------
    pending : tuple or None
        The last recording, and the plan for its arguments, if there is one: the path is made when the program is called
        again, because many programs never are.
    """

    __slots__ = ("keywords", "pending", "plans", "watch")

    def __init__(
        self, watch: Watch | None = None, keywords: Outcome | None = None, recording: Recording | None = None
    ) -> None:
        self.watch = watch
        self.keywords = keywords
        self.plans: list[Plan] = []
        self.pending: tuple[Recording, Plan | None] | None = recording and (recording, None)

    def plan_for(self, primals: tuple[Any, ...]) -> Plan | None:
        """The plan for arguments of this form, if there is one."""
        return next((plan for plan in self.plans if plan.fits(primals)), None)


class Observed:
    """The state that a run must not change, if later runs are to be replayed."""

    __slots__ = ("drawn", "states", "watch")

    def __init__(self, watch: Watch) -> None:
        self.watch = watch
        self.states, self.drawn = generator_states(), watch.generators()

    def check(self, is_first: bool) -> None:
        """Compare generators and captured values with those before the run.

        Raises
        ------
        NotReplayable, NotThisRun
        """
        watch = self.watch
        if (self.drawn and watch.has_drawn(self.drawn)) or not same_states(self.states, generator_states()):
            raise NotReplayable("it draws random numbers, or what it calls does (SciPy's logm): make them an argument")
        if not watch.checks.same():
            if is_first and any(map(is_of_library, watch.checks.found)):
                raise NotThisRun("an object of a library may have cached a result")
            raise NotReplayable("it writes into what it captures: return it instead")


class Staged(Replays):
    """A program that runs as Python on unknown paths, and is replayed on recorded ones.

    Made by `Engine.stage`, whose documentation says what is replayed.

    Parameters
    ----------
    engine : Engine
        Traces the program.
    program : callable
        Any callable of the primals.
    paths : int
        The largest number of paths that are kept for arguments of one form.
    optimise : bool or {"native"}
    share : bool
        See `Engine.stage`.

    Examples
    --------
    >>> import tapeengine as te
    >>> staged = te.stage(lambda x: x * x if x > 0 else -x)
    >>> staged(3.0), te.grad(staged)(4.0), te.hessian(staged)(5.0)
    (9.0, 8.0, 2.0)
    >>> staged.stats().recordings, staged.stats().replays
    (1, 2)
    """

    engine: Engine
    __name__: str

    def __init__(
        self,
        engine: Engine,
        program: Callable[..., Any],
        paths: int = 64,
        optimise: bool | str = True,
        share: bool = False,
    ) -> None:
        if optimise not in (True, False, "native"):
            raise StagingError(f"optimise={optimise!r}: write True, False or 'native'")
        check_program("stage", program)
        self.engine = engine
        self.program = program
        self.paths = max(whole("stage", "paths", paths), 2)
        self.optimise = optimise
        self.share = bool(share)
        self.why: str | None = None
        self.families: list[Family] = []
        self.at_once: list[Plan] = []
        self.checks: Checks | None = None
        self.form: dict[Any, Outcome] = {}
        self.bound: dict[int, Staged] = {}
        self.counts = {"recordings": 0, "changes": 0, "replays": 0, "evicted": 0}
        self.is_of_scalars = False
        name_as(self, program)
        self.__name__ = attribute_of(program, "__name__", type(program).__name__)

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        """Return the staged method of an instance, which the program captures: its attributes are checked in a replay.

        Those of the instances used last are kept, with their recordings.
        """
        if instance is None:
            return self
        bound = self.bound.pop(id(instance), None)
        if bound is None:
            bound = self.again(MethodType(self.program, instance))
        self.bound[id(instance)] = bound
        if len(self.bound) > MOST_INSTANCES:
            del self.bound[next(iter(self.bound))]
        return bound

    def again(self, program: Any) -> Staged:
        """Stage another program with the same options, as calls that run again do if it captures other values now."""
        return Staged(self.engine, program, self.paths, self.optimise, self.share)

    @property
    def compiler(self) -> Compiler | None:
        """What compiles paths, if the back end of native code is installed and wanted."""
        return Compiler(self.__name__, self.optimise == "native") if self.optimise and is_installed() else None

    @property
    def refused(self) -> str | None:
        """Why the program is not replayed; None while it is."""
        self.settle()
        return self.why

    def __tapeengine_made__(self) -> tuple[operator.methodcaller, tuple[Engine]]:
        options = {"paths": self.paths, "optimise": self.optimise, "share": self.share}
        return operator.methodcaller("stage", self.program, **options), (self.engine,)

    def __reduce__(self) -> Any:
        return reduced(self, self.program, self.__tapeengine_made__())

    # -- called by transforms ------------------------------------------------------------------------------------------
    def called(self, primals: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        """The value of a call for which the first replay failed."""
        tried, family = self.at_once, self._family(keywords) if self.families else None
        if family is not None and family.plans is not tried:
            for plan in family.plans:
                value = plan.value(primals)
                if value is not MISS:
                    return value
        if self._may_record(self.engine) and open_tape() is None and not _is_narrow(self.engine, primals):
            return self._recorded(primals, keywords)[0]
        return self.program(*primals, **keywords)

    def called_vjp(self, engine: Engine, primals: tuple[Any, ...], keywords: dict[str, Any]) -> tuple[Any, Any]:
        """The value and the backpropagator of a call for which the first replay failed."""
        found = self.replayed(engine, primals, keywords)
        if found is not None:
            return found
        if self._is_apart(engine) and open_tape() is None:
            return self._recorded(primals, keywords)
        found = self._recorded_numbers(engine, primals, keywords)
        return engine.vjp(self._unstaged(), *primals, **keywords) if found is None else found

    def _recorded_numbers(
        self, engine: Engine, primals: tuple[Any, ...], keywords: dict[str, Any]
    ) -> tuple[Any, Any] | None:
        """Return the result of a run that is recorded; None if it works on arrays: other traces have other bits."""
        if self.has_arrays or not self._is_apart(engine):
            return None
        recorded = self._recorded(primals, keywords)
        is_used = not has_array_records(recorded[1].tape) or self.refused is not None  # another run may differ
        return recorded if is_used else None

    def replayed(self, engine: Engine, primals: tuple[Any, ...], keywords: dict[str, Any]) -> tuple[Any, Any] | None:
        """Return the value and the backpropagator by replay; None if the program must run."""
        for plan in self._valid(engine, keywords):
            found = plan.vjp(primals, self, keywords)
            if found is MISS and open_tape() is not None:  # numbers of an enclosing trace
                found = plan.trace(primals)
            if found is not MISS:
                return found  # type: ignore[no-any-return]
        return None

    def __tapeengine_tape__(self, engine: Engine, *primals: Any, order: int = 2) -> tuple[Any, Any]:
        """Return the value and a backpropagator with a tape of an order.

        A program of arrays runs with a tape of just this order, because the sweeps of others do not have the same bits.
        """
        found = self.retraced(engine, primals)
        if found is not None:
            return found
        found = self._recorded_numbers(engine, primals, {})
        return self._traced(engine, primals, order) if found is None else found

    def _traced(self, engine: Engine, primals: tuple[Any, ...], order: int) -> tuple[Any, Any]:
        """Return the value and a backpropagator with a tape of an order, from a run that is not recorded."""
        value, back = engine.trace(self._unstaged(), primals, order=order)
        return value, back

    def traced_again(self, primals: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        """Return the backpropagator of a run that is not recorded."""
        return self.engine.trace(functools.partial(self._unstaged(), **keywords), primals, order=2)[1]

    def retraced(self, engine: Engine, primals: tuple[Any, ...]) -> tuple[Any, Any] | None:
        """Return the value and a backpropagator with a tape that a replay wrote; None if the program must run."""
        for plan in self._valid(engine, {}):
            found = plan.trace(primals)
            if found is not MISS:
                return found  # type: ignore[no-any-return]
        return None

    @property
    def has_arrays(self) -> bool:
        """Whether a recording computes arrays; then no replay writes a tape."""
        family = self._family({})
        return family is not None and any(plan.has_arrays for plan in family.plans)

    def __tapeengine_chosen__(self, places: tuple[int, ...], args: tuple[Any, ...], keywords: dict[str, Any]) -> Chosen:
        """Return the program as a function of some positional arguments, for transforms with `argnums`."""
        return Chosen(self, places, args, keywords)

    def __tapeengine_plan__(self, primals: tuple[Any, ...], keywords: dict[str, Any]) -> tuple[Plan | None, bool]:
        """Return the plan for arguments that can be replayed in lanes, and whether a recording is missing."""
        if not self._may_record(self.engine):
            return None, False
        family = self._family(keywords)
        plan = family.plan_for(primals) if family is not None else None
        if plan is None:
            return None, self.why is None
        return (None if plan.has_arrays or plan.has_calls else plan), False

    def __tapeengine_plans__(self, keywords: dict[str, Any]) -> list[Plan]:
        """Return the plans that can be replayed in lanes."""
        return [plan for plan in self._valid(self.engine, keywords) if not plan.has_arrays and not plan.has_calls]

    def __tapeengine_trial__(self, primals: tuple[Any, ...], keywords: dict[str, Any]) -> tuple[Any, bool]:
        """Run the program as Python; return its value, and whether nothing speaks against recording another run."""
        run = Observed(self._watch(keywords))
        value = self.program(*primals, **keywords)
        if run.watch.checks.is_traced:
            return value, False
        try:
            run.check(is_first=not self.counts["recordings"])
            if run.watch.obstacle:
                raise NotReplayable(run.watch.obstacle)
        except NotThisRun:
            return value, False
        except NotReplayable as error:
            self._refuse(str(error))
        return value, self.why is None

    def __tapeengine_record__(self, primals: tuple[Any, ...], keywords: dict[str, Any]) -> bool:
        """Record a run; return whether there is a recording now."""
        self._recorded(primals, keywords)
        return not self.__tapeengine_plan__(primals, keywords)[1]

    @functools.cached_property
    def tangent(self) -> Staged:
        """The program's tangent, as a program of the arguments and their tangents."""
        return self.again(functools.partial(_tangent, self.engine, self))

    @functools.cached_property
    def cotangent(self) -> Staged:
        """The cotangents of the arguments, as a program of the arguments and the value's cotangent."""
        return self.again(functools.partial(_cotangents, self.engine, self))

    @functools.cached_property
    def batch(self) -> Batched:
        """The program mapped over many arguments: each leaf of the arguments and of the value gets a leading axis.

        `Engine.vmap` allows other axes, and sets the number of threads.

        Examples
        --------
        >>> import numpy as np
        >>> import tapeengine as te
        >>> staged = te.stage(lambda x: x * x if x > 0 else -x)
        >>> value, back = te.vjp(staged.batch, np.array([3.0, -2.0]))
        >>> value, back(np.ones(2))
        (array([9., 2.]), (array([ 6., -1.]),))
        """
        return Batched(self.engine, self)

    # -- called by users -----------------------------------------------------------------------------------------------
    def stats(self) -> Stats:
        """Return counts of recordings and replays, and their memory.

        Examples
        --------
        >>> import tapeengine as te
        >>> staged = te.stage(lambda x: x * x)
        >>> staged(2.0), staged(3.0), staged.stats().replays
        (4.0, 9.0, 1)
        """
        return Stats.of(self._plans(), self.counts, self.why)

    def verify(self, *primals: Any, **keywords: Any) -> None:
        """Run the program, and compare its value and cotangents with those of a replay.

        Parameters
        ----------
        *primals, **keywords
            The arguments of the call.

        Raises
        ------
        RepeatError
            If they differ in a bit: the program depends on something that a recording does not check.

        Examples
        --------
        >>> import tapeengine as te
        >>> te.stage(lambda x: x * x).verify(3.0)
        """
        value, back = self.engine.vjp(self, *primals, **keywords)
        wanted, wanted_back = self.engine.vjp(self._unstaged(), *primals, **keywords)
        structures = self.engine.structures
        difference = Outcome(structures, wanted).difference(value)
        if not difference:
            leaves, steps = flatten(structures, wanted)
            cotangent = unflatten(steps, [leaf if is_continuous(leaf) else None for leaf in leaves])
            difference = Outcome(structures, wanted_back(cotangent)).difference(back(cotangent))
            difference = difference.replace("value", "the cotangents", 1)
        if difference:
            raise RepeatError(
                f"{self.__name__} does not do what was recorded: {difference}. It depends on something that "
                "a recording does not check, such as a file, a clock, attributes of classes or other objects; make it "
                "an argument"
            )

    def save(self, path: Any) -> None:
        """Write the recordings to a file for `Engine.load_staged`; the file contains no code.

        Only recordings of calls without keyword arguments are written. Their arguments and values may be floats,
        arrays, discrete numbers, strings, and lists, tuples and dicts of these. The module `tapeengine.staged.keeping`
        documents the format.

        Parameters
        ----------
        path : str or path

        Raises
        ------
        StagingError
            If there are no recordings, or one cannot be written.

        Examples
        --------
        >>> import os, tempfile
        >>> import tapeengine as te
        >>> staged = te.stage(lambda x: x * x)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, "square.staged")
        ...     _ = staged(2.0)
        ...     staged.save(path)
        ...     te.load_staged(path)(3.0)
        9.0
        """
        save(path, self.engine, self.__name__, self.paths, self.kept_plans())

    def kept_plans(self) -> list[Plan]:
        """Return the plans of calls without keyword arguments."""
        self.settle()
        plans = [plan for family in self.families if family.keywords is None for plan in family.plans]
        if not plans:
            raise StagingError(f"{self.__name__} has no recording: call it first")
        return plans

    def to_c(self, name: str | None = None) -> str:
        """Return C source of the recordings: a function for the value, and one for value and gradient.

        Parameters
        ----------
        name : str, optional
            The prefix of the functions' names; by default the program's name.

        Raises
        ------
        StagingError
            If there is no recording, or there are several forms of arguments.

        Examples
        --------
        >>> import tapeengine as te
        >>> staged = te.stage(lambda x: x * x if x > 0 else -x)
        >>> staged(2.0)
        4.0
        >>> "int square_gradient(" in staged.to_c("square")
        True
        """
        plans = self.kept_plans()
        if plans[0].has_arrays:
            raise StagingError(
                f"{self.__name__} works on arrays or forks, but C source can be written for scalars only"
            )
        if plans[0].has_calls:
            raise StagingError(f"{self.__name__} calls functions that C's library lacks, such as math.gamma or numpy's")
        if len(plans) > 1:
            raise StagingError(
                f"{self.__name__} is recorded for {len(plans)} forms of arguments: stage it separately for each"
            )
        return c_source(name or self.__name__, self.engine.structures, plans[0])

    def svg(self, path: int = 0, most: int = 100) -> str:
        """Return a recorded path as a picture, with a row for each instruction; results have a heavy frame.

        Parameters
        ----------
        path : int
            The index of the path, among those of the form of arguments that was recorded last.
        most : int
            The number of instructions shown, from the first.

        Raises
        ------
        StagingError
            If there is no such recording.

        Examples
        --------
        >>> import tapeengine as te
        >>> staged = te.stage(lambda x: x * x if x > 0 else -x)
        >>> staged(2.0)
        4.0
        >>> "mul %1 %1" in staged.svg()
        True
        """
        from ..transforms.inspection.svg import to_svg
        from .drawing import graph_of_path

        plan = self.kept_plans()[0]
        if not 0 <= path < len(plan.paths):
            raise StagingError(f"{self.__name__} has {len(plan.paths)} paths, numbered from 0: there is no path {path}")
        return to_svg(graph_of_path(self.engine.structures, plan, path, most))

    def _repr_html_(self) -> str:
        stats = asdict(self.stats())
        counts = table(f"staged {self.__name__}", list(stats), [[str(value) for value in stats.values()]])
        return counts + (self.svg() if any(family.keywords is None for family in self.families) else "")

    def clear(self) -> None:
        """Delete all recordings, and the reason why the program was refused."""
        for family in self.families:
            self._count(family)
        self._hold([])
        self.why = None

    def _hold(self, families: list[Family]) -> None:
        """Replace the recordings."""
        self.families = families
        for family in families:
            if family.keywords is None:
                self.at_once = family.plans
                self.checks = family.watch.checks if family.watch else None
                return
        self.at_once, self.checks = [], None

    def __repr__(self) -> str:
        return f"<staged {self.__name__}: {self.stats()}>"

    def __str__(self) -> str:
        return listing(self.__name__, self.stats(), self._plans())

    def settle(self) -> None:
        """Make the paths of the last recordings, which are otherwise made at the next call."""
        for family in self.families:
            self._settle(family)

    def _plans(self) -> list[Plan]:
        self.settle()
        return [plan for family in self.families for plan in family.plans]

    # -- recording -----------------------------------------------------------------------------------------------------
    def _unstaged(self) -> Callable[..., Any]:
        program = self.program
        return lambda *primals, **keywords: program(*primals, **keywords)

    def _family(self, keywords: dict[str, Any]) -> Family | None:
        """The recordings that are valid now."""
        for family in () if errors_are_seen() else self.families:
            if not self._fits(family, keywords):
                continue
            if family.watch is None or family.watch.is_same():
                self._settle(family)
                return family if self.why is None else None
            self._changed(family)
            return None
        return None

    def _valid(self, engine: Engine, keywords: dict[str, Any]) -> list[Plan]:
        """The recordings that may be replayed now."""
        family = self._family(keywords) if self._is_apart(engine) else None
        return [] if family is None else family.plans

    def _fits(self, family: Family, keywords: dict[str, Any]) -> bool:
        if family.keywords is None or not keywords:
            return family.keywords is None and not keywords
        return not holds_traced(self.engine.structures, keywords) and not family.keywords.difference(keywords)

    def _changed(self, family: Family) -> None:
        """Delete recordings for captured values that have changed."""
        self._hold([other for other in self.families if other is not family])
        self.counts["changes"] += 1
        self._count(family)
        if self.counts["changes"] > MOST_CHANGES and self.counts["replays"] < self.counts["changes"]:
            self._refuse("what it captures changes from call to call: make it an argument")

    def _count(self, family: Family) -> None:
        """Add the counts of recordings that are deleted."""
        for name in ("replays", "evicted"):
            self.counts[name] += sum(getattr(plan, name) for plan in family.plans)

    def _may_record(self, engine: Engine) -> bool:
        """Whether a run now may be recorded: by the program's own engine, without switches or errors that raise."""
        return self.why is None and engine is self.engine and engine.switches is None and not errors_are_seen()

    def _is_apart(self, engine: Engine) -> bool:
        """Whether recordings may be used: within the recording of a program around it, this is an ordinary function."""
        return self._may_record(engine) and not is_recorded(True)

    def _recorded(self, primals: tuple[Any, ...], keywords: dict[str, Any]) -> tuple[Any, Any]:
        """Run the program and keep its recording for later calls."""
        engine = self.engine
        if _is_narrow(engine, primals):
            return engine.vjp(self._unstaged(), *primals, **keywords)
        try:
            kept = _kept_keywords(engine, keywords) if keywords else None
        except NotReplayable as error:
            self._refuse(str(error))
            return engine.vjp(self._unstaged(), *primals, **keywords)
        watch = self._watch(keywords)
        if watch.checks.is_traced:  # the program depends on numbers of an enclosing trace
            return engine.vjp(self._unstaged(), *primals, **keywords)
        run = Observed(watch)
        self.counts["recordings"] += 1
        value, back = trace.vjp(
            self.program, primals, keywords, engine.structures, engine.max_tape_bytes, engine.rules, RECORDING
        )
        self.is_of_scalars = not has_array_records(back.tape)
        try:
            run.check(is_first=self.counts["recordings"] == 1)
            self._keep(watch, kept, keywords, primals, Recording(back, value, primals, engine.structures))
        except NotThisRun as error:
            self._unused(str(error))
        except NotReplayable as error:
            self._refuse(str(error))
        return value, back

    def _watch(self, keywords: dict[str, Any]) -> Watch:
        """What the program captures now; the watch of the valid recordings, if there are any."""
        family = self._family(keywords) if self.families else None
        if family is None or family.watch is None:
            return Watch(self.engine.structures, self._captures(keywords), self.engine.copies)
        return family.watch

    def _captures(self, keywords: dict[str, Any]) -> Any:
        """What a run depends on besides its arguments: the program, the function that runs it, and keywords."""
        if type(self.program) is FunctionType:
            return (self.program, keywords) if keywords else self.program
        return self.program, vars(type(self.program)).get("__call__"), keywords or None

    def _keep(
        self,
        watch: Watch,
        kept: Outcome | None,
        keywords: dict[str, Any],
        primals: tuple[Any, ...],
        recording: Recording,
    ) -> None:
        """Keep a recording; a path is made of it when the program is called again."""
        for family in self.families:
            if self._fits(family, keywords):
                self._settle(family)
                plan = family.plan_for(primals)
                family.pending = recording, plan
                if plan is None:
                    self._add_form(len(family.plans), dict(enumerate(primals)))
                return
        self._add_form(len(self.families), keywords)
        new = Family(watch, kept, recording)
        self._hold([new, *self.families][:MOST_FORMS] if self.families else [new])

    def _add_form(self, count: int, given: dict[Any, Any]) -> None:
        """Warn once that arguments have more forms than are kept, and say in what the last two differ."""
        structures, before = self.engine.structures, self.form
        if count < MOST_FORMS - 1 or (count == MOST_FORMS and not before):
            return
        form = map_leaves(structures, lambda leaf: np.zeros(np.shape(leaf)), given)
        self.form = {name: Outcome(structures, x) for name, x in form.items()} if count < MOST_FORMS else {}
        if not self.form:
            found = (was.difference(form.get(k)).replace("value", f"argument {k!r}", 1) for k, was in before.items())
            self._warn(
                f"is recorded anew for each form of its arguments, of which {MOST_FORMS} are kept: "
                f"{next(filter(None, found), 'their number differs')}. Pass a number that changes as a float or in an "
                "array, or write the loop over it outside the program"
            )

    def _settle(self, family: Family) -> None:
        """Make the path of the last recording."""
        pending, family.pending = family.pending, None
        if pending is None:
            return
        try:
            if family.watch is not None and family.watch.obstacle:
                raise NotReplayable(family.watch.obstacle)
            self._add(family, *pending)
        except NotThisRun as error:
            self._unused(str(error))
        except NotReplayable as error:
            self._refuse(str(error))

    def _add(self, family: Family, recording: Recording, plan: Plan | None) -> None:
        """Add a recording to the plan for arguments of its form."""
        if plan is None:
            plan = Plan(recording, self.paths, self.compiler, self.share)
            family.plans = [plan, *family.plans][:MOST_FORMS]
            self._hold(self.families)
            return
        evicted = plan.evicted
        plan.join(Plan(recording, self.paths, None, plan.shares))
        family.plans = [*family.plans]  # a new list, so that a running call tries all plans again
        self._hold(self.families)
        if evicted == 0 and plan.evicted:
            self._warn(
                f"takes more than {self.paths} paths through its branches, each of which is recorded by running it; "
                "the path that was not taken for longest is deleted. te.stage(program, paths=n) keeps more of them"
            )

    def _refuse(self, why: str) -> None:
        """Run the program as Python from now on."""
        self.clear()
        self.why = why
        self._warn(f"runs each time instead of being replayed, because {why}")

    def _unused(self, why: str) -> None:
        """Warn if the first runs, outside of other traces, gave no path: each call pays for a recording."""
        if self.counts["recordings"] == FIRST_RUNS and not trace_here() and not self._plans():
            self._warn(f"is recorded at each call and was not replayed yet, because {why}")

    def _warn(self, text: str) -> None:
        frame, level = sys._getframe(1), 2
        while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
            frame, level = frame.f_back, level + 1
        warnings.warn(f"the staged program {self.__name__} {text}", StagingWarning, stacklevel=level)


def load_staged(engine: Engine, path: Any, program: Callable[..., Any] | None) -> Staged:
    """See `Engine.load_staged`.

    A program is recorded again at the saved arguments: what it captures may have changed since it was saved.
    """
    try:
        name, paths, recordings = read(path, engine)
        shares = any(each.shares for each in recordings)
        staged = Staged(engine, program or kept(name, path, recordings), paths, share=shares)
        if program is not None:
            return recorded_again(staged, recordings)
        for recording in reversed(recordings):
            for primals in recording.examples():
                staged(*primals)
    except StagingError:
        raise
    except (ArithmeticError, AttributeError, LookupError, MemoryError, RecursionError, TypeError, ValueError) as error:
        raise StagingError(f"{path} holds no staged program: {error}") from error
    family = Family()  # of a program that captures nothing
    family.plans = staged._plans()
    staged._hold([family])
    staged.counts = dict.fromkeys(staged.counts, 0)
    return staged


def recorded_again(staged: Staged, recordings: Sequence[Operations]) -> Staged:
    """Record a program at the arguments of recordings; those at which it raises an error are left out."""
    for recording in reversed(recordings):
        for primals in recording.examples():
            with suppress(Exception):
                staged.engine.vjp(staged, *primals)
    staged.counts = dict.fromkeys(staged.counts, 0)
    return staged


class Chosen:
    """A staged program as a function of some positional arguments; its recordings take the others as well."""

    def __init__(
        self, staged: Staged, places: tuple[int, ...], args: tuple[Any, ...], keywords: dict[str, Any]
    ) -> None:
        self.staged = staged
        self.places = places
        self.args = args
        self.keywords = keywords
        self.__name__ = staged.__name__

    def _whole(self, primals: tuple[Any, ...]) -> tuple[Any, ...]:
        if len(self.places) == 1 and primals[0] is self.args[self.places[0]]:
            return self.args
        whole = list(self.args)
        for place, primal in zip(self.places, primals, strict=True):
            whole[place] = primal
        return tuple(whole)

    def __call__(self, *primals: Any) -> Any:
        """Return the program's value."""
        return self.staged(*self._whole(primals), **self.keywords)

    def __tapeengine_vjp__(self, engine: Engine, *primals: Any) -> tuple[Any, Any]:
        """Return the value and the backpropagator of the chosen arguments."""
        whole = self._whole(primals)
        found = self.staged.vjp_at_once(engine, whole, self.keywords)
        found = self.staged.replayed(engine, whole, self.keywords) if found is None else found
        if found is None and (self.staged.why is not None or not _is_known(engine, whole)):
            return engine.vjp(lambda *given: self(*given), *primals)
        value, back = engine.vjp(self.staged, *whole, **self.keywords) if found is None else found
        return value, ChosenBackpropagator(back, self.places)

    def __tapeengine_tape__(self, engine: Engine, *primals: Any, order: int = 2) -> tuple[Any, Any]:
        """Return the value and a backpropagator with a tape of an order."""
        whole = self._whole(primals)
        found = None if self.keywords else self.staged.retraced(engine, whole)
        if found is None and (self.keywords or self.staged.why is not None or not _is_known(engine, whole)):
            value, back = engine.trace(lambda *given: self(*given), primals, order=order)
            return value, back
        value, back = self.staged.__tapeengine_tape__(engine, *whole, order=order) if found is None else found
        return value, back.chosen(self.places)

    @property
    def has_arrays(self) -> bool:
        """Whether the program's recordings compute arrays."""
        return self.staged.has_arrays


class ChosenBackpropagator:
    """A backpropagator that returns the cotangents of some arguments."""

    __slots__ = ("_back", "_places")

    def __init__(self, back: Any, places: tuple[int, ...]) -> None:
        self._back = back
        self._places = places

    def __call__(self, cotangent: Any) -> tuple[Any, ...]:
        """Return a tuple with one cotangent for each chosen argument."""
        found = self._back(cotangent)
        return tuple([found[place] for place in self._places])

    @property
    def is_scalar(self) -> bool:
        """Whether the value is one real number."""
        return bool(self._back.is_scalar)


def _is_known(engine: Engine, args: tuple[Any, ...]) -> bool:
    """Whether the engine knows all leaves of arguments, so that they can be arguments of a recording."""
    return all(not is_traced(leaf) and _is_leaf(engine, leaf) for leaf in flatten(engine.structures, args)[0])


def _is_leaf(engine: Engine, leaf: Any) -> bool:
    is_array = isinstance(leaf, np.ndarray) and leaf.dtype.kind in "iubSUMm"
    return is_continuous(leaf) or is_array or engine.structures.is_discrete(leaf)


def _is_narrow(engine: Engine, args: tuple[Any, ...]) -> bool:
    """Whether arguments hold numbers of numpy's that are not doubles: registers would change their precision."""
    return not is_plain(args) and any(
        isinstance(leaf, np.floating) and type(leaf) is not np.float64 for leaf in flatten(engine.structures, args)[0]
    )


def _kept_keywords(engine: Engine, keywords: dict[str, Any]) -> Outcome:
    """What keyword arguments are compared by."""
    for leaf in flatten(engine.structures, keywords)[0]:
        if not _is_leaf(engine, leaf) or callable(leaf):
            raise NotReplayable(f"a keyword argument holds a {type(leaf).__name__}: pass it as a positional argument")
    return Outcome(engine.structures, keywords)


def _tangent(engine: Engine, program: Any, *both: Any, **keywords: Any) -> Any:
    n = len(both) // 2
    return engine.jvp(functools.partial(program, **keywords), both[:n], both[n:])[1]


def _cotangents(engine: Engine, program: Any, *args: Any, **keywords: Any) -> Any:
    return engine.vjp(program, *args[:-1], **keywords)[1](args[-1])
