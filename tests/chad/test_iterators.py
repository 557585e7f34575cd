"""Generators, map, filter, chain, accumulate and views of dicts: used up where they stand, or refused if kept."""

import itertools
import math
import os
import random

import pytest
from chad.written_functions import function_of, refused

import tapeengine
from tapeengine import chad as te
from tapeengine.chad.language.errors import ProgramError
from tapeengine.errors import StructureError

ENGINE = tapeengine.Engine()
COUNT = 10000 if os.environ.get("TAPEENGINE_NIGHTLY") == "1" else 24


def total(g):
    return sum(g)


OUTSIDE = {"itertools": itertools, "math": math, "total": total}
MADE = """
(k * v for v in xs)
map(lambda v: k * v, xs)
map(scaled, xs)
filter(lambda v: v < k, xs)
itertools.chain(xs, [k])
itertools.accumulate(xs)
d.values()
(v for v in map(scaled, xs) if v < 9.0)
""".strip().splitlines()
BETWEEN = ["", "k = 5.0", "xs[0] = 7.0", "xs.append(5.0)", "d['c'] = 9.0", "scaled = lambda v: v", "t = 2.0 * x"]
USED = """
s = sum(g)
s = sum(g) + 10.0 * sum(g)
s = sum([v * v for v in g])
s = max(g) + sum(g)
for v in g:|    s += v
for v in g:|    k += v|    s += v * k
for v in g:|    if len(xs) < 6:|        xs.append(v)|    s += v
for v in g:|    break|s = sum(g)
for _ in range(2):|    s += sum(g)
h = (k * v for v in g)|s = sum(h)
h = g|s = sum(h) + sum(g)
s = sum(g) if x > 0 else x
if sum(g) > 1.0:|    s = 2.0 * x
a = list(g)|s = sum(a) + len(list(g))
s = 1.0 if 2.0 in g else sum(g)
s = double(g)
t = (g, 1.0)|s = sum(t[0])
"""
USES = [use.split("|") for use in USED.strip().splitlines()]
FIRST = ["k = 2.0", "s = 0.0", "xs = [x, 2.0 * x, 3.0]", "d = {'a': x, 'b': 2.0}"]
LOCAL = ["scaled = lambda v: k * v", "def double(g):", "    return sum(g) + 10.0 * sum(g)"]


def outcome(function):
    """The value and the derivative, or the error that Python raises; None where the program is refused."""
    try:
        value, back = ENGINE.vjp(function, 1.5)
    except ProgramError:
        return None
    except ValueError as error:
        return str(error)
    return value, back(None if isinstance(value, int) else 1.0)[0]


@pytest.mark.parametrize("made", MADE)
def test_iterators_that_are_kept(made):
    cases = list(itertools.product(BETWEEN, USES))
    for between, use in random.Random(made).sample(cases, min(COUNT, len(cases))):
        lines = [*FIRST, *LOCAL, f"g = {made}", *([between] if between else []), *use, "return s"]
        function = function_of("x", lines, **OUTSIDE)
        found = outcome(te.program(function))
        if found is not None:
            assert found == pytest.approx(outcome(function)), "\n".join(lines)


@pytest.mark.parametrize("made", MADE)
@pytest.mark.parametrize("use", ["s = sum({})", "for v in {}:|    s += v", "s = max([v for v in {}])", "a = list({})"])
def test_iterators_that_are_used_up_at_once(made, use):
    for lines in (use.format(made).split("|"), [f"g = {made}", *use.format("g").split("|")]):
        function = function_of("x", [*FIRST, *LOCAL, *lines, "return s + k * x"], **OUTSIDE)
        assert outcome(te.program(function)) == pytest.approx(outcome(function))


KEPT = """
return (x * v for v in (1.0, 2.0))
return map(lambda v: x * v, [1.0, 2.0])
return total(x * v for v in [1.0, 2.0])
return [map(lambda v: x * v, [1.0]) for _ in range(2)]
return (x * v for v in [1.0]), 2.0
for v in (k * v for v in [1.0, x]):|    k = v|return k
""".strip().splitlines()


@pytest.mark.parametrize("text", KEPT)
def test_iterators_that_are_refused(text):
    lines = ["k = 2.0", "s = 0.0", "d = {'a': x, 'b': 2.0}", *text.split("|")]
    with pytest.raises(ProgramError):
        refused(te.program(function_of("x", lines, **OUTSIDE)), 1.5)


#: Views of dicts that are kept: dual numbers run the plain function.
VIEWS = """
d = {'a': x}|g = d.values()|d['b'] = 2.0|return sum(g)
d = {'a': x}|g = d.items()|e = d|e['b'] = 2.0|return len(g) * x
for k, v in d.items():|    d['b'] = 5.0|    s += v|return s
d = {'a': x}|g = d.values()|h = d.keys()|return sum(g) * len(h) + ('a' in h)
def twice(g):|    return sum(g) + sum(g)|return twice(d.values()) * x
g = [d.values(), d.values()]|d['a'] = k * x|return sum(sum(v) for v in g)
""".strip().splitlines()


@pytest.mark.parametrize("text", VIEWS)
def test_views_that_are_kept(text):
    function = function_of("x", ["k = 2.0", "s = 0.0", "d = {'a': x, 'b': 2.0}", *text.split("|")], **OUTSIDE)
    assert ENGINE.vjp(te.program(function), 1.5)[1](1.0) == ENGINE.vjp(function, 1.5)[1](1.0)


def test_a_view_as_a_result_is_refused():
    with pytest.raises(StructureError, match="dict_values"):
        ENGINE.vjp(te.program(function_of("x", ["d = {'a': x}", "return d.values()"])), 1.5)


TAKEN = """
a, b = (x * v for v in (1.0, 2.0))|return a + b
xs = [x]|xs += map(lambda v: v * x, [1.0, 2.0])|return sum(xs)
xs = [x]|xs.extend(v * x for v in [1.0, 2.0])|return sum(xs)
return x if 2.0 in (2.0 * v for v in [1.0, x]) else -x
return sum([*map(lambda v: x * v, [1.0, 2.0]), 0.5])
return sum(sum(v * w for w in [x, 2.0]) for v in [x, 3.0])
return sum(v * w for v in [x, 2.0] for w in map(lambda w: w * x, [1.0, v]))
return sum((v * x for v in [1.0]) if x > 0 else (v for v in [x]))
return sum(i * v for i, v in enumerate(map(lambda v: v * x, [1.0, 2.0])))
d = {'a': x, 'b': 2.0}|g = d.values()|return sum(g) / len(g)
d = {'a': x, 'b': 2.0}|return total(d.values())
d = {'a': x, 'b': 2.0}|s = 0.0|for k, v in d.items():|    s += v|return s
d = {'a': x, 'b': 2.0}|d.update({k: 2.0 * v for k, v in d.items()})|return sum(d.values())
""".strip().splitlines()


@pytest.mark.parametrize("text", TAKEN)
def test_iterators_that_are_taken(text):
    function = function_of("x", text.split("|"), **OUTSIDE)
    assert outcome(te.program(function)) == pytest.approx(outcome(function))


@pytest.mark.parametrize("arguments", ["xs", "xs, (1.0, k)", "range(3), xs[:2]", "enumerate(xs)"])
@pytest.mark.parametrize("repeat", ["", ", repeat=1", ", repeat=2", ", repeat=TWO"])
def test_products_that_repeat_their_arguments(arguments, repeat):
    text = f"itertools.product({arguments}{repeat})"
    first = "each[0][1] + 2 * each[-1][0]" if "enumerate" in arguments else "each[0] + 2 * each[-1]"
    lines = ["s = k", f"for each in {text}:", f"    s = s * 0.9 + ({first}) * k", f"return s + len(list({text}))"]
    f = function_of("xs, k", lines, itertools=itertools, TWO=2)
    xs, k = [0.3, 0.7, 0.4], 1.1
    value, back = ENGINE.vjp(te.program(f), xs, k)
    expected, dual_back = ENGINE.vjp(f, xs, k)
    assert value == pytest.approx(expected, rel=1e-14)
    for own, other in zip(back(1.0), dual_back(1.0), strict=True):
        assert own == pytest.approx(other, rel=1e-12)


def test_a_repetition_that_only_a_run_tells_is_refused():
    f = function_of(
        "x, n", ["return sum(x * i for i, j in itertools.product(range(3), repeat=n))"], itertools=itertools
    )
    with pytest.raises(ProgramError, match="repeat= of product"):
        refused(te.program(f), 0.3, 2)
