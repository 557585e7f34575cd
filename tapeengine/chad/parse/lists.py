"""Find the expressions whose values are Python lists, for which operators mean something else than for arrays.

Python joins and repeats lists, and refuses most other operators on them; numpy computes element by element. Both are
arrays in the language, so the text decides: a display, a comprehension or a call of `list` makes a list, functions of
numpy make arrays. What is neither, such as an argument, is known when the program is called
(`tapeengine.chad.parse.whole_arrays`).
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

__all__ = ["ARRAY", "Kind", "Kinds", "ListOf"]


@dataclass(frozen=True)
class ListOf:
    """A list; `element` is what its elements are."""

    element: Kind = None


#: A numpy array, or a number of one.
ARRAY = "array"
#: A number of Python's.
NUMBER = "number"
#: Whatever the other assignments of a name say.
ANY = "any"
#: None where the text does not say.
Kind = ListOf | str | None
#: Functions that make a list of an iterable.
MAKING = ("list", "sorted")
#: Methods that give a list or an array of the same kind.
COPYING = ("copy", "tolist")


class Kinds:
    r"""The kinds of the expressions of a function.

    Parameters
    ----------
    function : ast.FunctionDef
        With unique names for the variables of all scopes.
    is_numpy : callable
        Tells whether a name outside the function is numpy.
    result : callable, optional
        Gives the kind of the results of a function outside, by its name.

    Examples
    --------
    >>> text = "def f(xs):\n    ys = [x for x in xs]\n    zs = np.sin(ys)\n    return ys + ys, zs * xs"
    >>> tree = ast.parse(text).body[0]
    >>> kinds = Kinds(tree, "np".__eq__)
    >>> [kinds.of(e) for e in tree.body[-1].value.elts]
    [ListOf(element=None), 'array']
    """

    def __init__(
        self,
        function: ast.FunctionDef,
        is_numpy: Callable[[str], bool],
        result: Callable[[str], Kind] = lambda name: None,
    ) -> None:
        self.is_numpy, self.result = is_numpy, result
        bound = [pair for node in ast.walk(function) for pair in bindings(node)]
        arguments = {a.arg: a.annotation for a in ast.walk(function) if isinstance(a, ast.arg)}
        self.names: dict[str, Kind] = {name: ANY for name, _ in bound if name not in arguments}
        self.numbers = {n for n, a in arguments.items() if isinstance(a, ast.Name) and a.id in ("float", "int", "bool")}
        while True:  # a kind depends on those of other names
            found = {name: self.common([self.of(e) for n, e in bound if n == name]) for name in self.names}
            if found == self.names:
                break
            self.names = found

    def common(self, kinds: Sequence[Kind]) -> Kind:
        """Give the kind of a value that has one of several."""
        kinds = [k for k in kinds if k != ANY]
        lists = [k for k in kinds if isinstance(k, ListOf)]
        if lists and len(lists) == len(kinds):
            return ListOf(self.common([k.element for k in lists]))
        return ANY if not kinds else kinds[0] if all(k == kinds[0] for k in kinds) else None

    def element(self, kind: Kind) -> Kind:
        """Give the kind of an element."""
        return kind.element if isinstance(kind, ListOf) else None if kind == NUMBER else kind

    def of(self, node: ast.expr) -> Kind:
        """Give the kind of an expression."""
        match node:
            case ast.Constant(value=int() | float()):
                return NUMBER
            case Element(over=over):
                return self.element(self.of(over))
            case ast.Name(id=name):
                return NUMBER if name in self.numbers else self.names.get(name)
            case ast.List(elts=elts):
                return ListOf(self.common(list(map(self.of, elts))))
            case ast.ListComp(elt=elt):
                return ListOf(self.of(elt))
            case ast.IfExp(body=body, orelse=orelse):
                return self.common([self.of(body), self.of(orelse)])
            case ast.NamedExpr(value=value) | ast.UnaryOp(operand=value) | ast.Attribute(value=value, attr="T"):
                return self.of(value)
            case ast.BinOp():
                return self.of_operator(node)
            case ast.Subscript(value=value, slice=index):
                kind = self.of(value)
                return kind if isinstance(index, ast.Slice) else self.element(kind)
            case ast.Call():
                return self.of_call(node)
        return None

    def of_operator(self, node: ast.BinOp) -> Kind:
        """Give the kind of the value of an operator."""
        kinds = [self.of(node.left), self.of(node.right)]
        if ARRAY in kinds:
            return ARRAY
        lists = [k for k in kinds if k == ANY or isinstance(k, ListOf)]
        joins = isinstance(node.op, ast.Add) and len(lists) == 2
        if joins or (isinstance(node.op, ast.Mult) and len(lists) == 1):
            return self.common(lists)
        if lists and all(k in lists or k == NUMBER for k in kinds):
            return ANY  # it raises
        return NUMBER if kinds == [NUMBER, NUMBER] else None

    def of_call(self, node: ast.Call) -> Kind:
        """Give the kind of the value of a call."""
        match node.func:
            case ast.Name(id=name) if name in MAKING:
                return ListOf(self.element(self.of(node.args[0])) if node.args else None)
            case ast.Name(id=name):
                called = f"{name}()"
                return self.names[called] if called in self.names else self.result(name)
            case ast.Lambda(body=body):
                return self.of(body)
            case ast.Attribute(value=ast.Name(id=name)) if self.is_numpy(name):
                return ARRAY
            case ast.Attribute(value=value, attr=attr):
                kind = self.of(value)
                return kind if kind == ARRAY or attr in COPYING else None
        return None


class Element(ast.expr):
    """Stands for an element of what an expression gives."""

    _fields = ("over",)

    def __init__(self, over: ast.expr) -> None:
        super().__init__()
        self.over = over


def bindings(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """Go through the names that a statement or a comprehension binds, each with the expression of its value.

    The results of a local function stand under its name and ``()``.
    """
    match node:
        case ast.Assign(targets=targets, value=value):
            for target in targets:
                yield from taken(target, value)
        case ast.AnnAssign(target=target, value=value) if value is not None:
            yield from taken(target, value)
        case ast.NamedExpr(target=target, value=value):
            yield from taken(target, value)
        case ast.AugAssign(target=ast.Name(id=name) as target, op=op, value=value):
            yield name, ast.BinOp(ast.Name(name, ast.Load()), op, value)
        case ast.For(target=target, iter=over) | ast.comprehension(target=target, iter=over):
            yield from taken(target, Element(over))
        case ast.FunctionDef(name=name):
            for inner in ast.walk(node):
                if isinstance(inner, ast.Return) and inner.value is not None:
                    yield f"{name}()", inner.value


def taken(target: ast.expr, value: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    """Go through the names of a target with the expressions of their values."""
    match target, value:
        case ast.Name(id=name), _:
            yield name, value
            if isinstance(value, ast.Lambda):
                yield f"{name}()", value.body
        case ast.Tuple(elts=elts), ast.Tuple(elts=values) if len(elts) == len(values):
            for each in zip(elts, values, strict=True):
                yield from taken(*each)
        case ast.Tuple(elts=elts), Element(over=ast.Call(func=ast.Name(id="zip"), args=args)) if len(elts) == len(args):
            for inner, over in zip(elts, args, strict=True):
                yield from taken(inner, Element(over))
        case ast.Tuple(elts=[_, inner]), Element(over=ast.Call(func=ast.Name(id="enumerate"), args=[over, *_])):
            yield from taken(inner, Element(over))
        case ast.Tuple(elts=elts) | ast.List(elts=elts), _:
            for inner in elts:
                yield from taken(inner, Element(value))
