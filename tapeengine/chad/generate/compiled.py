"""A generated program: its text, and running it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from types import MappingProxyType
from typing import Any

import numpy as np

from tapeengine._core.native import COPIED, Backpropagator, Native, owned
from tapeengine._core.native import leaves as plain_leaves
from tapeengine._core.poles import is_finite
from tapeengine.chad.depth import deep
from tapeengine.chad.generate.boundary import Boundary
from tapeengine.chad.generate.boundary_rows import Place, places
from tapeengine.chad.generate.entry import entry
from tapeengine.chad.generate.functions import Functions
from tapeengine.chad.generate.liveness import has_loop
from tapeengine.chad.generate.passes import Passes, passes
from tapeengine.chad.generate.registered import called
from tapeengine.chad.generate.sized import Shapes, small_shapes
from tapeengine.chad.generate.stepwise import stepwise
from tapeengine.chad.generate.values import NotGenerated, Uneven, Value, leaves
from tapeengine.chad.imperative import Ref
from tapeengine.chad.native import form, native_passes
from tapeengine.chad.terms import Module
from tapeengine.chad.types import Array, Float, Type
from tapeengine.primitive import Primitive

__all__ = ["Compiled", "generate"]

Vjp = tuple[Any, Callable[[Any], tuple[Any, ...]]]
AtPole = Callable[[Sequence[Any]], None]
#: What Python's floats raise where C's answer with an infinity or a NaN.
POLES = (ZeroDivisionError, ValueError, OverflowError)
#: After which the short way gives up: also an index out of range, of which the general way makes sure.
REFERRED = (*POLES, IndexError)
#: What boxes and lists are at run time.
BOXES = (tuple, list, type(None))
#: For how many shapes a program has passes of their own.
MOST_SHAPES = 8
#: How deep recursive definitions and data may be nested: a frame takes about 200 bytes.
DEPTH = 2_000_000


class Compiled:
    """A program's forward and reverse pass as Python functions.

    Parameters
    ----------
    module : Module
        Without function values.
    classes : mapping of str to type
        The classes that named products stand for.
    primitives : mapping of str to Primitive
        The registry primitives that the program calls.
    at_pole : callable, optional
        Called with the arguments of a run that has met an infinity, a NaN, or arrays whose sizes do not fit; it may
        raise what the program raises.

    Attributes
    ----------
    text : str
        The two functions ``forward(...) -> (results, residuals)`` and ``reverse(residuals, ...) -> cotangents``.
    sized : dict
        By the shapes of small arguments the passes that are for these alone.
    """

    def __init__(
        self,
        module: Module,
        classes: Mapping[str, type] | None = None,
        primitives: Mapping[str, Primitive] = MappingProxyType({}),
        at_pole: AtPole | None = None,
    ) -> None:
        self.at_pole = at_pole or _nothing
        self.definition = module.definitions[module.main]
        self.boundary = Boundary(classes or {}, module.types)
        self._module = module
        forms = [form(p.of, {}) for p in self.definition.params if _is_float(p.of)]
        self._forms = tuple(f for f in forms if f is not None) if len(forms) == len(self.definition.params) else None
        self._primitives = primitives
        self._made: dict[tuple[bool, bool], Running] = {}
        self.sized: dict[Shapes, Running] = {}
        self.fast = self._first()
        self.text = self.fast.text
        shortest = entry(
            [p.of for p in self.definition.params],
            self.definition.result,
            classes or {},
            {
                "forward": self.fast.forward,
                "reverse": self.fast.reverse,
                "general": self._general,
                "isfinite": math.isfinite,
                "poles": REFERRED,
            },
        )
        self._enter = None if self.fast.is_deep else shortest

    def _first(self) -> Running:
        """Give the passes to run first: those of the machine, if there are any."""
        try:
            fast = self.running()
        except NotGenerated:
            return self.running(general=True)
        steps = stepwise(self._module) if fast.code is None else None
        if steps is None:
            return fast
        other = Running(passes(steps, primitives=self._primitives))
        if other.code is None:
            return fast
        self._module, self._made = steps, {(False, False): other}
        return other

    def running(self, exact: bool = False, general: bool = False) -> Running:
        """Give the passes of one form; each is written at its first use.

        Parameters
        ----------
        exact : bool
            Whether they are right also where infinities meet zeros.
        general : bool
            Whether they take rows of different sizes, and the other things that `passes` says.
        """
        if (exact, general) not in self._made:
            self._made[exact, general] = Running(passes(self._module, exact, self._primitives, general), general)
        return self._made[exact, general]

    def vjp(self, primals: Sequence[Any]) -> Vjp:
        """Run the program; give its value and its backpropagator.

        Raises
        ------
        NotGenerated
            Where an argument has no form as numpy arrays, such as rows of different sizes.
        """
        if self._enter is not None:
            made: Vjp | None = self._enter(*primals)
            if made is not None:
                return made
        return self._general(primals)

    def entry(self, again: Callable[[tuple[Any, ...]], Vjp]) -> Native | None:
        """Give the short way into a program that the register machine runs; None where there is none.

        Parameters
        ----------
        again : callable
            Gives value and backpropagator for the primals that have no such way.
        """
        code = self.fast.code
        if code is None or self.fast.general:
            return None
        return code.on_values(
            [p.of for p in self.definition.params], self.definition.result, self.boundary.classes, again
        )

    def _general(self, primals: Sequence[Any]) -> Vjp:
        if not self.fast.general:
            try:
                return self._run(self.fast, primals)
            except Uneven:  # lists have none of the operations that would be wrong
                each = zip(self.definition.params, primals, strict=True)
                self.at_pole([np.asarray(x) if type(x) is list and _is_float(p.of) else x for p, x in each])
            except NotGenerated:
                pass
        return self._run(self.running(general=True), primals)

    def _run(self, running: Running, primals: Sequence[Any]) -> Vjp:
        with self._depth():
            leaves = [_kept(leaf) for leaf in self._leaves(running, primals)]
            used, (results, residuals) = self._forward(self._for_shapes(running, leaves), leaves, primals)
            if isinstance(self.definition.result, Float):
                value = float(results[0])
            else:
                given_away = _unshared(results, residuals, leaves)
                value = self.boundary.out(self.definition.result, used.passes.value, given_away)

        def backpropagator(cotangent: Any) -> tuple[Any, ...]:
            with self._depth():
                found, given = self._back(used, residuals, cotangent, results, leaves)
                return self._taken(found, given, primals, used)

        return value, backpropagator

    def _depth(self) -> AbstractContextManager[None]:
        """Allow calls as deep as data are nested: frames of generated functions take no room on C's stack."""
        return deep(DEPTH) if self.fast.is_deep else nullcontext()

    def _leaves(self, running: Running, primals: Sequence[Any]) -> list[Any]:
        """Take the arguments apart."""
        params = self.definition.params
        if not running.general:
            plain = self._plain(primals)
            if plain is not None:
                return plain
            return [leaf for p, x in zip(params, primals, strict=True) for leaf in self.boundary.leaves_in(p.of, x)]
        each = zip(params, running.passes.params, primals, strict=True)
        return [leaf for p, form, x in each for leaf in self.boundary.rows_in(p.of, form, x)]

    def _plain(self, primals: Sequence[Any]) -> list[Any] | None:
        """Give the arguments as they are, if they are all floats and arrays of floats of the right form."""
        return None if self._forms is None else plain_leaves(self._forms, tuple(primals))

    def _for_shapes(self, running: Running, leaves: list[Any]) -> Running:
        """Give the passes for the shapes of these arguments, if the machine runs those and not these."""
        if running.code is not None or running.general or not running.loops:
            return running
        shapes = small_shapes(leaves)
        if shapes is None or (shapes not in self.sized and len(self.sized) >= MOST_SHAPES):
            return running
        if shapes not in self.sized:
            self.sized[shapes] = self._running_for(shapes) or running
        return self.sized[shapes]

    def _running_for(self, shapes: Shapes) -> Running | None:
        """Write the passes for arguments of these shapes; None where the machine cannot run them."""
        try:
            made = Running(passes(self._module, primitives=self._primitives, shapes=shapes))
        except NotGenerated:
            return None
        return None if made.code is None else made

    def _back(
        self, used: Running, residuals: Any, cotangent: Any, results: Sequence[Any], leaves: list[Any]
    ) -> tuple[Any, list[Any]]:
        given = self._given(cotangent, used, results)
        try:
            found = used.back(residuals, given)
            if used.passes.exact or all(is_finite(x) for x in found):
                return found, given
        except POLES:
            if used.passes.exact:
                raise
        exact = self.running(exact=True, general=used.general)
        results, residuals = exact.ahead(leaves)
        given = self._given(cotangent, exact, results)
        return exact.back(residuals, given), given

    def _forward(self, running: Running, leaves: list[Any], primals: Sequence[Any]) -> tuple[Running, Any]:
        try:
            made = running.ahead(leaves)
            if all(map(is_finite, made[0])):
                return running, made
        except POLES:
            pass
        self.at_pole(primals)
        exact = self.running(exact=True, general=running.general)
        return exact, exact.ahead(leaves)

    def _given(self, cotangent: Any, used: Running, results: Sequence[Any]) -> list[Any]:
        """Take the cotangent of the result apart; None and discrete parts are zero."""
        if type(cotangent) is float and isinstance(self.definition.result, Float):
            return [cotangent]
        given = self.boundary.cotangent_in(self.definition.result, used.passes.value, cotangent, results)
        each = zip(given, results, places(used.passes.value), strict=True)
        return [_fitted(g, r, place) for g, r, place in each]

    def _taken(self, found: Sequence[Any], given: list[Any], primals: Sequence[Any], used: Running) -> tuple[Any, ...]:
        """Put the cotangents of the parameters together, each in memory of its own."""
        own = owned(found, given)
        if not used.general and self._plain(primals) is not None:
            return tuple(own)
        rest = iter(own)
        each = zip(self.definition.params, used.passes.params, primals, strict=True)
        return tuple(self.boundary.cotangent_out(p.of, v, rest, x) for p, v, x in each)


class Running:
    """The passes of a program, compiled: for the register machine where they can be, and in Python.

    Python defines what is right. It runs what the machine cannot, and what the machine refers to it: an index out of
    range, an integer of more than 64 bits.

    Parameters
    ----------
    made : Passes
    general : bool
        Whether they are of the general form.
    """

    def __init__(self, made: Passes, general: bool = False) -> None:
        self.passes = made
        self.general = general
        self.text = made.text()
        self.code = native_passes(made.forward, made.reverse, made.residuals, made.exact)
        self.native = None if self.code is None else self.code.on_leaves()
        self._functions = Functions(self.text, called(made.primitives), made.forward)
        self.forward = self._functions["forward"]
        self.reverse = self._functions["reverse"]
        self.loops = has_loop(made.forward.body)
        self.is_deep = bool(made.inner) or any(
            x.kind in ("box", "list") for v in (*made.params, made.value) for x in _refs(v)
        )

    def ahead(self, leaves: Sequence[Any]) -> Any:
        """Run the forward pass."""
        made = None if self.native is None else self.native.vjp(*leaves)
        return self.ahead_in_python(leaves) if made is None else made

    def ahead_in_python(self, leaves: Sequence[Any]) -> Any:
        """Run the forward pass without the machine."""
        return self._functions.run(self.forward, *leaves)

    def back(self, residuals: Any, given: Sequence[Any]) -> Any:
        """Run the reverse pass."""
        if isinstance(residuals, Backpropagator):
            found = residuals(tuple(given))
            if found is not None:
                return found
            residuals = self.ahead_in_python(residuals.given)[1]
        return self._functions.run(self.reverse, residuals, *given)


def _nothing(primals: Sequence[Any]) -> None:
    """Infinities and NaNs are values like others."""


def _kept(leaf: Any) -> Any:
    """Give an argument as the passes keep it: small arrays are copied, since the caller may change them in place."""
    return leaf.copy() if type(leaf) is np.ndarray and leaf.nbytes <= COPIED else leaf


def _unshared(results: Sequence[Any], residuals: Any, leaves: Sequence[Any]) -> Iterator[Any]:
    """Give results that the caller may change in place: none of them is a residual, an argument or a view of one."""
    kept = residuals if type(residuals) is tuple else ()
    has_lists = any(type(x) is list for x in kept)
    held = {id(x) for x in (*kept, *leaves)}
    for x in results:
        is_array = type(x) is np.ndarray
        yield x.copy() if is_array and (has_lists or x.base is not None or id(x) in held) else x


def _refs(value: Value) -> Iterator[Ref]:
    return (x for x in leaves(value) if isinstance(x, Ref))


def _fitted(given: Any, result: Any, place: Place) -> Any:
    """Give a cotangent the shape of its result; a plain zero stands for all zeros, rows are filled up."""
    if isinstance(result, BOXES):
        return given
    if np.shape(given) == np.shape(result) and not place.is_sizes:
        return given
    if np.ndim(given) == 0 and type(given) is float and given == 0.0:
        return np.zeros(np.shape(result))
    if place.is_ragged or place.is_sizes:
        filled = np.zeros(np.shape(result))
        if np.ndim(given) == filled.ndim and all(a <= b for a, b in zip(np.shape(given), filled.shape, strict=True)):
            filled[tuple(map(slice, np.shape(given)))] = given
            if place.is_ragged or np.array_equal(filled, result):
                return filled
    raise NotGenerated("a cotangent of another shape")


def _is_float(of: Type) -> bool:
    while isinstance(of, Array):
        of = of.element
    return isinstance(of, Float)


def generate(
    module: Module,
    classes: Mapping[str, type] | None = None,
    primitives: Mapping[str, Primitive] = MappingProxyType({}),
    at_pole: AtPole | None = None,
) -> Compiled:
    """Generate a program's derivative.

    Parameters
    ----------
    module : Module
        Without function values: what `tapeengine.chad.close` gives.
    classes : mapping of str to type, optional
        The classes that named products stand for.
    primitives : mapping of str to Primitive, optional
        The registry primitives that the program calls.
    at_pole : callable, optional
        See `Compiled`.

    Returns
    -------
    Compiled

    Raises
    ------
    NotGenerated
        Where the program has no imperative form.

    Examples
    --------
    >>> from tapeengine.chad.terms import Definition, Module, Op, Var
    >>> from tapeengine.chad.types import FLOAT
    >>> x = Var("x", FLOAT)
    >>> square = Definition("square", (x,), FLOAT, Op("mul", (x, x)))
    >>> compiled = generate(Module("square", {"square": square}))
    >>> value, backpropagator = compiled.vjp([3.0])
    >>> value, backpropagator(1.0)
    (9.0, (6.0,))
    """
    return Compiled(module, classes, primitives, at_pole)
