"""Functions that change variables take them, and return their values, too.

A local function may give variables around it other values (``nonlocal``), and change them in place. Any function may
change the lists, arrays and records that it is given. Such a function becomes one that returns a tuple of its value and
of all that it changes, and a call of it becomes a statement that assigns these.
"""

from __future__ import annotations

import ast
import copy
import textwrap
import threading
import weakref
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from inspect import getattr_static
from types import FunctionType
from typing import Any

from numpy import ndarray

from ....naming import attribute_of, names_in
from ....recursion import deep
from ...language.in_language import FUNCTIONS
from ...language.nodes import Transformer, every_node
from ...language.signatures import defaults_of, source_of
from ..analyses import ownership
from ..analyses.outputs import Filling
from ..analyses.ownership import Facts, named_values
from ..names.callees import is_plain, library_name
from ..names.constants import global_names
from ..names.defaults import keep_defaults
from ..names.outside import is_numpy, named_outside, names_outside, only_of_arrays, root
from ..names.per_function import PerFunction
from ..names.scopes import original, separated
from ..names.syntax import load, statements
from ..names.uses import OWN, assigned, defined_once, inner_nodes, parameters, stored, used_as_values, walked
from .matching import Matches

#: The methods that change a list, a dict or an array in place.
CHANGING = frozenset("append extend insert pop sort reverse clear remove update fill".split())


#: The prefix of names of functions that return what they change; no name of Python's begins with it.
MARK = " "


def original_name(name: str) -> str:
    """Give the name of a function as the program writes it."""
    return name.lstrip(MARK)


@dataclass(frozen=True)
class Changed:
    """What a function changes.

    * `around`: variables around it, which become its first parameters.
    * `in_place`: those of them that are changed in place.
    * `given`: the parameters whose arguments it changes in place.
    * `parameters`: all its parameters, by position.
    * `gives`: the parameter that it returns; empty if it returns something else.
    * `called`: the name of the function that returns what it changes.
    * `lasting`: the parameters whose defaults outlive the program.
    """

    around: tuple[str, ...] = ()
    in_place: frozenset[str] = frozenset()
    given: tuple[str, ...] = ()
    parameters: tuple[str, ...] = ()
    gives: str = ""
    called: str = ""
    lasting: frozenset[str] = frozenset()

    def __bool__(self) -> bool:
        return bool(self.around or self.given)


#: Gives the changes of the function that a call names; None if it changes nothing.
Of = Callable[[ast.AST], Changed | None]


class Procedures:
    r"""The functions that change variables: the local ones of a function, which are rewritten, and those outside.

    Those outside that return what they change are added to `outer` under names of their own.
    """

    def __init__(self, tree: ast.FunctionDef, outer: dict[str, Any] | None = None, given: Any = None) -> None:
        self.outer = {} if outer is None else outer
        separated(tree)
        Filling(is_numpy(self.outer)).visit(tree)
        nodes = every_node(tree)
        inner = [n for n in nodes if isinstance(n, ast.FunctionDef) and n is not tree]
        self.bound = {*stored(tree), *(n.name for n in inner), *(n.arg for n in nodes if isinstance(n, ast.arg))}
        self.by_class(tree, nodes, given or {})
        self.declared = {name for n in inner for name in nonlocals(n)}
        once = defined_once(tree)
        values = used_as_values(nodes)
        self.local: dict[str, Changed] = {}
        functions = {name: n for name, n in once.items() if name not in values or nonlocals(n)}
        keep_defaults(nodes, functions, self.bound, changed_in_place)
        before = None
        while before != self.local:  # a function changes what its callees change
            before = dict(self.local)
            found = {name: self.changed(n, self.bound) for name, n in functions.items()}
            self.local = {name: each for name, each in found.items() if each}
        for name, each in self.local.items():
            hand_back(functions[name], each)

    def by_class(self, tree: ast.FunctionDef, nodes: Sequence[ast.AST], given: Mapping[str, Any]) -> None:
        """Write ``r.move(dt)``, and ``r(dt)``, as a call of the function of r's class if that changes r.

        The parameter r is of a given class, or calls of a class make r, or only one class has this method; reading
        confirms it.
        """
        made = dict[str, list[ast.expr]]()
        for name, value in named_values(tree):
            if isinstance(value, ast.Call) and root(value.func) not in (*self.bound, OWN):
                made.setdefault(name, []).append(value.func)
        for call in (n for n in nodes if isinstance(n, ast.Call)):
            record, method = getattr(call.func, "value", call.func), getattr(call.func, "attr", "__call__")
            name = getattr(record, "id", "")
            is_free = name in self.bound and not any(hasattr(cls, method) for cls in (list, dict, ndarray))
            classes = [(ast.unparse(f), named_outside(f, self.outer)) for f in made.get(name, ())]
            own = given.get(original(name))
            classes = [(own.__name__, own)] if own else classes or [*(self.outer.items() if is_free else ())]
            classes = [(n, x) for n, x in classes if isinstance(x, type) and hasattr(x, method)]
            found = {f: n for n, x in classes if is_plain(f := getattr_static(x, method, None))}
            for function, where in found.items() if len(found) == 1 else ():
                if handing_back(function):
                    by_function(call, f"{where}.{method}", function, self.outer)

    def of(self, node: ast.AST) -> Changed | None:
        """Give what the function changes that an expression calls."""
        if not isinstance(node, ast.Call) or hasattr(node, "is_handing"):
            return None
        if isinstance(node.func, ast.Name) and node.func.id in self.bound:
            return self.local.get(node.func.id)
        found = None if root(node.func) in self.bound else handing_back(named_outside(node.func, self.outer))
        if found is None:
            return None
        called = f"{MARK}{ast.unparse(node.func)}"
        self.outer[called] = found[0]
        return replace(found[1], called=called)

    def changed(self, function: ast.FunctionDef, around: set[str]) -> Changed:
        """Find out what a function changes; `around` are the names that functions around it may bind."""
        own = parameters(function.args)
        names = [a.arg for a in own]
        other = nonlocals(function)
        rebound = assigned(function.body)
        inside = {*names, *rebound} - set(other)
        in_place = changed_in_place(function.body, self.of)
        given = tuple(n for n in names if n in in_place and n not in rebound)
        if given:
            kept = kept_in(function, names, self)
            given = tuple(n for n in given if n not in kept)
        captured = [n for n in in_place if n in around and n not in inside and n not in other]
        for each in filter(None, map(self.of, inner_nodes(function.body))):
            captured += [n for n in each.around if n not in inside and n not in (*captured, *other)]
        around_it = tuple(dict.fromkeys((*other, *captured)))
        places = tuple(names[: len(names) - len(function.args.kwonlyargs)])
        return Changed(around_it, frozenset(in_place), given, places, gives(function, given), function.name)


def by_function(call: ast.Call, name: str, function: Any, outer: dict[str, Any]) -> None:
    """Write ``r.move(dt)`` as a call of a function under a name of its own."""
    outer[f"{MARK}{name}"] = function
    record, call.func = getattr(call.func, "value", call.func), load(f"{MARK}{name}", call)
    call.args.insert(0, record)


def nonlocals(function: ast.FunctionDef) -> list[str]:
    """Give the outer variables that a function declares and assigns."""
    return [name for s in function.body if isinstance(s, ast.Nonlocal) for name in s.names]


def changed_in_place(statements: Sequence[ast.stmt], of: Of = lambda node: None) -> list[str]:
    """Give the names of what statements change in place, also by calls."""
    found: list[str] = []
    for node in inner_nodes(statements):
        match node:
            case ast.Subscript(ctx=ast.Store() | ast.Del(), value=value) | ast.Attribute(ctx=ast.Store(), value=value):
                while isinstance(value, ast.Subscript | ast.Attribute):
                    value = value.value
                found += [value.id] if isinstance(value, ast.Name) else []
            case ast.Call(func=ast.Attribute(value=value, attr=attr)) if attr in CHANGING and root(value):
                found.append(root(value))
            case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=name)))):
                found.append(name)
            case ast.Call() if changed := of(node):
                found += [a.id for a in given_to(node, changed).values() if isinstance(a, ast.Name)]
                found += [n for n in changed.around if n in changed.in_place]
    return list(dict.fromkeys(found))


def given_to(call: ast.Call, changed: Changed) -> dict[str, ast.expr]:
    """Give the arguments of a call that the function changes, by parameter."""
    given: dict[str, ast.expr] = dict(zip(map(original, changed.parameters), call.args, strict=False))
    given.update({k.arg: k.value for k in call.keywords if k.arg is not None})
    return {name: given[original(name)] for name in changed.given if original(name) in given}


def kept_in(function: ast.FunctionDef, names: Sequence[str], procedures: Procedures) -> set[str]:
    """Give the parameters that a function may store elsewhere, or for which it has another name."""
    function = copy.deepcopy(function)
    for call in [n for n in every_node(function) if isinstance(n, ast.Call)]:
        if isinstance(call.func, ast.Name) and call.func.id == function.name:  # stores nothing else
            own = zip(call.args, names, strict=False)
            call.args = [ast.Constant(None) if isinstance(a, ast.Name) and a.id == n else a for a, n in own]
        elif changed := procedures.of(call):  # it does not store what it changes
            given = list(map(id, given_to(call, changed).values()))
            call.args = [ast.Constant(None) if id(a) in given else a for a in call.args]
    outer = procedures.outer
    facts = Facts(is_numpy=is_numpy(outer), only_of_arrays=only_of_arrays(outer.values()))
    return ownership.kept_in(function, names, facts)[1]


def gives(function: ast.FunctionDef, given: Sequence[str]) -> str:
    """Give the parameter that a function returns, if it always returns that one."""
    values = [s.value for s in walked(function.body) if isinstance(s, ast.Return)]
    names = {value.id if isinstance(value, ast.Name) else "" for value in values}
    is_sure = isinstance(function.body[-1], ast.Return) and len(names) == 1 and names.issubset(given)
    return names.pop() if is_sure else ""


def hand_back(function: ast.FunctionDef, changed: Changed) -> None:
    """Rewrite a function that changes variables: outer ones become parameters, and it returns all changed ones."""
    around = [ast.copy_location(ast.arg(n), function) for n in changed.around]
    for arg in around:
        arg.is_around = True  # type: ignore[attr-defined]
    function.args.posonlyargs = [*around, *function.args.posonlyargs]
    function.returns, function.hands_back = None, True  # type: ignore[attr-defined]
    returns = Returns((*changed.around, *changed.given))
    body = [returns.visit(s) for s in function.body if not isinstance(s, ast.Nonlocal)]
    at_end = ast.copy_location(ast.Return(None), function.body[-1])
    body = body if body and isinstance(body[-1], ast.Return) else [*body, returns.visit(at_end)]
    changing = [n for n in (*changed.around, *changed.given) if n in (*changed.given, *changed.in_place)]
    function.body = [*(taken(n, function.body[0]) for n in changing), *body]


def hands_back(function: ast.FunctionDef) -> bool:
    """Tell whether a function was rewritten to return what it changes."""
    return getattr(function, "hands_back", False)


def taken(name: str, at: ast.stmt) -> ast.stmt:
    """Write ``name = own(name)``: nothing else refers to what the function changes."""
    return statements("_ = own(_)", at, _=name, own=OWN)[0]


class Returns(Transformer):
    """Adds variables to the results of a function."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names = names

    def visit_Return(self, node: ast.Return) -> ast.Return:
        """Return a tuple."""
        value = node.value or ast.copy_location(ast.Constant(None), node)
        loads: list[ast.expr] = [load(n, node) for n in self.names]
        for variable in loads:
            variable.is_given_back = True  # type: ignore[attr-defined]
        node.value = ast.copy_location(ast.Tuple([value, *loads], ast.Load()), node)
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        """Leave functions inside as they are."""
        return node


def text_of(function: Any) -> ast.FunctionDef | None:
    """Give the text of a function after the rewrites."""
    try:
        tree = ast.parse(textwrap.dedent("".join(source_of(function)[0]))).body[0]
    except (OSError, TypeError, SyntaxError):
        return None
    if not isinstance(tree, ast.FunctionDef):
        return None
    Matches(tree, names_outside(function)).visit(tree)
    if changed := getattr(function, "changed", None):
        hand_back(tree, changed)
    if rewritten := getattr(function, "rewritten", None):
        rewritten(tree)
    return tree


@PerFunction
def made_handing_back(function: FunctionType) -> tuple[FunctionType, Changed] | None:
    """Make a function that returns what the given one changes; None if it changes nothing."""
    tree = text_of(function)
    if tree is None or tree.args.vararg or tree.args.kwarg:
        return None
    READING_NOW.functions.append(function)
    try:
        changed = Procedures(tree, names_outside(function)).changed(tree, set())
    finally:
        READING_NOW.functions.pop()
    if not changed.given:
        return None
    made = copy_of(function)
    fixed = {name for name, value in defaults_of(function).items() if isinstance(value, int | float | str | None)}
    changed = replace(changed, lasting=frozenset(defaults_of(function)) - fixed)
    made.changed = changed  # type: ignore[attr-defined]
    return made, changed


class Reading(threading.local):
    """The functions that this thread is reading: a recursive call changes what the other statements change."""

    def __init__(self) -> None:
        self.functions: list[Any] = []


READING_NOW = Reading()


def handing_back(function: Any) -> tuple[FunctionType, Changed] | None:
    """For an outside function that changes its arguments, give one that returns them, and what it changes."""
    function = FUNCTIONS.get(library_name(function), attribute_of(function, "__tapeengine_function__", function))
    if isinstance(function, FunctionType) and hasattr(function, "changed"):
        return function, function.changed
    return made_handing_back(function) if is_plain(function) and function not in READING_NOW.functions else None


@PerFunction
@deep()
def changed_parameters(function: Any) -> tuple[str, ...]:
    """Give the parameters that a function changes in place, or only by ``+=``; none if it calls itself."""
    tree = text_of(function)
    code, name = function.__code__, function.__name__
    if tree is None or (name in names_in(code) and name in global_names(code)):
        return ()
    nodes = every_node(tree)
    added = [n.target.id for n in nodes if isinstance(n, ast.AugAssign) and isinstance(n.target, ast.Name)]
    made = {id(n) for test in nodes for n in made_if_none(test)}
    bound = [n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store) and id(n) not in made]
    changed = changed_in_place(tree.body, Procedures(tree, names_outside(function)).of)
    names = [name for name in (*changed, *added) if bound.count(name) == added.count(name)]
    return tuple(a.arg for a in parameters(tree.args) if a.arg in names)


def made_if_none(node: ast.AST) -> list[ast.expr]:
    """Give the target of ``if x is None: x = e``, which binds x only where there is no argument to change."""
    match node:
        case ast.If(
            ast.Compare(ast.Name(tested), [ast.Is()], [ast.Constant(None)]), [ast.Assign([ast.Name(name) as x])], []
        ):
            return [x] if name == tested else []
    return []


def starting(function: Any, names: Sequence[str]) -> FunctionType:
    """Give a function that owns the arguments of some parameters."""
    made = copy_of(function)

    def rewritten(tree: ast.FunctionDef) -> None:
        tree.body[:0] = [taken(name, tree.body[0]) for name in names]

    made.rewritten = rewritten  # type: ignore[attr-defined]
    return made


def copy_of(function: FunctionType) -> FunctionType:
    """Make another function of the same text."""
    made = FunctionType(
        function.__code__, function.__globals__, function.__name__, function.__defaults__, function.__closure__
    )
    for name in ("__kwdefaults__", "__annotations__", "__module__", "__qualname__", "__doc__"):
        setattr(made, name, getattr(function, name))
    made.made_of = weakref.ref(function)  # type: ignore[attr-defined]
    return made
