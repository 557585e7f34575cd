"""Lists that begin empty, whose elements the text reads before it appends the first."""

import itertools
from typing import NamedTuple

import numpy as np
import pytest
from chad.written_functions import function_of, refused

import tapeengine as te
from tapeengine import chad


class Point(NamedTuple):
    x: float
    y: float


#: How to make an element of a number, and to read one that may be none of the first.
ELEMENTS = {
    "number": ("v", "{}"),
    "tuple": ("(v, 2.0 * v)", "{}[1]"),
    "record": ("Point(v, 2.0 * v)", "{}.y"),
    "row": ("[v, v * v]", "{}[1]"),
    "array": ("np.array([v, v * v])", "{}.sum()"),
    "pair of a tuple and a number": ("((v, 3.0), v)", "{}[0][0]"),
}
READS = {
    "if": [
        "for v in x:",
        "    if len(out) > 0 and {last} > 0.4:",
        "        s = s + 2.0 * {last}",
        "    out.append({made})",
    ],
    "before": [
        *("for k in range(len(x)):", "    v = x[k]", "    if k > 0:", "        v = v + 0.5 * {last}"),
        "    out.append({made})",
    ],
    "loop": ["for v in x:", "    for o in out:", "        s = s + {o} * v", "    out.append({made})"],
    "replaced": [
        *("for v in x:", "    if out and {last} > 0.4:", "        v = {last} * v", "        out[-1] = {made}"),
        *("    else:", "        out.append({made})"),
    ],
    "of itself": [
        *("for v in x:", "    if out:", "        v = v * {last}", "        out.append({made})"),
        *("    else:", "        out.append({made})"),
    ],
}


@pytest.mark.parametrize("backend", [None, "machine"])
@pytest.mark.parametrize("read", READS)
@pytest.mark.parametrize("kind", ELEMENTS)
def test_the_first_element_tells_the_type(kind, read, backend):
    made, form = ELEMENTS[kind]
    lines = [line.format(last=form.format("out[-1]"), o=form.format("o"), made=made) for line in READS[read]]
    lines = ["out = []", "s = 0.0", *lines, f"return s + sum([{form.format('o')} for o in out])"]
    function = function_of("x", lines, Point=Point)
    program = chad.program(function, backend=backend)
    for x in ([0.3, 0.9, 0.5], [0.7], []):
        value, back = te.vjp(program, x)
        expected, plain = te.vjp(program.python, x)
        assert value == pytest.approx(function(x), rel=1e-14)
        np.testing.assert_allclose(back(1.0)[0], plain(1.0)[0], rtol=1e-12)
        assert expected == pytest.approx(value, rel=1e-14)


@pytest.mark.parametrize("where", ["else:", "elif out:"])
@pytest.mark.parametrize("kind", sorted(ELEMENTS.keys() - {"number"}))
def test_an_element_that_is_taken_apart_before_the_first_is_appended(kind, where):
    target = "(w, z), q" if kind.startswith("pair") else "w, z"
    lines = ["if v < 0.4:", "    w, z = v, 0.5", where, f"    {target} = out[-1]"]
    lines = [*lines, f"out.append({ELEMENTS[kind][0]})", "s = s + w * v + z"]
    before = ["out, s, w, z = [], 0.0, 1.5, 0.5", "for v in x:"]
    function = function_of("x", [*before, *(f"    {line}" for line in lines), "return s"], Point=Point)
    program = chad.program(function)
    refused(program, [0.3, 0.9, 0.5])
    for x in ([0.3, 0.9, 0.5], [0.3], []):
        value, back = te.vjp(program, x)
        assert value == pytest.approx(function(x), rel=1e-14)
        np.testing.assert_allclose(back(1.0)[0], te.vjp(function, x)[1](1.0)[0], rtol=1e-12)


#: Arms of a branching statement that give a list, in any order, and what follows it.
ARMS = (
    "r = []",
    "r = [b / a]",
    "r = []\n        r.append(a * b)",
    "r = []\n        if b > 1.5: r.append(a * b)",
    "r = [a, b]\n        r = []",
)
AFTER = ("", "r.append(b)", "for k in range(2): r.append(a * k)", "if b > 1.5: r = r + [b]", "r = r + r")


@pytest.mark.parametrize("after", AFTER)
@pytest.mark.parametrize(("one", "two"), itertools.product(ARMS, repeat=2))
def test_empty_in_one_arm(one, two, after):
    lines = [f"if a > 1.0:\n        {one}\n    else:\n        {two}", *([after] if after else []), "return r"]
    f = function_of("a, b", lines)
    for args in ((0.5, 2.0), (2.0, 1.0), (2.0, 3.0)):
        value, back = te.vjp(te.program(f), *args)
        expected, reference = te.vjp(f, *args)
        assert value == expected == f(*args)
        weights = [float(k + 1) for k in range(len(value))]
        assert back(weights) == pytest.approx(reference(weights), rel=1e-14)
