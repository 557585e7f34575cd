"""Prints terms: a line for each `let`, with indentation for bound terms that have a `let` themselves."""

from __future__ import annotations

from collections.abc import Iterator

from ..chad.language import terms as S
from .source import Ccl, FoldLeft, Fork, LetTuple, NTimes
from .target import Interface, Partial

INFIX = ("add", "+"), ("sub", "-"), ("mul", "*"), ("div", "/"), ("lt", "<"), ("le", "<="), ("isub", "-"), ("iadd", "+")


def show(term: S.Term, indent: str = "") -> str:
    """A term as text."""
    return "\n".join(indent + line for line in lines(term))


def lines(term: S.Term) -> Iterator[str]:
    """The lines of a term."""
    while isinstance(term, (S.Let, LetTuple)):
        names, bound, rest = pattern(term)
        first, *more = list(lines(bound))
        if more:
            yield f"let {names} ="
            yield from ("    " + line for line in [first, *more])
        else:
            yield f"let {names} = {first}"
        term = rest
    yield from last(term)


def pattern(let: S.Let | LetTuple) -> tuple[str, S.Term, S.Term]:
    """The binders of a `let`; ``let p = s in let x = p.0 in let y = p.1 in t`` is ``let (x, y) = s in t``."""
    if isinstance(let, LetTuple):
        return f"({', '.join(x.name for x in let.vars)}{',' * (len(let.vars) == 1)})", let.bound, let.body
    names: list[str] = []
    rest = let.body
    while (
        let.var.name.startswith("p'")
        and isinstance(rest, S.Let)
        and isinstance(rest.bound, S.Proj)
        and rest.bound.term == let.var
    ):
        names.append(rest.var.name)
        rest = rest.body
    return (f"({', '.join(names)})", let.bound, rest) if names else (let.var.name, let.bound, let.body)


def last(term: S.Term) -> Iterator[str]:
    """The lines of a term other than `let`."""
    match term:
        case S.If(condition, then, orelse):
            yield f"if {inline(condition)} then"
            yield from ("    " + line for line in lines(then))
            yield "else"
            yield from ("    " + line for line in lines(orelse))
        case S.Case(subject, branches):
            yield f"case {inline(subject)} of"
            for index, branch in enumerate(branches):
                yield f"    in{index} {branch.var.name} ->"
                yield from ("        " + line for line in lines(branch.body))
        case _:
            yield inline(term)


def listed(terms: tuple[S.Term, ...]) -> str:
    """Terms separated by commas."""
    return ", ".join(map(inline, terms))


def operand(term: S.Term) -> str:
    """A term inside another one: in parentheses if it is an infix operation."""
    is_infix = isinstance(term, S.Op) and term.op in dict(INFIX)
    nested = isinstance(term, (S.Let, LetTuple, S.Lambda, Fork, S.Build, FoldLeft, NTimes, Ccl))
    return f"({inline(term)})" if is_infix or nested else inline(term)


def inline(term: S.Term) -> str:
    """A term on one line."""
    match term:
        case S.Var(name):
            return name
        case S.Literal(number):
            return repr(number)
        case S.Tuple(items):
            return f"({listed(items)}{',' * (len(items) == 1)})"
        case S.Proj(whole, index):
            return f"{operand(whole)}.{index}"
        case S.Op(op, (left, right)) | Interface(op, (left, right)) if op in dict(INFIX):
            return f"{operand(left)} {dict(INFIX)[op]} {operand(right)}"
        case S.Op(name, args) | S.Call(name, args):
            return f"{name}({listed(args)})"
        case S.Inject(index, payload):
            return f"in{index} {operand(payload)}"
        case S.Lambda(params, body):
            return f"\\{' '.join(p.name for p in params)}. {inline(body)}"
        case S.Apply(function, args):
            return f"{operand(function)}({listed(args)})"
        case Partial(op, which, operands, cotangent):
            return f"d{which} {op}({listed(operands)})({inline(cotangent)})"
        case Interface("+", args):
            return " + ".join(map(inline, args))
        case Interface(name, ()):
            return name
        case Interface("Contrib" | "Record", args):
            return f"[{listed(args)}]"
        case Interface("new", args):
            return listed(args)
        case Interface(name, args):
            return f"{name}({listed(args)})"
        case Fork(left, right):
            return f"{operand(left)} || {operand(right)}"
    return of_arrays(term)


def of_arrays(term: S.Term) -> str:
    """An operation on arrays, a loop, or a term with lines of its own, on one line."""
    match term:
        case S.Build(size, i, body):
            return f"build {operand(size)} (\\{i.name}. {inline(body)})"
        case S.Index(array, at):
            return f"{operand(array)}[{inline(at)}]"
        case S.Size(array) | S.Total(array):
            return f"{'size' if isinstance(term, S.Size) else 'sum'} {operand(array)}"
        case FoldLeft(pair, body, init, array):
            return f"fold (\\{pair.name}. {inline(body)}) {operand(init)} {operand(array)}"
        case NTimes(f, size, init) | Ccl(f, size, init):
            return f"{'nTimes' if isinstance(term, NTimes) else 'ccl'} {operand(size)} {operand(init)} {f}"
        case S.Let() | LetTuple() | S.If() | S.Case():
            return "; ".join(line.strip() for line in lines(term))
    raise ValueError(f"{type(term).__name__} is not a term of the ladder's languages")
