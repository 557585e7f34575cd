"""What is done to whole arrays of rows or boxes, as loops over them: back ends do it to arrays of numbers alone."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ..intermediate import statements as F
from ..intermediate.analysis import rewritten, walk
from ..intermediate.operations import WHOLE, Scalar
from ..language.traverse import Names
from .chunks import variables


def in_loops(function: F.Function) -> F.Function:
    """Give a function that makes zeros like an array of rows, and adds to an array of rows or boxes, one by one."""
    if not any(is_of_references(s) for s, _ in walk(function.body)):
        return function
    names = Names(v.name for v in variables(function))
    return replace(function, body=rewritten(function.body, References(names, function.name).each))


def is_of_references(s: F.Statement) -> bool:
    """Tell whether a statement does something to a whole array of rows or boxes; zeros like boxes are nulls."""
    if isinstance(s, F.ZerosLike):
        return isinstance(s.out.type.element, F.ArrayOf)  # type: ignore[union-attr]
    return isinstance(s, F.AddAll) and not isinstance(s.array.type.element, Scalar)  # type: ignore[union-attr]


class References:
    """Writes the loops, with variables named after the function: one pass restores variables of the other."""

    def __init__(self, names: Names, function: str) -> None:
        self.names, self.function = names, function

    def fresh(self, hint: str, of: F.Type) -> F.Var:
        """Give a new variable."""
        return F.Var(self.names(f"{hint}.{self.function}"), of)

    def each(self, s: F.Statement) -> list[F.Statement]:
        """Give the statements for one statement; a literal is null, and has no elements, like a null of a record."""
        if not is_of_references(s):
            return [s]
        given: Any = s.array if isinstance(s, F.ZerosLike) else s.value  # type: ignore[union-attr]
        if isinstance(given, F.Const):
            return []
        n, i, x = self.fresh("n", WHOLE), self.fresh("i", WHOLE), self.fresh("x", given.type.element)
        made = [] if isinstance(s, F.AddAll) else [F.New(s.out, (n,))]  # type: ignore[union-attr]
        return [F.Size(n, given, 0), *made, F.For(i, n, [F.Load(x, given, (i,), False), *self.of_element(s, i, x)])]

    def of_element(self, s: F.Statement, i: F.Var, x: F.Var) -> list[F.Statement]:
        """Give the statements for an element."""
        if isinstance(s, F.ZerosLike):
            row = self.fresh("row", s.out.type.element)  # type: ignore[union-attr]
            return [*self.each(F.ZerosLike(row, x)), F.Store(s.out, (i,), row)]
        assert isinstance(s, F.AddAll)
        if isinstance(x.type, F.BoxOf):
            return [F.AddAt(s.array, (i,), x)]
        row = self.fresh("row", s.array.type.element)  # type: ignore[union-attr]
        return [F.Load(row, s.array, (i,), False), *self.each(F.AddAll(row, x))]
