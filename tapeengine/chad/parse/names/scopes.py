"""Python's scopes: every variable of an inner function or comprehension gets a unique name.

So does a parameter from the statement on that gives it another value: ``xs = list(xs)`` makes another variable, and
``a, b = a.copy(), b.copy()`` two.

Afterwards one environment holds the variables of all scopes: a local function finds its captured variables under their
unique names wherever it is called, independently of the caller's names. A parameter by which a function takes an outer
variable that it changes has that variable's name: the functions that are called there see its present value.
"""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Callable, Iterator
from typing import Any

from ...language.nodes import Transformer, every_node
from .uses import bound, functions_in, is_around, is_handed, parameters, uses

#: What has variables of its own.
SCOPES = (ast.FunctionDef, ast.Lambda, ast.ListComp, ast.GeneratorExp, ast.SetComp, ast.DictComp)
_SEPARATED = re.compile(r"\b([^\W\d]\w*)·(\d+)\b")


def original(text: str) -> str:
    """Give the original form of a name, or of all names in a text."""
    return _SEPARATED.sub(r"\1", text)


def separated(function: ast.FunctionDef) -> tuple[ast.FunctionDef, frozenset[str]]:
    """Rename the variables of inner scopes where another scope uses their name.

    The function is changed in place, and given with the variables of all scopes.
    """
    find = functools.cache(bound)  # which both look through each function
    given, nodes = set(_parameters(function.args)), every_node(function)
    own = given.union(find(function))
    is_rebound = not given.isdisjoint(name for s in function.body for name in _rebound(s))
    if not is_rebound and not any(isinstance(n, SCOPES) for n in nodes[1:]):
        return function, frozenset(own)
    survey = _Renamer(find, own)
    names = " ".join(getattr(n, "id", "") for n in nodes)
    count = max((int(n) for _, n in _SEPARATED.findall(names)), default=0)
    for renamer in (survey, _Renamer(find, own, survey.free, count)):
        renamer.body(function, set(given))
    return function, frozenset(renamer.known)


def parameter_names(args: ast.arguments) -> tuple[str, ...]:
    """Give the original names of parameters; those for variables around the function have names that no call gives."""
    return tuple(f" {a.arg}" if is_around(a) else original(a.arg) for a in parameters(args))


def _parameters(args: ast.arguments) -> Iterator[str]:
    return (a.arg for a in parameters(args))


def _captured(statement: ast.stmt) -> set[str]:
    """Give the names that functions and generators inside a statement read, which may run later."""
    return set(uses(list(functions_in([statement], ast.FunctionDef | ast.Lambda | ast.GeneratorExp))))


def _rebound(statement: ast.stmt) -> list[str]:
    """Give the names that an assignment to names, or to a tuple of names, binds."""
    match statement:
        case ast.Assign(targets=[ast.Name(id=name)]):
            return [name]
        case ast.Assign(targets=[ast.Tuple(elts=elts)]) if all(isinstance(e, ast.Name) for e in elts):
            return [e.id for e in elts if isinstance(e, ast.Name) and not is_handed(e)]
    return []


class _Renamer(Transformer):
    """Renames within one function. Without given names it only finds the names that need renaming.

    `find` gives what a function binds; `scopes` are the open ones, innermost last; `free` are names that are not
    variables of any, `known` those of all.
    """

    def __init__(
        self, find: Callable[[ast.FunctionDef], list[str]], own: set[str], free: set[str] | None = None, count: int = 0
    ) -> None:
        self.find, self.surveys = find, free is None
        self.free: set[str] = set()
        self.taken = own | (free or set())
        self.known = set(own)
        self.scopes: list[dict[str, str]] = [{name: name for name in own}]
        self.count = count

    def found(self, name: str) -> str:
        """Give the unique name for a name in the present scopes."""
        scope = next((scope for scope in reversed(self.scopes) if name in scope), None)
        if scope is None:
            self.free.add(name)
            return name
        return scope[name]

    def opened(self, names: Iterator[str] | list[str]) -> dict[str, str]:
        """Choose names for a scope's variables."""
        chosen = {}
        for name in names:
            chosen[name] = name
            if name in self.taken and not self.surveys:
                self.count += 1
                chosen[name] = f"{original(name)}·{self.count}"
            self.taken.add(name)
            self.known.add(chosen[name])
        return chosen

    def visit_Name(self, node: ast.Name) -> ast.Name:
        node.id = self.found(node.id)
        return node

    def visit_arg(self, node: ast.arg) -> ast.arg:
        node.arg = self.found(node.arg)
        return node

    def visit_Nonlocal(self, node: ast.Nonlocal) -> ast.Nonlocal:
        node.names = [self.found(name) for name in node.names]
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        node.name = self.found(node.name)
        self._defaults(node.args)
        given = [a.arg for a in parameters(node.args) if not is_around(a)]
        self.scopes.append(self.opened(list(dict.fromkeys([*given, *self.find(node)]))))
        self._arguments(node.args)
        self.body(node, set(given))
        self.scopes.pop()
        return node

    def body(self, node: ast.FunctionDef, given: set[str]) -> None:
        """Visit the statements of a function that has some parameters."""
        given = set() if self.surveys else given.intersection(name for s in node.body for name in _rebound(s))
        for i, s in enumerate(node.body):
            given -= _captured(s) if given else set()
            rebound = given.intersection(_rebound(s))
            if rebound:
                assert isinstance(s, ast.Assign)
                given -= rebound
                s.value = self.visit(s.value)
                self.scopes[-1].update(self.opened(sorted(rebound)))
                self.visit(s.targets[0])
            else:
                node.body[i] = self.visit(s)

    def visit_Lambda(self, node: ast.Lambda) -> ast.Lambda:
        self._defaults(node.args)
        self.scopes.append(self.opened(_parameters(node.args)))
        self._arguments(node.args)
        node.body = self.visit(node.body)
        self.scopes.pop()
        return node

    def _defaults(self, args: ast.arguments) -> None:
        args.defaults = [self.visit(default) for default in args.defaults]
        args.kw_defaults = [default and self.visit(default) for default in args.kw_defaults]

    def _arguments(self, args: ast.arguments) -> None:
        for arg in parameters(args):
            self.visit_arg(arg)

    def comprehension(self, node: Any) -> Any:
        """Visit a comprehension, which has a scope of its own."""
        first = node.generators[0]
        first.iter = self.visit(first.iter)  # outside: the first range is evaluated before the scope opens
        targets = [n.id for g in node.generators for n in every_node(g.target) if isinstance(n, ast.Name)]
        self.scopes.append(self.opened(list(dict.fromkeys(targets))))
        for generator in node.generators:
            generator.target = self.visit(generator.target)
            if generator is not first:
                generator.iter = self.visit(generator.iter)
            generator.ifs = [self.visit(test) for test in generator.ifs]
        for part in ("elt", "key", "value"):
            if hasattr(node, part):
                setattr(node, part, self.visit(getattr(node, part)))
        self.scopes.pop()
        return node

    visit_ListComp = visit_GeneratorExp = visit_SetComp = visit_DictComp = comprehension
