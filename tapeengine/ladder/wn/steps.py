"""The systems of the working notes in order, with the program that each makes and its costs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from functools import partial
from types import MappingProxyType
from typing import Any, NamedTuple

from ...chad.language.terms import Module
from ...chad.language.traverse import size
from ...chad.language.values import Tagged
from ..pretty import show
from . import full, vectors
from .application import reverse
from .bags import bog
from .bog import Bog
from .bog_continuation import Continuation
from .categorical import convert
from .gradient import gradient, procedure_of
from .linear_maps import LinearMap
from .notation import constructors, statements, text
from .split import split
from .split_categorical import Split


class Noted(NamedTuple):
    """A program's value and gradient by one system.

    Attributes
    ----------
    value : object
    cotangents : tuple
    size : int
        Constructors or statements of the system's program.
    records : int
        The size of the forward pass's output for the reverse pass: constructors of the linear map, or cells.
    computed : int
        The number of values computed.
    work : int
        The size of what the reverse pass visited: constructors and cells, statements, or terms.
    text : str
        The system's program.
    """

    value: Any
    cotangents: tuple[Any, ...]
    size: int
    records: int
    computed: int
    work: int
    text: str


def maps(m: Any) -> Iterator[LinearMap]:
    """The constructors of a linear map; a shared one counts each time that it occurs."""
    if isinstance(m, LinearMap):
        yield m
    if is_dataclass(m):
        m = tuple(getattr(m, item.name) for item in fields(m))
    if isinstance(m, tuple):
        for part in m:
            yield from maps(part)


def cells(trace: Any) -> int:
    """The scalars of a trace."""
    if isinstance(trace, Tagged):
        return 1 + cells(trace.payload)
    return sum(map(cells, trace)) if isinstance(trace, (tuple, list)) else 1


def linear(linearize: Callable[..., full.Linearization], module: Module, *primals: Any) -> Noted:
    """Fig. 6, or Fig. 7 and 8."""
    found, visited = linearize(module, *primals), 0

    def visit(count: int) -> None:
        nonlocal visited
        visited += count

    cotangents = vectors.full(reverse(1.0, found.map, visit), primals)
    records = len({id(m) for m in maps(found.map)})
    program = found.program
    return Noted(found.value, cotangents, size(program), records, found.operations, visited, show(program, "    "))


def categorical(prune: bool, module: Module, *primals: Any) -> Noted:
    """Section 6."""
    main, passes = module.definitions[module.main], Split()
    c = convert(main.body, tuple(x.name for x in main.params), prune)
    value, trace = passes.forward(c, primals)
    cotangents = vectors.full(passes.reverse(c, trace, 1.0), primals)
    work = passes.cells + passes.visited
    return Noted(value, cotangents, constructors(c), cells(trace), passes.computed, work, "    " + text(c))


def procedural(module: Module, *primals: Any) -> Noted:
    """Section 10."""
    found, (procedure, _, _) = gradient(module, *primals), procedure_of(module)
    passes = split(procedure)
    there, back = (list(statements(p, "    ")) for p in (passes.forward, passes.reverse))
    computed = sum(" = Call rf$" in line for line in there)
    length, lines = len(there) + len(back), "\n".join([*there, "    -- reverse", *back])
    return Noted(found.value, found.cotangents, length, len(passes.trace), computed, found.statements[2], lines)


def bags(style: type[Bog], module: Module, *primals: Any) -> Noted:
    """Section 11."""
    found = bog(module, *primals, style=style)
    both = [found.program.definitions[f"{pass_}${module.main}"].body for pass_ in ("rf", "rr")]
    lines = "\n    -- reverse\n".join(show(body, "    ") for body in both)
    work = found.evaluated
    return Noted(found.value, found.cotangents, sum(map(size, both)), cells(found.bag), found.computed, work, lines)


#: The systems: each maps a module and its primals to its results.
STEPS: Mapping[str, Callable[..., Noted]] = MappingProxyType(
    {
        "jacobian": partial(linear, full.jacobian),
        "tupling": partial(linear, full.tupling),
        "categorical": partial(categorical, False),
        "pruned": partial(categorical, True),
        "procedure": procedural,
        "bags": partial(bags, Bog),
        "continuation": partial(bags, Continuation),
    }
)
