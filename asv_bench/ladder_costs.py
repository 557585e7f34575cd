"""The costs of the ladder's steps for programs of growing size: the numbers of docs/ladder.md and of its pictures."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import count
from types import MappingProxyType
from typing import Any, NamedTuple

from asv_bench import ladder_programs as programs
from asv_bench.ladder_programs import conditionals, folded_product, looped, nested_calls
from tapeengine.chad.language.terms import Module
from tapeengine.ladder import chad, dn
from tapeengine.ladder.derivative import Counts, Derivative
from tapeengine.ladder.wn.categorical import convert
from tapeengine.ladder.wn.gradient import gradient
from tapeengine.ladder.wn.split_categorical import Split
from tapeengine.ladder.wn.steps import STEPS

#: A program and its primals.
Case = tuple[Module, tuple[Any, ...]]


class Costs(NamedTuple):
    """Costs of steps as a quantity grows.

    Attributes
    ----------
    sizes : tuple of int
    rows : mapping of str to callable
        For each step, or count of a system, a function from a size to `Counts` or to a number.
    exponential : tuple of str and int
        A row with exponential growth, and the largest size at which it is counted.
    """

    sizes: tuple[int, ...]
    rows: Mapping[str, Callable[[int], Any]]
    exponential: tuple[str, int] = ("", 0)

    def numbers(self, row: str) -> list[Any]:
        """What a row counts at each size; None where it is not counted."""
        name, largest = self.exponential
        return [None if row == name and n > largest else self.rows[row](n) for n in self.sizes]


def counts(step: Callable[..., Derivative], make: Callable[[int], Case], size: int) -> Counts:
    """The counts of one step for one program."""
    module, primals = make(size)
    derivative = step(module, *primals)
    derivative.backpropagator(1.0)
    return derivative.counts


def steps(
    given: Mapping[str, Callable[..., Derivative]],
    make: Callable[[int], Case],
    sizes: tuple[int, ...],
    exponential: tuple[str, int] = ("", 0),
) -> Costs:
    """The counts of each step of DN, or of CHAD and EC."""
    return Costs(sizes, {name: partial(counts, step, make) for name, step in given.items()}, exponential)


def tree(depth: int, numbers: Iterator[int]) -> Any:
    """Scalars in a balanced tree of pairs."""
    return (tree(depth - 1, numbers), tree(depth - 1, numbers)) if depth else 1.0 + 0.1 * next(numbers)


def chain(n: int) -> Any:
    """Scalars in a chain of pairs."""
    return 1.0 if n == 1 else (1.0 + n, chain(n - 1))


def sharing(n: int) -> Case:
    """A chain of additions."""
    return programs.sharing(n), (1.5,)


def balanced_tree(n: int) -> Case:
    """A balanced tree of pairs."""
    return programs.balanced_tree(n), (tree(n, count(1)),)


def nested_inputs(n: int) -> Case:
    """A chain of pairs."""
    return programs.nested_inputs(n), (chain(n),)


def particles(n: int) -> Case:
    """Four particles."""
    return programs.particles(), (n, (1.0, 0.5), (2.0, 0.3), (-1.0, 0.2), (0.3, 0.1))


def beside(n: int) -> Case:
    """A scalar beside n others."""
    return programs.beside(n), ((1.5, (0.0,) * n),)


def distinct(levels: int) -> Case:
    """Variables that are each used once."""
    return programs.distinct(levels), tuple(1.0 + k for k in range(2**levels))


def applications(n: int) -> Case:
    """Applications of the identity."""
    return programs.nested_applications(n + 1), (1.5,)


def cells(prune: bool, n: int) -> int:
    """Components of cotangents that the split passes make on a chain with sharing."""
    main, split = programs.sharing(n).definitions["f"], Split()
    c = convert(main.body, ("x0",), prune)
    split.reverse(c, split.forward(c, (1.5,))[1], 1.0)
    return split.cells


def statements(n: int) -> tuple[int, int, int]:
    """Statements of a chain with sharing: of the procedure, of its forward and of its reverse pass."""
    return gradient(programs.sharing(n), 1.5).statements


def noted(system: str, column: str, make: Callable[[int], Module], n: int) -> int:
    """One count of one system of WN."""
    return int(getattr(STEPS[system](make(n), 0.5), column))


stored, again = partial(looped, again=False), partial(looped, again=True)
#: The tables of the page, by the quantity that grows: those of the steps of DN, of CHAD and EC, and of WN's systems.
TABLES: Mapping[str, Mapping[str, Costs]] = MappingProxyType(
    {
        "dual-numbers": {
            "additions in a chain of sharing": steps(dn.STEPS, sharing, (2, 4, 8, 12, 16, 32), ("naive", 12)),
            "levels of a balanced tree": steps(dn.STEPS, balanced_tree, (1, 2, 3, 4, 5, 6)),
            "inputs in a chain of pairs": steps(dn.STEPS, nested_inputs, (2, 4, 8, 16, 32)),
            "time steps of four particles": steps(dn.STEPS, particles, (1, 2, 4, 8, 16, 32), ("naive", 4)),
        },
        "chad": {
            "nested applications": steps(chad.STEPS, applications, (1, 2, 4, 8, 16), ("copower", 8)),
            "additions in a chain of lets": steps(chad.STEPS, sharing, (2, 4, 8, 16, 32, 64)),
            "uses of fst x beside as many scalars": steps(chad.STEPS, beside, (2, 4, 8, 16, 32, 64)),
            "levels of a tree of distinct variables": steps(chad.STEPS, distinct, (1, 2, 3, 4, 5, 6, 7)),
        },
        "working-notes": {
            "nested calls": Costs(
                (2, 4, 8, 16, 32),
                {
                    "jacobian: values computed": partial(noted, "jacobian", "computed", nested_calls),
                    "tupling: values computed": partial(noted, "tupling", "computed", nested_calls),
                    "tupling: constructors of its program": partial(noted, "tupling", "size", nested_calls),
                },
            ),
            "additions of a value to itself": Costs(
                (2, 4, 8, 16, 32),
                {
                    "tupling: maps visited": partial(noted, "tupling", "work", programs.sharing),
                    "categorical: cells of cotangents": partial(cells, False),
                    "pruned: cells of cotangents": partial(cells, True),
                    "procedure: statements of the program": lambda n: statements(n)[0],
                    "procedure: statements of both passes": lambda n: sum(statements(n)[1:]),
                    "bags: terms of the reverse pass": partial(noted, "bags", "work", programs.sharing),
                },
                ("tupling: maps visited", 8),
            ),
            "conditionals in a row": Costs(
                (1, 2, 4, 8, 16),
                {
                    "bags: constructors of both passes": partial(noted, "bags", "size", conditionals),
                    "continuation: constructors of both passes": partial(noted, "continuation", "size", conditionals),
                },
                ("continuation: constructors of both passes", 8),
            ),
            "elements or iterations": Costs(
                (4, 8, 16, 32, 64, 128),
                {
                    "lmFold: maps and cells visited": partial(noted, "jacobian", "work", folded_product),
                    "nTimes: cells kept": partial(noted, "bags", "records", stored),
                    "nTimes: values computed": partial(noted, "bags", "computed", stored),
                    "ccl: cells kept": partial(noted, "bags", "records", again),
                    "ccl: values computed": partial(noted, "bags", "computed", again),
                },
            ),
        },
    }
)
#: All of them, in the order of the page.
COSTS: Mapping[str, Costs] = MappingProxyType({name: cost for paper in TABLES.values() for name, cost in paper.items()})
