"""The procedure language (WN Fig. 20 to 22): statements that consume the variables that they read.

    statement ::= x = Call f y | x = Const k | Elim y | x = Dup y | x = (y1, ..., yn) | (x1, ..., xn) = z
                | x = In_i y | Case x (In_1 x1 p1) ... (In_n xn pn)
    procedure ::= statement; ...; statement

    a : S |- b = Call f a -| b : T        a : S |- t = Dup a -| t : (S, S)        a : T |- Elim a -|

The judgement G |- p -| D says that p consumes the variables G and leaves D. Each variable is used once: one statement
binds it and one other statement reads it. So a second use is a Dup, and no use is an Elim. The branches of a Case
consume and leave the same variables. None is the zero of every space of cotangents, and also each of its parts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ...chad.language.values import Tagged
from ..constructors import Constructor


class Statement(Constructor):
    """Base class of the statements."""


Procedure = tuple[Statement, ...]


class Invoke(Statement):
    """``to = Call function argument``."""

    to: str
    function: str
    argument: str


class Const(Statement):
    """``to = Const value``."""

    to: str
    value: Any


class Elim(Statement):
    """``Elim argument``."""

    argument: str


class Dup(Statement):
    """``to = Dup argument``."""

    to: str
    argument: str


class Pack(Statement):
    """``to = (arguments)``."""

    to: str
    arguments: tuple[str, ...]


class Unpack(Statement):
    """``(to) = argument``."""

    to: tuple[str, ...]
    argument: str


class Inject(Statement):
    """``to = In_index argument``."""

    to: str
    index: int
    argument: str


class Case(Statement):
    """``Case argument``, with a variable and a procedure for each option."""

    argument: str
    branches: tuple[tuple[str, Procedure], ...]


class Assign(Statement):
    """``to = argument``: another name, without cost."""

    to: str
    argument: str


def check(procedure: Procedure, context: frozenset[str]) -> frozenset[str]:
    """The variables that a procedure leaves; an error if it uses an unbound variable or binds a bound one."""
    left = set(context)
    for statement in procedure:
        used, bound = variables(statement)
        if not set(used) <= left or len(set(used)) < len(used):
            raise ValueError(f"{statement} uses a variable that is unbound, or uses it twice")
        left -= set(used)
        if isinstance(statement, Case):
            ends = {check(branch, frozenset({x, *left})) for x, branch in statement.branches}
            if len(ends) > 1:
                raise ValueError(f"the branches of the case on {statement.argument} leave different variables")
            left = set(ends.pop())
        if set(bound) & left:
            raise ValueError(f"{statement} binds a variable that is bound already")
        left |= set(bound)
    return frozenset(left)


def variables(statement: Statement) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The variables that a statement reads, and those that it binds."""
    match statement:
        case Const(to, _):
            return (), (to,)
        case Elim(argument) | Case(argument, _):
            return (argument,), ()
        case Pack(to, arguments):
            return arguments, (to,)
        case Unpack(names, argument):
            return (argument,), names
        case Invoke(to, _, argument) | Dup(to, argument) | Inject(to, _, argument) | Assign(to, argument):
            return (argument,), (to,)
    raise ValueError(f"{statement} is no statement")


def execute(procedure: Procedure, store: dict[str, Any], functions: Mapping[str, Callable[[Any], Any]]) -> int:
    """Run a procedure on a store, in place; return the number of statements executed."""
    count = 0
    for statement in procedure:
        count += 1
        match statement:
            case Invoke(to, function, argument):
                store[to] = functions[function](store.pop(argument))
            case Const(to, value):
                store[to] = value
            case Elim(argument):
                del store[argument]
            case Dup(to, argument):
                store[to] = (store[argument], store.pop(argument))
            case Pack(to, arguments):
                store[to] = tuple(store.pop(a) for a in arguments)
            case Unpack(names, argument):
                whole = store.pop(argument)
                store.update(dict.fromkeys(names) if whole is None else zip(names, whole, strict=True))
            case Inject(to, index, argument):
                store[to] = Tagged(index, store.pop(argument))
            case Assign(to, argument):
                store[to] = store.pop(argument)
            case Case(argument, branches):
                tagged = store.pop(argument) or Tagged(0, None)
                x, branch = branches[tagged.option]
                store[x] = tagged.payload
                count += execute(branch, store, functions)
    return count
