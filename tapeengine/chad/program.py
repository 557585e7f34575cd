"""`program`: the decorator that makes a Python function a program of the CHAD frontend."""

from __future__ import annotations

import contextlib
import copy
import dis
import functools
import itertools
import math
import operator
import os
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from types import CodeType, FunctionType, MethodType
from typing import Any, NoReturn, overload
from weakref import WeakKeyDictionary, WeakValueDictionary

import numpy

from .._core.programs.native import (
    Backpropagator,
    Enterable,
    WholeBackpropagator,
    enter,
    has_infinity,
    kept_array,
)
from .._core.programs.replay import Checks
from .._core.sweeps.trace import order_of, value_of
from .._core.tape.tape import live_traces
from ..default import default_engine
from ..errors import CotangentError, OptionError, StructureError, TapeEngineError, UnsupportedError, pass_on
from ..forms import flatten, leaves_like, map_leaves, unflatten
from ..html import source
from ..lift.functions import WITHOUT_PARTS, as_originals
from ..naming import attribute_of, wrap
from .backends.convert import of_plain
from .backends.llvm.calling import native_text
from .backends.tiers import BACKENDS, COMPILED, is_installed, warn
from .display import display
from .forward.directional import as_number, directional, filled
from .infer import annotation_of, is_importable, key_of, kind_of
from .intermediate.reading import readable
from .intermediate.text import text
from .language.depth import with_room
from .language.errors import OnDuals, ProgramError
from .language.kinds import ARRAY, COMPUTED, NUMBER, decided, depends, has_lists, is_direct, with_kinds
from .language.signatures import by_position, defaults_of, names_of, source_of, stars_of
from .language.terms import Module
from .language.types import MANY, NEVER, Sum, Type, has_floats, holds_discrete, parts_of
from .link import link
from .lowering.values import NotLowered
from .ordinary import calls_own_program, check_shared, check_trees, first_traced, holds_traced
from .parse import Unresolved, parse_function
from .parse.analyses.whole_arrays import Wanted, check_lists, through
from .parse.names.constants import Constants
from .parse.names.sizes import Sizes
from .parse.names.types import TypeTable
from .parse.operations.numeric import rank
from .parse.operations.state import Parsed, unannotated
from .parse.parser import ProgramParser, refuse_code
from .parse.refusals import forget, watched
from .parse.rewrites.procedures import changed_parameters, starting
from .parse.rewrites.results import TOGETHER
from .reading import guess_of, settled
from .registered import find
from .run.execute import Checked, Executable, Ways, has_whole
from .run.monoids import Monoid, OverMonoid
from .state import changes_outside
from .twins import watched_on_duals

#: Errors of arithmetic and of indexing.
ERRORS = (ArithmeticError, ValueError, LookupError)
#: Stands for the value of the plain program if it refuses arguments that the typed one takes; not finite.
NOT_TAKEN = math.inf
#: Annotations of numbers.
SCALARS = (float, int, bool, "float", "int", "bool")
#: Arguments of these types hold no lists.
ARRAYS = frozenset((float, int, bool, numpy.ndarray, numpy.float64))
#: How many kinds of arguments a program is compiled for at a time; a text is a kind of its own.
MOST_KINDS = 256
#: Classes of backpropagators that handle cotangents that are not finite themselves.
OWN = (Backpropagator, WholeBackpropagator, Checked)
#: All programs, by name.
SYMBOLS: WeakValueDictionary[str, Program] = WeakValueDictionary()


def symbol_of(program: Program, key: tuple[str, ...]) -> str:
    """Give the name of a program for some types and sizes, which all programs of its function have for these."""
    known = INSTANCES.setdefault(program.function, {}).setdefault(program.symbol, {})
    return known.setdefault(key, f"{program.symbol}_{len(known)}" if known else program.symbol)


#: For each function and name the names of its programs for types and sizes of arguments.
INSTANCES: WeakKeyDictionary[Callable[..., Any], dict[str, dict[tuple[str, ...], str]]] = WeakKeyDictionary()
#: For each function whose name another function's program has, the names of its own programs.
CLOSURES: WeakKeyDictionary[Callable[..., Any], dict[str, str]] = WeakKeyDictionary()
#: For each name the numbers that its next closures get; none is used twice, so that finding one takes constant time.
NUMBERS: defaultdict[str, Iterator[int]] = defaultdict(lambda: itertools.count(1))


class Program(Enterable):
    """A typed functional program, its meaning and its derivatives.

    A program is parsed when it is defined (or at its first use, if it uses a name that is defined further down), and
    transformed when its derivative is first asked for.

    Parameters
    ----------
    function : callable
        A Python function within the language. Parameters without annotations have the types of their arguments; the
        function is read once for each combination of these.
    given : mapping of str to object, optional
        Types of parameters without annotations.
    symbol : str, optional
        The name of its definition.
    backend : {"machine", "native", "fastmath"}, optional
        The only back end that may run loops; see `program`.
    sizes : Sizes, optional
        What is known about the sizes of arguments.

    Attributes
    ----------
    function : callable
        The function as it was written.
    python : callable
        The same as ordinary Python that dual numbers can run through: with `tapeengine.math` and `tapeengine.numpy`
        where it says `math` and `numpy`.

    Raises
    ------
    ProgramError
        Where a function whose annotations say all types uses something outside the language, with file, line, column
        and what to write instead.

    Examples
    --------
    >>> import tapeengine as te
    >>> @te.program
    ... def square(x: float) -> float:
    ...     return x * x
    >>> square(3.0), te.grad(square)(3.0)
    (9.0, 6.0)
    """

    __name__: str
    __qualname__: str
    _python: tuple[Any, Any, Checks] | None = None
    _by_position: tuple[Any, Any] = (None, None)
    untyped: Program | None = None
    unread: Unread | None = None
    _parsed: Parsed | None = None
    _callees: tuple[tuple[Program, int], ...] = ()
    _refused: ProgramError | None = None
    _table: TypeTable | None = None
    times_forgotten = 0
    #: The order of the program's derivatives: more than 1 if it is a directional derivative itself.
    order = 1
    guess: Type = NEVER
    is_read = True
    #: What decides the types of its arguments, of all that reach it.
    kinds: tuple[Any, ...] = ()

    def __init__(
        self,
        function: Callable[..., Any],
        given: Mapping[str, Any] | None = None,
        symbol: str | None = None,
        backend: str | None = None,
        sizes: Sizes | None = None,
    ) -> None:
        if not isinstance(attribute_of(function, "__tapeengine_function__", function), FunctionType):
            name = attribute_of(function, "__qualname__") or repr(function)
            raise UnsupportedError(
                f"te.program takes a function that is written as a def, not {name}: write a def around it"
            )
        self.given, self.sizes, self.is_entry = given, sizes, symbol is None
        self.backend = backend
        self.clear_instances()
        self.function: Callable[..., Any] = attribute_of(function, "__tapeengine_function__", function)
        self.symbol = own_symbol(symbol or f"{function.__module__}.{function.__qualname__}", self)
        wrap(self, function)
        self.code, self.places = self.function.__code__, self.function.__code__.co_argcount
        self.inferred = unannotated(self.function) if given is None else ()
        if symbol is None and any(stars_of(self.function)):
            self.refuse_stars()
        if not self.inferred and symbol is None:
            with contextlib.suppress(Unresolved, OnDuals):
                self.parsed()

    def refuse_stars(self) -> None:
        """Refuse a program of any number of arguments."""
        ProgramParser(self.function, self.symbol).refuse_stars()

    def called(self, args: tuple[Any, ...], named: Mapping[str, Any]) -> Any:
        """Do the same as a call, within a trace, for all arguments."""
        whole = (*args, *named.values())
        if (traced := first_traced(whole)) is None:
            return self.python(*args, **named)
        if WITHOUT_PARTS.issuperset(map(type, whole)):
            return self.called_at(args, named, traced)
        with as_originals(whole) as given:
            return self.called_at(given[: len(args)], dict(zip(named, given[len(args) :], strict=True)), traced)

    def called_at(self, args: tuple[Any, ...], named: Mapping[str, Any], traced: Any) -> Any:
        """Do the same where `traced` is one of the traced values in the arguments."""
        if self._parsed is None or not self._parsed.types:  # second derivatives do not take recursive data
            whole = self.positional(args, named)[1]
            found = self.for_values(whole) if self.inferred or self.arity > self.places else self
            if found is not self:
                return (found if found.is_read else found.python)(*args, **named)
            if self.is_recorded(traced, 3, engine := default_engine()) and not self.changes:
                return engine.call_program(self, whole)
        return self.python(*args, **named)

    def value(self, *args: Any, **named: Any) -> Any:
        """Compute the value by the forward pass of the derivative, which back ends compile; a call runs plain Python.

        Returns
        -------
        object
            What ``engine.vjp(program, *args)`` gives as the value: numbers are Python's, and results share no memory
            with arguments. A program that the language does not have runs as plain Python, and so does one that
            changes its arguments.

        Raises
        ------
        Exception
            What the plain function raises.

        Examples
        --------
        >>> import tapeengine as te
        >>> @te.program
        ... def square(x: float) -> float:
        ...     return x * x
        >>> square.value(3.0)
        9.0
        """
        return self.__tapeengine_value__(default_engine(), *args, **named)

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None else MethodType(self, instance)

    def __reduce__(self) -> Any:
        """Return the program's name if it can be imported by it, otherwise the call that makes the program."""
        if is_importable(self):
            return self.__qualname__
        return type(self), (self.function, self.given, self.symbol, self.backend)

    def __repr__(self) -> str:
        return f"<program {self.symbol}>"

    def _repr_html_(self) -> str:
        try:
            shown = source("".join(source_of(self.function)[0])) + source(self.derivative("reverse"))
        except (OSError, TypeError, TapeEngineError, Unresolved) as error:
            return source(f"# {self!r}: {error}")
        return shown

    @property
    def python(self) -> Callable[..., Any]:
        """The function with `tapeengine.math` and `tapeengine.numpy` where it says `math` and `numpy`."""
        if self._python is None or not self._python[2].same():
            self._python = watched_on_duals(self.function)
        return self._python[0]  # type: ignore[no-any-return]

    @functools.cached_property
    def calls_itself(self) -> bool:
        """Whether the function calls its program; the exchanged one calls itself, up to Python's recursion limit."""
        return calls_own_program(self.function)

    @property
    def __tapeengine_function__(self) -> Callable[..., Any]:
        return self.function

    @functools.cached_property
    def changes(self) -> tuple[str, ...]:
        """The parameters whose arguments the program changes; a derivative changes copies, as dual numbers do."""
        of = {**self.function.__annotations__, **(self.given or {})}
        names = [name for name in self.names if of.get(name) not in SCALARS]
        found = changed_parameters(self.function) if self.is_entry and names else ()
        return tuple(name for name in found if name in names)

    @functools.cached_property
    def changes_outside(self) -> bool:
        """Whether it changes data of its module, in which dual numbers would leave traced values."""
        return changes_outside(self.function)

    @functools.cached_property
    def entry(self) -> Callable[..., Any]:
        """The function as it is read, to which alone belong the arguments that it changes."""
        return starting(self.function, self.changes) if self.changes else self.function

    def parsed(self) -> Parsed:
        """Give the program's own definitions as typed terms; a refusal is remembered."""
        if self._parsed is None:
            if self._refused is not None and all(checks.same() for checks in self._refused.checks):
                raise type(self._refused)(*self._refused.args, *self._refused.checks)
            try:
                self._parsed = settled(self, self.read)
                self._callees = tuple((unit, unit.times_forgotten) for unit in self._parsed.programs.values())
            except ProgramError as error:
                self._refused = type(error)(*error.args, *error.checks)
                raise
        return self._parsed

    def read(self) -> Parsed:
        """Read the text."""
        return parse_function(self.entry, self.symbol, self.given, program_of, self.sizes)

    def __tapeengine_signature__(self) -> tuple[str, tuple[Type, ...], Type]:
        """Give the name, the parameter types and the result type, for programs that call this one."""
        self.renew()
        if self._parsed is None:
            is_rewritten = any(stars_of(self.function)) or hasattr(self.function, "changed")  # in its parameters
            parser = ProgramParser(self.function, self.symbol, self.given, only_header=not is_rewritten)
            params, result = parser.header()
            if result is not None:
                self._table = parser.table
                return self.symbol, params, result
            guess = guess_of(self)
            if guess is not None:
                return self.symbol, params, guess
        definition = self.parsed().definitions[self.symbol]
        return self.symbol, tuple(p.of for p in definition.params), definition.result

    def named_types(self) -> tuple[dict[str, type], dict[str, Sum]]:
        """Give the classes and the recursive sums that the signature may name."""
        if self._parsed is not None:
            return self._parsed.classes, self._parsed.types
        return (self._table.classes, self._table.named) if self._table is not None else ({}, {})

    @functools.cached_property
    def linked(self) -> tuple[Module, dict[str, type], dict[str, Any]]:
        """The module of this program and its callees, its classes and its primitives."""
        if self.inferred and len(self.instances) == 1:
            return [*self.instances.values(), *self.by_kinds.values()][-1].linked  # the one that was made last
        self.renew()
        try:
            with TOGETHER:
                module, classes, primitives = link(self)
        except Unresolved as error:
            message, advice = f"{self.symbol} uses the name {error}, which is not defined", "define it before a call"
            checks = watched(self.function, Constants(self.function), ())
            raise ProgramError(message, advice, "", 0, "", 0, *checks) from None
        main = replace(module.definitions[module.main], kind=self.kind_at(self.kinds))
        refuse_code(self.function, self.symbol, main.result)
        return replace(module, definitions={**module.definitions, module.main: main}), classes, primitives

    @property
    def module(self) -> Module:
        """The program as typed terms."""
        return self.linked[0]

    @functools.cached_property
    def executable(self) -> Executable:
        """What runs the program's derivatives."""
        return self.executable_of(lambda: self.by_position)

    def executable_of(self, python: Callable[[], Callable[..., Any]]) -> Executable:
        """Give what runs the program's derivatives, with what gives the function that does so on dual numbers."""
        declared = is_declared(self.function)
        return Executable(*self.linked, python, backend=self.backend, is_declared=declared)

    @overload
    def derivative(self, form: str = "reverse", monoid: None = None) -> str: ...
    @overload
    def derivative(self, form: str = "reverse", *, monoid: Monoid) -> Callable[..., tuple[Any, ...]]: ...
    def derivative(self, form: str = "reverse", monoid: Monoid | None = None) -> str | Callable[..., tuple[Any, ...]]:
        """Write the program's derivative as Python that a person can read, or give it over another monoid than reals.

        Parameters
        ----------
        form : {"reverse", "forward", "loops", "accumulate"}
            ``"reverse"`` is a forward and a reverse pass, ``"forward"`` one function that gives each value with its
            tangent. They are what back ends are given, and run when they are pasted. ``"loops"`` is ``"reverse"``
            statement by statement. ``"accumulate"`` is the term with mutable accumulation (EC Fig. 6), as the papers
            print it, for reading; their other forms are written by `tapeengine.chad.specification.derivative`.
        monoid : Monoid, optional
            What is added up in the place of real numbers, and what a partial does to it (EC Fig. 3); see
            `tapeengine.sparse.monoids`. The reverse derivative runs over it. Source lines are not known there: these
            `te.backpropagate` gives, of the backpropagator of ``program.python`` with debug on.

        Returns
        -------
        str
            With a monoid a function of the primals and of ``cotangent``, a list with an element for each number of the
            result (by default `one` for each). It returns a tuple with one entry for each primal: an element, or for an
            array or another structure the list of those of its numbers.

        Raises
        ------
        UnsupportedError
            Where the program has no intermediate form; when it is called, where a partial is not finite.

        Examples
        --------
        >>> import tapeengine as te
        >>> from tapeengine.sparse.monoids import absolute, index_sets
        >>> @te.program
        ... def f(xs: list[float], y: float) -> list[float]:
        ...     return [x * y - 2.0 * y for x in xs]
        >>> f.derivative(monoid=absolute())([1.0, 2.0], 3.0)
        ([3.0, 3.0], 7.0)
        >>> f.derivative(monoid=index_sets())([1.0, 2.0], 3.0, cotangent=[frozenset("a"), frozenset("b")])[0]
        [frozenset({'a'}), frozenset({'b'})]
        """
        if monoid is not None:
            return self._over(form, monoid)
        if form == "accumulate":
            return display(self.executable.reverse)
        if form not in ("reverse", "forward", "loops"):
            raise OptionError(f"{form!r} is no form of derivative: choose reverse, forward, loops, or accumulate")
        try:
            lowered = self.executable.tangent_form if form == "forward" else self.executable.reverse_form
        except NotLowered as error:
            raise UnsupportedError(f"{self.symbol} has no intermediate form: {error}") from None
        if form == "loops":
            return text(lowered.program)
        code = self.function.__code__
        file = os.path.basename(code.co_filename)
        about = f"the {form} derivative of {self.__name__}, {file}:{code.co_firstlineno}"
        return readable(lowered.program, about, file)

    def _over(self, form: str, monoid: Monoid) -> Callable[..., tuple[Any, ...]]:
        if form != "reverse":
            raise OptionError(f"a derivative over a monoid is in reverse, not {form!r}")

        over = functools.cache(lambda executable: OverMonoid(executable, monoid))

        def derivative(*primals: Any, cotangent: Any = None) -> tuple[Any, ...]:
            whole = self.positional(primals, {})[1]
            found: tuple[Any, ...] = over(self.for_values(whole).executable)(whole, cotangent)
            return found

        return derivative

    def inspect(self) -> str:
        """Write what the program becomes, step by step: its terms, the intermediate form of both passes, LLVM's text.

        Returns
        -------
        str
            Sections that begin with lines of ``#``. The last one is there where llvmlite is installed. Of a program
            that runs on dual numbers, what the language lacks.
        """
        if self.unread is not None:
            return f"# {self.symbol}: runs on dual numbers\n{self.unread.refusal}\n"
        form = self.derivative("loops")
        parts = [("terms", display(self.module)), ("intermediate form", form)]
        if is_installed():
            assert self.executable.lowered is not None
            parts.append(("LLVM", native_text(self.executable.lowered)))
        return "\n\n".join(f"# {self.symbol}: {title}\n{body.strip()}" for title, body in parts) + "\n"

    def __tapeengine_vjp__(
        self, engine: Any, *primals: Any, **named: Any
    ) -> tuple[Any, Callable[[Any], tuple[Any, ...]]]:
        """Run the program, on values of an outer trace by dual numbers; return its value and its backpropagator."""
        others = self.others(len(primals), named)
        instance = self.for_values((*primals, *others))
        is_other = instance is not self
        if not instance.is_read:
            return engine.vjp(instance.with_others(others), *primals)  # type: ignore[no-any-return]
        entered: tuple[Any, Any] | None = (
            enter(instance, (*primals, *others), {}, engine) if others or is_other else None
        )
        if entered:
            value, back = entered
            return (value, lambda cotangent: back(cotangent)[: len(primals)]) if others else entered
        if is_other:
            return instance.__tapeengine_vjp__(engine, *primals, **named)
        if (self.wanted and not ARRAYS.issuperset(map(type, primals))) or self.arrays == ():
            self.check_lists((*primals, *others))
        executable = self.executable
        executable.engine = engine
        own = tuple(map(kept_array, primals))
        is_new = self.ways is None
        self.watched = self.constants
        self.may_give_integers = self.chooses
        self.ways = executable.ways if self.is_direct and (self.given is not None or not self.by_blas) else None
        # An engine has tried the ways of a program that it knows, with just these primals.
        run = executable.vjp if is_new or self.ways is None or others else executable.general_vjp

        def on_duals() -> Any:
            if self.is_recorded(first_traced((own, others)), 2, engine):
                value, back = engine.vjp_of_traced(self, (*own, *others))
                return value, lambda cotangent: back(cotangent)[: len(own)]
            return engine.vjp(self.with_others(others), *own)

        value, backpropagator = self._run(lambda: run((*own, *others)), on_duals, (*own, *others))
        value = self.with_kinds(value, (*own, *others))
        if type(backpropagator) in OWN and not others:
            integers = getattr(backpropagator, "has_integers", None)
            if (
                integers
                or self.mixes
                or self.chooses
                or (integers is None and self.with_integers(value, own) is not value)
            ):
                return self.of_integers(own, (value, backpropagator))
            return value, backpropagator

        def without_nan(cotangent: Any) -> tuple[Any, ...]:
            found: tuple[Any, ...] = backpropagator(cotangent)[: len(primals)]
            if has_infinity(found, nan_only=True):  # an infinite partial times a zero that dual numbers do not meet
                with contextlib.suppress(*ERRORS):  # which elements of numpy arrays do not raise
                    plain, again = on_duals()
                    return executable.converted_back(plain, again, cotangent)
            return found

        return self.of_integers(own, (value, without_nan), others)

    def __tapeengine_value__(self, engine: Any, *args: Any, **named: Any) -> Any:
        """Give the value by the forward pass; by the plain function if the program is refused, or changes arguments."""
        primals = self.positional(args, named)[1]
        with contextlib.suppress(TapeEngineError, Unresolved):
            is_plain = not (live_traces() and holds_traced(primals))
            if is_plain and not self.changes and (found := self.for_values(primals)).is_read:
                return engine.vjp(found, *primals)[0]
        return self(*args, **named)

    def of_integers(
        self, primals: tuple[Any, ...], made: tuple[Any, Any], others: tuple[Any, ...] = ()
    ) -> tuple[Any, Any]:
        """Give a value and a backpropagator that leaves out integers among the primals."""
        if self.fits((*primals, *others)) and not (self.mixes or self.chooses):
            return made
        whole, primals = self.with_integers(made[0], (*primals, *others)), getattr(made[1], "given", primals)
        if whole is made[0] and not self.mixes and self.fits(primals):
            return made

        def back(cotangent: Any) -> Any:
            if whole is not made[0]:
                cotangent = with_room(self.with_zeros, whole, cotangent)
            return with_room(of_plain, primals, made[1](cotangent), False)

        if type(made[0]) is float:
            back.is_scalar = True  # type: ignore[attr-defined]
        return whole, back

    def with_zeros(self, value: Any, cotangent: Any) -> Any:
        """Give a cotangent with zeros for integers."""
        structures = self.executable.engine.structures
        leaves, steps = flatten(structures, value)
        parts = leaves_like(structures, steps, cotangent)
        if parts is None or holds_traced(cotangent):
            return cotangent
        kinds = (int, float) if self.order > 1 else int  # the tangent of an integer is a float
        pairs = zip(leaves, parts, strict=True)
        return unflatten(steps, [0.0 if d is None and isinstance(x, kinds) else d for x, d in pairs])

    def fits(self, primals: tuple[Any, ...]) -> bool:
        """Tell whether no primal is an integer where a parameter is a float, or has another type in another way."""
        params, fits = self.executable.definition.params, self.executable.converter.fits
        return all(fits(p.of, x) for p, x in zip(params, primals))

    def with_integers(self, value: Any, primals: tuple[Any, ...]) -> Any:
        """Give a value with the integers that Python gives where integers stand for floats among the arguments."""
        takes_integers = self.mixes or not self.fits(primals)
        which = MANY if takes_integers else self.chooses
        if not which or not has_whole(value, which, takes_integers) or holds_traced(primals):
            return value
        plain = self._as_python(primals)
        return value if plain is NOT_TAKEN else with_room(of_plain, plain, value, True, True)

    def __tapeengine_jvp__(self, engine: Any, primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> tuple[Any, Any]:
        """Run the program, on values of an outer trace by dual numbers; return its value and its tangent."""
        instance = self.for_values(self.positional(primals, {})[1])
        others = self.others(len(primals), {})
        if not instance.is_read:
            return engine.jvp(instance.with_others(others), primals, tangents)  # type: ignore[no-any-return]
        if instance is not self:
            return instance.__tapeengine_jvp__(engine, primals, tangents)
        numbers = tuple(map(as_number, primals, tangents)) if len(primals) == len(tangents) else tangents
        if any(new is not old for new, old in zip(numbers, tangents)):
            return engine.jvp(self, primals, numbers)  # type: ignore[no-any-return]
        self.check_lists((*primals, *others))
        self.executable.engine = engine
        whole = (*tangents, *[None] * len(others))
        run = functools.partial(self.executable.jvp, (*primals, *others), whole)

        def on_duals() -> tuple[Any, Any]:
            if self.is_recorded(first_traced((primals, tangents)), 2, engine):
                return engine.jvp_of_traced(self, (*primals, *others), whole)  # type: ignore[no-any-return]
            given = tangents
            if any(t is None for t in tangents):  # which are zeros here, and discrete on dual numbers
                given = of_plain(primals, self.tangents((*primals, *others), whole)[: len(primals)])
            return engine.jvp(self.with_others(others), primals, given)  # type: ignore[no-any-return]

        found = self._run(run, on_duals, (*primals, *others, tangents))
        value, tangent = (self.with_kinds(each, (*primals, *others)) for each in found)
        whole = self.with_integers(value, (*primals, *others))
        is_same = whole is value and not holds_discrete(self.executable.definition.result)
        if is_same and self.is_direct and not others and (self.given is not None or not self.by_blas):
            self.watched, self.tangent = self.constants, self.executable.tangent_ways
            self.may_give_integers = self.chooses
        return whole, tangent if is_same else of_plain(whole, tangent)

    def unread_at(self, primals: tuple[Any, ...]) -> Callable[..., Any] | None:
        """Give what runs on dual numbers at arguments that the language does not have; None where it has them."""
        if self.unread is None and (self.by_kinds or self._parsed is not None):
            return None  # so far the language had all arguments
        others = self.others(len(primals), {})
        found = self.for_values((*primals, *others))
        return None if found.is_read else found.with_others(others)

    def plain_value(self, primals: tuple[Any, ...], places: tuple[int, ...] | None = None) -> tuple[Any, ...]:
        """Give the value, in a tuple, where the plain function takes least time; for the parameters see `blocks`."""
        classes = set(map(type, primals))
        if numpy.ndarray not in classes or not ARRAYS.issuperset(classes):
            return ()
        found = self if places is not None else self.for_values(self.positional(primals, {})[1])
        if found.by_whole_arrays is None:
            return ()
        with numpy.errstate(all="ignore"):
            value = found.by_whole_arrays(*primals)
        return (value,) if type(value) in (float, numpy.ndarray) else ()

    @functools.cached_property
    def by_whole_arrays(self) -> Callable[..., Any] | None:
        """The plain function, of arguments by position, if it does nothing but call numpy; else None."""
        is_whole = self.is_read and not (self.changes or self.parsed().programs) and is_straight(self.function.__code__)
        return (
            by_position(self.function) if is_whole and self.module.by_numpy and self.executable.prefers_numpy else None
        )

    def blocks(
        self, way: str, primals: tuple[Any, ...], value: Any, places: tuple[int, ...] | None = None
    ) -> Callable[[int, int], Any] | None:
        """Give what computes blocks of a derivative at these primals; None if the program has no such pass.

        * `way`: what is computed: rows or columns of the Jacobian, or products with the Hessian; see
          `Executable.blocks_of`.
        * `value`: the program's value there.
        * `places`: the arguments that are differentiated, for all primals of the program for their types; by default
          all that are given.
        """
        whole = self.positional(primals, {})[1] if places is None else primals
        own = self.for_values(whole) if places is None else self
        if not own.is_read:
            return None
        executable, chosen = own.executable, range(len(primals)) if places is None else places
        found, along = executable.blocks_of(way, tuple(chosen))
        if found is None or (own.catches and type(executable.vjp(whole)[1]) not in OWN):
            return None
        parts = tuple([whole[k] for k in along])
        if way == "products":
            return found.at(whole, parts[:1], parts[1:])
        return found.at(whole, *(((value,), parts) if way == "rows" else (parts, (value,))))

    @functools.cached_property
    def catches(self) -> bool:
        """Whether an error may have been caught in a run that has a value; blocks do not compute what raises it."""
        return any(catches(unit.function.__code__) for unit in reached(self, Program.parsed))

    def has_own_rules(self, primals: tuple[Any, ...]) -> bool:
        """Tell whether no primitive's rule has a part in the derivative for these primals."""
        own = self.for_values(self.positional(primals, {})[1])
        return own.is_read and own.executable.lowered is not None and not own.executable.primitives

    def recorded(
        self, engine: Any, primals: tuple[Any, ...], is_forward: bool, places: tuple[int, ...] | None = None
    ) -> tuple[Any, Any] | None:
        """Give value and backpropagator of a run on dual numbers, if there is no other derivative in this direction.

        The parameters are those of `blocks`.
        """
        whole = self.positional(primals, {})[1]
        own = self.for_values(whole)
        if not own.is_read:
            return None if holds_traced(primals) else engine.trace(self.by_position, primals)
        executable, chosen = own.executable, tuple(range(len(primals)) if places is None else places)
        along = tuple(k for k in executable.continuous if k in chosen)
        lowered = executable.along(along).lowered if is_forward else executable.lowered
        return executable.recorded(engine, whole, chosen) if lowered is None and not holds_traced(whole) else None

    @functools.cached_property
    def is_direct(self) -> bool:
        """Whether back ends give the result with the lists that it has in Python."""
        return not self.mixes and is_direct(self.executable.definition.result, self.executable.definition.kind)

    @functools.cached_property
    def mixes(self) -> bool:
        """Whether lists in the result may have integers where the language has floats."""
        return self.module.mixes and has_lists(self.executable.definition.kind, self.executable.definition.result)

    @functools.cached_property
    def chooses(self) -> int:
        """Which numbers in the result may be integers where the language has floats."""
        return self.module.chooses * has_floats(self.executable.definition.result)

    def with_kinds(self, value: Any, primals: tuple[Any, ...]) -> Any:
        """Give a value, or its tangent, with the lists that it has in Python."""
        kind = self.executable.definition.kind
        if kind in (None, ARRAY, COMPUTED, NUMBER):
            return value
        plain = functools.cache(lambda: self._as_python(primals))
        return with_kinds(kind, value, dict(zip(self.names, primals)), plain)

    def check_lists(self, primals: tuple[Any, ...]) -> None:
        """Refuse lists where the program uses its arguments as whole arrays, and arrays where it uses lists."""
        if self.wanted:
            check_lists(self.wanted, self.names, primals)
        if self.changes:
            check_shared(primals)

    @functools.cached_property
    def wanted(self) -> tuple[Wanted, ...]:
        """Where the program wants arrays or lists as arguments, which the short way leaves to `check_lists`."""
        found = self.parsed().arrays
        self.__dict__["wanted"] = found  # for programs that call themselves by way of others
        found += tuple(each for call in self.parsed().passed for each in through(call, call.program.wanted))
        used = {place for each in found for operand in each.operands for place in operand.places}
        in_lists = any(not isinstance(step, str) for _, steps in used for step in steps)
        others = any(each.of_lists is not False or not each.operands for each in found)
        is_always = self.changes or in_lists or others
        self.arrays = (
            () if is_always else tuple((self.names.index(name), *map(str, steps)) for name, steps in used) or None
        )
        return found

    def renew(self) -> None:
        """Forget what was read of the program and of those that it calls, if something has changed outside."""
        found = reached(self, lambda unit: unit._parsed)
        if any(unit.is_old for unit in found):
            for unit in found:
                unit.forget()
            forget()

    @property
    def is_old(self) -> bool:
        """Whether something outside has changed since the program was read, or a callee was forgotten since."""
        forgotten = any(unit.times_forgotten != times for unit, times in self._callees)
        return forgotten or not self.parsed().constants.same()

    @functools.cached_property
    def constants(self) -> Checks:
        """Compares the values that the program has read from outside with the present ones."""
        found = Checks()
        with TOGETHER:
            for unit in reached(self, Program.parsed):
                found.add_all(unit.parsed().constants)
        return found

    def constants_at(self, values: tuple[Any, ...]) -> Checks | None:
        """Give the comparison of the program for arguments; None for one that runs on dual numbers."""
        found = self.for_values(values)
        return found.constants if found.is_read else None

    def is_stale(self) -> bool:
        """Whether something has changed that was read from outside."""
        return not self.constants.same()

    def refresh(self) -> None:
        """Forget what was read if something has changed outside; it is read anew when it is asked for."""
        if self._parsed is not None and self.is_stale():
            self.renew()

    def forget(self, keeps_guess: bool = False) -> None:
        """Forget the text and all that was made of it."""
        self.forget_found()
        self._parsed, self._table = None, None
        self.guess = self.guess if keeps_guess else NEVER
        self.times_forgotten += 1
        self.ways = self.arrays = self.watched = self.unread = self.tangent = self.along = self.rule_of = None

    def forget_found(self) -> None:
        """Forget what was found once."""
        for name in [n for n in vars(self) if isinstance(getattr(type(self), n, None), functools.cached_property)]:
            del self.__dict__[name]
        if self.untyped is not None:
            self.untyped.forget_found()

    def recode(self) -> None:
        """Forget the programs for types of arguments of other code, which may have other parameters."""
        self.code, self.places = self.function.__code__, self.function.__code__.co_argcount
        self.inferred = unannotated(self.function) if self.given is None else ()
        self.clear_instances()
        self.forget()

    def clear_instances(self) -> None:
        """Forget the programs for types of arguments."""
        self.instances: dict[tuple[Any, ...], Program] = {}
        self.by_kinds: dict[tuple[Any, ...], Program] = {}

    def for_values(self, values: tuple[Any, ...]) -> Program:
        """Give the program for the types of arguments, or what runs it on dual numbers if the language lacks it.

        A program whose annotations say all types asks for compiled code: of its refusals only those of objects do so.
        """
        found = self.at_once(values)
        if found is not None and found.arrays is None:
            return found.unread or found  # type: ignore[no-any-return]
        try:
            found = self.of_types(values)
            if isinstance(found, Unread):
                return found
            _ = found.linked
            if found is not self:
                found.unread = None
            if self.inferred and found.wanted and (found.arrays == () or not ARRAYS.issuperset(map(type, values))):
                check_lists([each for each in found.wanted if each.of_lists is not None], self.names, values)
        except (UnsupportedError, StructureError) as refusal:
            if not isinstance(refusal, OnDuals) and (not self.inferred or self.changes_outside):
                raise
            unread = self.unread = self.unread or Unread(self, refusal)
            unread.refusal = copy.copy(refusal)  # without the arguments, which its traceback holds
            if isinstance(refusal, ProgramError) and not (found is None and self.inferred):
                unread.remember(self.kinds_of(values), found or self, refusal)
            return unread
        return found

    def of_types(self, values: tuple[Any, ...]) -> Program:
        """Give the program for the types of arguments; this one if all parameters have annotations."""
        if self.function.__code__ is not self.code and self.untyped is None:
            self.recode()
        kinds = self.kinds_of(values)
        unread: Unread | None = self.unread
        if unread is not None and unread.remembers(kinds):
            return unread
        if not self.inferred:
            self.refresh()
            if self.arity > self.places:
                return self.on_places.of_types(values)  # type: ignore[no-any-return]
            large: Program | None = self.by_blas
            if large and Sizes.of(dict(zip(self.names, values))).are_large:
                return large
            if not kinds:
                return self
        if kinds not in self.by_kinds:
            made = self.for_arguments(values) if self.inferred else self
            if len(self.by_kinds) == MOST_KINDS:
                self.clear_instances()
            self.by_kinds[kinds] = made.for_kinds(kinds)
        known: Program = self.by_kinds[kinds]
        return known

    def for_arguments(self, values: tuple[Any, ...]) -> Program:
        """Give the program for the types of arguments where parameters have no annotation."""
        check_trees(values)
        names, whole = self.names, (*values, *self.rest(len(values), {}))
        if len(names) != len(whole):
            self.function(*values)  # which raises an error and does not run
            raise TypeError(f"{self.symbol} takes {len(names)} arguments, not {len(values)}")
        given = dict(zip(names, whole, strict=True))
        found = {n: annotation_of(v, n) for n, v in given.items() if n in self.inferred}
        sizes = Sizes.of(given)
        made = self.for_types(found, tuple(map(key_of, found.values())), Sizes(sizes.ones))
        return (made.by_blas if sizes.are_large else None) or made

    def kinds_of(self, values: tuple[Any, ...]) -> tuple[Any, ...]:
        """Give what decides the types of arguments, and lists in the result; nothing where annotations say these."""
        try:
            found: tuple[Any, ...] = kind_of(values) if self.inferred or self.follows else ()
            return found
        except RecursionError:
            check_trees(values)
            raise

    @property
    def follows(self) -> bool:
        """Whether the lists and arrays among its arguments decide those in its result."""
        return self.given is None and depends(self.kind_at(()))

    @functools.cached_property
    def by_blas(self) -> Program | None:
        """The program whose products of matrices BLAS computes; None if loops compute none."""
        params = self.executable.definition.params
        if self.backend or not any(rank(part) > 1 for p in params for part in (p.of, *parts_of(p.of))):
            return None
        known = self.sizes or Sizes()
        multiplies = any(unit.parsed().multiplies for unit in reached(self, Program.parsed))
        if known.are_large or not multiplies or self.executable.prefers_numpy:
            return None
        made = self.instance(self.given or {}, symbol_of(self, ("by BLAS", self.symbol)), Sizes(known.ones, True))
        return made if "numpy.matmul" in made.linked[2] else None

    def for_types(self, given: Mapping[str, Any], key: tuple[str, ...], sizes: Sizes, classes: Any = ()) -> Program:
        """Give the program for types of parameters without annotation: `key` spells them, their `classes` by name."""
        found = (*key, repr(sizes), *classes)
        if found not in self.instances:
            self.instances[found] = self.instance(given, symbol_of(self, (*key, repr(sizes))), sizes)
        return self.instances[found]

    def for_kinds(self, kinds: tuple[Any, ...]) -> Program:
        """Give the same program for arguments of these kinds, which may decide the lists in its result."""
        if self._parsed is None:
            self.kinds = self.kinds or kinds
        wanted = self.kind_at(kinds)
        if wanted == self.kind_at(self.kinds):
            return self
        key = (repr(wanted),)
        if key not in self.instances:
            made = self.instances[key] = self.instance(self.given or {}, self.symbol, self.sizes)
            made.kinds, made._parsed, made._callees = kinds, self._parsed, self._callees
        return self.instances[key]

    def kind_at(self, kinds: tuple[Any, ...]) -> Any:
        """Give what says which parts of its result are lists, for arguments of these kinds, on which it may depend."""
        if self._parsed is None:
            return kinds
        return decided(self._parsed.definitions[self.symbol].kind, dict(zip(self.names, kinds[1:])))

    def instance(self, given: Mapping[str, Any] | None, symbol: str, sizes: Sizes | None) -> Program:
        """Make another program of the same text, which takes all arguments by position."""
        made = Program(self.function, given, symbol, self.backend, sizes)
        made._python, made.is_entry, made.untyped, made.places = self._python, self.is_entry, self, sys.maxsize
        return made

    @functools.cached_property
    def on_places(self) -> Program:
        """The same program on all arguments by position, those of parameters by name only last."""
        made = self.instance(self.given, self.symbol, self.sizes)
        made._parsed, made._callees = self._parsed, self._callees
        return made

    @property
    def arity(self) -> int:
        """How many arguments there are."""
        return len(self.names)

    @functools.cached_property
    def names(self) -> tuple[str, ...]:
        """The names of the parameters, those by name only last."""
        return names_of(self.function)

    @property
    def by_position(self) -> Callable[..., Any]:
        """The same as `python` on arguments by position, of which copies are changed."""
        python = self.python
        if self._by_position[0] is not python:
            made = by_position(python) if self._python is None else self._python[1]
            self._by_position = python, of_copies(made) if self.changes else made
        return self._by_position[1]  # type: ignore[no-any-return]

    def with_others(self, others: tuple[Any, ...]) -> Callable[..., Any]:
        """Give the same with arguments for the last parameters."""
        if not others:
            return self.by_position
        by_name = dict(zip(self.names[self.arity - len(others) :], others, strict=True))
        return functools.partial(self.by_position, **by_name)

    def positional(self, args: tuple[Any, ...], named: Mapping[str, Any]) -> tuple[tuple[str, ...], tuple[Any, ...]]:
        """Give the names of all parameters, and a call's arguments for them."""
        return self.names, (*args, *self.others(len(args), named))

    @functools.cached_property
    def is_twice_differentiable(self) -> bool:
        """Whether the program's derivatives can be differentiated again without running it on dual numbers."""
        try:
            return self.order < 3 and self.__tapeengine_directional__().executable is not None
        except UnsupportedError:
            return False

    def is_recorded(self, traced: Any, most: int, engine: Any) -> bool:
        """Tell whether a derivative at values of at most so many traces is one record, whose derivatives are programs.

        The program of each further order is some four times as long; beyond the third, dual numbers are faster. An
        engine that looks at each operation, for its line, has dual numbers. Counting the traces that one of the values
        belongs to, and not all that are open, gives the same bits in each thread and in each run of a task.
        """
        has_dual_numbers = traced is None or engine.switches is not None
        return not has_dual_numbers and order_of(traced) <= most and self.is_twice_differentiable

    @functools.cached_property
    def _directional(self) -> Along:
        made, form = Along(self), self.executable.form
        if form is not None and (self.given is not None or not self.by_blas):
            self.watched, self.along = self.constants, (form, made)
        return made

    def __tapeengine_directional__(self) -> Along:
        """Return the program of values and directional derivatives: of the primals, then the tangents."""
        if self.inferred:
            raise UnsupportedError("the types of parameters are known from arguments")
        along: Along = self._directional
        return along

    def tangents(self, primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> tuple[Any, ...]:
        """Give the tangents for that program: zeros for None, and the primal itself where it is discrete."""
        self.executable.check_trees(primals)
        params = self.executable.definition.params
        self.executable.check_number(primals, tangents)
        found = []
        for i, (p, x, t) in enumerate(zip(params, primals, tangents, strict=True)):
            try:
                found.append(filled(p.of, x, t))
            except (TypeError, ValueError, AttributeError, KeyError):
                raise CotangentError(f"tangents[{i}] does not have the structure of its primal") from None
        return tuple(found)

    def _run(
        self, run: Callable[[], tuple[Any, Any]], on_duals: Callable[[], tuple[Any, Any]], given: tuple[Any, ...]
    ) -> tuple[Any, Any]:
        """Run a derivative; if it fails or is not finite where the plain program is, run dual numbers."""
        try:
            found = run()
            if not has_infinity(found[0]) or has_infinity(self._as_python(given)):
                return found
        except TapeEngineError as error:
            if not (isinstance(error, StructureError | CotangentError) and holds_traced(given)):
                raise
        except ERRORS:
            if self._as_python(given) is NOT_TAKEN:
                raise
        return on_duals()

    def _as_python(self, given: tuple[Any, ...]) -> Any:
        """Run the plain program and pass on its errors; `NOT_TAKEN` if it does not take these arguments."""
        given = given[: self.arity]
        given = copy.deepcopy(given) if self.changes and holds_traced(given) else given
        try:
            with numpy.errstate(all="ignore"):
                return self.by_position(*given)
        except ERRORS:
            raise
        except Exception as error:  # an argument that only the typed program takes
            pass_on(error)
            return NOT_TAKEN

    def others(self, given: int, named: Mapping[str, Any]) -> tuple[Any, ...]:
        """Give the arguments that a call does not give by position: by name, or their defaults."""
        if given > self.places:
            self.function(*[None] * given, **named)  # which raises an error and does not run
        return self.rest(given, named)

    def rest(self, given: int, named: Mapping[str, Any]) -> tuple[Any, ...]:
        """Give the arguments for the parameters after some."""
        if given == self.arity and not named:
            return ()
        names, values = self.names[given:], defaults_of(self.function)
        if named:
            if not set(named).issubset(self.names[max(given, self.function.__code__.co_posonlyargcount) :]):
                self.function(*[None] * given, **named)  # which raises an error and does not run
            values = {**values, **named}
        return tuple(values[n] for n in names) if set(names).issubset(values) else ()


def of_copies(function: Callable[..., Any]) -> Callable[..., Any]:
    """Give a function that changes copies of its arguments."""
    return lambda *args, **named: function(*(args if holds_traced(args) else copy.deepcopy(args)), **named)


def is_declared(function: Any) -> bool:
    """Tell whether an annotation says the type of a function's value; that of any array says no rank."""
    annotation = getattr(function, "__annotations__", {}).get("return", numpy.ndarray)
    return annotation is not numpy.ndarray and annotation not in ("np.ndarray", "numpy.ndarray")


def of_base(name: str) -> Any:
    """Give the property of a directional derivative that its base has, too."""
    return property(operator.attrgetter(f"base.{name}"))


class Along(Program):
    """The directional derivative of a program: ``(x, dx) -> (f(x), Df(x) dx)``, a program itself."""

    def __init__(self, base: Program) -> None:
        self.base, self.order = base, base.order + 1
        self.inferred, self.given, self.is_entry = (), None, False
        self.backend, self.by_blas, self.sizes = base.backend, None, base.sizes
        self.function, self.code, self.places = base.function, base.function.__code__, sys.maxsize
        self.symbol = f"{base.symbol}_directional"
        self.__name__ = f"{base.__name__}_directional"

    #: What its base has read from outside, whether it may have caught an error, and the integers that it may have.
    constants, catches, mixes, chooses = map(of_base, ("constants", "catches", "mixes", "chooses"))

    def refresh(self) -> None:
        """Forget what was made of its base if something has changed outside."""
        if self.is_stale():
            self.base.refresh()
            self.forget()

    @property
    def arity(self) -> int:
        """How many arguments there are: the primals and the tangents."""
        return 2 * self.base.arity

    @functools.cached_property
    def linked(self) -> tuple[Module, dict[str, type], dict[str, Any]]:
        """The module, its classes and its primitives."""
        module, classes, primitives = self.base.linked
        return directional(module), classes, primitives

    @property
    def python(self) -> Callable[..., Any]:
        """The same on dual numbers."""
        n, own = self.base.arity, self.base.executable
        of = own.definition.result

        def along(*xs: Any) -> tuple[Any, Any]:
            engine = default_engine()
            value, tangent = engine.jvp(self.base.by_position, xs[:n], of_plain(xs[:n], xs[n:]))
            is_as_read = own.is_declared or own.returned(map_leaves(engine.structures, value_of, value)) is not None
            return value, filled(of, value, tangent) if is_as_read else tangent

        return along

    def check_lists(self, primals: tuple[Any, ...]) -> None:
        """Let its base look at the primals, which come first."""
        self.base.check_lists(primals[: self.base.arity])

    @property
    def wanted(self) -> tuple[Wanted, ...]:
        """Where its base uses its arguments as whole arrays."""
        found = self.base.wanted
        self.arrays = self.base.arrays
        return found

    def others(self, given: int, named: Mapping[str, Any]) -> tuple[Any, ...]:
        """Give no arguments beside those given by position."""
        return ()

    @functools.cached_property
    def executable(self) -> Executable:
        """What runs the derivatives of the directional derivative."""
        made = self.executable_of(lambda: self.python)
        made.runs_plain = False
        return made


class Unread(Program):
    """A program that the language does not take: dual numbers on the plain function compute its derivatives."""

    is_twice_differentiable, is_read, inferred = False, False, ()
    refusal: TapeEngineError

    def __init__(self, program: Program, refusal: TapeEngineError) -> None:
        if program.backend in COMPILED:
            warn(program.symbol, refusal)
        self.__dict__.update({n: vars(program)[n] for n in ("function", "symbol", "given", "is_entry", "__name__")})
        self.places = program.places
        self.refused: dict[tuple[Any, ...], Checks] = {}

    def for_values(self, values: tuple[Any, ...]) -> Program:
        """Give itself."""
        return self

    def remember(self, kinds: tuple[Any, ...], refused: Program, refusal: ProgramError) -> None:
        """Keep the refusal of arguments of these kinds, with what it depends on."""
        if len(self.refused) == MOST_KINDS:
            self.refused.clear()
        checks = self.refused[kinds] = Checks()
        read = reached(refused, lambda unit: unit._parsed)
        for each in (*refusal.checks, *(unit.parsed().constants for unit in read)):
            checks.add_all(each)
        if refused.untyped is not None:  # the core finds it by the kinds of numbers, and need not look at their classes
            refused.ways, refused.watched, refused.unread = Ways(None, None, None, self.run), checks, self

    def run(self, engine: Any, primals: tuple[Any, ...]) -> tuple[Any, Any]:
        """Run the program on dual numbers."""
        found: tuple[Any, Any] = engine.vjp(self.by_position, *primals)
        return found

    def remembers(self, kinds: tuple[Any, ...]) -> bool:
        """Tell whether arguments of these kinds are refused as before."""
        return kinds in self.refused and self.refused[kinds].same()

    @property
    def linked(self) -> NoReturn:
        """Refuse to give what a program in the language has."""
        raise copy.copy(self.refusal)

    def __tapeengine_directional__(self) -> Along:
        """Refuse to give a program of directional derivatives."""
        return self.linked


class AnyNumber(Unread):
    """A program of any number of arguments."""

    def __init__(self, function: Callable[..., Any], backend: str | None = None) -> None:
        Program.__init__(self, function, backend=backend)
        Unread.__init__(self, self, self.refusal)
        self.places, self.unread = sys.maxsize, self

    def refuse_stars(self) -> None:
        """Remember the refusal."""
        try:
            super().refuse_stars()
        except ProgramError as refusal:
            self.refusal = refusal

    @property
    def by_position(self) -> Callable[..., Any]:
        """The same as `python`, whose parameters by name get their defaults."""
        return self.python

    def __tapeengine_vjp__(self, engine: Any, *primals: Any, **named: Any) -> tuple[Any, Any]:
        found: tuple[Any, Any] = engine.vjp(functools.partial(self.python, **named), *primals)
        return found

    def __tapeengine_signature__(self) -> NoReturn:
        """Refuse to be a part of another program."""
        raise copy.copy(self.refusal)

    def value(self, *args: Any, **named: Any) -> Any:
        """See `Program.value`."""
        return self(*args, **named)

    def others(self, given: int, named: Mapping[str, Any]) -> tuple[Any, ...]:
        """Give no arguments beside those of the call."""
        return ()

    def __reduce__(self) -> Any:
        return self.__qualname__ if is_importable(self) else (type(self), (self.function, self.backend))


def made_of(function: Callable[..., Any], backend: str | None) -> Program:
    """Make a program of a function."""
    own = attribute_of(function, "__tapeengine_function__", function)
    has_stars = isinstance(own, FunctionType) and any(stars_of(own))
    return AnyNumber(function, backend) if has_stars else Program(function, backend=backend)


def reached(program: Program, parsed: Callable[[Program], Parsed | None]) -> list[Program]:
    """Give a program and all programs that it calls, as far as they have been read."""
    found: list[Program] = []
    pending: list[Program] = [program]
    while pending:
        unit = pending.pop()
        if unit not in found and (read := parsed(unit)) is not None:
            found.append(unit)
            pending += read.programs.values()
    return found


def program_of(function: Callable[..., Any]) -> Any:
    """Give the program of a function that a program calls; primitives and functions without text are unchanged."""
    return program_of_code(function, attribute_of(function, "__code__"))


@functools.lru_cache(maxsize=4096)
def program_of_code(function: Callable[..., Any], code: CodeType | None) -> Any:
    """Give the program of a function with this code."""
    try:
        source_of(function)
    except (OSError, TypeError):
        return function
    if find(function) is not None:
        return function
    return Program(function, symbol=f"{function.__module__}.{function.__qualname__}")


def is_straight(code: CodeType) -> bool:
    """Tell whether a function has no loops and no functions inside."""
    jumps = (step.opname for step in dis.get_instructions(code))
    return not any("BACKWARD" in name for name in jumps) and not any(isinstance(x, CodeType) for x in code.co_consts)


def catches(code: CodeType) -> bool:
    """Tell whether a function, or one inside, handles errors."""
    is_here = any(step.opname == "PUSH_EXC_INFO" for step in dis.get_instructions(code))
    return is_here or any(catches(x) for x in code.co_consts if isinstance(x, CodeType))


def own_symbol(symbol: str, program: Program) -> str:
    """Give a name that no program of another function has: closures of one text are functions of their own."""
    if not is_free(symbol, program.function):  # asked once: the other program may be collected at any time
        closures = CLOSURES.setdefault(program.function, {})
        if symbol not in closures or not is_free(closures[symbol], program.function):
            names = (f"{symbol}_{n}" for n in NUMBERS[symbol])
            closures[symbol] = next(name for name in names if name not in SYMBOLS)
        symbol = closures[symbol]
    SYMBOLS[symbol] = program
    return symbol


def is_free(symbol: str, function: Callable[..., Any]) -> bool:
    """Tell whether no program of another function has a name."""
    found = SYMBOLS.get(symbol)
    return found is None or found.function is function


@overload
def program(function: Callable[..., Any], *, backend: str | None = None) -> Program: ...
@overload
def program(*, backend: str | None = None) -> Callable[[Callable[..., Any]], Program]: ...
def program(
    function: Callable[..., Any] | None = None, *, backend: str | None = None
) -> Program | Callable[[Callable[..., Any]], Program]:
    """Make a Python function a `Program`.

    Parameters
    ----------
    function : callable
        A Python function within the language, its parameters annotated with float, int, bool, `Vec`, `Array`, tuples,
        dataclasses, NamedTuples, unions of dataclasses or Callable; or without annotations: then the arguments
        of a call say the types.
    backend : {"machine", "native", "fastmath"}, optional
        The only back end that may run loops: the register machine, or native code (the extra ``tapeengine[native]``).
        By default the machine runs at first, and native code once the program has done as much work as
        compiling takes; both give the same bits. Loops over many numbers are native at once; operations of numpy
        on whole arrays, and products of matrices, are run by numpy. ``"fastmath"`` is native code that may reorder
        sums and products, which is faster and rounds differently.

    Returns
    -------
    Program
        Without `function`, what makes a function a program.

    Raises
    ------
    ProgramError
        Where the function uses something outside the language, and its annotations say all types. Other programs run
        on dual numbers then.
    UnsupportedError
        For another back end.

    Examples
    --------
    >>> import tapeengine as te
    >>> @te.program
    ... def square(x: float) -> float:
    ...     return x * x
    >>> te.grad(square)(3.0)
    6.0
    """
    if backend not in BACKENDS:
        raise OptionError(f"{backend!r} is no back end: choose 'machine', 'native', 'fastmath' or None")
    if function is None:
        return lambda f: made_of(f, backend)
    return made_of(function, backend)
