"""Running programs and their derivatives on Python values."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from ..._core.programs.native import Form, Native, Whole, has_infinity, is_ragged, run
from ...default import default_engine
from ...errors import CotangentError, StructureError, UnsupportedError, pass_on
from ...primitive import Primitive
from ..backends.by_text import ByText
from ..backends.convert import VALUE, Converter, of_plain
from ..backends.forms import Forms, has_rows, may_have_rows
from ..backends.machine import NotAssembled
from ..backends.passes import Passes, is_stepwise, of_values
from ..backends.poles import at_poles
from ..backends.tiers import (
    COMPILED,
    FEW_COMPILED,
    NO_STEPS,
    Others,
    Steps,
    compiling,
    is_installed,
    may_assemble,
    native,
    or_else,
    warn,
)
from ..backends.whole.boundary import Boundary
from ..backends.whole.passes import POLES, WholePasses
from ..backends.whole.running import DifferentSizes
from ..backends.whole.values import NotWhole
from ..forward.tangents import tangents as tangent_module
from ..language.depth import with_room
from ..language.terms import Module
from ..language.types import MANY, ONE, ZERO, Array, Float, Product, is_discrete, records_in
from ..language.values import check_discrete
from ..lowering.passes import Lowered, lower_reverse, lower_value
from ..lowering.values import NotLowered
from ..ordinary import check_trees, holds_traced
from ..prepare.close import close
from ..prepare.fusion import fused
from ..reverse import reverse
from ..simplify import simplify_module
from .blocks import Blocks, columns, products, rows
from .tangent_passes import TangentPasses


class Ways(NamedTuple):
    """The passes of a program, as `run` of the core takes them."""

    native: Native | None
    few: Native | None
    whole: Whole | None
    others: Callable[..., Any]


class Executable:
    """Runs the derivatives of a module.

    * `engine`: runs the program on dual numbers; set at the first call from an engine.
    * `on_python`: gives the program as Python on dual numbers, when something asks for it: it is a text of its own.
    * `runs_plain`: whether `python` is the plain program, and not its derivative.
    """

    runs_plain = True

    def __init__(
        self,
        module: Module,
        classes: dict[str, type],
        primitives: Mapping[str, Primitive],
        on_python: Callable[[], Callable[..., Any] | None] = lambda: None,
        backend: str | None = None,
        is_declared: bool = True,
    ) -> None:
        self.on_python = on_python
        self.backend = backend
        self.is_declared = is_declared
        self.engine: Any = None
        self.module = module
        self.primitives = primitives
        self.closed = fused(close(module))
        self.classes = classes
        self.converter = Converter(module.types, classes)
        self.definition = module.definitions[module.main]
        self.tangents: dict[tuple[int, ...], TangentPasses] = {}
        for name in records_in(self.definition.result):
            if hasattr(classes[name], "__tapeengine_plain__"):
                raise StructureError(f"an object of {name} as a result: return its fields, or make it a dataclass")

    @functools.cached_property
    def python(self) -> Callable[..., Any] | None:
        """The program as Python that runs on dual numbers."""
        return self.on_python()

    @functools.cached_property
    def reverse_terms(self) -> Module:
        """The reverse derivative for evaluation. It is not simplified, because that takes longer than it saves."""
        return reverse(self.closed)

    @functools.cached_property
    def reverse(self) -> Module:
        """The reverse derivative in accumulating form."""
        return simplify_module(reverse(self.closed))

    def check_number(self, primals: Sequence[Any], tangents: Sequence[Any] | None = None) -> None:
        """Refuse a call with too many or too few arguments or tangents."""
        name, wanted = self.definition.name, len(self.definition.params)
        if len(primals) != wanted:
            if self.python is not None and len(primals) < wanted:
                self.python(*primals)  # which raises an error and does not run
            raise TypeError(f"{name} takes {wanted} arguments, not {len(primals)}")
        if tangents is None:
            return
        if len(tangents) != wanted:
            raise CotangentError(f"{name} takes a tangent for each of its {wanted} arguments")
        for k in self.discrete:
            check_discrete(tangents[k], f"tangents[{k}]")

    def check_trees(self, primals: Sequence[Any]) -> None:
        """Refuse recursive data that contain themselves; the core has left them, since it refuses deep data."""
        if self.module.types:
            check_trees(primals)

    def as_arrays(self, primals: Sequence[Any]) -> list[Any]:
        """Convert lists of numbers to arrays, whose arithmetic is the program's."""
        each = zip(self.definition.params, primals, strict=True)
        return [np.asarray(x) if type(x) is list and p.of == Array(Float()) else x for p, x in each]

    def at_pole(self, primals: Sequence[Any]) -> None:
        """Run the program as Python, so that it raises Python's errors at poles and at the ends of arrays.

        Derivatives compute with the arithmetic of C, in which poles are infinities; Python's floats raise an error
        there, and numpy's do not. An index out of range is reported at the program's own line.
        """
        if self.python is None:
            return
        try:
            with np.errstate(all="ignore"):
                self.python(*primals)
        except POLES:
            raise
        except Exception as error:  # an argument that only the typed program accepts
            pass_on(error)

    @functools.cached_property
    def passes(self) -> Passes | None:
        """Both passes with the forms of their values; None for types whose values the core does not take directly."""
        if self.lowered is None:
            return None
        try:
            return of_values(self.lowered, self.definition, self.classes)
        except NotAssembled as reason:
            if self.backend in COMPILED and not self.takes_references:
                warn(self.definition.name, reason)
            return None

    @functools.cached_property
    def entry(self) -> Native | None:
        """The passes in loops, in the program's order; None if numpy is faster, and may have another order."""
        if self.may_reorder:
            return None
        makes_arrays = self.keeps_order or not (self.module.by_numpy or is_installed())
        made = native(self.passes, self.definition.name, self.general_vjp, self.backend, makes_arrays=makes_arrays)
        return self.with_poles(made)

    def with_poles(self, made: Native | None) -> Native | None:
        """Let this decide where numbers are not finite; zero tangents stay zero there on dual numbers only."""
        if made is not None and self.runs_plain:
            made.poles = self
        return made

    def is_plain(self, primals: tuple[Any, ...]) -> bool:
        """Tell whether the plain program has a value that is not finite, rather than an error."""
        try:
            return self.plain is not None and has_infinity(self.plain(*primals))
        except Exception as error:  # which dual numbers raise as well
            pass_on(error)
            return False

    @functools.cached_property
    def plain(self) -> Callable[..., Any] | None:
        """The plain program, without numpy's warnings."""
        return None if self.python is None else at_poles("ignore", self.python)

    def vjp_at_pole(self, primals: tuple[Any, ...]) -> tuple[Any, Callable[[Any], Any]] | None:
        """Run the program on dual numbers, which have cotangents at poles as well; None where values are converted."""
        if self.others is None:
            return None
        found = self.others.on_duals((self.engine or default_engine()).vjp, primals, *primals)
        return None if found is None else (found[0], or_else(self.converted_back, *found))

    def jvp_at_pole(self, primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> tuple[Any, Any] | None:
        """Do the same with tangents."""
        engine = self.engine or default_engine()
        return None if self.others is None else self.others.on_duals(engine.jvp, primals, primals, tangents)

    @property
    def prefers_numpy(self) -> bool:
        """Whether numpy runs the program on many numbers, where no back end is asked for."""
        if self.backend:
            return False
        if self.calls_python and self.whole is not None:
            return bool(self.whole.made.matrix_products or not (self.takes_rows and is_installed()))
        return self.is_whole and not self.takes_rows

    @property
    def may_reorder(self) -> bool:
        """Whether numpy runs linear passes, in its own order."""
        return self.prefers_numpy and not self.keeps_order

    @property
    def calls_python(self) -> bool:
        """Whether the program calls primitives that have no C functions: one call for an array costs least."""
        return any(n == p.name for n, p in self.primitives.items())

    @property
    def takes_rows(self) -> bool:
        """Whether converting arguments to numpy's arrays takes longer than running the program's loops on them."""
        if self.module.by_numpy or (self.whole is not None and self.whole.made.matrix_products):
            return False
        return any(has_rows(p.of) for p in self.definition.params)

    @functools.cached_property
    def small(self) -> Native | None:
        """The passes for few numbers, for which the overhead of whole-array operations dominates."""
        if self.backend in COMPILED or self.calls_python:
            return None
        made = native(self.passes, self.definition.name, self.general_vjp, self.backend, is_few=True)
        if made is not None and is_installed() and not self.multiplies:
            made.most_few = FEW_COMPILED
        return self.with_poles(made)

    @functools.cached_property
    def keeps_order(self) -> bool:
        """Whether loops run in the program's order although numpy could run them, in another one.

        Native code takes less time than numpy, except for products, which BLAS computes, and calls of Python.
        """
        if self.backend or not is_installed() or self.calls_python or not self.is_whole or self.whole is None:
            return False
        return not (self.multiplies or (self.module.by_numpy and self.whole.made.vector_products))

    @property
    def is_whole(self) -> bool:
        """Whether numpy can run the program as operations on whole arrays, which may change the order of sums."""
        if self.lowered is None or self.closed.types or len(self.lowered.program.functions) > 2:  # recursion
            return False
        is_stepped = is_stepwise(self.lowered.program.functions["forward"].body)
        return not is_stepped and self.whole is not None

    @functools.cached_property
    def boundary(self) -> Boundary:
        """Converts between Python values and numpy's arrays."""
        return Boundary(self.closed.types, self.classes)

    @functools.cached_property
    def whole(self) -> WholePasses | None:
        """Both passes as whole-array operations; None if the program has no such form."""
        if self.lowered is None:
            return None
        try:
            return WholePasses(self.definition, self.lowered, self.boundary, self.primitives)
        except NotWhole:
            return None

    @functools.cached_property
    def whole_entry(self) -> Whole | None:
        """Both passes as whole-array operations on values that the core takes directly; None for others."""
        if self.whole is None or self.passes is None:
            return None
        return self.whole.entered(self.passes, lambda primals: self.dual_vjp(primals)[1])

    @functools.cached_property
    def lowered(self) -> Lowered | None:
        """Both passes in the intermediate form, for rows of equal size; None if there is no such form."""
        try:
            self.check_copies()
            return self.with_primitives(lower_reverse(self.closed, self.reverse_terms))
        except NotLowered as reason:
            if self.backend in COMPILED and not self.takes_references:
                warn(self.definition.name, reason)
            return None

    def with_primitives(self, lowered: Lowered) -> Lowered:
        """Give a lowered program with the primitives that it calls."""
        lowered.program.primitives.update(self.primitives)
        return lowered

    def along(self, places: tuple[int, ...]) -> TangentPasses:
        """Give what runs the tangent along the parameters in some places."""
        if places not in self.tangents:
            known = self.classes, self.closed.types, self.multiplies, self.module.by_numpy, self.backend
            lower = functools.partial(self.lower_tangent, places)
            self.tangents[places] = TangentPasses(self.definition, places, lower, *known)
        return self.tangents[places]

    @functools.cached_property
    def blocks_of(self) -> Callable[[str, tuple[int, ...]], tuple[Blocks | None, tuple[int, ...]]]:
        """Gives what runs a pass for blocks: "rows" or "columns" of a Jacobian, or "products" with a Hessian.

        The places are those of the parameters that are differentiated; for products, of the one that varies and of the
        one that is differentiated. It gives those of them that have tangents as well.
        """
        of, types = self.definition, [p.of for p in self.definition.params]

        @functools.cache
        def found(way: str, given: tuple[int, ...]) -> tuple[Blocks | None, tuple[int, ...]]:
            places = tuple(k for k in given if k in self.continuous)
            return made_for(way, places) if places else None, places

        def made_for(way: str, places: tuple[int, ...]) -> Blocks | None:
            along = self.along(places) if way == "columns" else None
            lowered = self.lowered if along is None else along.lowered
            if lowered is None:
                return None
            chosen, value = [types[k] for k in places], [of.result]
            if along is not None:
                passed, varied, made = columns(of, lowered), chosen, value
            elif way == "rows":
                passed, varied, made = rows(of, lowered, places), value, chosen
            else:
                passed, varied, made = products(of, lowered, *places), chosen[:1], chosen[1:]
            if passed is None:
                return None
            return Blocks(passed, types, varied, made, self.classes, lowered.program, self.may_reorder, self.backend)

        return found

    @property
    def multiplies(self) -> bool:
        """Whether numpy multiplies matrices of the program, where no back end is asked for."""
        if self.backend or not self.is_whole or self.whole is None:
            return False
        return bool(self.whole.made.matrix_products)

    def vjp(self, primals: Sequence[Any]) -> tuple[Any, Callable[[Any], tuple[Any, ...]]]:
        """Run the program; give its value and its backpropagator."""
        own = tuple(primals)
        return run(self.ways, self.engine or default_engine(), own) or self.general_vjp(own)

    @functools.cached_property
    def ways(self) -> Ways:
        """The passes, in loops or on few numbers and on whole arrays."""
        few, whole = (self.small, self.whole_entry) if self.entry is None else (None, None)
        return Ways(self.entry, few, whole, self.by_others)

    def by_others(self, engine: Any, primals: tuple[Any, ...]) -> tuple[Any, Callable[[Any], Any]] | None:
        """Run arguments that the passes on numbers and arrays do not take, if there is another way for them."""
        if self.others is None:
            return None
        return self.others.vjp(engine, primals, self.whole is None or is_ragged(primals))

    @functools.cached_property
    def others(self) -> Others | None:
        """What runs arguments that the passes on numbers and arrays do not take; None if numpy does."""
        of = self.definition
        if not (self.has_forms or self.takes_references):
            return None
        forms = Forms(self.classes, self.module.types)
        params, result = (forms.find(t) for t in (Product(tuple(p.of for p in of.params)), of.result))
        if params is None or result is None:
            return None
        has_rows = self.takes_references or any(may_have_rows(p.of) for p in of.params)
        is_assembled = may_assemble(self.closed.types, self.module.by_numpy, self.backend)
        lower, again = self.lower_rows, self.general_vjp
        steps: Steps = (lambda: self.by_text,)
        if self.by_text is None:
            steps = compiling(lower, of.name, again, self.backend, is_assembled) if has_rows else NO_STEPS
        return Others(steps, self.python, (params, result), self.converted_back)

    def lower_rows(self) -> Passes | None:
        """Lower both passes for rows of any sizes."""
        lowered = self.with_primitives(lower_reverse(self.closed, self.reverse_terms, dense=False))
        try:
            return of_values(lowered, self.definition, self.classes, self.closed.types)
        except NotAssembled:
            return None

    @functools.cached_property
    def by_text(self) -> ByText | None:
        """What runs a program that calls itself in the order of native code, if the machine is asked for."""
        try:
            passes = self.lower_rows() if self.backend == "machine" else None
        except NotLowered:
            return None
        if passes is None or not passes.is_recursive:
            return None
        return ByText(passes, self.definition, self.converter, self.dual_vjp)

    @functools.cached_property
    def takes_references(self) -> bool:
        """Whether native code takes references to parts of arguments: not all are numbers and arrays of these."""
        return not (self.has_forms or self.prefers_numpy)

    @functools.cached_property
    def form(self) -> Form | None:
        """The form of all arguments as a tuple, if each of their numbers has a tangent; else None."""
        form = Forms(self.classes).find(Product(tuple(p.of for p in self.definition.params)))
        return form if form is not None and form.width == form.real_width else None

    @functools.cached_property
    def has_forms(self) -> bool:
        """Whether all arguments are numbers and arrays of these."""
        return all(Forms(self.classes).find(p.of) is not None for p in self.definition.params)

    def general_vjp(self, primals: Sequence[Any]) -> tuple[Any, Callable[[Any], tuple[Any, ...]]]:
        """Do the same as `vjp`, for all primals of the program, which do not change afterwards."""
        start = perf_counter()
        found = self.longer_vjp(primals)
        if self.others is not None:
            self.others.count(start)
        return found

    def longer_vjp(self, primals: Sequence[Any]) -> tuple[Any, Callable[[Any], tuple[Any, ...]]]:
        """Run both passes as whole-array operations; on dual numbers if there are none, or a run may raise an error."""
        by_text = None if self.by_text is None else self.by_text.vjp(*primals)
        if by_text is not None:
            return by_text
        made = None
        if self.whole is not None and not is_ragged(tuple(primals)):
            self.check_trees(primals)
            try:
                made = self.whole.vjp(primals)
            except DifferentSizes:
                self.at_pole(self.as_arrays(primals))
        if made is None:
            return self.pole_vjp(primals)
        value, back = made
        return value, Checked(back, lambda: self.dual_vjp(primals)[1], primals)

    @functools.cached_property
    def reverse_form(self) -> Lowered:
        """Both passes in the intermediate form: for rows of equal size, or if there is no such form, of any size."""
        return self.lowered or lower_reverse(self.closed, self.reverse_terms, dense=False)

    @functools.cached_property
    def tangent_form(self) -> Lowered:
        """The tangent in the intermediate form, as `reverse_form`."""
        try:
            return self.lower_tangent(None)
        except NotLowered:
            return lower_value(tangent_module(self.closed), dense=False)

    def lower_tangent(self, places: tuple[int, ...] | None, dense: bool = True) -> Lowered:
        """Lower the tangent along the parameters in some places, or along all, for rows of equal size or of any sizes.

        It raises `NotLowered`.
        """
        self.check_copies()
        along = None if places == self.continuous else places
        return self.with_primitives(lower_value(tangent_module(self.closed, along), dense=dense))

    def check_copies(self) -> None:
        """Leave recursive functions that change arrays to dual numbers, which copy none of them at a call."""
        if self.module.copies and self.backend is None:
            raise NotLowered("a function that calls itself changes an array that it is given")

    def pole_vjp(self, primals: Sequence[Any]) -> tuple[Any, Callable[[Any], tuple[Any, ...]]]:
        """Use dual numbers at a pole; if these raise an error and the program does not, use numpy's infinities."""
        try:
            return self.dual_vjp(primals)
        except POLES:
            self.at_pole(primals)
            made = None if self.whole is None else self.whole.vjp(primals, may_be_infinite=True)
            if made is None:
                raise
        value, back = made
        return value, lambda cotangent: back(cotangent) or self.dual_vjp(primals)[1](cotangent)

    def dual_vjp(self, primals: Sequence[Any]) -> tuple[Any, Callable[[Any], tuple[Any, ...]]]:
        """Run the program as Python on dual numbers."""
        run, given = self.on_duals(primals)

        value, back = with_room(self.engine.vjp, run, *given)
        if self.converter.fits(self.definition.result, value):
            return value, or_else(self.converted_back, value, back)
        made = with_room(self.returned, value)
        converted = functools.partial(with_room, self.converted_back, value, back)
        return (value, back) if made is None else (made[0], converted)

    def returned(self, value: Any) -> tuple[Any] | None:
        """Give a value of the plain function as the typed program returns it, in a tuple.

        None for a value of another type than the text shows, where no annotation says one.
        """
        try:
            return (self.converter.returned(self.definition.result, value),)
        except StructureError:
            if self.is_declared:
                raise
            return None

    def converted_back(self, value: Any, back: Callable[[Any], Any], cotangent: Any) -> tuple[Any, ...]:
        """Call the backpropagator of a value of the plain program with a cotangent that has to be converted."""
        if holds_traced(cotangent):
            return back(cotangent)  # type: ignore[no-any-return]
        made = self.converter.tangent(self.definition.result, value, cotangent, VALUE)
        found: tuple[Any, ...] = back(of_plain(value, made))
        return found

    def on_duals(self, primals: Sequence[Any]) -> tuple[Callable[..., Any], list[Any]]:
        """Give the program as Python for dual numbers, and its arguments as values of the parameters' types."""
        if self.python is None:
            raise UnsupportedError(f"{self.definition.name} runs on dual numbers here, and has no Python function")
        self.engine = self.engine or default_engine()
        self.check_number(primals)
        each = zip(self.definition.params, primals, strict=True)
        convert = self.converter.conformed
        return self.python, [with_room(convert, p.of, x, f"the argument {p.name}") for p, x in each]

    def recorded(self, engine: Any, primals: Sequence[Any], places: Sequence[int]) -> tuple[Any, Any] | None:
        """Record a run on dual numbers of some arguments, for any cotangents and tangents; None where these convert."""
        run, at = self.on_duals(primals)
        if any(x is not y for x, y in zip(at, primals, strict=True)):
            return None

        def program(*given: Any) -> Any:
            every = dict(zip(places, given, strict=True))
            return run(*(every.get(k, x) for k, x in enumerate(primals)))

        found: tuple[Any, Any] = with_room(engine.trace, program, tuple(primals[k] for k in places))
        return found

    @functools.cached_property
    def continuous(self) -> tuple[int, ...]:
        """The places of the parameters that have tangents."""
        return tuple(i for i, p in enumerate(self.definition.params) if not is_discrete(p.of))

    @functools.cached_property
    def discrete(self) -> tuple[int, ...]:
        """The places of the other parameters."""
        return tuple(i for i in range(len(self.definition.params)) if i not in self.continuous)

    @property
    def tangent_ways(self) -> tuple[Any, tuple[Any, ...]] | None:
        """The form of the tangents of all parameters, and the loops that have run with them; None if there are none."""
        along = self.tangents.get(self.continuous)
        if along is None or self.takes_references or len(self.continuous) < len(self.definition.params):
            return None
        return (along.varied, along.ways) if along.entry is not None and along.varied is not None else None

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        """Run the program with tangents of its arguments; return its value and its tangent."""
        self.check_number(primals, tangents)
        places = tuple(k for k in self.continuous if tangents[k] is not None) or self.continuous
        along = self.along(places)
        if self.takes_references or is_ragged(tuple(primals)):
            found = along.by_references(primals, tangents)
        else:
            found = along.by_loops(primals, tangents)
        if found is not None:
            return found
        start = perf_counter()
        found = self.dual_jvp(primals, tangents)
        along.others.count(start)
        return found

    def dual_jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        """Run the program as Python on dual numbers, with a forward sweep."""
        self.check_number(primals, tangents)
        run, at = self.on_duals(primals)
        made: tuple[Any, Any] = with_room(self.dual_tangent, run, at, tangents)
        return made

    def dual_tangent(self, run: Callable[..., Any], at: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        """Run the program as Python on dual numbers, at values of the parameters' types."""
        of = self.definition.result
        try:
            value, tangent = self.engine.jvp(run, tuple(at), tuple(tangents))
        except CotangentError:  # tangents that need to be converted, or are refused by what converts them
            value, tangent = self.engine.jvp(run, tuple(at), tuple(self.converted(at, tangents)))
        if self.converter.fits(of, value):
            return value, tangent
        made = self.returned(value)
        if made is None:
            return value, tangent
        return made[0], self.converter.tangent(of, made[0], tangent, "the tangent")

    def converted(self, at: Sequence[Any], tangents: Sequence[Any]) -> Iterator[Any]:
        """Give tangents in the structures of their primals."""
        for i, (p, x, t) in enumerate(zip(self.definition.params, at, tangents, strict=True)):
            yield of_plain(x, self.converter.tangent(p.of, x, t, f"tangent {i}"))


@dataclass(slots=True, eq=False)
class Checked:
    """A backpropagator whose cotangents are finite, or else come from another one."""

    back: Callable[[Any], tuple[Any, ...] | None]
    other: Callable[[], Callable[[Any], tuple[Any, ...]]]
    primals: Sequence[Any]

    def __call__(self, cotangent: Any) -> tuple[Any, ...]:
        """Return the cotangents of the primals; of a traced cotangent by dual numbers, as functions of it."""
        found = self.back(cotangent)
        if found is None:
            found = self.other()(cotangent)
        made: tuple[Any, ...] = of_plain(self.primals, found, spells_none=False)
        return made


def parts_of(x: Any) -> Sequence[Any]:
    """Give the parts of a list, a tuple, a dict or a record."""
    if isinstance(x, list | tuple | dict):
        return list(x.values()) if isinstance(x, dict) else x
    return [getattr(x, name) for name in getattr(x, "__dataclass_fields__", ())]


def has_whole(value: Any, which: int = MANY, in_lists: bool = True) -> bool:
    """Tell whether a float may stand for an integer: for `which`, and in arrays and lists if `in_lists`."""
    if isinstance(value, float):
        return value % 1 == 0 and bool(which & (MANY | ZERO * (value == 0.0) | ONE * (value == 1.0)))
    if isinstance(value, np.ndarray | list) and not in_lists:
        return False
    if isinstance(value, np.ndarray):
        return bool(np.all(value % 1 == 0))
    return any(has_whole(part, which, in_lists) for part in parts_of(value))
