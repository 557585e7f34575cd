"""The changes of a source that no binding of a name can make.

``is`` asks for identity, and a stand-in is another object: ``x.__class__ is float`` becomes ``x.__class__ == float``; a
stand-in equals the class that it stands for. ``type(x)``, ``isinstance`` and class patterns need no change, because
their names are bound to stand-ins. Copies of plain arrays and writes to them: see `tapeengine.lift.stores`; sparse
matrices as operands: `tapeengine.lift.operands`.
"""

from __future__ import annotations
import __future__

import ast
import linecache
import re
from collections.abc import Iterator
from functools import cache
from types import CodeType, FunctionType

from tapeengine.lift.operands import MENTIONED, with_operands
from tapeengine.lift.stores import with_traced_stores

__all__ = ["RULES", "changed_code", "compiled"]

_CLASSES = ("float", "complex", "float64", "ndarray", "complex128")
#: Changes with what is changed, so that no code is used that was kept by other rules.
RULES = 3
_NAMED = "(?:" + "|".join(_CLASSES) + ")"
_FUTURE = sum(getattr(__future__, name).compiler_flag for name in __future__.all_feature_names)
#: Sources without this have nothing to change; what follows keeps most sentences of docstrings out.
_LIKELY = re.compile(
    rf"is\s+(?:not\s+)?[\w.]*\b{_NAMED}\s*(?:[:)\]}}\n#]|and\b|or\b|if\b|else\b)|\b{_NAMED}\s+is\s+[\w.(]"
    rf"|{MENTIONED}|\.(?:copy|astype|flatten)\s*\(|[-+*/%@&|^]=|\]\s*=(?!=)|\]\s*[,)].*=(?!=)".encode()
)


def names_class(node: ast.expr) -> bool:
    """Whether an expression is a class that has a stand-in, by its name."""
    name = node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
    return name in _CLASSES


def by_equality(tree: ast.Module) -> ast.Module:
    """Compare classes that have stand-ins by equality: ``a is float`` as ``a == float``."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            for i, operator in enumerate(node.ops):
                if names_class(sides[i]) or names_class(sides[i + 1]):
                    node.ops[i] = {ast.Is: ast.Eq, ast.IsNot: ast.NotEq}.get(type(operator), type(operator))()
    return tree


def compiled(source: bytes, place: str, flags: int = 0) -> CodeType | None:
    """The code of a changed source; None where the original's code will do. Lines and columns are the original's."""
    if _LIKELY.search(source) is None:
        return None
    tree = with_traced_stores(by_equality(ast.parse(source, place)))
    tree = with_operands(tree) if MENTIONED.encode() in source else tree
    found: CodeType = compile(tree, place, "exec", flags, True)
    return found


def changed_code(function: FunctionType) -> CodeType:
    """The code of a function from its changed source; its own where that is not to be had, or nothing changes."""
    code = function.__code__
    source = "".join(linecache.getlines(code.co_filename, function.__globals__))
    pairs = codes_of_file(source, code.co_filename, code.co_flags & _FUTURE) if source else ()
    return next((changed for plain, changed in pairs if plain == code), code)


@cache
def codes_of_file(source: str, place: str, flags: int) -> tuple[tuple[CodeType, CodeType], ...]:
    """The codes of a file's functions, each with the changed one; none where the file is not the program any more."""
    try:
        changed = compiled(source.encode(), place, flags)
        if changed is None:
            return ()
        return tuple(zip(codes_in(compile(source, place, "exec", flags, True)), codes_in(changed), strict=True))
    except (SyntaxError, ValueError):
        return ()


def codes_in(code: CodeType) -> Iterator[CodeType]:
    """The codes of the functions that are written in another one, in the order of the source."""
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield constant
            yield from codes_in(constant)
