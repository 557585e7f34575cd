"""``np.einsum``: a sum of products over the letters that the result does not have."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence

from ...language.terms import Build, Index, Op, Size, Term, Var
from ...language.types import INT
from ..expressions.rules import expression
from ..operations.arrays import row
from ..operations.functions import Env
from ..operations.numeric import multiplied, promoted, rank, total_of
from ..operations.state import Parser, with_lets
from ..operations.whole import as_numpy

#: The form of the first argument, without spaces; dots stand for further axes.
AXES = r"[A-Za-z]*(\.\.\.)?[A-Za-z]*"
FORM = re.compile(rf"{AXES}(,{AXES})*(->{AXES})?")


def einsum(p: Parser, node: ast.Call, env: Env) -> Term:
    """``np.einsum("ij,jk->ik", a, b)``; how it is optimised says nothing about the value."""
    text = p.known(node.args[0], env)
    if not isinstance(text, str) or not FORM.fullmatch(text.replace(" ", "")):
        p.error(node.args[0], "einsum takes letters for axes, written out", 'write np.einsum("ij,jk->ik", a, b)')
    operands = as_numpy(p, node.args[1:], [expression(p, a, env) for a in node.args[1:]])
    inputs, output = letters(text.replace(" ", ""), [rank(x.type) for x in operands])
    if [len(each) for each in inputs] != [rank(x.type) for x in operands] or not set(output) <= set("".join(inputs)):
        p.error(node, "the letters do not fit the axes of the arrays", "write one letter for each axis")
    return contracted(p, node, inputs, output, operands)


@with_lets
def contracted(p: Parser, node: ast.AST, inputs: Sequence[str], output: str, operands: Sequence[Term]) -> Term:
    """Sum products over the letters that the result does not have."""
    p.by_numpy = True
    named = [p.bound("a", x) for x in promoted(p, node, operands)]
    sizes: dict[str, Term] = {}
    for each, x in zip(inputs, named, strict=True):
        for letter in each:
            sizes[letter] = Op("iequal", (sizes[letter], Size(x)), INT) if letter in sizes else Size(x)
            x = row(x)
    bound = {letter: p.bound(f"n_{letter}", size) for letter, size in sizes.items()}
    indices = {letter: p.fresh(letter, INT) for letter in bound}
    made = product(named, inputs, indices)
    for letter in reversed([c for c in bound if c not in output]):
        made = total_of(p, Build(bound[letter], indices[letter], made))
    for letter in reversed(output):
        made = Build(bound[letter], indices[letter], made)
    return made


def letters(text: str, ranks: Sequence[int]) -> tuple[list[str], str]:
    """Give the letters of each operand and of the result, which are by default those that occur once, sorted.

    The axes that dots stand for get letters of their own, the same from the last one on.
    """
    given, arrow, output = text.partition("->")
    further = [n - len(each.replace("...", "")) for each, n in zip(given.split(","), ranks, strict=False)]
    own = "".join(chr(ord("\u03b1") + k) for k in range(max(further, default=0)))
    every = given.replace(",", "").replace("...", "")
    if not arrow:
        output = "..." * ("..." in given) + "".join(sorted(c for c in set(every) if every.count(c) == 1))
    pairs = zip(given.split(","), further, strict=False)
    inputs = [each.replace("...", own[len(own) - max(n, 0) :]) for each, n in pairs]
    return inputs, output.replace("...", own) if "..." in output or "..." not in given else "?"


def product(operands: Sequence[Term], inputs: Sequence[str], indices: Mapping[str, Var]) -> Term:
    """Multiply one element of each operand, from the left."""
    found: Term | None = None
    for each, x in zip(inputs, operands, strict=True):
        for letter in each:
            x = Index(x, indices[letter])
        found = x if found is None else multiplied(found, x)
    assert found is not None
    return found
