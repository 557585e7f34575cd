"""``match`` becomes a chain of ``if``: a pattern is a test, and its names are parts of the subject."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from copy import deepcopy as copy
from typing import Any

from ..traverse import Names
from .by_cells import placed
from .outside import named_outside

#: The classes whose pattern has the subject itself as its part.
ATOMS = (bool, float, int, str, list, tuple, dict)
#: What is known of the parts that a pattern binds: names with the expressions of the parts.
Bound = dict[str, ast.expr]


class Matches(ast.NodeTransformer):
    r"""Rewrites a function without ``match``, except where a pattern is not in the language.

    Examples
    --------
    >>> text = "def f(t):\n    match t:\n        case [y] | (0 as y): return y\n        case [x, y] if x > y: return x"
    >>> tree = ast.parse(text).body[0]
    >>> print(ast.unparse(Matches(tree, {}).visit(tree)))
    def f(t):
        if  isinstance(t,  Sequence) and  len(t) == 1 or t == 0:
            y = t[0] if  isinstance(t,  Sequence) and  len(t) == 1 else t
            return y
        elif  isinstance(t,  Sequence) and  len(t) == 2 and (t[0] > t[1]):
            x, y = (t[0], t[1])
            return x
    """

    def __init__(self, tree: ast.AST, outer: Mapping[str, Any]) -> None:
        self.names = Names(getattr(n, "id", getattr(n, "arg", "")) for n in ast.walk(tree))
        self.outer = outer

    def visit_Match(self, node: ast.Match) -> Any:
        """Write the chain, which reads a subject several times: one that is no variable gets a name."""
        self.generic_visit(node)
        before: list[ast.stmt] = []
        subject = self.named(node.subject, before)
        try:
            chain = self.chain(subject, node.cases)
        except NotImplementedError:
            return node
        return [*before, *chain]

    def named(self, subject: ast.expr, before: list[ast.stmt]) -> ast.expr:
        """Give a subject that may be read several times; of a tuple's display each item."""
        if isinstance(subject, ast.Name | ast.Constant):
            return subject
        if isinstance(subject, ast.Tuple) and not any(isinstance(e, ast.Starred) for e in subject.elts):
            return ast.copy_location(ast.Tuple([self.named(e, before) for e in subject.elts], ast.Load()), subject)
        name = self.names("subject")
        before.append(placed(ast.Assign([ast.Name(name, ast.Store())], subject), subject))
        return placed(ast.Name(name, ast.Load()), subject)

    def chain(self, subject: ast.expr, cases: list[ast.match_case]) -> list[ast.stmt]:
        """Give the statements of cases: each runs where no case before it fits."""
        if not cases:
            return []
        case, *others = cases
        if isinstance(case.pattern, ast.MatchOr) and names_in(case.pattern):
            return self.chain(subject, [*self.apart(case, case.pattern, subject), *others])
        tests, bound = self.matched(case.pattern, subject)
        tests = sorted(
            [*getattr(case, "excluded", ()), *tests], key=is_of_value
        )  # the classes decide what parts there are
        rest, body = self.chain(subject, others), [*assignments(bound, case.pattern), *case.body]
        if case.guard is not None and not tests:
            return [*assignments(bound, case.pattern), when([case.guard], case.body, rest)]
        if case.guard is not None:
            tests = [*tests, Parts(bound).visit(case.guard)]
        return [when(tests, body, rest, *(bound if case.guard is not None else ()))] if tests else body

    def apart(self, case: ast.match_case, at: ast.MatchOr, subject: ast.expr) -> list[ast.match_case]:
        """Write a case for each alternative; after one that fits, the condition of the others is not tried."""
        found, excluded = [], list[ast.expr]()
        for q in at.patterns:
            one = ast.match_case(q, copy(case.guard), copy(case.body))
            one.excluded = list(map(copy, excluded))  # type: ignore[attr-defined]
            found.append(one)
            if case.guard is not None:
                excluded.append(ast.UnaryOp(ast.Not(), all_of(self.matched(q, subject)[0])))
        return found

    def matched(self, at: ast.pattern, x: ast.expr) -> tuple[list[ast.expr], Bound]:
        """Give the tests of a pattern, in order, and what it binds."""
        match at:
            case ast.MatchAs(pattern=None, name=name):
                return [], {} if name is None else {name: x}
            case ast.MatchAs(pattern=inner, name=name) if inner is not None and name is not None:
                tests, bound = self.matched(inner, x)
                return tests, {**bound, name: x}
            case ast.MatchValue(value=value):
                return [test("_ == _", at, x, value)], {}
            case ast.MatchSingleton(value=value):
                return [test("_ is _", at, x, ast.Constant(value))], {}
            case ast.MatchOr(patterns=patterns):
                return self.any_of(at, x, patterns)
            case ast.MatchClass() | ast.MatchSequence() | ast.MatchMapping(rest=None):
                first, parts = self.parts(at, x)
                each = [self.matched(inner, placed(part, at)) for part, inner in parts]
                tests = [*first, *(t for tests, _ in each for t in tests)]
                return tests, {name: e for _, bound in each for name, e in bound.items()}
        raise NotImplementedError

    def parts(self, at: ast.pattern, x: ast.expr) -> tuple[list[ast.expr], list[tuple[ast.expr, ast.pattern]]]:
        """Give the tests of a pattern of a class, a sequence or a dict, and the parts with their patterns."""
        match at:
            case ast.MatchMapping(keys=keys, patterns=patterns):
                tests = [test("isinstance_(_, Mapping_)", at, x), *(test("_ in _", at, key, x) for key in keys)]
                return tests, [(item(x, key), q) for key, q in zip(keys, patterns, strict=True)]
            case ast.MatchSequence(patterns=patterns):
                return sequence(at, x, patterns)
            case ast.MatchClass(cls=cls, patterns=patterns, kwd_attrs=names, kwd_patterns=others):
                found = named_outside(cls, self.outer)
                by_place = getattr(found, "__match_args__", ())
                if found not in ATOMS and len(by_place) < len(patterns):
                    raise NotImplementedError
                pairs = list(zip((*by_place[: len(patterns)], *names), (*patterns, *others), strict=found not in ATOMS))
                fields: list[tuple[ast.expr, ast.pattern]] = [(field(x, n), q) for n, q in pairs]
                whole = [(x, q) for q in patterns] if found in ATOMS else []
                return [test("isinstance_(_, _)", at, x, cls)], [*whole, *fields]
        raise NotImplementedError

    def any_of(self, at: ast.pattern, x: ast.expr, patterns: list[ast.pattern]) -> tuple[list[ast.expr], Bound]:
        """Give the test that one of several patterns fits, and what the first that fits binds."""
        classes = [tested_class(q) for q in patterns]
        if None not in classes:
            return [test("isinstance_(_, _)", at, x, ast.Tuple([c for c in classes if c], ast.Load()))], {}
        each = [self.matched(q, x) for q in patterns]
        *firsts, (_, bound) = each
        for tests, others in reversed(firsts):
            bound = {n: ast.IfExp(all_of(tests), copy(others[n]), e) for n, e in bound.items()}
        tests = [all_of(tests) for tests, _ in each if tests]
        return [ast.BoolOp(ast.Or(), tests)] if len(tests) == len(each) else [], bound


def is_of_value(test: ast.expr) -> bool:
    """Tell whether a test is of a value, and not of a class or a length."""
    match test:
        case ast.Compare(left=ast.Call()) | ast.Compare(ops=[ast.Is()], comparators=[ast.Constant(value=None)]):
            return False
    return not isinstance(test, ast.Call)


def names_in(at: ast.pattern) -> list[str]:
    """Give the names that a pattern binds."""
    return [n.name for n in ast.walk(at) if isinstance(n, ast.MatchAs | ast.MatchStar) and n.name is not None]


def tested_class(at: ast.pattern) -> ast.expr | None:
    """Give the class that a pattern without parts tests for; None for another pattern."""
    match at:
        case ast.MatchClass(cls=cls, patterns=[], kwd_patterns=[]):
            return cls
        case ast.MatchSingleton(value=None):
            return ast.copy_location(ast.Constant(None), at)
    return None


def sequence(
    at: ast.pattern, x: ast.expr, patterns: list[ast.pattern]
) -> tuple[list[ast.expr], list[tuple[ast.expr, ast.pattern]]]:
    """Give the tests of a pattern of a sequence, and the items with their patterns; those of a star are a list."""
    star = next((k for k, q in enumerate(patterns) if isinstance(q, ast.MatchStar)), None)
    count = len(patterns) - (star is not None)
    if isinstance(x, ast.Tuple) and star is None and len(x.elts) == count:
        return [], list(zip(x.elts, patterns, strict=True))
    how = "==" if star is None else ">="
    tests = [test("isinstance_(_, Sequence_)", at, x), test(f"len_(_) {how} {count}", at, x)]
    places = [k if star is None or k < star else k - len(patterns) for k in range(len(patterns))]
    found = [(item(x, ast.Constant(k)), q) for k, q in zip(places, patterns, strict=True)]
    if star is not None:
        after = star + 1 - len(patterns)
        rest, name = test(f"[*_[{star}:{after or ''}]]", at, x), patterns[star].name  # type: ignore[attr-defined]
        found[star] = rest, ast.copy_location(ast.MatchAs(None, name), at)
    return tests, found


def item(x: ast.expr, key: ast.expr) -> ast.expr:
    """Write ``x[key]``."""
    return ast.Subscript(copy(x), copy(key), ast.Load())


def field(x: ast.expr, name: str) -> ast.expr:
    """Write ``x.name``."""
    return ast.Attribute(copy(x), name, ast.Load())


def all_of(tests: list[ast.expr]) -> ast.expr:
    """Write ``a and b``."""
    tests = list(map(copy, tests)) or [ast.Constant(True)]
    return tests[0] if len(tests) == 1 else ast.BoolOp(ast.And(), tests)


def test(form: str, at: ast.pattern, *parts: ast.expr) -> ast.expr:
    """Write a test with parts in the places of ``_``, and the names of `TESTS` for those that end with it."""
    pending: list[ast.expr] = list(parts)

    class Filled(ast.NodeTransformer):
        def visit_Name(self, node: ast.Name) -> ast.expr:
            if node.id == "_":
                return copy(pending.pop(0))
            return ast.Name(f" {node.id[:-1]}", ast.Load())

    found: ast.expr = Filled().visit(ast.parse(form, mode="eval").body)
    return placed(found, at)


def when(tests: list[ast.expr], body: list[ast.stmt], orelse: list[ast.stmt], *unbound: str) -> ast.stmt:
    """Write ``if a and b: body else: orelse``, where the names of a pattern whose condition fails stay unbound."""
    found = ast.copy_location(ast.If(placed(all_of(tests), tests[0]), body, orelse), tests[0])
    found.is_case, found.unbound = True, frozenset(unbound)  # type: ignore[attr-defined]
    return found


def assignments(bound: Bound, at: ast.pattern) -> list[ast.stmt]:
    """Assign the parts of a subject to the names of a pattern, all at once."""
    pairs = [(n, e) for n, e in bound.items() if not (isinstance(e, ast.Name) and e.id == n)]
    if not pairs:
        return []
    targets: list[ast.expr] = [ast.Name(n, ast.Store()) for n, _ in pairs]
    if len(pairs) == 1:
        return [placed(ast.Assign(targets, copy(pairs[0][1])), at)]
    values = ast.Tuple([copy(e) for _, e in pairs], ast.Load())
    return [placed(ast.Assign([ast.Tuple(targets, ast.Store())], values), at)]


class Parts(ast.NodeTransformer):
    """Replaces the names of a pattern by the parts of the subject."""

    def __init__(self, bound: Bound) -> None:
        self.bound = bound

    def visit_Name(self, node: ast.Name) -> ast.expr:
        """Replace one."""
        found = self.bound.get(node.id)
        return node if found is None else placed(copy(found), node)
