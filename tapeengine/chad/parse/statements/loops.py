"""Loops and comprehensions. An iterable is a number of steps, and a function from an index to the loop's variables."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...language.nodes import every_node
from ...language.terms import (
    Build,
    Concatenate,
    Elements,
    Filter,
    Fold,
    For,
    If,
    Literal,
    Map,
    Op,
    Proj,
    Size,
    Term,
    Tuple,
    Var,
    While,
    lets,
    lit,
)
from ...language.types import BOOL, FLOAT, INT, NEVER, ONE, UNIT, ZERO, Array, Product, Type
from ..expressions.closures import captured_in, is_function
from ..expressions.rules import chosen_text, condition, dict_of, expression, of_each_option, text
from ..library.iterables import Iteration, in_steps, iteration
from ..names.texts import is_key
from ..names.uses import jumps, uses
from ..operations.arrays import digits, product
from ..operations.functions import Env, Rest
from ..operations.numeric import added
from ..operations.raising import absent, failing, guarded, may_be_none, unguarded
from ..operations.state import Parser, with_lets
from ..operations.whole import in_a_row, items_of, numbers
from .blocks import Flow, assign_one, block, followed, hint_of, joined, packed, same_type, value_at
from .fields import fields_apart, part_names, with_changes
from .in_place import changed
from .leaving import HAS, default

Comprehension = ast.ListComp | ast.GeneratorExp | ast.DictComp


def bind_target(p: Parser, target: ast.expr, item: Term, env: Env, body: Rest) -> Term:
    """Bind a loop's variables to its item."""
    is_tuple = isinstance(item.type, Product) and p.is_sequence(item.type)
    if isinstance(target, ast.Name) and isinstance(item, Var | Literal):
        return body({**env, target.id: item})
    if isinstance(target, ast.Tuple) and isinstance(item, Tuple) and len(target.elts) == len(item.items) and is_tuple:

        def go(i: int, env: Env) -> Term:
            if i == len(target.elts):
                return body(env)
            return bind_target(p, target.elts[i], item.items[i], env, lambda env: go(i + 1, env))

        return go(0, env)
    return assign_one(p, target, item, env, body)


def index_name(target: ast.expr, over: Iteration) -> str:
    """Choose a name for a loop's index."""
    return target.id if isinstance(target, ast.Name) and over.counts else "i"


def comprehension(p: Parser, node: ast.ListComp | ast.GeneratorExp, env: Env) -> Term:
    """``[e for x in it if c]``: a build, or a map over the indices that pass the filter."""
    if isinstance(node, ast.GeneratorExp):
        p.at_once(node, "a generator")
    return kept_apart(p, node, built(p, node, env))


def kept_apart(p: Parser, node: Comprehension, term: Term) -> Term:
    """Refuse functions that see a variable of the comprehension: they would all see the last value."""
    targets = {n.id for g in node.generators for n in every_node(g.target) if isinstance(n, ast.Name)}
    for name in targets.intersection(captured_in(term.type)):
        advice = f"give the functions a default: lambda ..., {name}={name}: ..."
        p.error(node, f"these functions capture {name}, and would all see its last value", advice)
    return term


def built(p: Parser, node: ast.ListComp | ast.GeneratorExp, env: Env) -> Term:
    """Build the array of a comprehension."""
    if len(node.generators) > 1:
        return pairs(p, node, env)
    generator = node.generators[0]
    over = iteration(p, generator.iter, env)
    if over.items is not None:
        found = [x for _, x in each_item(p, node, over.items, env, node.elt)]
        return over.around(items_of(p, node, found) if found else empty(p, node, over.items, env))
    index = p.named(index_name(generator.target, over), INT)

    def within(k: Term, body: Rest) -> Term:
        return bind_target(p, generator.target, over.item(k), env, body)

    return over.around(_filtered(p, over.size, index, generator.ifs, within, node.elt))


def empty(p: Parser, node: ast.ListComp | ast.GeneratorExp, items: Sequence[Term], env: Env) -> Term:
    """Give the array of a comprehension that has no elements; its element for any item tells their type."""
    generator = node.generators[0]
    if not items and not isinstance(generator.target, ast.Name):
        p.error(node, "a comprehension over no items", "leave it out")
    item = items[0] if items else text(p, "")
    element = bind_target(p, generator.target, item, env, lambda env: expression(p, node.elt, env))
    return Elements((), element.type)


def each_item(
    p: Parser, node: Comprehension, items: Sequence[Term], env: Env, element: ast.expr, key: ast.expr | None = None
) -> list[tuple[Any, Term]]:
    """Write a comprehension out: a key that is known and an element for each item that passes its tests."""
    if len(node.generators) > 1:
        p.error(node, "several for over a dict, or a tuple of several types", "nest the comprehensions")
    generator, found = node.generators[0], []
    for item in items:
        keys: list[Any] = []

        def made(env: Env, keys: list[Any] = keys) -> Term:
            tests = [condition(p, test, env) for test in generator.ifs]
            if not all(isinstance(test, Literal) for test in tests):
                p.error(node, "the condition of this comprehension is known only in a run", "write the items out")
            passes = all(test.value for test in tests if isinstance(test, Literal))
            keys.extend([None if key is None else p.known(key, env)] if passes else [])
            return expression(p, element, env) if passes else Tuple(())

        term = bind_target(p, generator.target, item, env, made)
        found += [(k, term) for k in keys]
    return found


def counted_out(p: Parser, node: ast.expr, env: Env) -> Sequence[Term] | None:
    """Give the items of a range that is known when it is read."""
    if not isinstance(node, ast.Call) or p.static(node.func, env) is not range or node.keywords:
        return None
    ends = [p.known(a, env) for a in node.args]
    return [lit(k) for k in range(*ends)] if all(type(end) is int for end in ends) else None


def dict_comprehension(p: Parser, node: ast.DictComp, env: Env) -> Term:
    """``{k: e for k, x in d.items()}``: a dict whose keys are known."""
    over = iteration(p, node.generators[0].iter, env)
    items = over.items if over.items is not None else counted_out(p, node.generators[0].iter, env)
    found = [] if items is None else each_item(p, node, items, env, node.value, node.key)
    if items is None or not all(is_key(key) for key, _ in found):
        p.on_duals(node, "a dict whose keys are not known when it is read", "use a list, or keys written out")
    return kept_apart(p, node, over.around(dict_of(p, dict(found))))


def pairs(p: Parser, node: ast.ListComp | ast.GeneratorExp, env: Env) -> Term:
    """``[e for x in xs for y in ys if c]``: one build over all pairs; rows put together where the second depends."""
    others = node.generators[1:]
    targets = {n.id for g in node.generators for n in every_node(g.target) if isinstance(n, ast.Name)}
    if any(targets.intersection(uses([g.iter])) for g in others):
        return joined_rows(p, node, env)
    overs = [in_steps(p, g.iter, env) for g in node.generators]
    sizes = [over.size for over in overs]
    index = p.fresh("k", INT)

    def within(k: Term, body: Rest) -> Term:
        return _bind_all(p, list(zip(node.generators, overs, digits(sizes, k), strict=True)), env, body)

    tests = [test for g in node.generators for test in g.ifs]
    made = _filtered(p, product(sizes), index, tests, within, node.elt)
    for over in reversed(overs):
        made = over.around(made)
    return made


def _bind_all(p: Parser, each: list[tuple[ast.comprehension, Iteration, Term]], env: Env, body: Rest) -> Term:
    if not each:
        return body(env)
    generator, over, k = each[0]
    return bind_target(p, generator.target, over.item(k), env, lambda env: _bind_all(p, each[1:], env, body))


def _filtered(
    p: Parser, size: Term, index: Var, tests: list[ast.expr], within: Callable[[Term, Rest], Term], element: ast.expr
) -> Term:
    """Build over all indices, or over those that pass tests."""
    body = within(index, lambda env: expression(p, element, env))
    if not tests:
        return Build(size, index, body)
    test = every(tests)
    k, j = p.fresh("k", INT), p.fresh("j", INT)
    chosen = Filter(k, within(k, lambda env: condition(p, test, env)), Build(size, j, j))
    return Map((index,), body, (chosen,))


@with_lets
def joined_rows(p: Parser, node: ast.ListComp | ast.GeneratorExp, env: Env) -> Term:
    """A comprehension whose inner range depends on the outer variable: rows, put together."""
    inner = ast.copy_location(ast.ListComp(node.elt, node.generators[1:]), node)
    rows = comprehension(p, ast.copy_location(ast.ListComp(inner, node.generators[:1]), node), env)
    assert isinstance(rows.type, Array)
    of = rows.type.element
    assert isinstance(of, Array)
    rows = p.bound("rows", rows)
    if of.element in (FLOAT, INT, BOOL):
        return in_a_row(p, rows)
    a, b = p.fresh("a", of), p.fresh("b", of)
    some = Fold(a, b, Concatenate(a, b), rows)
    return If(Op("eq", (Size(rows), lit(0)), BOOL), Elements((), of.element), some)


class NoNumber(Exception):
    """Raised where the elements of a sum are arrays or records."""


def sum_in_order(p: Parser, node: ast.GeneratorExp, env: Env, start: Term) -> Term | None:
    """``sum(e for x in xs for y in ys)`` of numbers: one running total, as Python adds."""
    try:
        term, total = one_more(p, node, node.generators, env, start.type)
    except NoNumber:
        return None
    return following(p, node, start, total, term)


def started(p: Parser, node: ast.AST, term: Term, of: Type) -> Term:
    """Convert what a loop starts with; an integer, most often 0 or 1, stays one in Python if there are no steps."""
    is_number = term.type == INT and of == FLOAT
    known = {0: ZERO, 1: ONE}.get(int(term.value), 0) if isinstance(term, Literal) else ZERO | ONE
    p.chooses |= known * is_number
    return p.coerce(node, term, of, is_operand=is_number)


def following(p: Parser, node: ast.AST, before: Term, total: Var, term: Term) -> Term:
    """Continue a sum with the sum before it."""
    return lets([(total, started(p, node, before, total.of))], term)


def one_more(
    p: Parser, node: ast.GeneratorExp, generators: Sequence[ast.comprehension], env: Env, of: Type
) -> tuple[Term, Var]:
    """Write the sum over loops, starting from a variable of at least a type; give the sum and this variable."""
    if not generators:
        one = expression(p, node.elt, env)
        if one.type not in (FLOAT, INT, BOOL):
            raise NoNumber
        one = numbers(p, node, one)
        total = p.fresh("total", p.unify(node, of, one.type))
        return added(total, p.coerce(node, one, total.of)), total
    generator, totals = generators[0], []

    def body(env: Env) -> Term:
        term, total = one_more(p, node, generators[1:], env, of)
        totals.append(total)
        return If(condition(p, every(generator.ifs), env), term, total) if generator.ifs else term

    over = iteration(p, generator.iter, env)
    if over.items is not None and not over.items:
        raise NoNumber
    if over.items:
        first, *rest = [bind_target(p, generator.target, item, env, body) for item in over.items]
        for total, term in zip(totals[1:], rest, strict=True):
            first = following(p, node, first, total, term)
        return over.around(first), totals[0]
    index = p.named(index_name(generator.target, over), INT)
    term = bind_target(p, generator.target, over.item(index), env, body)
    start = p.fresh("total", totals[0].of)
    return over.around(For(over.size, index, totals[0], start, p.coerce(node, term, start.of))), start


def every(tests: list[ast.expr]) -> ast.expr:
    """Give the test that all tests pass."""
    return ast.BoolOp(ast.And(), tests) if len(tests) > 1 else tests[0]


#: Names of the values that a loop carries in addition to Python's variables; they are no Python names.
STEP, GOES_ON, RETURNED, RESULT = " step", " goes_on", " returned", " result"


@dataclass(frozen=True)
class Carried:
    """The variables that a loop carries from step to step, with their types."""

    names: list[str]
    types: list[Type]

    def state(self, p: Parser) -> Var:
        """Make one variable for all of them: a tuple if there are several."""
        if len(self.names) == 1:
            return p.named(hint_of(self.names[0]), self.types[0])
        return p.named("state", packed_type(self.types), parts=tuple(map(hint_of, self.names)))

    def parts(self, p: Parser, state: Var) -> dict[str, Var]:
        """Make a variable for each of them."""
        if len(self.names) == 1:
            return {self.names[0]: state}
        return {n: p.named(hint_of(n), t) for n, t in zip(self.names, self.types, strict=True)}

    def unpacked(self, state: Var, parts: Mapping[str, Var], body: Term) -> Term:
        """Bind the variables to the parts of a state around a term."""
        if len(self.names) == 1:
            return body
        return lets(((parts[n], Proj(state, i)) for i, n in enumerate(self.names)), body)


class Loop:
    """Builds one loop: the types of the carried variables are widened until the body preserves them.

    `env` has the variables before it, `flow` says where the block around it may jump to, and `counts` whether one that
    can be left early counts its steps: one over a range or an array.
    """

    def __init__(self, p: Parser, node: ast.For | ast.While, env: Env, flow: Flow, counts: bool) -> None:
        self.p = p
        self.node = node
        self.flow = flow
        self.jumps = jumps(node.body)
        always = isinstance(node, ast.While) and isinstance(node.test, ast.Constant) and bool(node.test.value)
        self.is_endless = always and not self.jumps.breaks
        self.leaves = self.jumps.breaks or self.jumps.returns
        self.around = {n: env[n] for n in (STEP, GOES_ON, RETURNED, RESULT) if n in env}
        self.found: list[list[Type]] = []
        self.given: list[Type] = []
        target = [n.id for n in every_node(node.target) if isinstance(n, ast.Name)] if isinstance(node, ast.For) else []
        every = dict.fromkeys((*changed(node.body), *target))
        self.none = {n: env[n] for n in every if getattr(env.get(n), "type", None) == UNIT}
        env = {**env, **dict.fromkeys(self.none, absent())}
        names = [n for n in every if n in env and n not in self.none and not unguarded(env[n])]
        self.late = [n for n in every if n not in names and (n in env or n in p.live_after[node])]
        self.nones = {n for n in self.late if n in self.none or may_be_none(env.get(n))}
        self.bound: dict[str, Type] = {}
        extra: dict[str, Term] = {STEP: lit(0)} if (counts and self.leaves) or not names else {}
        if self.leaves:
            extra[GOES_ON] = lit(True)
        if self.jumps.returns:
            extra[RETURNED] = lit(False)
        if self.jumps.returns and p.results[-1] is not None:
            extra[RESULT] = default(p, node, p.results[-1])
        self.fields = fields_apart(p, node.body, [n for n in names if n not in target], env)
        names = part_names(names, self.fields)
        self.names = [*extra, *names]
        self.env = {**env, **{n: value_at(p, node, n, env) for n in names}, **extra}
        for n in self.late:
            if n in env and n not in self.none:
                self.carry(n, env[n].type)

    def __call__(self, make: Callable[[Carried, Env], Term], after: Rest) -> Term:
        """Build the loop and the statements after it; `make` gives the loop for its carried variables."""
        carried = Carried(list(self.names), [self.env[n].type for n in self.names])
        result: Type | None = None
        while True:
            for name, of in zip(carried.names, carried.types, strict=True):
                if is_function(of):  # each reading makes functions of its own: their types would grow forever
                    what = f"{name.strip()} is another function after each step"
                    self.p.error(self.node, what, "carry what it captures")
            self.found, self.given = [], []
            term = make(carried, self.env)
            every = zip(carried.types, *self.found, strict=False)
            wider = [self.p.joined(self.node, types) for types in every]
            if self.jumps.returns and RESULT not in carried.names:
                for given in self.given:
                    result = given if result is None else self.p.joined(self.node, [result, given])
                if result is not None:
                    self.p.results[-1] = result  # known from here on: the body is not read again for loops inside
                    self.names.append(RESULT)
                    self.env = {**self.env, RESULT: default(self.p, self.node, result)}
            for n, of in self.bound.items():
                self.carry(n, of)
            self.bound = {}
            wider += [self.env[n].type for n in self.names[len(wider) :]]
            if wider == carried.types:
                break
            carried = Carried(list(self.names), wider)
        rest = self._after(after)
        return joined(self.p, carried.names, term, [{} for _ in carried.names], self.env, rest)

    def carry(self, n: str, of: Type) -> None:
        """Carry a variable that need not have a value before the loop, and whether it has one."""
        before = unguarded(self.env.get(n)) or (lit(False), default(self.p, self.node, of))
        self.names += [HAS + n, n]
        self.env = {**self.env, HAS + n: before[0], n: before[1]}

    def seen(self, env: Env, parts: Mapping[str, Term], then: Rest) -> Term:
        """Read what sees the variables of the body; a use of one that has no value there fails."""
        found = {**env, **parts}
        for n in self.late:
            if n in parts:
                found[n] = guarded(parts[HAS + n], parts[n], n in self.nones)
        return with_changes(self.p, self.node, self.fields, found, then)

    def value(self, n: str, env: Env) -> Term:
        """Give the values that the loop carries to the next step."""
        late = n.removeprefix(HAS)
        if late in self.late and (maybe := unguarded(env[late])):
            return maybe[n == late]
        if n != late:
            return lit(True)
        return env[n] if n.startswith(" ") else value_at(self.p, self.node, n, env)

    def start(self, carried: Carried) -> Term:
        """Give the state before the first step."""
        each = zip(carried.names, carried.types, strict=True)
        return packed([started(self.p, self.node, self.env[n], t) for n, t in each])

    def body(self, carried: Carried, env: Env) -> Term:
        """Parse the loop's body: it gives the state after a step."""

        def end(env: Env) -> Term:
            for n in self.late:
                kept = n in env and n not in carried.names and isinstance(env[n], Term) and env[n].type != NEVER
                if kept and not is_function(env[n].type):
                    of = env[n].type
                    self.bound[n] = self.p.unify(self.node, self.bound.get(n, of), of)
            values = [self.value(n, env) for n in carried.names]
            self.found.append([v.type for v in values])
            each = zip(values, carried.types, strict=True)
            return packed([self.p.convert(v, t) or v for v, t in each])

        def next_step(env: Env) -> Term:
            if STEP in env and self.leaves and STEP in carried.names:
                following = Op("iadd", (env[STEP], lit(1)), INT)
                return self.p.within("step", following, lambda step: end({**env, STEP: step}))
            return end(env)

        def left(env: Env) -> Term:
            return end({**env, GOES_ON: lit(False)})

        def returned(at: ast.AST, term: Term, env: Env) -> Term:
            self.given.append(term.type)
            env = {**env, RETURNED: lit(True)}
            if self.p.results[-1] is not None:
                term = self.p.coerce(at, term, self.p.results[-1])
            return left({**env, RESULT: term} if RESULT in carried.names else env)

        inside = Flow(returned, left if self.leaves else None, next_step)
        term = block(self.p, self.node.body, env, next_step, inside)
        return failing(packed_type(carried.types)) if term.type == NEVER else term

    def _after(self, after: Rest) -> Rest:
        """Write the statements after the loop; if the loop has returned, the function's result takes their place."""
        own = (STEP, GOES_ON, RETURNED, RESULT)

        def goes_on(env: Env, seen: Env) -> Term:
            outside = {n: v for n, v in seen.items() if n not in own}
            outside.update({**self.around, **{n: v for n, v in self.none.items() if n not in self.names}})
            if RESULT not in self.names:
                return after(outside)
            if self.is_endless:
                return self.flow.returned(self.node, env[RESULT], outside)
            terms = [self.flow.returned(self.node, env[RESULT], outside), after(outside)]
            return If(env[RETURNED], *same_type(self.p, self.node, terms))

        def rest(env: Env) -> Term:
            return self.seen(env, {n: env[n] for n in self.names}, lambda seen: goes_on(env, seen))

        return rest


def packed_type(types: list[Type]) -> Type:
    """Give the type of the variables that a loop carries."""
    return types[0] if len(types) == 1 else Product(tuple(types))


def for_each(p: Parser, node: ast.For, items: Sequence[Term], env: Env, after: Rest, flow: Flow) -> Term:
    """A loop that is written out: its body once for each item."""
    if not items:
        return after(env)

    def following(env: Env) -> Term:
        return for_each(p, node, items[1:], env, after, flow)

    inside = Flow(flow.returned, after, following)
    return bind_target(p, node.target, items[0], env, lambda env: block(p, node.body, env, following, inside))


def for_statement(p: Parser, node: ast.For, env: Env, after: Rest, flow: Flow) -> Term:
    """``for x in it: ...`` with carried variables; a loop that may be left early is a while over its index."""
    names = [*changed(node.body), *(n.id for n in every_node(node.target) if isinstance(n, ast.Name))]
    if chosen := chosen_text(node, env):

        def each_text(after: Rest, flow: Flow) -> Term:
            one = lambda own: for_statement(p, node, {**env, chosen: own}, after, flow)  # noqa: E731
            return of_each_option(p, node, env[chosen], one)

        return followed(p, node, names, 2, each_text, env, after, flow)
    over = iteration(p, node.iter, env)
    if (items := over.items) is not None:
        times = 1 + len(items) * jumps(node.body).breaks
        each: Callable[[Rest, Flow], Term] = lambda *to: for_each(p, node, items, env, *to)  # noqa: E731
        return over.around(followed(p, node, names, times, each, env, after, flow))
    loop = Loop(p, node, env, flow, counts=True)

    def stepped(carried: Carried, env: Env) -> Term:
        state = carried.state(p)
        parts = carried.parts(p, state)
        index = p.named(index_name(node.target, over), INT)

        def step(inner: Env) -> Term:
            return bind_target(p, node.target, over.item(index), inner, lambda env: loop.body(carried, env))

        body = loop.seen(env, parts, step)
        return For(over.size, index, state, loop.start(carried), carried.unpacked(state, parts, body))

    def left_early(carried: Carried, env: Env) -> Term:
        def goes_on(inner: Env) -> Term:
            return If(inner[GOES_ON], Op("lt", (inner[STEP], over.size), BOOL), lit(False))

        def body(inner: Env) -> Term:
            return bind_target(p, node.target, over.item(inner[STEP]), inner, lambda env: loop.body(carried, env))

        return while_term(p, loop, carried, env, goes_on, body)

    return over.around(loop(left_early if loop.leaves else stepped, after))


def while_term(p: Parser, loop: Loop, carried: Carried, env: Env, goes_on: Rest, body: Rest) -> Term:
    """Build a while loop: condition and body have variables of their own."""
    state = carried.state(p)
    parts, again = carried.parts(p, state), carried.parts(p, state)
    test = carried.unpacked(state, parts, loop.seen(env, parts, goes_on))
    return While(state, loop.start(carried), test, carried.unpacked(state, again, loop.seen(env, again, body)))


def while_statement(p: Parser, node: ast.While, env: Env, after: Rest, flow: Flow) -> Term:
    """``while c: ...`` with carried variables."""
    loop = Loop(p, node, env, flow, counts=False)

    def make(carried: Carried, env: Env) -> Term:
        def goes_on(inner: Env) -> Term:
            test = condition(p, node.test, inner)
            return If(inner[GOES_ON], test, lit(False)) if loop.leaves else test

        return while_term(p, loop, carried, env, goes_on, lambda inner: loop.body(carried, inner))

    return loop(make, after)
