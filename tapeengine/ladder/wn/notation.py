"""Prints programs of the categorical language and procedures in the notation of the working notes."""

from __future__ import annotations

from collections.abc import Iterator

from . import categorical as C
from .procedure import Assign, Case, Const, Dup, Elim, Inject, Invoke, Pack, Procedure, Unpack


def text(c: C.Categorical) -> str:
    """A program of the categorical language."""
    match c:
        case C.Constant(value):
            return f"K({value!r})"
        case C.Pick(index):
            return f"P[{index}]"
        case C.Prune(indices):
            return f"P[{', '.join(map(str, indices))}]"
        case C.Function(name):
            return f"F({name})"
        case C.Sequence(first, second):
            return f"{text(first)}; {text(second)}"
    name = {C.Pair: "", C.Choose: "IF", C.With: "L", C.Build: "B"}[type(c)]
    return f"{name}({', '.join(map(text, parts(c)))})"


def parts(c: C.Categorical) -> tuple[C.Categorical, ...]:
    """The direct parts of a program of the categorical language."""
    match c:
        case C.Pair(items):
            return items
        case C.Choose(condition, then, orelse):
            return condition, then, orelse
        case C.Sequence(first, second) | C.With(first, second) | C.Build(first, second):
            return first, second
    return ()


def constructors(c: C.Categorical) -> int:
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
