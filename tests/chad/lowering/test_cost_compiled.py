"""The complexity theorem (EC section 6, TH2) on compiled code, whose instructions are counted while it runs."""

from random import Random

import numpy as np
import pytest
from chad import terms_of_ec, terms_of_language
from chad.backends import native_leaves as on_leaves
from chad.lowering.counted import Instructions, Unboxed, counted
from chad.lowering.leaves import Leaves
from chad.lowering.test_cost import deep_lets, sum_of_projections
from chad.lowering.test_random_programs import CALM, is_dense, is_plain, module_of
from chad.test_theorem import shared_product, tree, unused_variables
from hypothesis import event, given
from hypothesis import strategies as st

from asv_bench.theorem import bound
from tapeengine.chad.backends.machine import NotAssembled, assemble
from tapeengine.chad.backends.tiers import is_installed
from tapeengine.chad.language.terms import (
    Apply,
    Branch,
    Build,
    Case,
    For,
    If,
    Index,
    Inject,
    Lambda,
    Let,
    Op,
    Proj,
    Total,
    Tuple,
    Var,
    lit,
)
from tapeengine.chad.language.types import BOOL, FLOAT, INT, Array, Function, Product, Sum
from tapeengine.chad.lowering.passes import lower_reverse
from tapeengine.chad.lowering.values import NotLowered
from tapeengine.chad.prepare.close import close
from tapeengine.chad.reverse import reverse
from tapeengine.chad.simplify import simplify_module
from tapeengine.chad.specification import Evaluator
from tapeengine.recursion import deep


def numbers(leaves):
    """How many numbers leaves have."""
    return sum(1 + np.size(x) for x in leaves)


def lowered_of(closed, env, args):
    """Both passes of a closed program, and the leaves of its arguments."""
    dense = all(map(is_dense, args)) and all(is_plain(v.of) for v in env)
    leaves_of = Leaves(closed.types, dense)
    leaves = [x for v, arg in zip(env, args, strict=True) for x in leaves_of.flat(v.of, arg)]
    return lower_reverse(closed, simplify_module(reverse(closed)), dense), leaves


def check(env, args, term, cotangent):
    """Run both passes on each back end that takes them; return how many."""
    with deep():
        closed = close(module_of(env, term))
        evaluator = Unboxed(closed)
        value = evaluator.run("f", args)
        lowered, leaves = lowered_of(closed, env, args)
        program = counted(lowered)
        found = [run(by, program, closed, leaves, term.type, cotangent, value) for by in back_ends()]
    counts = [count for count in found if count is not None]
    for count, cotangents, gradient in counts:
        assert count <= bound(evaluator.steps, cotangents, gradient)
    assert len({count for count, _, _ in counts}) <= 1
    return len(counts)


def back_ends():
    """What compiles a program."""
    return [on_leaves.by_machine, *([on_leaves.by_llvm] if is_installed() else [])]


def run(by, program, closed, leaves, of, cotangent, value):
    """The instructions of a run, with the numbers of its cotangents and of its gradient; None if it does not run."""
    forward, backward = (program.program.functions[name].params[:-1] for name in ("forward", "reverse"))
    try:
        got = by(program).vjp(*on_leaves.given(leaves, forward), 0.0)
    except (NotAssembled, ValueError):
        return None
    if got is None:
        return None
    (*results, ahead), back = got
    cts = list(Leaves(closed.types, program.is_dense).cotangent_like(of, cotangent, value, results))
    gave = back((*on_leaves.given(cts, backward), 0.0))
    if gave is None:
        return None
    *gradient, behind = gave
    return ahead + behind, numbers(cts), numbers(x for x in gradient if x is not None)


@CALM
@given(terms_of_language.programs(depth=4), st.data())
def test_terms_of_the_language(program, data):
    env, args, term = program
    value = Unboxed(module_of(env, term))
    try:
        with deep():
            d = data.draw(terms_of_ec.cotangents(term.type, value.run("f", args)))
        event(f"{check(env, args, term, d)} back ends")
    except (NotLowered, IndexError, ValueError) as reason:
        event(f"not lowered: {reason}"[:60])


@CALM
@given(terms_of_ec.programs(depth=7), st.data())
def test_terms_of_ec(program, data):
    env, values, term = program
    args = [values[v.name] for v in env]
    with deep():
        d = data.draw(terms_of_ec.cotangents(term.type, Unboxed(module_of(env, term)).run("f", args)))
    assert check(env, args, term, d) == len(back_ends())


def tuple_of(n):
    return Product((FLOAT,) * n)


def all_parts(x):
    """The sum of the parts of a tuple."""
    term = lit(0.0)
    for i in range(len(x.type.items)):
        term = Op("add", (term, Proj(x, i)))
    return term


def negative(x):
    return Op("lt", (x, lit(0.0)), BOOL)


def chain(of, first, step, last, n):
    """``let v0 = first in let v1 = step v0 in ... last``."""
    found = [Var(f"v{i}", of) for i in range(n)]
    term = last(found[-1])
    for i in reversed(range(n)):
        term = Let(found[i], step(i, found[i - 1]) if i else first, term)
    return term


def chosen_tuples(n):
    """A tuple that passes through many branches."""
    x, y, c = Var("x", tuple_of(n)), Var("y", tuple_of(n)), Var("c", FLOAT)
    term = chain(x.of, x, lambda i, v: If(negative(c), v, y), all_parts, n)
    return (x, y, c), {"x": (1.0,) * n, "y": (2.0,) * n, "c": -1.0}, term


def exchanged_tuples(n):
    """Two tuples that a loop exchanges."""
    x, y, i = Var("x", tuple_of(n)), Var("y", tuple_of(n)), Var("i", INT)
    s, r = (Var(name, Product((x.of, y.of))) for name in "sr")
    loop = For(lit(n), i, s, Tuple((x, y)), Tuple((Proj(s, 1), Proj(s, 0))))
    return (x, y), {"x": (1.0,) * n, "y": (2.0,) * n}, Let(r, loop, all_parts(Proj(r, 0)))


def carried_tuple(n):
    """A loop that changes one part of the tuple that it carries."""
    x, c, s, i = Var("x", tuple_of(n)), Var("c", FLOAT), Var("s", tuple_of(n)), Var("i", INT)
    body = Tuple((Op("mul", (Proj(s, 0), c)), *(Proj(s, k) for k in range(1, n))))
    r = Var("r", x.of)
    return (x, c), {"x": (1.0,) * n, "c": 0.5}, Let(r, For(lit(n), i, s, x, body), all_parts(r))


def chosen_members(n):
    """A member of a sum that passes through many branches."""
    of = Sum((tuple_of(n), FLOAT))
    x, c, first, second = Var("x", tuple_of(n)), Var("c", FLOAT), Var("a", tuple_of(n)), Var("b", FLOAT)
    ends = lambda v: Case(v, (Branch(first, all_parts(first)), Branch(second, second)))  # noqa: E731
    term = chain(of, Inject(0, x, of), lambda i, v: If(negative(c), v, Inject(1, c, of)), ends, n)
    return (x, c), {"x": (1.0,) * n, "c": -1.0}, term


def chosen_functions(n):
    """A function that passes through many branches, and captures a tuple."""
    of = Function((FLOAT,), FLOAT)
    x, c = Var("x", tuple_of(n)), Var("c", FLOAT)
    y, *others = (Var(f"y{i}", FLOAT) for i in range(n + 1))
    other = lambda i: Lambda((others[i],), Op("mul", (others[i], c)))  # noqa: E731
    first = Lambda((y,), Op("mul", (y, all_parts(x))))
    term = chain(of, first, lambda i, v: If(negative(c), v, other(i)), lambda v: Apply(v, (c,)), n)
    return (x, c), {"x": (1.0,) * n, "c": -1.0}, term


def array_of_tuples(n):
    """An array of tuples of which one part of one element is used: the cotangents of the others are no numbers."""
    x, i, a = Var("x", tuple_of(n)), Var("i", INT), Var("a", Array(tuple_of(n)))
    return (x,), {"x": (1.0,) * n}, Let(a, Build(lit(n), i, x), Proj(Index(a, lit(0)), 0))


def elements_of_an_array(n):
    """A loop that reads an array of many numbers."""
    x, s, i = Var("x", Array(FLOAT)), Var("s", FLOAT), Var("i", INT)
    return (x,), {"x": [1.0] * n}, For(lit(n), i, s, lit(0.0), Op("add", (s, Index(x, i))))


def exchanged_arrays(n):
    """Two arrays that a loop exchanges."""
    x, y, i = Var("x", Array(FLOAT)), Var("y", Array(FLOAT)), Var("i", INT)
    s, r = (Var(name, Product((x.of, y.of))) for name in "sr")
    loop = For(lit(n), i, s, Tuple((x, y)), Tuple((Proj(s, 1), Proj(s, 0))))
    return (x, y), {"x": [1.0] * n, "y": [2.0] * n}, Let(r, loop, Total(Proj(r, 0)))


def nested_loops(n):
    """Loops one after another, each of which begins with the number of the one before."""
    x = Var("x", FLOAT)
    term = x
    for k in range(n):
        i, s = Var(f"i{k}", INT), Var(f"s{k}", FLOAT)
        term = For(lit(2), i, s, term, Op("mul", (s, x)))
    return (x,), {"x": 0.5}, term


MAKERS = [
    *(unused_variables, shared_product, tree, sum_of_projections, deep_lets, chosen_tuples, exchanged_tuples),
    *(carried_tuple, chosen_members, chosen_functions, array_of_tuples, elements_of_an_array, exchanged_arrays),
    nested_loops,
]


@pytest.mark.parametrize("n", [4, 64])
@pytest.mark.parametrize("make", MAKERS)
def test_programs_with_many_parts(make, n):
    env, values, term = make(n)
    assert check(env, [values[v.name] for v in env], term, 1.0) >= is_installed()


def test_zeros_of_parts_that_are_not_used_are_not_made():
    """The paper's own cost, in which a tuple that is passed on costs 1."""
    env, values, term = array_of_tuples(128)
    args = [values["x"]]
    with deep():
        closed = close(module_of(env, term))
        lowered, leaves = lowered_of(closed, env, args)
        count, *sizes = run(on_leaves.by_machine, counted(lowered), closed, leaves, FLOAT, 1.0, 1.0)
        paper = Evaluator(closed)
        paper.run("f", args)
    assert count <= bound(paper.steps, *sizes)


def test_each_step_is_counted():
    counts = []
    for n in (10, 20):
        env, values, term = nested_loops(n)
        with deep():
            closed = close(module_of(env, term))
            lowered, leaves = lowered_of(closed, env, [values["x"]])
            counts.append(run(on_leaves.by_machine, counted(lowered), closed, leaves, FLOAT, 1.0, 1.0)[0])
    assert counts[1] - counts[0] >= 10 * 2 * 2  # two passes over ten loops of two steps


def test_no_statement_has_more_instructions_than_it_costs(monkeypatch):
    monkeypatch.setattr("tapeengine.chad.backends.machine.Assembler", Instructions)
    monkeypatch.setattr("tapeengine.chad.backends.machine.skipping", lambda function: function)
    assembled = 0
    for seed in range(250):
        env, args, term = terms_of_language.program(4, True).chosen(Random(seed))
        try:
            with deep():
                lowered, _ = lowered_of(close(module_of(env, term)), env, args)
                for function in lowered.program.functions.values():
                    assembled += len(assemble(function, [], [], may_raise=True))
        except (NotLowered, NotAssembled, ValueError):
            continue
    assert assembled > 600
