"""The command ``python -m tapeengine ladder PROGRAM NAME=VALUE ...``: runs one program through all steps."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from textwrap import indent
from types import MappingProxyType
from typing import NamedTuple

from ..chad.language.terms import Module
from . import chad, dn
from .derivative import Derivative
from .parse import parse
from .pretty import show
from .wn import steps as wn

HELP = "run an expression through the steps of the papers: terms, records, counts, derivative"
EXAMPLE = 'python -m tapeengine ladder "z = x + y; x * z" x=12 y=13'


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's own options."""
    parser.add_argument("program", help="an expression, after optional assignments: 'z = x + y; x * sin(z)'")
    parser.add_argument("values", nargs="*", metavar="NAME=VALUE", help="the values of its names; 1.0 by default")
    parser.add_argument("--no-terms", action="store_true", help="print the tables alone")


def run(options: argparse.Namespace) -> int:
    """Print the programs of all steps, and for each paper a table of their counts and derivatives."""
    try:
        module = parse(options.program)
        primals = values(module, options.values)
        steps = {paper: list(rows(module, primals)) for paper, rows in PAPERS.items()}
    except (ValueError, SyntaxError, ArithmeticError, RecursionError) as error:
        print(f"ladder: {error}", file=sys.stderr)
        return 2
    names = ", ".join(f"{p.name} = {x!r}" for p, x in zip(module.definitions["f"].params, primals, strict=True))
    if not options.no_terms:
        print(f"program\n{show(module.definitions['f'].body, '    ')}\n")
        for made in steps.values():
            programs(made)
    print(f"at {names}" if names else "without inputs")
    for paper, made in steps.items():
        print(f"\n{paper}")
        print("\n".join(table(made)))
    return 0


def values(module: Module, given: list[str]) -> list[float]:
    """The primals, in the order of the parameters."""
    found = dict(map(value, given))
    params = [p.name for p in module.definitions[module.main].params]
    unknown = sorted(set(found) - set(params))
    if unknown:
        raise ValueError(f"the program has no name {unknown[0]!r}; it has {', '.join(params)}")
    return [found.get(name, 1.0) for name in params]


def value(text: str) -> tuple[str, float]:
    """A name and its value."""
    name, _, number = text.partition("=")
    try:
        return name, float(number)
    except ValueError:
        raise ValueError(f"write a value as NAME=NUMBER, such as x=1.5, not {text!r}") from None


class Row(NamedTuple):
    """The result of one step for the program."""

    name: str
    text: str
    counts: Mapping[str, int]
    gradient: tuple[float, ...]


def derivatives(
    steps: Mapping[str, Callable[..., Derivative]],
    write: Callable[[Module], str],
    module: Module,
    primals: list[float],
) -> Iterator[Row]:
    """Run the steps of DN, or those of CHAD and EC."""
    for name, step in steps.items():
        derivative = step(module, *primals)
        gradient = derivative.backpropagator(1.0)
        yield Row(name, indent(write(derivative.program), "    "), vars(derivative.counts), gradient)


def body(module: Module) -> str:
    """The body of a program's main definition."""
    return show(module.definitions[module.main].body)


def noted(module: Module, primals: list[float]) -> Iterator[Row]:
    """Run the systems of WN."""
    for name, step in wn.STEPS.items():
        made = step(module, *primals)
        counts = {column: getattr(made, column) for column in ("size", "records", "computed", "work")}
        yield Row(name, made.text, counts, made.cotangents)


#: The steps of each paper.
PAPERS: Mapping[str, Callable[[Module, list[float]], Iterator[Row]]] = MappingProxyType(
    {
        "Parallel Dual-Numbers Reverse AD": partial(derivatives, dn.STEPS, body),
        "CHAD and Efficient CHAD": partial(derivatives, chad.STEPS, chad.written),
        "Working notes on Automatic differentiation": noted,
    }
)


def programs(made: list[Row]) -> None:
    """Print the program of each step that differs from that of the step before."""
    previous = ""
    for row in made:
        if row.text == previous:
            print(f"{row.name}: the same terms, with other operations\n")
        else:
            print(f"{row.name}\n{row.text}\n")
        previous = row.text


def table(made: list[Row]) -> Iterator[str]:
    """The counts and the derivative of each step."""
    yield f"{'step':<13}" + "".join(f"{column:>10}" for column in made[0].counts) + "  derivative"
    for row in made:
        numbers = "".join(f"{count:>10,}" for count in row.counts.values())
        yield f"{row.name:<13}{numbers}  ({', '.join(map(repr, row.gradient))})"
