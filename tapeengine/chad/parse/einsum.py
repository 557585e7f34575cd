"""``np.einsum``: a sum of products over the letters that the result does not have."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence

from ..terms import Build, Index, Op, Size, Term, Var
from ..types import INT
from .arrays import row
from .expressions import expression
from .functions import Env
from .numeric import multiplied, promoted, rank, total_of
from .state import Parser
from .whole import as_numpy

#: The form of the first argument, without spaces.
FORM = re.compile(r"[A-Za-z]*(,[A-Za-z]*)*(->[A-Za-z]*)?")


def einsum(p: Parser, node: ast.Call, env: Env) -> Term:
    """``np.einsum("ij,jk->ik", a, b)``."""
    text = p.known(node.args[0], env)
    if not isinstance(text, str) or not FORM.fullmatch(text.replace(" ", "")):
        p.error(node.args[0], "einsum takes letters for axes, written out", 'write np.einsum("ij,jk->ik", a, b)')
    inputs, output = letters(text.replace(" ", ""))
    operands = as_numpy(p, node.args[1:], [expression(p, a, env) for a in node.args[1:]])
    if [len(each) for each in inputs] != [rank(x.type) for x in operands] or not set(output) <= set("".join(inputs)):
        p.error(node, "the letters do not fit the axes of the arrays", "write one letter for each axis")
    p.by_numpy = True
    return named(p, node, promoted(p, node, operands), [], inputs, output)


def letters(text: str) -> tuple[list[str], str]:
    """Give the letters of each operand and of the result, which are by default those that occur once, sorted."""
    given, arrow, output = text.partition("->")
    every = given.replace(",", "")
    return given.split(","), output if arrow else "".join(sorted(c for c in set(every) if every.count(c) == 1))


def named(
    p: Parser, node: ast.AST, rest: Sequence[Term], operands: list[Term], inputs: Sequence[str], output: str
) -> Term:
    """Bind each operand to a variable, then write the sum."""
    if rest:
        return p.let("a", rest[0], lambda x: named(p, node, rest[1:], [*operands, x], inputs, output))
    sizes: dict[str, Term] = {}
    for each, x in zip(inputs, operands, strict=True):
        for letter in each:
            size = Size(x)
            sizes[letter] = Op("iequal", (sizes[letter], size), INT) if letter in sizes else size
            x = row(x)
    return summed(p, operands, inputs, output, list(sizes.items()), {})


def summed(
    p: Parser,
    operands: Sequence[Term],
    inputs: Sequence[str],
    output: str,
    sizes: Sequence[tuple[str, Term]],
    bound: Mapping[str, Term],
) -> Term:
    """Bind the size of each letter to a variable, then build over the result's letters a sum over the others."""
    if sizes:
        (letter, size), *others = sizes
        return p.let(f"n_{letter}", size, lambda n: summed(p, operands, inputs, output, others, {**bound, letter: n}))
    indices = {letter: p.fresh(letter, INT) for letter in bound}
    made = product(operands, inputs, indices)
    for letter in reversed([c for c in bound if c not in output]):
        made = total_of(p, Build(bound[letter], indices[letter], made))
    for letter in reversed(output):
        made = Build(bound[letter], indices[letter], made)
    return made


def product(operands: Sequence[Term], inputs: Sequence[str], indices: Mapping[str, Var]) -> Term:
    """Multiply one element of each operand, from the left."""
    found: Term | None = None
    for each, x in zip(inputs, operands, strict=True):
        for letter in each:
            x = Index(x, indices[letter])
        found = x if found is None else multiplied(found, x)
    assert found is not None
    return found
