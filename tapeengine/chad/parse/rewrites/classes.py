"""Plain classes as records: the fields are what ``__init__`` assigns to, and it becomes a function that gives a record.

The record is one of a dataclass that derives from the class. Fields that the ``__init__`` of a class above assigns to
are taken from a record of that class.
"""

from __future__ import annotations

import ast
import dataclasses
import inspect
import linecache
import textwrap
import weakref
from abc import ABCMeta
from functools import lru_cache
from typing import Any

from ....structure import is_made_by_python
from ...language.in_language import no_fields
from ...language.nodes import Transformer, every_node
from ...language.traverse import Names
from ..names.callees import is_plain
from ..names.outside import named_outside, names_outside
from ..names.syntax import load, statements
from ..names.uses import jumps, parameters, surely_assigned
from .procedures import text_of


class Fields(Transformer):
    """Replaces the fields of ``self`` by variables."""

    def __init__(self, record: str, names: Names, above: type | None, init: Any) -> None:
        self.record, self.names, self.above, self.init = record, names, above, init
        self.found: dict[str, str] = {}
        self.makers: dict[str, Any] = {}

    def visit_Expr(self, node: ast.Expr) -> ast.AST | list[ast.stmt]:
        """Replace a call of the constructor of the class above by assignments of the fields that it sets."""
        given = self.given_above(node.value)
        if given is None:
            return self.generic_visit(node)
        if given == ([], []) and self.above and self.above.__init__ is object.__init__:  # type: ignore[misc]
            return ast.copy_location(ast.Pass(), node)
        maker = made_by(self.above)
        if maker is None:
            raise ValueError(node)
        function, record = self.names("made"), self.names("above")
        self.makers[function] = maker
        made = statements(f"{record} = {function}()", node)
        call: Any = self.generic_visit(ast.Call(load(function, node), *given))
        made[0].value = ast.copy_location(call, node)  # type: ignore[attr-defined]
        for field in dataclasses.fields(maker.record):
            self.found.setdefault(field.name, self.names(field.name))
            made += statements(f"{self.found[field.name]} = {record}.{field.name}", node)
        return made

    def given_above(self, node: ast.expr) -> tuple[list[ast.expr], list[ast.keyword]] | None:
        """Give what the constructor of the class above is called with, beside the object; None for anything else."""
        match node:
            case ast.Call(ast.Attribute(ast.Call(ast.Name("super"), [], []), "__init__"), args, keywords):
                return args, keywords
            case ast.Call(ast.Attribute(owner, "__init__"), [ast.Name(self.record), *args], keywords):
                is_above = self.above is not None and named_outside(owner, names_outside(self.init)) is self.above
                return (args, keywords) if is_above else None
        return None

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        """Replace a field."""
        if not isinstance(node.value, ast.Name) or node.value.id != self.record:
            return self.generic_visit(node)
        if node.attr not in self.found:
            self.found[node.attr] = self.names(node.attr)
        return ast.copy_location(ast.Name(self.found[node.attr], node.ctx), node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        """Leave the annotation of a field out."""
        if node.value is None or not isinstance(node.target, ast.Attribute):
            return self.generic_visit(node)
        return self.generic_visit(ast.copy_location(ast.Assign([node.target], node.value), node))

    def visit_Name(self, node: ast.Name) -> ast.AST:
        """Refuse any other use."""
        if node.id == self.record:
            raise ValueError(node.id)
        return node


def record_of(cls: Any) -> Any:
    """Give the dataclass of the records that stand for objects of a plain class; anything else itself."""
    made = maker_of(cls) if isinstance(cls, type) else None
    return cls if made is None else made.record


def maker_of(cls: Any) -> Any:
    """Give a function that takes what a plain class takes, and gives a record; None for anything else."""
    return None if inspect.isabstract(cls) else made_by(cls)


@lru_cache(maxsize=4096)
def made_by(cls: Any) -> Any:
    """Do the same, also for a class of which there are no objects of its own."""
    is_class = type(cls) in (type, ABCMeta) and not dataclasses.is_dataclass(cls)
    init: Any = getattr(cls, "__init__", None) if is_class else None
    init = no_fields if init is object.__init__ and is_made_by_python(cls) else init
    own = ("__new__", "__setattr__", "__getattribute__", "__getattr__", "__post_init__")
    if not is_plain(init) or any(hasattr(cls, n) and getattr(cls, n) is not getattr(object, n, None) for n in own):
        return None
    tree = text_of(init)
    is_derived = {*init.__code__.co_freevars} - {"__class__"} or hasattr(cls.__init_subclass__, "__func__")
    if tree is None or is_derived or tree.args.vararg or tree.args.kwarg:
        return None
    names = Names(getattr(n, "id", getattr(n, "arg", "")) for n in every_node(tree))
    fields = Fields(tree.args.args.pop(0).arg, names, class_above(cls, init), init)
    try:
        fields.generic_visit(ast.Module(tree.body, []))
    except ValueError:  # another use of the record
        return None
    found = fields.found
    is_sure = set(found.values()).issubset(surely_assigned(tree.body))
    if not is_sure or jumps(tree.body) or any(hasattr(cls, f) for f in found):
        return None
    return compiled(tree, init, cls, fields)


def class_above(cls: type, init: Any) -> type | None:
    """Give the class that ``super()`` means in the constructor of a class; None if it has others above it there."""
    line = cls.__mro__
    after = 1 + next((k for k, each in enumerate(line) if vars(each).get("__init__") is init), 0)
    return line[after] if line[after:] == line[after].__mro__ else None


def compiled(tree: ast.FunctionDef, init: Any, cls: Any, fields: Fields) -> Any:
    """Compile a function that returns the fields, with the globals and defaults of ``__init__``."""
    tree.name, tree.returns, record = fields.names("made"), None, fields.names(cls.__name__)
    for arg in parameters(tree.args):
        arg.annotation = None
    tree.body += ast.parse(f"return {record}({', '.join(fields.found.values())})").body
    head = f"def around({', '.join([record, *fields.makers])}):\n"
    text = f"{head}{textwrap.indent(ast.unparse(tree), ' ')}\n return {tree.name}\n"
    filename, scope = f"<{cls.__qualname__} {id(init)}, {init.__code__.co_filename}>", dict[str, Any]()
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    exec(compile(text, filename, "exec"), init.__globals__, scope)
    types, marked = [(f, Any) for f in fields.found], {"__tapeengine_plain__": True}
    own = dataclasses.make_dataclass(cls.__name__, types, bases=(cls,), namespace=marked, eq=False)
    made = scope["around"](own, *fields.makers.values())
    made.__defaults__, made.__kwdefaults__, made.made_of = init.__defaults__, init.__kwdefaults__, weakref.ref(init)
    made.record = own
    return made
