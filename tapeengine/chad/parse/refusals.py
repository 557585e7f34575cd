"""What is remembered until something that a program has read changes: refusals, and what texts of functions say."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from inspect import ismodule
from typing import Any

from ..._core.programs.replay import Checks
from ...naming import attribute_of
from ..language.nodes import every_node
from .names.callees import is_plain
from .names.constants import Constants, global_names, path_of, value_at
from .names.outside import named_outside, names_outside, root
from .rewrites.classes import made_by
from .rewrites.generators import collected
from .rewrites.procedures import changed_parameters, made_handing_back, text_of


def watched(function: Any, constants: Constants, classes: Iterable[type]) -> tuple[Checks, ...]:
    """Watch what a refusal may depend on.

    That is what has been read, and all names that functions, methods and their callees use, also in modules.
    """
    classes = tuple(classes)
    pending, seen = [function, *classes], list[Any]()
    while pending:
        value = pending.pop()
        value = attribute_of(value, "__tapeengine_function__", value)
        if isinstance(value, type):
            pending += [getattr(f, "fget", getattr(f, "__func__", f)) for c in value.__mro__ for f in vars(c).values()]
        elif is_plain(value) and value not in seen and (tree := text_of(value)) is not None:
            seen.append(value)
            constants.functions.append(value)
            names, outer = {*global_names(value.__code__), *value.__code__.co_freevars}, names_outside(value)
            for node in every_node(tree):
                owner = node.value if isinstance(node, ast.Attribute) else None
                if root(node) in names and (owner is None or ismodule(named_outside(owner, outer))):
                    constants.note(value, path_of(node))
                    pending.append(value_at(value, path_of(node)))
    return (constants.checks(classes),)


def forget() -> None:
    """Forget all that was found from texts of functions and classes."""
    for find in (made_by, collected, changed_parameters, made_handing_back):
        find.cache_clear()
