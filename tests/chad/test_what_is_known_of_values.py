"""Values of which the type says all: None as an argument, parts of floats; functions and classes by other ways."""

import functools
import itertools
from dataclasses import dataclass

import pytest
from chad.written_functions import function_of

import tapeengine
from tapeengine import chad as te
from tapeengine.chad.parse.statements import blocks as statements

ENGINE = tapeengine.Engine()
USES = """
return x * a if a else x * 3.0
return x * 2.0 if not a else x * a
b = a or 2.0|return x * b
b = a and 2.0|return x * 3.0 if b is None else x * b
return x * x if a == b else x
return x * x if a != b else x
return x if a != None else x * x
return x if None == a else x * x
return x * x if x < 0.01 or a == "text" else x
return x * x if a in (None, 2.0) else x
if not a:|    return x * x|return x * a
""".strip().splitlines()


@pytest.mark.parametrize("text", USES)
@pytest.mark.parametrize("a", [None, 1.5])
@pytest.mark.parametrize("b", [None, 1.5])
def test_none_as_an_argument(text, a, b):
    if a == 1.5 and 'a == "text"' in text:
        return
    f = function_of("x, a, b", text.split("|"))
    expected, back = ENGINE.vjp(f, 2.0, a, b)
    value, own = ENGINE.vjp(te.program(f), 2.0, a, b)
    assert value == pytest.approx(expected)
    assert own(1.0)[0] == pytest.approx(back(1.0)[0])


@dataclass(frozen=True)
class Pair:
    w: float
    x: float

    def __mul__(self, other: "Pair") -> "Pair":
        return Pair(self.w * other.w - self.x * other.x, self.w * other.x + self.x * other.w)

    def __invert__(self) -> "Pair":
        return Pair(self.w, -self.x)

    def __or__(self, other: "Pair") -> float:
        return self.w * other.w

    def __rxor__(self, other: float) -> float:
        return self.w * other

    def __lshift__(self, other: float) -> float:
        return self.x * other


@dataclass
class Body:
    x: float
    v: float

    @staticmethod
    def pot(a: "Body", b: "Body") -> float:
        return a.x * b.x


class Tank:
    def __init__(self, D, L=None, horizontal=True):
        self.D, self.L = D, 2.0 * D if L is None else L
        self.set()

    def set(self):
        self.V = self.D * self.L


square = lambda x: x * x  # noqa: E731
TABLE = {"a": [1.0, (2.0, 3.0)]}


@functools.lru_cache(None)
def binomial(n, k):
    return 1 if k in (0, n) else binomial(n - 1, k - 1) + binomial(n - 1, k)


def of_remembered_results(x):
    return sum(binomial(4, k) * x**k for k in range(5))


def of_operators(x):
    q = Pair(x, 2.0)
    return (q * ~q).w + (q | q) + (2.0 ^ q) + (q << 3.0)


def of_a_static_method(x):
    bodies = [Body(x * k, 0.0) for k in (1.0, 2.0, 3.0)]
    for b in bodies:
        b.x += 1.0
    return sum(Body.pot(a, b) for a, b in itertools.combinations(bodies, 2))


def of_arguments_by_name(x):
    return Tank(D=x, horizontal=False).V


def of_parts(x):
    return (x * x).real + x.imag


def of_a_lambda_outside(x):
    return square(x) * 3.0


def of_a_list_of_several_types(x):
    return x * TABLE["a"][1][0]


@pytest.mark.parametrize(
    "f",
    [
        of_remembered_results,
        of_operators,
        of_a_static_method,
        of_arguments_by_name,
        of_parts,
        of_a_lambda_outside,
        of_a_list_of_several_types,
    ],
    ids=lambda f: f.__name__,
)
def test_values_and_derivatives(f):
    expected, back = ENGINE.vjp(f, 1.5)
    value, own = ENGINE.vjp(te.program(f), 1.5)
    assert value == pytest.approx(expected)
    assert own(1.0)[0] == pytest.approx(back(1.0)[0])


@pytest.mark.parametrize("start", [[], ["d = None"], ["d = 0.0"]])
def test_chains_of_elif_are_read_in_time_of_their_length(start, monkeypatch):
    counts = []

    def read(n):
        calls = [0]
        plain = statements.statement

        def counted(*args):
            calls[0] += 1
            return plain(*args)

        monkeypatch.setattr(statements, "statement", counted)
        arms = [
            line
            for i in range(n)
            for line in (f"{'el' * (i > 0)}if x < {i + 1}:", f"    t = x - {i}.0", f"    d = {i}.5 + 0.3 * t")
        ]
        try:
            value, back = ENGINE.vjp(te.program(function_of("x", [*start, *arms, "return d"])), 1.3)
            assert (value, back(1.0)[0]) == pytest.approx((1.59, 0.3))
        except te.ProgramError:
            assert not start
        monkeypatch.setattr(statements, "statement", plain)
        return calls[0]

    counts = [read(n) for n in (5, 10, 20)]
    assert counts[2] - counts[1] <= 2 * (counts[1] - counts[0])
