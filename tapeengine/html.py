"""Text for notebooks: tables, and Python source with its keywords in colour. Colours are the notebook's own."""

from __future__ import annotations

import io
import keyword
import tokenize
from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

_COLOURS = {
    tokenize.COMMENT: "var(--jp-mirror-editor-comment-color, #6a737d)",
    tokenize.NUMBER: "var(--jp-mirror-editor-number-color, #098658)",
    tokenize.STRING: "var(--jp-mirror-editor-string-color, #a31515)",
}
_KEYWORD = "var(--jp-mirror-editor-keyword-color, #7b3fb5)"


def table(caption: str, headers: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """A table."""
    head = "".join(f"<th>{escape(header)}</th>" for header in headers)
    body = "".join(f"<tr>{''.join(f'<td>{escape(str(cell))}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table><caption>{escape(caption)}</caption><tr>{head}</tr>{body}</table>"


def source(text: str) -> str:
    """Python source with keywords, numbers, strings and comments in colour; unchanged if it is not valid Python."""
    lines = text.splitlines(keepends=True)
    written: list[str] = []
    row, column = 1, 0
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            (first, start), (last, end) = token.start, token.end
            colour = _KEYWORD if keyword.iskeyword(token.string) else _COLOURS.get(token.type)
            if colour is not None:
                written.append(escape(_between(lines, (row, column), (first, start))))
                written.append(f'<span style="color:{colour}">{escape(token.string)}</span>')
                row, column = last, end
    except (tokenize.TokenError, IndentationError):
        return f"<pre>{escape(text)}</pre>"
    rest = _between(lines, (row, column), (len(lines) + 1, 0))
    return f"<pre>{''.join(written)}{escape(rest)}</pre>"


def _between(lines: list[str], start: tuple[int, int], end: tuple[int, int]) -> str:
    """The text between two places, each a (row from 1, column)."""
    if start[0] == end[0]:
        return "".join(lines[start[0] - 1 : start[0]])[start[1] : end[1]]
    middle = "".join(lines[start[0] : end[0] - 1])
    first = lines[start[0] - 1][start[1] :] if start[0] <= len(lines) else ""
    return first + middle + (lines[end[0] - 1][: end[1]] if end[0] <= len(lines) else "")
