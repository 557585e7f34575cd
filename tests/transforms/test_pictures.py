"""The picture of a tape: every arc goes from one row to another and lies inside the picture, as all text does."""

import itertools
import re
import xml.etree.ElementTree as ET

import numpy as np

import tapeengine as te

NAMES = {"svg": "http://www.w3.org/2000/svg"}


def picture() -> ET.Element:
    def program(x: float, y: float) -> float:
        a = te.math.sin(x) * y
        b = a + x
        c = te.math.exp(b) * a
        return c / (1.0 + y * y)

    return ET.fromstring(te.tape(program, 1.0, 2.0).svg())


def test_arcs_go_from_row_to_row_inside_the_picture() -> None:
    root = picture()
    width, height = float(root.attrib["width"]), float(root.attrib["height"])
    rows = [one for one in root.findall(".//svg:rect", NAMES) if one.attrib["class"] in ("frame", "result")]
    middles = [float(row.attrib["y"]) + float(row.attrib["height"]) / 2 for row in rows]
    assert len(rows) == len(middles) > 5
    arcs = root.findall("svg:path", NAMES)
    assert arcs
    for one in arcs:
        x1, y1, c1, d1, c2, d2, x2, y2 = map(float, re.findall(r"-?[\d.]+", one.attrib["d"]))
        assert x1 == x2
        assert (d1, d2) == (y1, y2)
        assert min(abs(y1 - m) for m in middles) < 0.06
        assert min(abs(y2 - m) for m in middles) < 0.06
        assert c1 == c2 < width + (c1 - x1) / 4 + 1, (
            "three quarters of the way to its control points is the arc's reach"
        )
        assert abs(3 / 4 * (c1 - x1) - 8 - 2.5 * np.sqrt(abs(y2 - y1))) < 0.1 * (3 / 4 * (c1 - x1))
    texts = [float(one.attrib["y"]) for one in root.findall(".//svg:text", NAMES)]
    assert 0 < height - max(texts) <= 17
    tops = sorted(float(row.attrib["y"]) for row in rows)
    assert all(below - above >= float(rows[0].attrib["height"]) for above, below in itertools.pairwise(tops))
