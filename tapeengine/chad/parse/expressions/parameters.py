"""The names and defaults of parameters: arguments by name, and those left out."""

from __future__ import annotations

import ast
import builtins
import functools
import inspect
import math
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any

from ....naming import attribute_of
from ...language.in_language import WRITTEN
from ...language.nodes import every_node
from ...language.signatures import defaults_of, names_of, stars_of, tree_of
from ...language.terms import Term, Var
from ...language.types import Closure, Fixed, Type
from ..names.callees import library_name
from ..names.stars import is_packed
from ..operations.functions import Env, Lifted, Local, Parameters
from ..operations.raising import may_be_none
from ..operations.state import Parser, unannotated
from .closures import opened
from .rules import constant, expression


def own_parameters(p: Parser, params: Sequence[Var]) -> Parameters:
    """Give the parameters of the function that is parsed."""
    return of_python(p, p.tree, p.function, tuple(v.of for v in params))


def of_python(p: Parser, node: ast.AST, function: Any, types: tuple[Type | None, ...]) -> Parameters:
    """Give the parameters of a Python function, whose defaults are values."""
    names, values = names_of(function), defaults_of(function)
    if function is not p.function:
        p.constants.note_defaults(function)
    annotated = set(function.__annotations__).difference(unannotated(function))

    def default(name: str, of: Type | None) -> Term | None:
        if name not in values:
            return None
        term = constant(p, node, values[name])
        return term if of is None else p.coerce(node, term, of) if name in annotated else p.convert(term, of)

    terms = tuple(default(name, of) for name, of in zip(names, types, strict=True))
    rest, more = stars_of(function)
    by_name = function.__code__.co_kwonlyargcount + len(more)
    return Parameters(names, types, terms, by_name, bool(rest or more), function)


def parameters_of(p: Parser, node: ast.expr, env: Env) -> Parameters | None:
    """Give the parameters of a callee that is a local function or a program; None for any other callee."""
    found: Any = env.get(node.id) if isinstance(node, ast.Name) and node.id in env else p.static(node, env)
    if isinstance(found, Term) and isinstance(found.type, Fixed):
        found = p.known_object(found)
    if isinstance(found, Term) and isinstance(found.type, Closure):
        return opened(found).parameters
    if isinstance(found, Lifted | Local):
        return found.parameters
    if found is p.function or attribute_of(found, "__tapeengine_function__") is p.function:
        return p.own
    return of_program(p, node, found) if hasattr(type(found), "__tapeengine_signature__") else None


def of_program(p: Parser, node: ast.AST, found: Any) -> Parameters:
    """Give the parameters of another program; their types where all of them are annotated."""
    types = (None,) * found.arity if found.inferred else tuple(found.__tapeengine_signature__()[1])
    return of_python(p, node, found.__tapeengine_function__, types)


def arguments(p: Parser, node: ast.Call, of: Parameters, env: Env) -> list[Term]:
    """Give one argument for each parameter: by position, by name, or its default."""
    check_stars(p, node, of)
    if len(node.args) > len(of.names) - of.by_name:
        wanted = f"{len(node.args)} arguments where {len(of.names) - of.by_name} are wanted"
        refuse = p.on_duals if of.source in WRITTEN else p.error
        refuse(node, wanted, "match the function's parameters")
    given: dict[str, ast.expr] = dict(zip(of.names, node.args, strict=False))
    for keyword in node.keywords:
        name = str(keyword.arg)
        if name not in of.names or name in given:
            problem = "given twice" if name in given else "not one of the function's"
            advice = f"its parameters are {', '.join(of.names)}"
            if of.source in WRITTEN:
                p.on_duals(keyword.value, f"the parameter {name} is not one that the language knows", advice)
            p.error(keyword.value, f"the parameter {name} is {problem}", advice)
        if name in without_names(of.source):
            p.on_duals(keyword.value, f"the parameter {name} by name", "give it by position")
        given[name] = keyword.value
    found = []
    for name, of_type, default in zip(of.names, of.types, of.defaults, strict=True):
        if name not in given and default is None:
            wanted = f"{len(given)} arguments where {len(of.names)} are wanted, {name} is missing"
            p.error(node, wanted, "match the function's parameters")
        term = expression(p, given[name], env, of_type) if name in given else default
        assert term is not None
        if of_type is None and may_be_none(term) and name in compared_with_none(of.source):
            term = p.optional(term)
        found.append(term if of_type is None else p.coerce(given.get(name, node), term, of_type))
    return found


def without_names(source: Any) -> Collection[str]:
    """Give the parameters that a function, or its text, takes by position only."""
    if isinstance(source, ast.FunctionDef | ast.Lambda):
        return [arg.arg for arg in source.args.posonlyargs]
    code = getattr(source, "__code__", None)
    return code.co_varnames[: code.co_posonlyargcount] if code else ()


@functools.lru_cache(maxsize=4096)
def compared_with_none(source: Any) -> frozenset[str]:
    """Give the variables that the text of a function compares with None."""
    if not isinstance(source, ast.AST):
        source = tree_of(source)[0] or ast.Module([], [])
    found = set()
    for node in every_node(source):
        match node:
            case ast.Compare(ast.Name(name), [ast.Is() | ast.IsNot()], [ast.Constant(None)]):
                found.add(name)
    return frozenset(found)


def check_stars(p: Parser, node: ast.AST, of: Parameters | None) -> None:
    """Refuse a call of a function with stars if the text does not show which parameter an argument belongs to."""
    if of is not None and of.has_stars and not is_packed(node):
        what = "a function with * or ** parameters is called by another name, or with * or ** arguments before them"
        p.error(node, what, "call it by its own name, in a lambda or def of your own where a function is wanted")


def fitting(p: Parser, node: ast.Call, found: Any) -> None:
    """Leave a call of a function of Python's to dual numbers if the function does not take these arguments."""
    module, _, name = library_name(found).partition(".")
    own = {"builtins": vars(builtins), "math": vars(math)}.get(module, {}).get(name)
    try:
        if own is not None:
            signature(own).bind(*node.args, **{str(k.arg): k.value for k in node.keywords})
    except TypeError as error:
        p.on_duals(node, f"{name} with these arguments, {error}", "match the function's parameters")
    except ValueError:  # a function that does not say what it takes
        pass


signature = functools.cache(inspect.signature)


def no_other_keywords(p: Parser, node: ast.Call, known: Collection[str]) -> None:
    """Refuse arguments by names that a function of the language does not have."""
    for keyword in node.keywords:
        if keyword.arg not in known:
            advice = f"its arguments by name are {', '.join(known)}" if known else "give the arguments by position"
            p.on_duals(keyword.value, f"the argument {keyword.arg} by name", advice)


def of_all(p: Parser, node: ast.AST, args: Sequence[Any], make: Callable[[list[Any]], Term]) -> Term:
    """Make a term of a call's arguments; refuse missing arguments, and arguments that `make` does not read."""
    given = Given(args)
    try:
        term = make(given)
    except IndexError:
        p.error(node, "too few arguments", "match the function's parameters")
    if len(given.read) < len(given):
        p.error(node, "the language knows fewer arguments of this function", "leave out the last ones")
    return term


def with_args(node: ast.Call, args: list[ast.expr]) -> ast.Call:
    """Give a call with other arguments, at the same place in the text."""
    return ast.copy_location(ast.Call(node.func, args, node.keywords), node)


class Given(list[Any]):
    """The arguments of a call; it records which of them are read."""

    def __init__(self, args: Sequence[Any]) -> None:
        super().__init__(args)
        self.read: set[int] = set()

    def __iter__(self) -> Iterator[Any]:
        self.read.update(range(len(self)))
        return super().__iter__()

    def __getitem__(self, key: Any) -> Any:
        self.read.update([key % len(self)] if isinstance(key, int) and self else range(len(self))[key])
        return super().__getitem__(key)
