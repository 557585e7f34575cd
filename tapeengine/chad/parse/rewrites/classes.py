"""Plain classes as records: the fields are what ``__init__`` assigns to, and it becomes a function that gives a record.

The record is one of a dataclass that derives from the class.
"""

from __future__ import annotations

import ast
import dataclasses
import linecache
import textwrap
import weakref
from functools import lru_cache
from typing import Any

from ...language.nodes import Transformer, every_node
from ...language.traverse import Names
from ..names.callees import is_plain
from ..names.uses import jumps, parameters, surely_assigned
from .procedures import text_of


class Fields(Transformer):
    """Replaces the fields of ``self`` by variables."""

    def __init__(self, record: str, names: Names) -> None:
        self.record, self.names = record, names
        self.found: dict[str, str] = {}

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
    return cls if made is None else made.__closure__[0].cell_contents


@lru_cache(maxsize=4096)
def maker_of(cls: Any) -> Any:
    """Give a function that takes what a plain class takes, and gives a record; None for anything else."""
    init: Any = getattr(cls, "__init__", None) if type(cls) is type and not dataclasses.is_dataclass(cls) else None
    own = ("__new__", "__setattr__", "__getattribute__", "__getattr__", "__post_init__")
    if not is_plain(init) or any(hasattr(cls, n) and getattr(cls, n) is not getattr(object, n, None) for n in own):
        return None
    tree = text_of(init)
    is_derived = init.__closure__ or hasattr(cls.__init_subclass__, "__func__")
    if tree is None or is_derived or tree.args.vararg or tree.args.kwarg:
        return None
    fields = Fields(tree.args.args.pop(0).arg, Names(getattr(n, "id", getattr(n, "arg", "")) for n in every_node(tree)))
    try:
        tree.body = [fields.visit(s) for s in tree.body]
    except ValueError:  # another use of the record
        return None
    found = fields.found
    is_sure = found and set(found.values()).issubset(surely_assigned(tree.body))
    if not is_sure or jumps(tree.body) or any(hasattr(cls, f) for f in found):
        return None
    return compiled(tree, init, cls, fields)


def compiled(tree: ast.FunctionDef, init: Any, cls: Any, fields: Fields) -> Any:
    """Compile a function that returns the fields, with the globals and defaults of ``__init__``."""
    tree.name, tree.returns, record = fields.names("made"), None, fields.names(cls.__name__)
    for arg in parameters(tree.args):
        arg.annotation = None
    tree.body += ast.parse(f"return {record}({', '.join(fields.found.values())})").body
    text = f"def around({record}):\n{textwrap.indent(ast.unparse(tree), ' ')}\n return {tree.name}\n"
    filename, scope = f"<{cls.__qualname__} {id(init)}, {init.__code__.co_filename}>", dict[str, Any]()
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    exec(compile(text, filename, "exec"), init.__globals__, scope)
    types, marked = [(f, Any) for f in fields.found], {"__tapeengine_plain__": True}
    own = dataclasses.make_dataclass(cls.__name__, types, bases=(cls,), namespace=marked, eq=False)
    made = scope["around"](own)
    made.__defaults__, made.__kwdefaults__, made.made_of = init.__defaults__, init.__kwdefaults__, weakref.ref(init)
    return made
