"""The parameters of Python functions: names, defaults, and parameters by name only as parameters by position."""

from __future__ import annotations

import ast
import linecache
import textwrap
from functools import lru_cache
from inspect import CO_VARARGS, CO_VARKEYWORDS, getblock
from types import CodeType, FunctionType
from typing import Any

from .nodes import every_node


class Block:
    """The lines of the file in which a function was found last, and its own, which takes long to find."""

    found: tuple[list[str] | None, list[str]] = (None, [])


@lru_cache(maxsize=256)
def block_at(filename: str, first: int) -> Block:
    """Give what was found at a place."""
    return Block()


def source_of(function: Any) -> tuple[list[str], int]:
    """Give the lines of a function's own text, or of a code object's, and the number of the first one.

    `inspect.getsourcelines` reads what a function has in ``__wrapped__``, and looks through all modules for its own.

    It raises `OSError` if there is no text.
    """
    code = getattr(function, "__code__", function)
    linecache.checkcache(code.co_filename)
    lines = linecache.getlines(code.co_filename, getattr(function, "__globals__", None))
    if not 0 < code.co_firstlineno <= len(lines):
        raise OSError("could not get source code")
    block = block_at(code.co_filename, code.co_firstlineno)
    if (found := block.found)[0] is not lines:
        rest = lines[code.co_firstlineno - 1 :]
        found = block.found = (lines, getblock(rest) if code.co_name == "<lambda>" else def_at(rest))
    return found[1], code.co_firstlineno


def def_at(lines: list[str]) -> list[str]:
    """Give the lines of a def, which begins at the first one: all before a statement that begins no further right.

    A line inside a text or parentheses may do so as well, but what ends there cannot be parsed. `inspect.getblock`
    reads token by token, and first compiles large patterns.
    """
    margin = len(lines[0]) - len(lines[0].lstrip())
    first = ["if 1:\n"] if margin else []
    last = 1
    for k, line in enumerate((*lines, "end")):
        text = line.lstrip()
        is_left = len(line) - len(text) <= margin
        if not text or (is_left and text.startswith("#")):
            continue
        if k and is_left and parsed("".join((*first, *lines[:last]))) is not None:
            return lines[:last]
        last = k + 1
    return getblock(lines)


def tree_of(function: Any) -> tuple[ast.FunctionDef | None, int]:
    """Give the tree of a function's own text, and how many columns of the file it leaves out.

    A lambda is a function that returns its value. If the text is that of another statement, there is no tree.
    """
    code = getattr(function, "__code__", function)
    lines, first = source_of(function)
    tree, indent = parsed(textwrap.dedent("".join(lines))), len(lines[0]) - len(lines[0].lstrip())
    if code.co_name != "<lambda>":
        found = tree and tree.body[0]
        return found if isinstance(found, ast.FunctionDef) else None, indent
    if (own := lambda_in(tree, code, first, indent)) is not None:
        return own, indent
    whole = parsed("".join(linecache.getlines(code.co_filename, getattr(function, "__globals__", None))))
    own = lambda_in(whole, code, 1, 0)
    return own and ast.increment_lineno(own, 1 - first), 0


def parsed(text: str) -> ast.Module | None:
    """Give the tree of a text; None where it has no whole statements."""
    try:
        return ast.parse(text)
    except SyntaxError:
        return None


def lambda_in(tree: ast.Module | None, code: CodeType, first: int, indent: int) -> ast.FunctionDef | None:
    """Find the lambda of a code in a text that begins at a line: the innermost one whose value has the code's places.

    It has the name to which a statement assigns it.
    """
    known = (place for place in code.co_positions() if None not in place and place[3])
    spans = [(a - first + 1, c - indent, b - first + 1, d - indent) for a, b, c, d in known]  # type: ignore[operator]
    found, names = None, dict[ast.AST, str]()
    if tree is None or not spans:  # an interpreter may be told to leave them out
        return None
    start, end = min(s[:2] for s in spans), max(s[2:] for s in spans)
    for node in every_node(tree):
        match node:
            case ast.Assign([ast.Name(name)], ast.Lambda() as value):
                names[value] = name
            case ast.Lambda(args, value):
                if (value.lineno, value.col_offset) <= start and end <= (value.end_lineno, value.end_col_offset):
                    body: list[ast.stmt] = [ast.copy_location(ast.Return(value), value)]
                    found = ast.copy_location(ast.FunctionDef(names.get(node, "<lambda>"), args, body, []), node)
    return found


def names_of(function: Any) -> tuple[str, ...]:
    """Give the names of a function's parameters, those by name only last; those with stars are each one of these."""
    rest, more = stars_of(function)
    code = function.__code__
    places, by_name = code.co_argcount, code.co_argcount + code.co_kwonlyargcount
    return (*code.co_varnames[:places], *rest, *code.co_varnames[places:by_name], *more)


def stars_of(function: Any) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Give the names of the parameters with one star and with two, if there are such."""
    code = function.__code__
    count = code.co_argcount + code.co_kwonlyargcount
    has_rest, has_more = bool(code.co_flags & CO_VARARGS), bool(code.co_flags & CO_VARKEYWORDS)
    return code.co_varnames[count : count + has_rest], code.co_varnames[count + has_rest :][:has_more]


def defaults_of(function: Any) -> dict[str, Any]:
    """Give the defaults of a function's parameters."""
    values = function.__defaults__ or ()
    names = names_of(function)[: function.__code__.co_argcount]
    return {**dict(zip(names[len(names) - len(values) :], values, strict=True)), **(function.__kwdefaults__ or {})}


def by_position(function: Any) -> Any:
    """Give a function that takes each of its arguments by position, or by name; one of any number stays."""
    code = getattr(function, "__code__", None)
    if code is None or any(stars_of(function)) or not (code.co_kwonlyargcount or code.co_posonlyargcount):
        return function
    code = code.replace(co_argcount=len(names_of(function)), co_kwonlyargcount=0, co_posonlyargcount=0)
    return FunctionType(code, function.__globals__, function.__name__, None, function.__closure__)
