"""Defaults of local functions, which are objects that are made once, at the definition, become variables."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence

from .scopes import original
from .syntax import load, statements
from .uses import defaults, inner_nodes, parameters, uses


def keep_defaults(
    nodes: Iterable[ast.AST],
    functions: Mapping[str, ast.FunctionDef],
    names: set[str],
    changed_in_place: Callable[[Sequence[ast.stmt]], list[str]],
) -> None:
    r"""Keep the defaults of functions in variables, whose names are added to `names`, and write out these in calls."""
    kept = {name: kept_defaults(f, names, changed_in_place(f.body)) for name, f in functions.items()}
    for node in nodes:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in kept:
            give(node, functions[node.func.id], kept[node.func.id])


def kept_defaults(function: ast.FunctionDef, names: set[str], changed: list[str]) -> dict[str, str]:
    """Give a variable for each default that may change, or that variables make."""
    calls = [n for n in inner_nodes(function.body) if isinstance(n, ast.Call)]
    changing = {*changed, *uses([a for call in calls for a in (*call.args, *call.keywords)])}
    function.before, found = [], {}  # type: ignore[attr-defined]
    for arg, default in zip(parameters(function.args), defaults(function.args), strict=True):
        if isinstance(default, ast.Constant | None):
            continue
        if arg.arg in changing or names.intersection(uses([default])):
            found[arg.arg] = next(x for k in itertools.count(1) if (x := f"{original(arg.arg)}·{k}") not in names)
            names.add(found[arg.arg])
            keep(function, default, found[arg.arg])
    return found


def keep(function: ast.FunctionDef, default: ast.expr, name: str) -> None:
    """Write ``def f(v=e)`` as ``name = e`` and ``def f(v=name)``."""
    variable = load(name, default)
    variable.is_given_back = True  # type: ignore[attr-defined]
    for given in (function.args.defaults, function.args.kw_defaults):
        given[:] = [variable if each is default else each for each in given]  # type: ignore[misc]
    function.before += statements("_ = default", default, _=name, default=default)  # type: ignore[attr-defined]


def give(call: ast.Call, function: ast.FunctionDef, kept: Mapping[str, str]) -> None:
    """Write out the defaults that variables keep, unless stars hide which arguments a call gives."""
    if any(isinstance(a, ast.Starred) for a in call.args) or not all(k.arg for k in call.keywords):
        return
    args = function.args
    given = {a.arg for a in [*args.posonlyargs, *args.args][: len(call.args)]}
    for name in kept:
        if name not in given and original(name) not in {k.arg for k in call.keywords}:
            call.keywords.append(ast.copy_location(ast.keyword(original(name), load(kept[name], call)), call))
