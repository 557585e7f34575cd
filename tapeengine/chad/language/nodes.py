"""Go through syntax trees as the module `ast` does, in a third of the time: analyses of a text do it many times."""

from __future__ import annotations

import re
from ast import AST
from collections.abc import Iterable
from typing import Any, ClassVar

#: The types of fields that hold no nodes, and that of `ctx`, which repeats what the node around a name says.
PLAIN = frozenset(("identifier", "string", "int", "constant", "expr_context"))


class Fields(dict[type, tuple[str, ...]]):
    """The fields of a class that may have nodes: Python's classes say the types, others name only such fields."""

    def __missing__(self, cls: type) -> tuple[str, ...]:
        found = re.findall(r"(\w+)[*?]? (\w+)", cls.__doc__ or "") if cls.__module__ == AST.__module__ else ()
        own = cls._fields if issubclass(cls, AST) and cls.__module__ != AST.__module__ else ()
        self[cls] = tuple(name for of, name in found if of not in PLAIN) or own
        return self[cls]


FIELDS = Fields()


def every_node(tree: AST) -> list[AST]:
    """Give a node and all below it, from the top to the leaves."""
    nodes = [tree]
    add_nodes(nodes, nodes)
    return nodes


def child_nodes(node: AST) -> list[AST]:
    """Give the nodes right below a node, in the order of its fields."""
    found: list[AST] = []
    add_nodes(found, [node])
    return found


def add_nodes(found: list[AST], nodes: list[AST]) -> None:
    """Append the nodes right below some nodes, which may be those that are found."""
    for node in nodes:
        if names := FIELDS[node.__class__]:
            held = node.__dict__
            for name in names:
                value = held.get(name)
                if value.__class__ is not list:
                    if value is not None:
                        found.append(value)
                elif None in value:  # as the keys of ``{**a}``, and parameters without defaults
                    found += [part for part in value if part is not None]
                else:
                    found += value


class Methods(dict[type, Any]):
    """The methods of a transformer for classes of nodes; None for a class that has none, and no nodes below."""

    def __init__(self, owner: type) -> None:
        self.owner = owner

    def __missing__(self, cls: type) -> Any:
        generic = self.owner.generic_visit if FIELDS[cls] else None  # type: ignore[attr-defined]
        self[cls] = getattr(self.owner, f"visit_{cls.__name__}", generic)
        return self[cls]


class Transformer:
    """Rewrite a tree as `ast.NodeTransformer` does, without visits to parts that contain no nodes."""

    #: The method for each class of nodes that was met.
    methods: ClassVar[Methods]

    def __init_subclass__(cls) -> None:
        cls.methods = Methods(cls)

    def visit(self, node: AST) -> Any:
        """Call the method for the class of a node."""
        method = self.methods[node.__class__]
        return node if method is None else method(self, node)

    def generic_visit(self, node: AST) -> AST:
        """Visit the nodes below a node, in the order of its fields, and put what the visits give in their places."""
        held, methods = node.__dict__, self.methods
        for name in FIELDS[node.__class__]:
            value: Any = held.get(name)
            if value.__class__ is list:
                if value:
                    value[:] = self.visited(value)
            elif methods[value.__class__] is not None:
                if (found := self.visit(value)) is None:
                    delattr(node, name)
                else:
                    held[name] = found
        return node

    def visited(self, nodes: Iterable[Any]) -> list[Any]:
        """Give what the visits of nodes put in their places."""
        after: list[Any] = []
        for node in nodes:
            found = node if self.methods[node.__class__] is None else self.visit(node)
            if found.__class__ is list:
                after += found
            elif found is not None or node is None:
                after.append(found)
        return after
