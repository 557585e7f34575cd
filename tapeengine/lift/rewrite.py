"""Changes of source code that bindings of names cannot achieve.

``is`` compares identity, and a stand-in is another object than its class, but equal to it: ``kind is float`` becomes
``kind == float``. ``x.__class__`` becomes a call that gives the class of the plain value, ``dtype.type`` one that
gives its stand-in, ``x.__lt__`` a method for traced operands. ``type(x)``, ``isinstance`` and class patterns need no
change, because their names are bound to stand-ins. `tapeengine.lift.stores` changes copies of plain arrays and writes
to them, `tapeengine.lift.operands` operators of sparse matrices and methods of arrays.
"""

from __future__ import annotations
import __future__

import ast
import linecache
import re
from bisect import bisect_left
from collections.abc import Callable, Iterator
from functools import cache
from operator import itemgetter
from types import CodeType, FunctionType

import numpy

from ..naming import OPERATIONS
from ..recursion import deep
from .compilers import is_to_machine_code
from .operands import MENTIONED, METHODS, made, with_operands
from .stores import own_nodes, with_traced_stores

#: The names of the functions that changed code calls for ``x.__class__`` and with the value of ``dtype.type``.
CLASS_OF, STAND_IN, BOUND = ".class_of", ".stand_in", ".bound"
_CLASSES = ("float", "complex", "float64", "ndarray", "complex128")
#: Those operators that plain numbers have as methods, also on the right.
METHODS_OF_NUMBERS = {name for name in dir(float) if name.replace("__r", "__", 1) in OPERATIONS}
#: Gives pairs of original and changed code for the functions of a text, which lies at a place, with flags, in a source
#: that mentions sparse matrices or not.
Codes = Callable[[str, str, int, bool], tuple[tuple[CodeType, CodeType], ...]]
#: The version of the changes, so that code cached by other versions is not used.
RULES = 11
_NAMED = "(?:" + "|".join(_CLASSES) + ")"
_FUTURE = sum(getattr(__future__, name).compiler_flag for name in __future__.all_feature_names)
#: Sources that do not match need no change; the context in the pattern excludes most sentences of docstrings.
_LIKELY = re.compile(
    rf"\.\s*(?:__class__|type|{'|'.join(METHODS_OF_NUMBERS)})\b|is\s+(?:not\s+)?[\w.]*\b{_NAMED}\s*(?:[:)\]}}\n#]|and\b|or\b|if\b|else\b)|\b{_NAMED}\s+is\s+[\w.(]"
    rf"|is\s+(?:not\s+)?(?:np|numpy)\.|{MENTIONED}|\.(?:{'|'.join(METHODS)})\s*\(|\.(?:copy|astype|flatten)\s*\(|[-+*/%@&|^]=|\]\s*=(?!=)|\]\s*[,)].*=(?!=)".encode()
)


def names_stand_in(node: ast.expr) -> bool:
    """Whether an expression is the name of a class that has a stand-in, or of a function of numpy."""
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in ("np", "numpy"):
        found = getattr(numpy, node.attr, None)
        return node.attr in _CLASSES or (callable(found) and not isinstance(found, type))
    name = node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
    return name in _CLASSES


def by_equality(tree: ast.Module) -> ast.Module:
    """Compare what has stand-ins by equality: ``a is float`` becomes ``a == float``."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            for i, operator in enumerate(node.ops):
                if any(map(names_stand_in, sides[i : i + 2])):
                    node.ops[i] = {ast.Is: ast.Eq, ast.IsNot: ast.NotEq}.get(type(operator), type(operator))()
    return tree


class Classes(ast.NodeTransformer):
    """Replaces ``x.__class__``, ``dtype.type`` and ``x.__lt__`` by calls."""

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        """Only where it is read."""
        self.generic_visit(node)
        if node.attr in METHODS_OF_NUMBERS and isinstance(node.ctx, ast.Load):
            return made(BOUND, [node.value, ast.Constant(node.attr)], node)
        if not isinstance(node.ctx, ast.Load) or node.attr not in ("__class__", "type"):
            return node
        return made(STAND_IN, [node], node) if node.attr == "type" else made(CLASS_OF, [node.value], node)


def compiled(source: bytes, place: str, flags: int = 0, sparse: bool = False) -> CodeType | None:
    """The code of a changed source, with original lines and columns; None if the original's code can be used.

    `sparse` says that the source is part of one that mentions sparse matrices.
    """
    sparse = sparse or MENTIONED.encode() in source
    if not sparse and _LIKELY.search(source) is None:
        return None
    with deep():  # the tree of a long sum is deep
        tree = ast.parse(source, place)
        kept = [(x, x.body) for x in ast.walk(tree) if isinstance(x, ast.FunctionDef) and is_to_machine_code(x)]
        for function, _ in kept:
            function.body = [ast.copy_location(ast.Pass(), function)]
        tree = with_traced_stores(Classes().visit(by_equality(tree)))
        tree = with_operands(tree, sparse)
        for function, body in kept:
            function.body = body
        found: CodeType = compile(tree, place, "exec", flags, True)
    return found


def changed_code(function: FunctionType, codes: Codes | None = None) -> CodeType:
    """The code of a function from its changed source; its own if the source is not available or needs no change.

    `codes` changes the statement of the file that the function stands in; by default `codes_of`.
    """
    code = function.__code__
    source = "".join(linecache.getlines(code.co_filename, function.__globals__))
    text = statement_at(source, code.co_firstlineno) if source else ""
    of = codes or codes_of
    pairs = of(text, code.co_filename, code.co_flags & _FUTURE, MENTIONED in source) if text else ()
    return next((changed for plain, changed in pairs if plain == code), code)


def statement_at(source: str, line: int) -> str:
    """The statement of a file that a line belongs to, on its own lines.

    Behind it stands an import of the names that the file imports, whose attributes Python calls by other instructions.
    """
    known, imports = statements_of(source)
    at = bisect_left(known, line, key=itemgetter(1))
    return "\n" * (known[at][0] - 1) + known[at][2] + imports if at < len(known) else ""


@cache
def statements_of(source: str) -> tuple[list[tuple[int, int, str]], str]:
    """The statements of a file, or those on one line, with first and last lines; an import of what it imports.

    There are none if it cannot be parsed.
    """
    found: list[tuple[int, int, str]] = []
    lines = source.split("\n")
    try:
        with deep():
            tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return found, ""
    for node in tree.body:
        first, last = min(n.lineno for n in (node, *getattr(node, "decorator_list", ()))), node.end_lineno
        first = found.pop()[0] if found and found[-1][1] == first else first
        found.append((first, last or first, "\n".join(lines[first - 1 : last])))
    imports = (each for n in own_nodes(tree) if isinstance(n, ast.Import | ast.ImportFrom) for each in n.names)
    names = {(each.asname or each.name).partition(".")[0]: None for each in imports if each.name != "*"}
    return found, f"\nimport {', '.join(names)}\n" if names else ""


@cache
def codes_of(text: str, place: str, flags: int, sparse: bool) -> tuple[tuple[CodeType, CodeType], ...]:
    """Pairs of original and changed code for a text's functions; none if the text differs from the running program."""
    try:
        changed = compiled(text.encode(), place, flags, sparse)
        if changed is None:
            return ()
        return tuple(zip(codes_in(compile(text, place, "exec", flags, True)), codes_in(changed), strict=True))
    except (SyntaxError, ValueError):
        return ()


def codes_in(code: CodeType) -> Iterator[CodeType]:
    """The codes of the functions defined in another one, in the order of the source."""
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield constant
            yield from codes_in(constant)
