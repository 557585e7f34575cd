"""Prints programs of the categorical language and procedures in the notation of the working notes."""

from __future__ import annotations

from collections.abc import Iterator

from .categorical import (
    Build,
    Categorical,
    Choose,
    Constant,
    Function,
    Pair,
    Pick,
    Prune,
    Sequence,
    With,
)
from .procedure import Assign, Case, Const, Dup, Elim, Inject, Invoke, Pack, Procedure, Unpack


def text(c: Categorical) -> str:
    """A program of the categorical language."""
    match c:
        case Constant(value):
            return f"K({value!r})"
        case Pick(index):
            return f"P[{index}]"
        case Prune(indices):
            return f"P[{', '.join(map(str, indices))}]"
        case Function(name):
            return f"F({name})"
        case Sequence(first, second):
            return f"{text(first)}; {text(second)}"
    name = {Pair: "", Choose: "IF", With: "L", Build: "B"}[type(c)]
    return f"{name}({', '.join(map(text, parts(c)))})"


def parts(c: Categorical) -> tuple[Categorical, ...]:
    """The direct parts of a program of the categorical language."""
    match c:
        case Pair(items):
            return items
        case Choose(condition, then, orelse):
            return condition, then, orelse
        case Sequence(first, second) | With(first, second) | Build(first, second):
            return first, second
    return ()


def constructors(c: Categorical) -> int:
    """The number of constructors of a program of the categorical language."""
    return 1 + sum(map(constructors, parts(c)))


def statements(procedure: Procedure, indent: str = "") -> Iterator[str]:
    """The statements of a procedure, line by line."""
    for statement in procedure:
        match statement:
            case Invoke(to, function, argument):
                yield f"{indent}{to} = Call {function} {argument}"
            case Const(to, value):
                yield f"{indent}{to} = Const {value!r}"
            case Elim(argument):
                yield f"{indent}Elim {argument}"
            case Dup(to, argument):
                yield f"{indent}{to} = Dup {argument}"
            case Pack(to, arguments):
                yield f"{indent}{to} = ({', '.join(arguments)})"
            case Unpack(to, argument):
                yield f"{indent}({', '.join(to)}) = {argument}"
            case Inject(to, index, argument):
                yield f"{indent}{to} = In{index} {argument}"
            case Assign(to, argument):
                yield f"{indent}{to} = {argument}"
            case Case(argument, branches):
                yield f"{indent}Case {argument}"
                for index, (x, branch) in enumerate(branches):
                    yield f"{indent}    In{index} {x}"
                    yield from statements(branch, indent + "        ")
