"""Keys that only a run knows: ``k in d``, ``d[k]`` and ``d.get(k)``, and equality of tuples of texts and numbers."""

import enum
import itertools
from typing import NamedTuple

import numpy as np
import pytest
from chad.written_functions import function_of, refused
from leaves import direction
from outcomes import shown

import tapeengine
from tapeengine import chad as te
from tapeengine.chad.backends.tiers import is_installed
from tapeengine.chad.language.errors import ProgramError

ENGINE = tapeengine.Engine()
BACKENDS = (None, *(("native",) if is_installed() else ()))


class Level(enum.IntEnum):
    """An enumeration of integers."""

    LOW = 1
    HIGH = 7


class Entry(NamedTuple):
    """A record with a key."""

    key: int


OUTSIDE = {"Level": Level, "Entry": Entry, "D": {1: 2.0, 5: 0.5}}
#: Dicts, and for each the keys that it is asked for.
DICTS = {
    "{1: x, 2: 2.0 * x}": "n n+0.0 n>0 n<0 (n,1) None 'a' 1 1.0 True 7 Level.LOW Level.HIGH Entry(n).key",
    "{True: x}": "n n>0 1.0 True False 'a'",
    "{(1, 2): x, (2, 1): 0.5}": "(n,2) (2,n) n (1,2,n) ('a',n)",
    "{('a', 1): x, ('b', 2): 0.5}": "('a',n) ('b',n) ('c',n) n",
    "{'a': x, 1: 0.5}": "n 'a' ('a'if(n>0)else'b')",
    "{Level.LOW: x, 'a': 0.5}": "n Level.LOW 'a'",
    "D": "n n>0 7 (n,n)",
}
USES = ("x if {k} in d else -x", "x if {k} not in d else -x", "d.get({k}, 3.0 * x)", "d[{k}] if {k} in d else 3.0")
#: Tests of a value among others.
TESTS = """
('a', 1.0) in d.items()
('a', x) in d.items()
('b', x) in d.items()
(1, x) in d.items()
1.0 in d.values()
n in d.keys()
'a' in d.keys()
('a', x) == ('a', 1.0)
('a', x) != ('a', 1.0)
('a', x) == ('b', 1.0)
('a', (n, x)) == ('a', (1, 1.0))
('a', x) in [('b', 1.0), ('a', 1.0)]
('a', n) in (('a', 2), 3)
n in (1, 'a')
(n, x) in (1, (1, 1.0))
None in (n, 1)
Level.LOW == n
n in (Level.LOW, Level.HIGH)
""".strip().splitlines()


def agrees(function, n, backend=None):
    """Compare a program with the plain function, unless it is refused."""
    program = te.program(function, backend=backend)
    try:
        value, back = ENGINE.vjp(program, n, 1.0)
    except ProgramError:
        return False
    expected, plain = ENGINE.vjp(function, n, 1.0)
    assert value == expected
    assert type(value) is type(expected)
    assert back(1.0)[1] == plain(1.0)[1]
    return True


@pytest.mark.parametrize("made", DICTS)
def test_keys_that_only_a_run_knows(made):
    accepted = 0
    for k, use in itertools.product(DICTS[made].split(), USES):
        function = function_of("n, x", [f"d = {made}", f"return {use.format(k=k)}"], **OUTSIDE)
        accepted += sum([agrees(function, n) for n in (1, 2, 3)])
    assert accepted


@pytest.mark.parametrize("test", TESTS)
@pytest.mark.parametrize("made", ["{'a': x, 'b': 0.5}", "{1: x, 'a': 2.0}"])
def test_values_among_others(test, made):
    function = function_of("n, x", [f"d = {made}", f"return x if {test} else -x"], **OUTSIDE)
    for n in (1, 2):
        agrees(function, n)


@pytest.mark.parametrize("backend", BACKENDS)
def test_dicts_of_arguments_and_elements_as_keys(backend):
    given = function_of("d, n, x", ["return d[n] * x if n in d else x"])
    program = te.program(given, backend=backend)
    assert [ENGINE.vjp(program, {1: 2.0}, n, 3.0)[0] for n in (1, 2)] == [6.0, 3.0]
    lines = ["d = {1: x, 2: 2 * x}", "s = 0.0", "for k in ks:", "    if k in d:", "        s += d[k]", "return s"]
    looped = te.program(function_of("ks, x", lines), backend=backend)
    assert ENGINE.vjp(looped, np.array([1, 5, 2, 2]), 3.0)[0] == 15.0


def without_axes(x: float) -> float:
    return x * (2.0 if np.ndim({"a": x}) == 0 else 3.0)


def test_a_dict_has_no_axes():
    assert tapeengine.vjp(te.program(without_axes), 1.5)[0] == without_axes(1.5)


#: What programs do with the values of a dict whose keys they take in order.
IN_ORDER = (
    "return [d[k] for k in sorted(d)]",
    "return dict(sorted(d.items(), reverse=True))",
    "return sorted(d.items()), list(sorted(d))[0], len(sorted(d))",
    "t = 1.0\nfor k in sorted(d.keys()):\n    t = t * d[k] + 0.5\nreturn t",
    "t = 1.0\nfor i, (k, v) in enumerate(sorted(d.items(), reverse=True)):\n    t = t * v + i\nreturn t, k",
    "k = sorted(d)\nreturn k[0], k[-1], d[k[0]]",
    "return sum(2.0 * v[0] if v else 0.5 for k, v in sorted(dict(p=[x for x in d.values()], q=[]).items()))",
)


@pytest.mark.parametrize("text", IN_ORDER)
def test_keys_in_order(text):
    function = function_of("d", text.split("\n"))
    program = te.program(function)
    for d in ({"b": 1.5, "a": 0.5, "c": 2.5}, {"a": 1.5}, {"z": 0.5, "y": 2.0}):
        refused(program, d)
        value, back = ENGINE.vjp(program, d)
        assert repr(value) == repr(function(d))
        cotangent = direction(value, itertools.cycle([0.5, 2.0, 1.5]))
        assert back(cotangent)[0] == pytest.approx(ENGINE.vjp(function, d)[1](cotangent)[0], rel=1e-14)


@pytest.mark.parametrize("d", [{2: 1.5, 1: 0.5}, {"a": 1.5, 1: 0.5}, {(1, 2): 0.5, (0, 3): 1.5}, {}])
def test_other_keys_in_order(d):
    for text in IN_ORDER:
        function = function_of("d", text.split("\n"))
        assert shown(ENGINE.vjp, te.program(function), d)[:9] == shown(ENGINE.vjp, function, d)[:9]
        assert shown(te.program(function).value, d) == shown(function, d)


@pytest.mark.parametrize("d", [{"a": [1.5], "b": []}, {"a": [], "b": [0.5, 2.0]}])
@pytest.mark.parametrize("body", ["sum(v) / len(v) if v else 0.5", "v + [1.0]", "v[:1]"])
def test_values_of_items_are_the_lists_that_they_are(body, d):
    function = function_of("d", [f"return {{k: {body} for k, v in d.items()}}"])
    refused(te.program(function), d)
    assert repr(ENGINE.vjp(te.program(function), d)[0]) == repr(function(d))
