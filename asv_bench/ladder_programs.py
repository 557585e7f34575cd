"""Programs, as terms, on which the steps differ: sharing, a balanced tree, a chain of inputs, particles."""

from __future__ import annotations

from itertools import pairwise

from tapeengine.chad.language.terms import (
    Apply,
    Branch,
    Build,
    Call,
    Case,
    Definition,
    If,
    Lambda,
    Let,
    Module,
    Op,
    Proj,
    Term,
    Tuple,
    Var,
    lit,
)
from tapeengine.chad.language.types import BOOL, FLOAT, INT, Named, Product, Sum, Type
from tapeengine.ladder.parse import single
from tapeengine.ladder.source import Ccl, FoldLeft, Fork, NTimes

LIST = Named("List")


def sharing(n: int) -> Module:
    """``x1 = x0 + x0; x2 = x1 + x1; ...; xn`` (DN Fig. 2)."""
    xs = [Var(f"x{k}", FLOAT) for k in range(n + 1)]
    body: Term = xs[n]
    for k in range(n, 0, -1):
        body = Let(xs[k], Op("add", (xs[k - 1], xs[k - 1])), body)
    return single((xs[0],), body)


def balanced_tree(depth: int) -> Module:
    """The product of the 2**depth scalars in a balanced tree of pairs, multiplied pairwise."""

    def tree(level: int) -> Type:
        return FLOAT if level == 0 else Product((tree(level - 1), tree(level - 1)))

    def product(term: Term, level: int) -> Term:
        if level == 0:
            return term
        return Op("mul", (product(Proj(term, 0), level - 1), product(Proj(term, 1), level - 1)))

    x = Var("x", tree(depth))
    return single((x,), product(x, depth))


def nested_inputs(n: int) -> Module:
    """The sum of the scalars of ``(x1, (x2, (x3, ...)))``: an input as deep as its number of scalars."""
    of: Type = FLOAT
    for _ in range(n - 1):
        of = Product((FLOAT, of))
    x = Var("x", of)
    term: Term = x
    parts: list[Term] = []
    for _ in range(n - 1):
        parts.append(Proj(term, 0))
        term = Proj(term, 1)
    total: Term = term
    for part in reversed(parts):
        total = Op("add", (part, total))
    return single((x,), total)


def particles(parallel: bool = True) -> Module:
    """Four particles in the force field ``-x`` with friction, for n steps; the sum of ``x * v`` (DN section 13)."""
    n, x, v = Var("n", INT), Var("x", FLOAT), Var("v", FLOAT)
    force = Op("sub", (Op("neg", (x,)), Op("mul", (lit(0.1), v))))
    w = Var("w", FLOAT)
    again = Call("move", (Op("isub", (n, lit(1)), INT), Op("add", (x, Op("mul", (lit(0.01), w)))), w), FLOAT)
    step = Let(w, Op("add", (v, Op("mul", (lit(0.01), force)))), again)
    done = Op("mul", (x, v))
    move = Definition("move", (n, x, v), FLOAT, If(Op("le", (n, lit(0)), BOOL), done, step))
    steps, states = Var("steps", INT), [Var(f"s{k}", Product((FLOAT, FLOAT))) for k in range(4)]
    runs = [Call("move", (steps, Proj(s, 0), Proj(s, 1)), FLOAT) for s in states]

    def pair(left: Term, right: Term) -> Term:
        return Fork(left, right) if parallel else Tuple((left, right))

    both = pair(pair(runs[0], runs[1]), pair(runs[2], runs[3]))
    p = Var("p", both.type)
    sums = [Op("add", (Proj(Proj(p, k), 0), Proj(Proj(p, k), 1))) for k in range(2)]
    main = Definition("f", (steps, *states), FLOAT, Let(p, both, Op("add", (sums[0], sums[1]))))
    return Module("f", {"f": main, "move": move})


def list_product() -> Module:
    """The product of a list, ``List = () | (R, List)``, by recursion (DN section 11)."""
    xs, empty, cell = Var("xs", LIST), Var("empty", Product()), Var("cell", Product((FLOAT, LIST)))
    rest = Op("mul", (Proj(cell, 0), Call("f", (Proj(cell, 1),), FLOAT)))
    body = Case(xs, (Branch(empty, lit(1.0)), Branch(cell, rest)))
    types = {"List": Sum((Product(), Product((FLOAT, LIST))))}
    return Module("f", {"f": Definition("f", (xs,), FLOAT, body)}, types)


def balanced(terms: list[Term]) -> Term:
    """The sum of terms, added pairwise."""
    middle = len(terms) // 2
    return Op("add", (balanced(terms[:middle]), balanced(terms[middle:]))) if middle else terms[0]


def beside(n: int) -> Module:
    """``fst x + ... + fst x``, n times, where x has n scalars beside the first (EC section 4)."""
    x = Var("x", Product((FLOAT, Product((FLOAT,) * n))))
    return single((x,), balanced([Proj(x, 0)] * n))


def distinct(levels: int) -> Module:
    """The sum of 2**levels variables by a balanced tree (EC appendix A).

    Neighbours in the tree are far apart in the context: the leaves are in the order of their reversed bits.
    """
    xs = [Var(f"x{k}", FLOAT) for k in range(2**levels)]
    places = [int(f"{k:0{levels}b}"[::-1], 2) if levels else 0 for k in range(2**levels)]
    return single(tuple(xs), balanced([xs[place] for place in places]))


def nested_applications(n: int) -> Module:
    r"""``(\x_(n-1). ... (\x1. x1) x2 ...) xn`` (EC section 9): n - 1 applications, and the value of xn."""
    xs = [Var(f"x{k}", FLOAT) for k in range(1, n + 1)]
    term: Term = xs[0]
    for inner, outer in pairwise(xs):
        term = Apply(Lambda((inner,), term), (outer,))
    return single((xs[-1],), term)


def nested_calls(n: int) -> Module:
    """``sin(sin(... sin(x)))``."""
    x = Var("x", FLOAT)
    term: Term = x
    for _ in range(n):
        term = Op("sin", (term,))
    return single((x,), term)


def conditionals(n: int) -> Module:
    """``x1 = if x0 < 1 then x0 * x0 else x0 + x0; x2 = if x1 < 1 ...``."""
    xs = [Var(f"x{k}", FLOAT) for k in range(n + 1)]
    body: Term = xs[n]
    for k in range(n, 0, -1):
        x = xs[k - 1]
        chosen = If(Op("lt", (x, lit(1.0)), BOOL), Op("mul", (x, x)), Op("add", (x, x)))
        body = Let(xs[k], chosen, body)
    return single((xs[0],), body)


def folded_product(n: int) -> Module:
    """The product of ``x + 1, ..., x + n``, by a fold over a vector."""
    x, i, t = Var("x", FLOAT), Var("i", INT), Var("t", Product((FLOAT, FLOAT)))
    shifted = Op("add", (x, Op("real", (Op("iadd", (i, lit(1)), INT),))))
    return single((x,), FoldLeft(t, Op("mul", (Proj(t, 0), Proj(t, 1))), lit(1.0), Build(lit(n), i, shifted)))


def looped(n: int, again: bool) -> Module:
    """``s = sin(s)``, n times, with nTimes or ccl."""
    s, i, x = Var("s", FLOAT), Var("i", INT), Var("x", FLOAT)
    step = Definition("step", (i, s) if again else (s,), FLOAT, Op("sin", (s,)))
    main = single((x,), Ccl("step", lit(n), x) if again else NTimes("step", lit(n), x))
    return Module("f", {**main.definitions, "step": step})
