"""Code that is not lifted sees an instance of a class's twin as one of the class: functions in tables, programs."""

import math
from dataclasses import dataclass
from functools import singledispatch
from typing import NamedTuple

import pytest
from chad.written_functions import agrees_with_differences, defined

import tapeengine as te

FIELDS = "class {0}:\n    a: float\n    b: float"
CLASSES = {
    "record": f"@dataclass\n{FIELDS}",
    "frozen": f"@dataclass(frozen=True)\n{FIELDS}",
    "slots": f"@dataclass(slots=True)\n{FIELDS}",
    "plain": "class {0}:\n    def __init__(self, a, b):\n        self.a, self.b = a, b",
    "tuple": FIELDS.replace("{0}", "{0}(NamedTuple)"),
}
METHOD = "\n    def size(self):\n        return math.hypot(self.a, self.b)\n"
VIEWS = {
    "isinstance": "def view(s):\n    return s.a * s.b if isinstance(s, One) else s.a - s.b",
    "match": "def view(s):\n    match s:\n        case One(a=a, b=b):\n            return a * b\n        case Two():\n"
    "            return s.a - s.b\n    return 0.0",
    "dispatch": "@singledispatch\ndef view(s):\n    return 0.0\n@view.register\ndef _(s: One):\n    return s.a * s.b\n"
    "@view.register\ndef _(s: Two):\n    return s.a - s.b",
    "class": "def view(s):\n    return s.a * s.b if s.__class__ is One else s.a - s.b",
}
WAYS = {
    "table": "TABLE = {{'view': view}}\ndef look(s):\n    return TABLE['view'](s)",
    "list": "TABLE = [view]\ndef look(s):\n    return [f(s) for f in TABLE][0]",
    "made before": "class Holder:\n    def look(self, s):\n        return view(s)\nlook = Holder().look",
    "program": "import tapeengine\nlook = tapeengine.program(view)",
}
PROGRAM = "\ndef f(x, y):\n    s, t = One(x, y), Two(y, x)\n    return look(s) * t.size() + look(t) * s.size()\n"


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("kind", CLASSES)
def test_what_it_sees(kind, view, way):
    classes = "".join(CLASSES[kind].format(name) + METHOD for name in ("One", "Two"))
    names = {"math": math, "dataclass": dataclass, "NamedTuple": NamedTuple, "singledispatch": singledispatch}
    function = defined(f"{classes}{VIEWS[view]}\n{WAYS[way].format()}{PROGRAM}", **names)
    for run in (te.lift(function), te.program(function)):
        assert run(0.7, 0.3) == function(0.7, 0.3)
        agrees_with_differences(run, function, 0.7, 0.3)
