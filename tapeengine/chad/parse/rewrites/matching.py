"""``match`` becomes a chain of ``if``: a pattern is a test, and its names are parts of the subject."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Mapping
from copy import deepcopy
from typing import Any

from ...language.nodes import Transformer, every_node
from ...language.traverse import Names
from ..names import syntax
from ..names.outside import TESTS, named_outside

#: The classes whose pattern has the subject itself as its part.
ATOMS = (bool, float, int, str, list, tuple, dict)
#: A way in which a pattern fits: the tests, and the names that it binds, with the texts of parts.
Way = tuple[list[str], dict[str, str]]


class Matches(Transformer):
    """Rewrites a function without ``match``, except where a pattern is not in the language."""

    def __init__(self, tree: ast.AST, outer: Mapping[str, Any]) -> None:
        self.names = Names(getattr(n, "id", getattr(n, "arg", "")) for n in every_node(tree))
        self.outer, self.displays = outer, dict[str, list[str]]()

    def visit_Match(self, node: ast.Match) -> Any:
        """Write the chain, which reads a subject several times, so that a subject other than a variable gets a name."""
        self.generic_visit(node)
        before: list[ast.stmt] = []
        subject = self.named(node.subject, before)
        try:
            return [*before, *self.chain(subject, node.cases)]
        except NotImplementedError:
            return node

    def named(self, subject: ast.expr, before: list[ast.stmt]) -> str:
        """Give the text of a subject that may be read several times; of a tuple's display each item."""
        if isinstance(subject, ast.Name | ast.Constant):
            return ast.unparse(subject)
        if isinstance(subject, ast.Tuple) and not any(isinstance(e, ast.Starred) for e in subject.elts):
            parts = [self.named(e, before) for e in subject.elts]
            self.displays[text := f"({', '.join(parts)},)"] = parts
            return text
        name = self.names("subject")
        before += syntax.statements("_ = subject", subject, _=name, subject=subject)
        return name

    def chain(self, x: str, cases: list[ast.match_case]) -> list[ast.stmt]:
        """Give the statements of cases: each runs where no case before it fits."""
        if not cases:
            return []
        case, rest = cases[0], self.chain(x, cases[1:])
        ways = self.matched(case.pattern, x)
        for k, (tests, bound) in reversed(list(enumerate(ways))):
            body, guard, binding = deepcopy(case.body), deepcopy(case.guard), assigned(bound, case.pattern)
            if guard is None:
                rest = [when(tests, [*binding, *body], rest, case.pattern)] if tests else [*binding, *body]
            elif not tests:
                rest = [*binding, when([], body, rest, case.pattern, guard)]
            else:  # after a way that fits, the condition of the others is not tried
                tests = [*(f"not ({' and '.join(before)})" for before, _ in ways[:k]), *tests]
                guard = syntax.Put({n: written(e, case.pattern) for n, e in bound.items()}).visit(guard)
                rest = [when(tests, [*binding, *body], rest, case.pattern, guard, bound)]
        return rest

    def matched(self, at: ast.pattern, x: str) -> list[Way]:
        """Give the ways in which a pattern fits."""
        match at:
            case ast.MatchAs(pattern=None, name=name):
                return [([], {} if name is None else {name: x})]
            case ast.MatchAs(pattern=inner, name=name) if inner is not None and name is not None:
                return [(tests, {**bound, name: x}) for tests, bound in self.matched(inner, x)]
            case ast.MatchValue(value=value):
                return [([f"{x} == {ast.unparse(value)}"], {})]
            case ast.MatchSingleton(value=value):
                return [([f"{x} is {value}"], {})]
            case ast.MatchOr(patterns=patterns):
                each = [way for q in patterns for way in self.matched(q, x)]
                return each if any(bound for _, bound in each) else [(any_of(x, [tests for tests, _ in each]), {})]
        first, parts = self.parts(at, x)
        ways = itertools.product(*(self.matched(q, part) for part, q in parts))
        return [
            ([*first, *(t for w in way for t in w[0])], {n: e for w in way for n, e in w[1].items()}) for way in ways
        ]

    def parts(self, at: ast.pattern, x: str) -> tuple[list[str], list[tuple[str, ast.pattern]]]:
        """Give the tests of a pattern of a class or a sequence, and the parts with their patterns."""
        match at:
            case ast.MatchSequence(patterns=patterns):
                return self.sequence(x, patterns)
            case ast.MatchClass(cls=cls, patterns=patterns, kwd_attrs=attributes, kwd_patterns=others):
                found = named_outside(cls, self.outer)
                whole = [(x, q) for q in patterns] if found in ATOMS else []
                places = () if whole else getattr(found, "__match_args__", ())[: len(patterns)]
                if len(places) + len(whole) < len(patterns):
                    raise NotImplementedError
                pairs = zip((*places, *attributes), (*patterns[len(whole) :], *others), strict=True)
                return [f"_isinstance({x}, {ast.unparse(cls)})"], [*whole, *((f"{x}.{n}", q) for n, q in pairs)]
        raise NotImplementedError

    def sequence(self, x: str, patterns: list[ast.pattern]) -> tuple[list[str], list[tuple[str, ast.pattern]]]:
        """Give the tests of a pattern of a sequence, and the items with their patterns; those of a star are a list."""
        n, star = len(patterns), next((k for k, q in enumerate(patterns) if isinstance(q, ast.MatchStar)), None)
        if star is None and len(own := self.displays.get(x, ())) == n > 0:
            return [], list(zip(own, patterns, strict=True))
        found = [(f"{x}[{k if star is None or k < star else k - n}]", q) for k, q in enumerate(patterns)]
        if star is not None:
            name = patterns[star].name  # type: ignore[attr-defined]
            found[star] = f"[*{x}[{star}:{star + 1 - n or ''}]]", ast.MatchAs(None, name)
        size = f"_len({x}) == {n}" if star is None else f"_len({x}) >= {n - 1}"
        return [f"_isinstance({x}, _Sequence)", size], found


def any_of(x: str, each: list[list[str]]) -> list[str]:
    """Give the test that one of several patterns without names fits: one of several classes, or any tests."""
    if [] in each:
        return []
    first = f"_isinstance({x}, "
    if all(len(tests) == 1 and (tests[0].startswith(first) or tests == [f"{x} is None"]) for tests in each):
        classes = (tests[0][len(first) : -1] if tests[0].startswith(first) else "None" for tests in each)
        return [f"{first}({', '.join(classes)},))"]
    return [" or ".join(f"({' and '.join(tests)})" for tests in each)]


def written(text: str, at: ast.AST) -> Any:
    """Give the expression of a text, in which the names of `TESTS` begin with an underscore."""
    return syntax.expression(text, at, **{f"_{name.strip()}": name for name in TESTS})


def when(
    tests: list[str],
    body: list[ast.stmt],
    orelse: list[ast.stmt],
    at: ast.pattern,
    guard: ast.expr | None = None,
    unbound: Any = (),
) -> ast.stmt:
    """Write an if: tests of classes come first. Names that a failing condition may have bound are `unbound`."""
    ordered = sorted(tests, key=lambda t: not (t.startswith(("_isinstance", "_len")) or t.endswith(" is None")))
    parts = [written(t, at) for t in ordered] + ([] if guard is None else [guard])
    test = parts[0] if len(parts) == 1 else ast.copy_location(ast.BoolOp(ast.And(), parts), at)
    found = ast.copy_location(ast.If(test, body, orelse), at)
    found.is_case, found.unbound = True, frozenset(unbound)  # type: ignore[attr-defined]
    return found


def assigned(bound: Mapping[str, str], at: ast.pattern) -> list[ast.stmt]:
    """Assign the parts of a subject to the names of a pattern, all at once."""
    pairs = [(n, e) for n, e in bound.items() if n != e]
    if not pairs:
        return []
    targets, values = (", ".join(part) for part in zip(*pairs, strict=True))
    return syntax.statements(f"{targets} = {values}", at)
