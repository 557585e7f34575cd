"""Sums of loops as loops: a sum over a build whose elements are loops themselves needs no array at all.

As whole-array operations all elements go through a loop together, which is quick for many elements; a loop of scalars
is what the register machine runs, and quick for few of them as well.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from tapeengine.chad import terms as S
from tapeengine.chad.terms import Definition, Literal, Module, Term, Var
from tapeengine.chad.traverse import Names, all_names, children, map_children
from tapeengine.chad.types import INT

__all__ = ["stepwise"]


def stepwise(module: Module) -> Module | None:
    """Write each sum over a build of loops as a loop that carries the sum.

    Parameters
    ----------
    module : Module
        Without function values.

    Returns
    -------
    Module or None
        None where there is no such sum.

    Examples
    --------
    >>> from tapeengine.chad.types import FLOAT
    >>> n, i, j, x = Var("n", INT), Var("i", INT), Var("j", INT), Var("x", FLOAT)
    >>> power = S.For(n, j, x, Literal(1.0, FLOAT), S.Op("mul", (x, x)))
    >>> total = Definition("total", (n,), FLOAT, S.Total(S.Build(n, i, power)))
    >>> found = stepwise(Module("total", {"total": total}))
    >>> type(found.definitions["total"].body).__name__
    'For'
    """
    looping = _looping(module)
    definitions = {name: _rewritten(d, lambda t: _loops(t, looping)) for name, d in module.definitions.items()}
    if all(d is module.definitions[name] for name, d in definitions.items()):
        return None
    return Module(module.main, definitions, module.types)


def _looping(module: Module) -> set[str]:
    """Give the names of the definitions that loop, or call one that does."""
    found: set[str] = set()
    size = -1
    while len(found) > size:
        size = len(found)
        found |= {name for name, d in module.definitions.items() if _loops(d.body, found)}
    return found


def _loops(term: Term, looping: set[str]) -> bool:
    if isinstance(term, S.For | S.While) or (isinstance(term, S.Call) and term.name in looping):
        return True
    return any(_loops(child, looping) for child, _ in children(term))


def _rewritten(definition: Definition, loops: Callable[[Term], bool]) -> Definition:
    names = Names(all_names(definition.body) | {p.name for p in definition.params})

    def rewrite(term: Term) -> Term:
        inner = map_children(term, rewrite)
        if isinstance(inner, S.Total) and isinstance(inner.array, S.Build) and loops(inner.array.body):
            return _summed(inner.array, names)
        return inner

    body = rewrite(definition.body)
    return definition if body is definition.body else replace(definition, body=body)


def _summed(build: S.Build, names: Names) -> Term:
    of = build.body.type
    total = Var(names("total"), of)
    start = Literal(0, INT) if of == INT else Literal(0.0, of)
    return S.For(build.size, build.index, total, start, S.Op("iadd" if of == INT else "add", (total, build.body)))
