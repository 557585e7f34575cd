"""The free variables and the parts of terms of the working notes' language."""

from __future__ import annotations

from tapeengine.chad.terms import Build, If, Index, Let, Literal, Op, Proj, Size, Term, Total, Tuple, Var

__all__ = ["free", "subterms"]


def free(term: Term) -> frozenset[str]:
    """The free variables of a term."""
    match term:
        case Var(name):
            return frozenset({name})
        case Let(x, bound, body):
            return free(bound) | (free(body) - {x.name})
        case Build(size, i, body):
            return free(size) | (free(body) - {i.name})
    return frozenset().union(*map(free, subterms(term)))


def subterms(term: Term) -> tuple[Term, ...]:
    """The parts of a term that binds nothing."""
    match term:
        case Tuple(parts) | Op(_, parts):
            return parts
        case Proj(part, _) | Total(part) | Size(part):
            return (part,)
        case Index(array, index):
            return (array, index)
        case If(condition, then, orelse):
            return (condition, then, orelse)
        case Literal():
            return ()
    raise ValueError(f"{type(term).__name__} is not in the language of the working notes")
