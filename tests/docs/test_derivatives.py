"""The derivatives that the pages on typed programs print are those that their programs print."""

import runpy

from docs_blocks import ROOT, blocks

MODEL = """\
from dataclasses import dataclass

import tapeengine as te
import tapeengine.math as math


def horner(c: te.Vec, x: float) -> float:
    acc = 0.0
    for i in range(len(c)):
        a = c[i]
        acc = acc * x + math.sin(a)
    return acc


def figure_1b(x1: float, x2: float, x3: float, x4: float) -> float:
    y = x1 * x4 + 2.0 * x2
    w = y * x3 + x4
    return math.sin(w)


@dataclass
class Link:
    value: float
    rest: "Link | None"


def linked_list(link: Link | None, x: float) -> float:
    if link is None:
        return 0.0
    return link.value + x * linked_list(link.rest, x)


PRINTED = [
    te.program(horner).derivative("reverse"),
    te.program(figure_1b).derivative("accumulate"),
    te.program(linked_list).derivative("reverse"),
]
"""


def test_printed_derivatives_are_those_of_the_programs(tmp_path) -> None:
    (tmp_path / "model.py").write_text(MODEL)
    printed = runpy.run_path(str(tmp_path / "model.py"))["PRINTED"]
    pages = [ROOT / "docs" / name for name in ("chad.md", "explanation/programs.md")]
    shown = [b.text for page in pages for b in blocks(page) if b.language == "text" and "def " in b.text]
    assert len(shown) == len(printed)
    assert [text for text, whole in zip(shown, printed, strict=True) if text.strip() not in whole] == []
