"""Refuse lists as operands of Python's operators and as objects of array methods, where they mean something else.

A program's `te.Vec` is an array or a list. If all arrays among the operands of an operator or method are lists, Python
joins or repeats them, or raises an error. The parser records the arguments that reach such operations, and a call with
lists for them is refused.
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
    """An operation that has the program's meaning if at least one of some arguments is an array.

    Attributes
    ----------
    arguments : frozenset of (int, int)
        The number of each parameter, and the depth of the operand inside it: rows of an array of arrays have depth 1.
    place : str
        The place of the operation.
    """

    arguments: frozenset[tuple[int, int]]
    place: str


def wanted_arrays(
    params: Sequence[Var], body: Term, noted: Sequence[tuple[ast.AST, Sequence[Term]]], first: int
) -> tuple[Wanted, ...]:
    """Give the recorded operations of a program whose operands are all arguments or parts of them.

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
    """Give the bindings of variables that are parts of other values."""
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
    """Give the parameter that a term is or is part of, and the depth; None for a value that the program makes."""
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
        If there is one; the message names the argument and the line.
    """
    for each in wanted:
        if all(i < len(primals) and is_list(primals[i], depth) for i, depth in each.arguments):
            given = ", ".join(names[i] for i, _ in sorted(each.arguments))
            advice = "give it as numpy.array(...), or write a comprehension"
            raise StructureError(f"{given} is a list, which {each.place} uses as a whole array: {advice}")


def is_list(value: Any, depth: int) -> bool:
    """Tell whether a value, or its first part at a depth, is a list.

    Examples
    --------
    >>> is_list([1.0], 0), is_list([[1.0]], 1), is_list(((1.0,),), 1)
    (True, True, False)
    """
    while depth and isinstance(value, list | tuple) and value:
        value, depth = value[0], depth - 1
    return not depth and type(value) is list
