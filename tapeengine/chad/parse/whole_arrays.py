"""Python's operators and the methods of arrays, on arguments that may be lists: those do something else, or nothing.

A program's `te.Vec` is an array or a list. Where it is an operand of Python's operators or the object of a method, and
all arrays among the operands are lists, Python puts them together, repeats them, or raises. The parser notes which
arguments such an operation meets; a call with lists there is refused.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tapeengine.chad.terms import Index, Let, Map, Term, Var
from tapeengine.chad.traverse import children
from tapeengine.chad.types import Array
from tapeengine.errors import StructureError

__all__ = ["Wanted", "check_lists", "wanted_arrays"]


@dataclass(frozen=True)
class Wanted:
    """An operation that means what it says if one of some arguments is an array.

    Attributes
    ----------
    arguments : frozenset of (int, int)
        The number of each parameter, and how deeply inside it the operand lies: rows of an array of arrays are at 1.
    place : str
        Where the operation is.
    """

    arguments: frozenset[tuple[int, int]]
    place: str


def wanted_arrays(
    params: Sequence[Var], body: Term, noted: Sequence[tuple[ast.AST, Sequence[Term]]], first: int
) -> tuple[Wanted, ...]:
    """Say which operations of a program that were noted meet nothing but its arguments.

    Parameters
    ----------
    params : sequence of Var
    body : Term
    noted : sequence of pairs of a node and its operands
    first : int
        The number of the program's first line.
    """
    bound = bindings(body)
    numbers = {p.name: i for i, p in enumerate(params)}
    found: dict[frozenset[tuple[int, int]], Wanted] = {}
    for node, operands in noted:
        arrays = [origin(t, numbers, bound) for t in operands if isinstance(t.type, Array)]
        if arrays and None not in arrays:
            arguments = frozenset(a for a in arrays if a is not None)
            found.setdefault(arguments, Wanted(arguments, f"line {first + getattr(node, 'lineno', 1) - 1}"))
    return tuple(found.values())


def bindings(body: Term) -> Mapping[str, Term]:
    """Give what variables are bound to, as far as that says what they are parts of."""
    bound: dict[str, Term] = {}
    pending = [body]
    while pending:
        term = pending.pop()
        if isinstance(term, Let):
            bound[term.var.name] = term.bound
        elif isinstance(term, Map):
            bound.update((v.name, Index(a, v)) for v, a in zip(term.vars, term.arrays, strict=True))
        pending.extend(child for child, _ in children(term))
    return bound


def origin(term: Term, numbers: Mapping[str, int], bound: Mapping[str, Term]) -> tuple[int, int] | None:
    """Give the parameter that a term is, or is an element of, and how deeply; None for what a program makes."""
    depth = 0
    while True:
        match term:
            case Var(name) if name in numbers:
                return numbers[name], depth
            case Var(name) if name in bound:
                term = bound[name]
            case Index(array, _):
                term, depth = array, depth + 1
            case _:
                return None


def check_lists(wanted: Sequence[Wanted], names: Sequence[str], primals: Sequence[Any]) -> None:
    """Refuse lists where a program uses its arguments as whole arrays.

    Raises
    ------
    StructureError
        Which names the argument and the line.
    """
    for each in wanted:
        if all(i < len(primals) and is_list(primals[i], depth) for i, depth in each.arguments):
            given = ", ".join(names[i] for i, _ in sorted(each.arguments))
            advice = "give it as numpy.array(...), or write a comprehension"
            raise StructureError(f"{given} is a list, which {each.place} uses as a whole array: {advice}")


def is_list(value: Any, depth: int) -> bool:
    """Tell whether a value, or what lies at a depth inside of it, is a list.

    Examples
    --------
    >>> is_list([1.0], 0), is_list([[1.0]], 1), is_list(((1.0,),), 1)
    (True, True, False)
    """
    while depth and isinstance(value, list | tuple) and value:
        value, depth = value[0], depth - 1
    return not depth and type(value) is list
