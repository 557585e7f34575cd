"""Each function that takes elements takes each iterable: values as Python's, derivatives as those of dual numbers."""

import functools
import itertools
import math

import numpy as np
import pytest
from chad.written_functions import function_of, refused

import tapeengine
from tapeengine import chad as te
from tapeengine.chad.language.errors import ProgramError
from tapeengine.errors import DroppedDerivativeError

ENGINE = tapeengine.Engine()
FIRST = """
ys = [k, 2.0, k * k]
t = (1.0, k, 2.0)
ks = [1, 2, 3]
rows = [xs, ys]
d = {'a': k, 'b': 2.0 * k, 'c': xs[0]}
""".strip().splitlines()
NUMBERS = """
reversed(xs)
reversed(t)
reversed(d.values())
reversed([k, *xs])
list(reversed(xs))
map(lambda v: k * v, xs)
filter(lambda v: v < k, xs)
itertools.chain(xs, [k])
itertools.chain(reversed(xs), t)
itertools.chain(*rows)
itertools.chain.from_iterable(rows)
itertools.accumulate(xs)
(k * v for v in xs)
d.values()
xs
""".strip().splitlines()
TAKE_NUMBERS = """
sum({})
sum({}, k)
functools.reduce(lambda a, b: a * b + 1.0, {})
functools.reduce(lambda a, b: a * b + 1.0, {}, k)
sum(itertools.accumulate({}, lambda a, b: a * b, initial=k))
list({})[0]
[*{}][-1]
tuple({})[1]
sorted({}, reverse=True)[0]
sum(i * v for i, v in enumerate({}))
min({}, default=0.0)
max({}, key=lambda v: -v)
math.prod({})
any({})
all({})
any(v > 2.0 for v in {})
sum(map(lambda v, w: v * w, {}, ys))
sum(filter(lambda v: v < 2.0, {}))
sum(a * b for a, b in zip({}, ys))
sum(itertools.chain({}, [k]))
sum(np.array(list({})))
k if 2.0 in {} else 0.0
math.fsum({})
sum(a * b for a, b in itertools.pairwise({}))
next({})
len({})
sum(reversed({}))
""".strip().splitlines()
PAIRS = """
zip(xs, ys)
zip(t, xs)
zip(ks, xs)
zip(reversed(xs), ys)
zip(d.values(), xs, strict=True)
zip(itertools.count(), xs)
zip(*rows)
zip(*[xs, ys])
enumerate(xs)
enumerate(reversed(xs), 1)
itertools.pairwise(xs)
itertools.product(xs, t)
itertools.combinations(xs, 2)
itertools.permutations(xs, 2)
map(lambda a, b: (a, b), xs, ys)
((a, b) for a in xs for b in ys)
list(zip(xs, ys))
""".strip().splitlines()
TAKE_PAIRS = """
sum(a * b for a, b in {})
functools.reduce(lambda s, p: s * p[0] + p[1], {}, k)
list({})[0][1]
[*{}][-1][0]
tuple({})[1][0]
sorted({}, key=lambda p: p[1])[0][0]
sum(i * v[0] for i, v in enumerate({}))
max({}, key=lambda p: p[0] * p[1])[0]
sum(map(lambda p: p[0] * p[1], {}))
len(list(filter(lambda p: p[0] < p[1], {})))
sum(a[0] * b for a, b in zip({}, ys))
len(list(itertools.chain({}, [(k, k)])))
sum(p[0] for p in reversed(list({})))
next({})[0]
sum(list(zip(*{}))[0])
sum(v for p in {} for v in p)
sum(itertools.chain(*{}))
sum(itertools.chain.from_iterable({}))
len({})
sum(p[0] for p in reversed({}))
""".strip().splitlines()
CASES = [*itertools.product(NUMBERS, TAKE_NUMBERS), *itertools.product(PAIRS, TAKE_PAIRS)]
PRIMALS = 1.5, [0.5, 1.25, 3.0]


def derivative(function):
    """The value and the cotangents; None where dual numbers do not pass through the function."""
    try:
        value, back = ENGINE.vjp(function, *PRIMALS)
        return value, back(1.0)[0], *back(1.0)[1]
    except DroppedDerivativeError:
        return None


@pytest.mark.parametrize("taken", [*TAKE_NUMBERS, *TAKE_PAIRS])
def test_each_consumer_takes_each_iterable(taken):
    for iterable in (i for i, t in CASES if t == taken):
        lines = [*FIRST, f"return k * 1.0 * ({taken.format(iterable)})"]
        f = function_of("k, xs", lines, itertools=itertools, functools=functools, math=math)
        try:
            expected = f(*PRIMALS)
        except TypeError:  # an iterator has no size, and no last element; a list is no iterator
            with pytest.raises((ProgramError, TypeError)):
                ENGINE.vjp(te.program(f), *PRIMALS)
            continue
        value, *cotangents = derivative(te.program(f))
        assert value == pytest.approx(expected, rel=1e-13), lines
        if (dual := derivative(f)) is not None:
            assert cotangents == pytest.approx(dual[1:], rel=1e-12), lines


ENDLESS = ["sum(itertools.count())", "list(zip(itertools.count(), itertools.count()))", "zip(xs, xs)", "reversed(xs)"]


@pytest.mark.parametrize("text", ENDLESS)
def test_what_has_no_end_or_is_kept_is_refused(text):
    f = function_of("k, xs", [f"return {text}"], itertools=itertools, np=np)
    with pytest.raises(ProgramError):
        refused(te.program(f), *PRIMALS)


def test_columns_of_no_pairs_as_python():
    f = function_of("k, xs", ["a, b = zip(*[(k * x, x) for x in xs])", "return sum(a) + k * sum(b)"])
    value, back = ENGINE.vjp(te.program(f), *PRIMALS)
    assert value == pytest.approx(f(*PRIMALS))
    assert back(1.0)[0] == pytest.approx(2 * sum(PRIMALS[1]))
    for call in (f, te.program(f)):
        with pytest.raises(ValueError):
            ENGINE.vjp(call, 1.5, [])
