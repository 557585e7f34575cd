"""Functions as values: each kind in each place where one may stand; arrays that keep their kind of numbers."""

import functools
import itertools
import math
import operator

import numpy as np
import pytest
from chad.written_functions import defined
from outcomes import outcome

import tapeengine as te
from tapeengine.errors import TapeEngineError


def cube(y):
    return y * y * y


def scaled(y, k=2.0):
    return y * k


def applied(f, y):
    return f(y) * 2.0


def twice(f, y):
    return f(f(y))


#: Expressions that give functions of a number, with statements that stand before them.
FUNCTIONS = {
    "of a library": ("", "math.sin"),
    "builtin": ("", "abs"),
    "of the module": ("", "cube"),
    "with a default": ("", "scaled"),
    "lambda": ("", "lambda y: y * x + 1.0"),
    "local": ("def f(y):\n        z = y * x\n        return z + c", "f"),
    "local, without captures": ("def f(y):\n        return y * y", "f"),
    "annotated": ("def f(y: float) -> float:\n        return y * x", "f"),
    "calls a local": ("def g(y):\n        return y * c\n    def f(y):\n        return g(y) + g(x)", "f"),
    "calls itself": ("def f(y, n=2):\n        return x if n == 0 else y * f(y, n - 1)", "lambda y: f(y)"),
    "result": ("def make(k):\n        def f(y):\n            return y * k * x\n        return f", "make(c)"),
    "result of a lambda": ("make = lambda k: lambda y: y * k", "make(x)"),
    "partial": ("", "functools.partial(scaled, k=x)"),
    "composed": ("def compose(f, g):\n        return lambda y: f(g(y))", "compose(math.sin, lambda y: y * x)"),
    "item of a dict": ("d = {'a': math.exp, 'b': lambda y: y * x}", "d['b']"),
    "item of a list": ("fs = [math.exp, lambda y: y * x]", "fs[1]"),
    "chosen by a run": ("f = math.sin if c > 0 else lambda y: y * x", "f"),
    "rebound before": ("k = x\n    def f(y):\n        return y * k\n    k = c", "f"),
}
#: Uses of a function ``F`` on numbers x and c.
USES = {
    "called": "r = F(x)",
    "in a local function": "def use(f, y):\n        return f(y) + f(c)\n    r = use(F, x)",
    "twice": "def use(f, y):\n        return f(f(y))\n    r = use(F, c)",
    "in a function of the module": "r = applied(F, c) + twice(F, x)",
    "by name": "def use(y, *, f=math.cos):\n        return f(y)\n    r = use(x, f=F) + use(c)",
    "mapped": "r = sum(map(F, [x, c])) + sum([h(x) for h in (F, math.exp)])",
    "in a loop": "r = x\n    for h in [math.cos, F]:\n        r = h(r) + c",
    "stored": "t = (F, x)\n    r = t[0](t[1])",
    "in a dict": "t = {'f': F, 'y': c}\n    r = t['f'](t['y'])",
    "as a key": "r = max([x, c], key=F)",
    "folded": "r = functools.reduce(lambda a, b: a + F(b), [x, c], 0.0)",
}


def written(text):
    """The function of a text."""
    known = {f.__name__: f for f in (cube, scaled, applied, twice)}
    return defined(text, "f_", math=math, functools=functools, np=np, **known)


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("kind", FUNCTIONS)
def test_a_function_in_any_place_is_itself(kind, use):
    before, function = FUNCTIONS[kind]
    calls = USES[use].replace("F(", f"({function})(").replace("F", function)
    program = te.program(written(f"def f_(x, c):\n    {before or 'pass'}\n    {calls}\n    return r\n"))
    value, back = te.vjp(program, 0.7, 1.3)
    expected, wanted = te.vjp(program.python, 0.7, 1.3)
    assert value == pytest.approx(expected, rel=1e-14)
    assert back(1.5) == pytest.approx(wanted(1.5), rel=1e-12)


MAKERS = {
    "zeros": "np.zeros(3, dtype=int)",
    "range": "np.arange(3)",
    "written out": "np.array([1, 2, 3])",
    "ones": "np.ones_like(a)",
    "argument": "a.copy()",
    "list": "[1, 2, 3]",
    "repeated": "[0] * 3",
    "copy of a list": "list(b)",
    "slice of a list": "b[:]",
    "floats": "np.zeros(3)",
}
CHANGES = ["ys[0] = v", "ys[0] += v", "ys[-1] *= v", "ys[1:] = [v, v]", "ys[:2] += v", "ys += v", "ys[ys > 0] = v"]


@pytest.mark.parametrize("value", ["x", "2", "x * 2.0", "int(x)"])
@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("maker", MAKERS)
def test_arrays_of_whole_numbers_stay_arrays_of_whole_numbers(maker, change, value):
    text = f"ys = {MAKERS[maker]}\n    v = {value}\n    {change}\n    return [y * x for y in ys]"
    plain = written(f"def f_(a, b, x):\n    {text}\n")
    args = np.array([1, 2, 3]), [1, 2, 3], 2.75
    expected, found = outcome(lambda: plain(*args)), outcome(lambda: te.vjp(te.program(plain), *args)[0])
    if isinstance(expected, Exception):
        assert isinstance(found, type(expected) | TapeEngineError)
    elif not isinstance(found, TapeEngineError):
        assert found == pytest.approx(expected, rel=1e-14)


@pytest.mark.parametrize(("left", "right"), [*itertools.product(["x", "(x, 1.0)", "2", "'a'"], repeat=2)])
def test_keys_of_dicts_are_found_or_missed_as_in_python(left, right):
    for key in ("1", "(0, 1)", "'k'", "n"):
        plain = written(
            f"def f_(x, n):\n    d = {{1: x, (0, 1): x * 2, 'k': 3.0}}\n    e = d | {{2: ({left}, {right})}}\n"
            f"    r = d[{key}] * len(e) + d.get({key}, 7.0)\n    return r if {key} in d else 0.0\n"
        )
        for n in (1, 7):
            expected, found = (outcome(lambda f=f, n=n: te.vjp(f, 0.5, n)[0]) for f in (plain, te.program(plain)))
            if not isinstance(found, TapeEngineError):
                assert type(found) is type(expected)
                assert str(found) == str(expected)


@pytest.mark.parametrize("key", ["1", "2", "n", "n + 1", "'k'"])
@pytest.mark.parametrize("n", [0, 1])
def test_a_key_that_is_missing_gives_the_default(key, n):
    plain = written(f"def f_(x, n):\n    d = {{1: x, 'k': x * 2}}\n    return d.get({key}, 5.0) * x\n")
    (value, back), (expected, wanted) = te.vjp(te.program(plain), 0.5, n), te.vjp(plain, 0.5, n)
    assert (value, back(1.0)) == (expected, wanted(1.0))


@pytest.mark.parametrize("start", [None, 0, 1.5])
@pytest.mark.parametrize("combine", [operator.add, operator.mul])
def test_functions_of_operator_are_values(start, combine):
    def fold(xs):
        def by(f):
            return functools.reduce(f, xs) if start is None else functools.reduce(f, xs, start)

        return by(combine)

    program = te.program(fold)
    assert te.vjp(program, [1.0, 2.0, 3.5])[0] == fold([1.0, 2.0, 3.5])
