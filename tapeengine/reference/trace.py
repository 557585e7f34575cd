"""Runs a program on duals, and makes its backpropagator."""

from collections.abc import Callable
from typing import Any

import numpy

from ..errors import StructureError, TraceError, full_name
from ..structure import Structures
from .dual import Dual, as_float, live_tape
from .interleave import Layout, Leaf, match, rebuild, take_apart
from .nested import Copies, Scalar, copies_on, copy_out, resolve_recorded
from .sweep import Counts, resolve
from .tape import Tape


def unsupported(value: Any, path: str) -> StructureError:
    """The error for a leaf that is neither a number nor discrete."""
    return StructureError(
        f"{path} is a {full_name(type(value))}, which the engine cannot take apart. Use numbers and "
        "containers of them, or register the class as a container"
    )


class Inputs:
    """Interleave (DN Fig. 10): make the leaves of the primals the first duals of a trace."""

    def __init__(self, tape: Tape, structures: Structures) -> None:
        self.tape = tape
        self.structures = structures

    def leaf(self, value: Any, path: Callable[[], str]) -> tuple[Any, Leaf]:
        """A dual for a number; a discrete leaf unchanged."""
        cls = type(value)
        if cls is Dual:
            outer = live_tape(value)
            i = self.tape.add_input(value._value)
            self.tape.outer_duals.append((i, outer, value.id))
            return Dual(value._value, i, self.tape), Leaf(i, float)
        if cls is float or isinstance(value, numpy.floating):
            i = self.tape.add_input(float(value))
            return Dual(float(value), i, self.tape), Leaf(i, cls)
        if self.structures.is_discrete(value):
            return value, Leaf(0, type(None))
        raise unsupported(value, path())


class Outputs:
    """Deinterleave (DN Fig. 10): replace duals in the result of a program by their values, and keep their ids."""

    def __init__(self, tape: Tape, copies: Copies | None, structures: Structures) -> None:
        self.tape = tape
        self.copies = copies
        self.structures = structures

    def leaf(self, value: Any, path: Callable[[], str]) -> tuple[Any, Leaf]:
        """The value of a dual, or its copy on the outer tape; anything else unchanged."""
        cls = type(value)
        if cls is Dual and value.tape is self.tape:
            if self.copies is not None and value.id in self.copies.ids:
                return Dual(value._value, self.copies.ids[value.id], self.copies.outer), Leaf(value.id, float)
            return value._value, Leaf(value.id, float)
        if cls is Dual:
            if live_tape(value).serial > self.tape.serial:
                raise TraceError(
                    f"{path()} is a dual number of a later trace, which is still running in another thread. Traces of "
                    "different threads cannot exchange duals; pass plain numbers"
                )
            return value, Leaf(0, float)
        if cls is float or isinstance(value, numpy.floating):
            return value, Leaf(0, cls)
        if self.structures.is_discrete(value):
            return value, Leaf(0, type(None))
        raise unsupported(value, path())


class Backpropagator:
    """The linear map from a cotangent of a program's result to the cotangents of its primals.

    Each call allocates its own accumulation arrays.
    """

    def __init__(
        self, tape: Tape, primals: list[Layout], result: Layout, copies: Copies | None, structures: Structures
    ) -> None:
        self.tape = tape
        self.primals = primals
        self.result = result
        self.copies = copies
        self.structures = structures

    def __call__(self, cotangent: Any) -> tuple[Any, ...]:
        """Return a tuple with one cotangent for each primal, in the primal's structure."""
        plain, duals = self.staged(cotangent)
        outer = self.outer(duals)
        if outer is not None:
            return self.recorded(plain, duals, outer)
        resolve(self.tape, plain, self.tape.end - 1)
        return tuple(rebuild(layout, lambda i: plain[i]) for layout in self.primals)

    def count(self, cotangent: Any) -> Counts:
        """Resolve, and return the numbers of backpropagators called and of contributions that they made."""
        plain, _ = self.staged(cotangent)
        return resolve(self.tape, plain, self.tape.end - 1)

    def staged(self, cotangent: Any) -> tuple[list[float], list[tuple[int, Dual]]]:
        """The accumulation array with the cotangents of the result, and the cotangents that are duals."""
        plain = [0.0] * self.tape.end
        duals: list[tuple[int, Dual]] = []

        def stage(i: int, value: Any) -> bool:
            number = as_float(value)
            if isinstance(value, Dual):
                live_tape(value)
                duals.append((i, value))
            elif isinstance(value, numpy.ndarray) and value.shape == () and value.dtype.kind in "fiu":
                plain[i] += float(value)
            elif number is None:
                return False
            else:
                plain[i] += number
            return True

        match(self.result, cotangent, "cotangent", stage, self.structures)
        return plain, duals

    def outer(self, duals: list[tuple[int, Dual]]) -> Tape | None:
        """The latest live trace on which the cotangents will depend."""
        tapes = [d.tape for _, d in duals]
        if self.copies is not None and self.copies.outer.is_open:
            tapes.append(self.copies.outer)
        return max(tapes, key=lambda tape: tape.serial, default=None)

    def recorded(self, plain: list[float], duals: list[tuple[int, Dual]], outer: Tape) -> tuple[Any, ...]:
        """Resolve, and record every step of the sweep on an outer tape."""
        totals: dict[int, Dual] = {}
        for i, d in duals:
            if i:
                totals[i] = totals[i] + d if i in totals else d + plain[i]
        cotangents = [Scalar(value) for value in plain]
        for i, d in totals.items():
            cotangents[i] = Scalar(d._value, outer.operand(d.tape, d.id, d._value))
        resolve_recorded(self.tape, copies_on(outer, self.tape, self.copies), cotangents, self.tape.end - 1)

        def scalar(i: int) -> Any:
            return Dual(cotangents[i].value, cotangents[i].id, outer) if cotangents[i].id else cotangents[i].value

        return tuple(rebuild(layout, scalar) for layout in self.primals)


def vjp(program: Callable[..., Any], *primals: Any, structures: Structures | None = None) -> tuple[Any, Backpropagator]:
    """Run a program on duals; return its value and its backpropagator.

    Parameters
    ----------
    program : callable
        Any Python callable of the primals.
    *primals : structure of floats
        Floats, and any nesting of containers; discrete leaves pass through.
    structures : Structures, optional
        The known container classes.
    """
    structures = structures or Structures()
    tape = Tape()
    inputs = Inputs(tape, structures)
    try:
        apart = [take_apart(x, structures, f"primals[{i}]", inputs.leaf) for i, x in enumerate(primals)]
        result = program(*[duals for duals, _ in apart])
        copies = copy_out(tape)
        value, layout = take_apart(result, structures, "value", Outputs(tape, copies, structures).leaf)
    finally:
        tape.is_open = False
    return value, Backpropagator(tape, [layout for _, layout in apart], layout, copies, structures)
