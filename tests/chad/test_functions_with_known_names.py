"""The user's own functions and methods under names of Python's and numpy's: they do what their text says."""

import itertools

import numpy as np
import pytest
from chad.written_functions import defined

import tapeengine as te

#: Names of functions that read their arguments, make new arrays, give elements back, or change what they are given.
NAMES = (
    "len",
    "max",
    "clip",
    "norm",
    "scan",
    "list",
    "sorted",
    "copy",
    "array",
    "zip",
    "reduce",
    "sort",
    "append",
    "fill",
)
CHANGES = "    zs = {}(ys)\n    zs[0] = 5.0\n    return ys[0] * x\n"
DEFINED = "def NAME(v, *more): return v\ndef f(x):\n    ys = [x, 2 * x]\n"
LOCAL = "def f(x):\n    def NAME(v): return v\n    ys = [x, 2 * x]\n"
KEPT = "    kept = NAME(ys), 1\n    ys[0] = 5.0\n    return kept[0][0] * x\n"
HEAD = "import dataclasses, types\n"
#: Programs in which such a function gives its argument, or a part of it, or changes it.
PROGRAMS = {
    "changed": DEFINED + CHANGES.format("NAME"),
    "kept": DEFINED + KEPT,
    "by another name": DEFINED + "    h = NAME\n" + CHANGES.format("h"),
    "that changes": "def NAME(v):\n    v[0] = 7.0\n    return 1.0\n"
    + "def f(x):\n    ys = [x, 2 * x]\n    return NAME(ys) * ys[0] * x\n",
    "in a loop": DEFINED + "    for y in NAME(ys):\n        ys[0] = ys[0] + y\n    return ys[0] * x\n",
    "of indices": DEFINED + "    for k in NAME([0, 1]):\n        ys[k] = ys[k - 1] * x\n    return ys[0]\n",
    "a row": "def NAME(v): return v[0]\n"
    + "def f(x):\n    ys = [[x], [x]]\n    NAME(ys)[0] = 5.0\n    return ys[0][0] * x\n",
    "joined": "def NAME(v): return [v, v]\ndef f(x):\n    return sum(NAME(x) + NAME(x))\n",
    "local": LOCAL + CHANGES.format("NAME"),
    "local, kept": LOCAL + KEPT,
    "lambda": "def f(x):\n    ys = [x, 2 * x]\n    NAME = lambda v: v\n" + CHANGES.format("NAME"),
    "parameter": f"def given(NAME, ys, x):\n{CHANGES.format('NAME')}"
    + "def f(x):\n    return given(lambda v: v, [x, 2 * x], x)\n",
    "of a module": "def same(v): return v\nown = types.ModuleType('own')\nown.NAME = same\n"
    + f"def f(x):\n    ys = [x, 2 * x]\n{CHANGES.format('own.NAME')}",
    "of a class": "class K:\n    @staticmethod\n    def NAME(v): return v\n"
    + f"def f(x):\n    ys = [x, 2 * x]\n{CHANGES.format('K.NAME')}",
    "of a record": "@dataclasses.dataclass\nclass K:\n    q: list\n    def NAME(self): return self.q\n"
    + "def f(x):\n    k = K([x, 2 * x])\n    zs = k.NAME()\n    zs[0] = 5.0\n    return k.q[0] * x\n",
    "of the record itself": "@dataclasses.dataclass\nclass K:\n    q: float\n    def NAME(self): return self\n"
    + "def f(x):\n    k = K(x)\n    other = k.NAME()\n    other.q = 5.0\n    return k.q * x\n",
}
#: What such a function makes of a list or an array, with calls of it.
MADE = {
    "[2.0 * v for v in args[-1]]": list,
    "np.array(args[-1]) * 2.0": np.ndarray,
    "(args[-1][0], 'a')": tuple,
    "[args[-1][0], 'a']": list,
}
CALLS = ("NAME(xs)", "NAME(abs, xs)", "NAME(xs, xs)")
OF_LISTS = (
    "copy",
    "deepcopy",
    "chain",
    "reduce",
    "replace",
    "fork_map",
    "next",
    "zip",
    "list",
    "tuple",
    "sorted",
    "max",
)
OF_LISTS += (
    "map",
    "filter",
    "reversed",
    "sum",
    "abs",
    "len",
    "range",
    "round",
    "float",
    "divmod",
    "frexp",
    "split",
    "dict",
)


@pytest.mark.parametrize(("kind", "name"), itertools.product(PROGRAMS, NAMES))
def test_a_function_does_what_its_text_says(kind, name):
    function = defined(HEAD + PROGRAMS[kind].replace("NAME", name))
    value, backpropagator = te.vjp(te.program(function), 1.5)
    assert value == function(1.5)
    slope = (function(1.5 + 1e-6) - function(1.5 - 1e-6)) / 2e-6
    assert backpropagator(1.0)[0] == pytest.approx(slope, rel=1e-8)


@pytest.mark.parametrize(("name", "call"), itertools.product(OF_LISTS, CALLS))
def test_a_function_gives_the_class_that_its_text_says(name, call):
    for made, cls in MADE.items():
        text = f"def NAME(*args): return {made}\ndef f(xs):\n    return {call}\n"
        function = defined(text.replace("NAME", name), np=np)
        for xs in ([1.0, -2.0], np.array([1.0, -2.0])):
            value, _ = te.vjp(te.program(function), xs)
            assert type(value) is cls
            assert list(value) == list(function(xs))
