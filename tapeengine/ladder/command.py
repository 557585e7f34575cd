"""The command ``python -m tapeengine ladder PROGRAM NAME=VALUE ...``: one program through all steps."""

from __future__ import annotations

import argparse

from tapeengine.chad.terms import Definition, Module
from tapeengine.ladder.dn import STEPS
from tapeengine.ladder.parse import parse
from tapeengine.ladder.pretty import show

__all__ = ["EXAMPLE", "HELP", "add_arguments", "run"]

HELP = "take an expression through the steps of the papers: terms, records, counts, derivative"
EXAMPLE = 'python -m tapeengine ladder "z = x + y; x * z" x=12 y=13'


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's own options."""
    parser.add_argument("program", help="an expression, after assignments if need be: 'z = x + y; x * sin(z)'")
    parser.add_argument(
        "values", nargs="*", metavar="NAME=VALUE", help="the values of its names; 1.0 where none is given"
    )
    parser.add_argument("--no-terms", action="store_true", help="print the table alone")


def run(options: argparse.Namespace) -> int:
    """Print the terms of each step, and the table of their counts and derivatives."""
    try:
        module = parse(options.program)
        primals = values(module, options.values)
        table = rows(module, primals, not options.no_terms)
    except (ValueError, SyntaxError, ArithmeticError) as error:
        print(f"ladder: {error}")
        return 2
    names = ", ".join(f"{p.name} = {x!r}" for p, x in zip(module.definitions["f"].params, primals, strict=True))
    print(f"at {names}" if names else "without inputs")
    print(f"{'step':<10}{'records':>9}{'calls':>9}{'additions':>11}{'steps':>9}{'span':>7}  derivative")
    print("\n".join(table))
    return 0


def values(module: Module, given: list[str]) -> list[float]:
    """The primals, in the order of the parameters."""
    found = {name: float(number) for name, _, number in (text.partition("=") for text in given)}
    params = [p.name for p in module.definitions[module.main].params]
    unknown = sorted(set(found) - set(params))
    if unknown:
        raise ValueError(f"the program has no name {unknown[0]!r}; it has {', '.join(params)}")
    return [found.get(name, 1.0) for name in params]


def rows(module: Module, primals: list[float], with_terms: bool) -> list[str]:
    """Run all steps; print the programs that they make, and give the rows of the table."""
    if with_terms:
        print(text("program", module.definitions[module.main]))
    table, previous = [], ""
    for name, step in STEPS.items():
        derivative = step(module, *primals)
        gradient = ", ".join(map(repr, derivative.backpropagator(1.0)))
        program = text(name, derivative.program.definitions[module.main])
        body = program.partition("\n")[2]
        if with_terms:
            print(
                program if body != previous else f"{name}: the same terms, with other operations for 0, + and SCall\n"
            )
        previous = body
        c = derivative.counts
        numbers = f"{c.records:>9,}{c.calls:>9,}{c.additions:>11,}{c.steps:>9,}{c.span:>7,}"
        table.append(f"{name:<10}{numbers}  ({gradient})")
    return table


def text(title: str, definition: Definition) -> str:
    """A definition as text."""
    return f"{title}: f({', '.join(p.name for p in definition.params)}) =\n{show(definition.body, '    ')}\n"
