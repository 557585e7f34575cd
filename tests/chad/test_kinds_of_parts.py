"""Lists and arrays that pass through records, dicts, functions, methods and loops are what they are in Python."""

import dataclasses
import itertools
import os
import random
import warnings
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pytest
from chad.written_functions import function_of

import tapeengine
from tapeengine import chad as te
from tapeengine.errors import TapeEngineError

ENGINE = tapeengine.Engine()
NIGHTLY = os.environ.get("TAPEENGINE_NIGHTLY") == "1"


@dataclass
class R:
    v: np.ndarray

    def get(self):
        return self.v

    @property
    def own(self):
        return self.v

    @classmethod
    def make(cls, v):
        return cls(v)

    def __add__(self, other):
        return R([*self.v, *other.v])


@dataclass
class Q:
    r: R
    n: int = 0


class N(NamedTuple):
    v: object
    k: float = 0.0


@dataclass
class G:
    v: list


def itself(v):
    return v


def made(v):
    return R(v)


def pair(v):
    return v, 1.0


def named(v):
    return {"a": v}


NAMES = {f.__name__: f for f in (R, Q, N, G, itself, made, pair, named, dataclasses.replace)} | {"itertools": itertools}
#: How a list or an array is made.
MADE = ("[x, 1.0]", "np.array([x, 1.0])", "[x * k for k in range(2)]", "xs", "(2.0 * np.array(xs))")
#: The ways through which it comes to the name u.
WAYS = """
w = R({v})|u = w.v
w = R({v})|u = w.get()
w = R({v})|u = w.own
w = R.make({v})|u = w.v
w = Q(R({v}))|u = w.r.v
w = R({v}) + R({v})|u = w.v
w = N({v})|u = w.v
w = N({v})|u = w[0]
u, k = N({v})
w = G({v})|u = w.v
w = {{'a': {v}}}|u = w['a']
w = dict(a={v})|u = w['a']
w = {{'a': {v}}}|u = w.get('a')
w = {{'a': ({v}, R({v}))}}|u = w['a'][1].v
w = ({v}, 1.0)|u = w[0]
w = [{v}, {v}]|u = w[-1]
for u in [{v}]:|    pass
for u, k in zip([{v}], [1.0]):|    pass
for k, u in enumerate([{v}]):|    pass
for w in [R({v})]:|    u = w.v
u = itself({v})
u = made({v}).v
u, k = pair({v})
u = pair({v})[0]
u = named({v})['a']
w = replace(R({v}), v={v})|u = w.v
w = R(np.zeros(2))|w.v = {v}|u = w.v
u = {v} if x > 0 else {v}
f = lambda: {v}|u = f()
def inner(q):|    return q|u = inner({v})
def inner(q=1.0, z=2.0):|    return z|u = inner(z={v})
u = xs|def inner():|    nonlocal u|    u = {v}|inner()
u = [q for q in [{v}]][0]
u = max([{v}, {v}], key=lambda q: q[0])
u = sorted([{v}, {v}], key=lambda q: q[0])[0]
u = list(reversed([{v}, {v}]))[0]
u = list(map(itself, [{v}]))[0]
u = list(itertools.chain([{v}], [{v}]))[1]
u = next(q for q in [{v}])
w = []|w.append({v})|u = w[0]
w = []|w.append(R({v}))|u = w[0].v
w = [{v}]|w[0] = {v}|u = w[0]
u = (w := {v})
u, *k = [{v}, {v}]
u = {v}|w = {v}|u, w = w, u
u = {v}|k = 0|while k < 2:|    u = {v}|    k += 1
u = {v}[:]
""".strip().splitlines()
RESULTS = ("u + u", "u * 2", "2 * u", "u + {v}", "{v} + u", "[*u, *u]", "u", "(u, x)")


def agrees(way, made, result, xs):
    """Compare a program with the plain function; return whether the language has it."""
    lines = [*way.format(v=made).split("|"), f"return {result.format(v=made)}"]
    function = function_of("x, xs", lines, **NAMES)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            wanted = function(1.5, xs)
            value = ENGINE.vjp(te.program(function), 1.5, xs)[0]
        except (TapeEngineError, ValueError):  # the plain function's, of sizes that do not fit
            return False
    for found, expected in zip(*((v if isinstance(v, tuple) else (v,)) for v in (value, wanted)), strict=True):
        assert type(found) is type(expected), lines
        np.testing.assert_array_equal(found, expected)
    return True


@pytest.mark.parametrize("way", WAYS)
def test_values_and_classes(way):
    cases = list(itertools.product(MADE, RESULTS, ([0.5, 2.0], np.array([0.5, 2.0]))))
    drawn = cases if NIGHTLY else random.Random(way).sample(cases, 9)
    assert sum(agrees(way, *case) for case in drawn) > 0
