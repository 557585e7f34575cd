"""Keys that only a run knows: ``k in d``, ``d[k]`` and ``d.get(k)``, and equality of tuples of texts and numbers."""

import enum
import itertools
from typing import NamedTuple

import numpy as np
import pytest
from chad.written_functions import function_of

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
