"""Parameters with stars as ordinary ones: ``def f(x, *rest, **more)`` is ``def f(x, rest, *, more)``.

A call of such a function by its name, ``f(a, b, c, k=d)``, is ``f(a, rest=(b, c), more={"k": d})``. A call that is
not written this way is refused where it is read.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection
from typing import Any

from ...language.nodes import Transformer, every_node

#: Names of the builtins that calls are written with; a program cannot bind them.
BUILTINS = {" range": range, " tuple": tuple}
#: Gives the parameters of the function that an expression denotes outside the program, None for anything else.
Outside = Callable[[ast.expr], Any]


def is_packed(call: ast.AST) -> bool:
    """Tell whether a call gives the arguments of parameters with stars as one tuple and one dict."""
    return getattr(call, "is_packed", False)


def starred(args: ast.arguments) -> bool:
    """Tell whether a function takes any number of arguments."""
    return args.vararg is not None or args.kwarg is not None


class Stars(Transformer):
    r"""Rewrites a function, the local functions in it, and the calls of functions with stars.

    `outside` gives the parameters of a function from outside the program; None for anything else.
    """

    def __init__(
        self, tree: ast.FunctionDef, outside: Outside, is_numpy: Callable[[str], bool] = lambda name: False
    ) -> None:
        nodes = every_node(tree)
        stored = [n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
        defined = [n.name for n in nodes if isinstance(n, ast.FunctionDef) and n is not tree]
        names = [*stored, *defined, *(n.arg for n in nodes if isinstance(n, ast.arg))]
        self.bound: Collection[str] = set(names)
        self.local: dict[str, ast.arguments] = {}
        for node in nodes:
            match node:
                case ast.FunctionDef(name=name, args=args) if node is not tree and names.count(name) == 1:
                    self.local[name] = args
                case ast.Assign(targets=[ast.Name(id=name)], value=ast.Lambda(args=args)) if names.count(name) == 1:
                    self.local[name] = args
        self.shapes = {name: Shape(args) for name, args in self.local.items()}
        self.outside, self.is_numpy = outside, is_numpy

    def visit_FunctionDef(self, node: Any) -> ast.AST:
        """Write the parameters without stars."""
        self.generic_visit(node)
        node.has_stars = starred(node.args)
        without_stars(node.args)
        return node  # type: ignore[no-any-return]

    visit_Lambda = visit_FunctionDef

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """Write the arguments of parameters with stars as a tuple and a dict."""
        self.generic_visit(node)
        shape = self.shape_of(node.func)
        return node if shape is None or not (shape.rest or shape.more) else shape.packed(node)

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        """Write ``np.r_[a, 1:n]`` as a call, with ranges for slices."""
        self.generic_visit(node)
        match node:
            case ast.Subscript(ast.Attribute(ast.Name(np), "r_" | "c_") as function, index) if self.is_numpy(np):
                args = index.elts if isinstance(index, ast.Tuple) else [index]
                function.is_indexed = True  # type: ignore[attr-defined]
                made = ast.Call(function, [ranged(np, a) if isinstance(a, ast.Slice) else a for a in args], [])
                return ast.fix_missing_locations(ast.copy_location(made, node))
        return node

    def shape_of(self, function: ast.expr) -> Shape | None:
        """Give the parameters of a callee that is known by its name."""
        if isinstance(function, ast.Name) and function.id in self.bound:
            return self.shapes.get(function.id)
        args = self.outside(function)
        return None if args is None else Shape(args)


def ranged(numpy: str, part: ast.Slice) -> ast.expr:
    """Write a slice as a range."""
    ends = [part.lower or ast.Constant(0), part.upper or ast.Constant(None), part.step or ast.Constant(1)]
    return ast.Call(ast.Attribute(ast.Name(numpy, ast.Load()), "arange", ast.Load()), ends, [])


class Shape:
    """The names of a function's parameters."""

    def __init__(self, args: ast.arguments) -> None:
        self.places = len(args.posonlyargs) + len(args.args)
        self.names = {a.arg for a in (*args.args, *args.kwonlyargs)}
        self.rest = args.vararg and args.vararg.arg
        self.more = args.kwarg and args.kwarg.arg

    def packed(self, node: ast.Call) -> ast.Call:
        """Write a call with a tuple and a dict; one whose text does not say which argument is which stays."""
        first, others = node.args[: self.places], node.args[self.places :]
        own = [k for k in node.keywords if k.arg in self.names]
        named = [k for k in node.keywords if k.arg not in self.names]
        is_unclear = any(isinstance(a, ast.Starred) for a in first) or (
            any(k.arg is None for k in named) and not (self.more and not self.names)
        )
        if is_unclear or (others and not self.rest) or (named and not self.more):
            return node
        if self.rest:
            own.append(ast.keyword(self.rest, ast.Tuple(others, ast.Load()) if others else nothing()))
        if self.more:
            keys: list[ast.expr | None] = [ast.Constant(k.arg) if k.arg else None for k in named]
            own.append(ast.keyword(self.more, ast.Dict(keys, [k.value for k in named])))
        made = ast.copy_location(ast.Call(node.func, first, own), node)
        for k in own:
            ast.fix_missing_locations(ast.copy_location(k, node))
        made.is_packed = True  # type: ignore[attr-defined]
        return made


def nothing() -> ast.expr:
    """Write a tuple without items, over which loops run: an empty array, as ``()`` has no element type."""
    range_, tuple_ = (ast.Name(name, ast.Load()) for name in BUILTINS)
    return ast.Call(tuple_, [ast.Call(range_, [ast.Constant(0)], [])], [])


def without_stars(args: ast.arguments) -> None:
    """Make ordinary parameters of those with stars: one by position, and one by name only."""
    if args.vararg:
        args.args.append(args.vararg)
        args.vararg.annotation = None
        if args.defaults:
            args.defaults.append(ast.fix_missing_locations(ast.copy_location(nothing(), args.vararg)))
    if args.kwarg:
        args.kwonlyargs.append(args.kwarg)
        args.kw_defaults.append(None)
        args.kwarg.annotation = None
    args.vararg = args.kwarg = None
