"""Sums, recursion and stored functions: evaluator, dual numbers and differences agree."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest
from chad import evaluated as specification
from chad.test_examples import leaves, random_like, rebuilt, slopes_agree

import tapeengine
import tapeengine.math
import tapeengine.numpy
from tapeengine import chad as te

ENGINE = tapeengine.Engine()
RNG = np.random.default_rng(11)
PROGRAMS = {}


def on(*args):
    """Register a program with arguments."""

    def register(program):
        PROGRAMS[program.__name__] = (program, args)
        return program

    return register


@dataclass(frozen=True)
class Leaf:
    value: float


@dataclass(frozen=True)
class Neuron:
    weights: te.Vec
    inputs: "te.Array[Tree]"


@dataclass(frozen=True)
class Pair:
    left: "Tree"
    right: "Tree"
    weight: float


Tree = Leaf | Neuron | Pair


@on(Pair(Neuron(np.array([0.5, -1.0]), [Leaf(1.5), Pair(Leaf(0.1), Leaf(0.2), 2.0)]), Leaf(-0.7), 0.4), 1.1)
@te.program
def forest(tree: Tree, scale: float) -> float:
    match tree:
        case Leaf(value):
            return value * value * scale
        case Neuron(weights, inputs):
            return tapeengine.math.tanh(sum(w * forest(x, scale) for w, x in zip(weights, inputs)))
        case Pair(left, right, weight):
            return weight * forest(left, scale) + tapeengine.math.sin(forest(right, weight * scale))


@dataclass(frozen=True)
class Chain:
    value: float
    rest: "Chain | None"


@on(Chain(0.5, Chain(-1.0, Chain(2.0, None))), 1.1)
@te.program
def mapped(chain: Chain | None, x: float) -> Chain | None:
    if chain is None:
        return None
    return Chain(chain.value * x, mapped(chain.rest, x + chain.value))


@on(RNG.normal(size=5))
@te.program
def from_array(xs: te.Vec) -> Chain | None:
    result: Chain | None = None
    for x in xs:
        result = Chain(x * x, result)
    return result


@on(RNG.normal(size=6), 0.3)
@te.program
def over_an_array(xs: te.Vec, c: float) -> float:
    def go(i: int, best: float) -> float:
        if i == len(xs):
            return best * c
        return xs[i] * go(i + 1, best + xs[i] * xs[0]) + go(len(xs), best)

    return go(0, 1.0)


@on(RNG.normal(size=8))
@te.program
def halves(xs: te.Vec) -> te.Vec:
    """Recursive the way mergesort is."""
    n = len(xs)
    if n == 1:
        return [xs[0] * xs[0]]
    a = halves(xs[: n // 2])
    b = halves(xs[n // 2 :])
    front, back = tapeengine.numpy.array([x + b[0] for x in a]), tapeengine.numpy.array([y * a[0] for y in b])
    return tapeengine.numpy.concatenate((front, back))


@te.program
def horner(xs: te.Vec, i: int, x: float) -> float:
    return 0.0 if i == len(xs) else xs[i] + x * horner(xs, i + 1, x)


@on(RNG.normal(size=4), 0.7)
@te.program
def calls_another(xs: te.Vec, x: float) -> float:
    return horner(xs, 0, x) * horner(xs, 2, x * x) + sum(horner(xs, i, x) for i in range(len(xs)))


@on(0.7, 3)
@te.program
def conditional_closures(x: float, n: int) -> float:
    def pick(k: int) -> Callable[[float], float]:
        if k == 0:
            return lambda y: y * x
        y0 = x * k
        return lambda y: tapeengine.math.sin(y) + y0

    f = pick(n)
    g = pick(0) if x > 0 else f
    return f(g(x)) * pick(n - 3)(x)


@on(0.7, np.array([0.3, -0.2, 0.9, 0.1]))
@te.program
def captured_in_arrays(x: float, xs: te.Vec) -> float:
    def plus(a: float) -> Callable[[float], float]:
        return lambda y: y * a + x

    def at(i: int) -> Callable[[float], float]:
        return lambda y: y * xs[i]

    y = x
    for f in [plus(a) for a in xs]:
        y = f(y)
    for i, g in enumerate([at(i) for i in range(len(xs))]):
        y = g(y) + i
    return y


@on(0.7, 5)
@te.program
def continuations(x: float, n: int) -> float:
    def go(k: int, then: Callable[[float], float]) -> float:
        if k == 0:
            return then(x)
        return go(k - 1, lambda y: then(y * x + k))

    return go(n, lambda y: y * y)


@dataclass(frozen=True)
class Num:
    value: float


@dataclass(frozen=True)
class Unknown:
    index: int


@dataclass(frozen=True)
class Sum:
    terms: "te.Array[Expr]"


@dataclass(frozen=True)
class Apply:
    function: int
    argument: "Expr"


Expr = Num | Unknown | Sum | Apply


@on(Apply(0, Sum([Num(0.5), Unknown(1), Apply(1, Unknown(0)), Apply(0, Num(0.2))])), np.array([0.4, -0.6]))
@te.program
def interpreter(expr: Expr, env: te.Vec) -> float:
    match expr:
        case Num(value):
            return value
        case Unknown(index):
            return env[index]
        case Sum(terms):
            return sum(interpreter(t, env) for t in terms)
        case Apply(function, argument):
            x = interpreter(argument, env)
            return tapeengine.math.sin(x) if function == 0 else x * x


@dataclass(frozen=True)
class Circle:
    radius: float


@dataclass(frozen=True)
class Polygon:
    xs: te.Vec
    ys: te.Vec


@dataclass(frozen=True)
class Nothing:
    pass


Shape = Circle | Polygon | Nothing


@on([Circle(1.5), Polygon(np.array([0.0, 1.0, 0.5]), np.array([0.0, 0.2, 1.0])), Nothing(), Circle(0.4)], 0.8)
@te.program
def scaled_shapes(shapes: te.Array[Shape], c: float) -> te.Array[Shape]:
    def scaled(shape: Shape) -> Shape:
        match shape:
            case Circle(radius):
                return Circle(c * radius)
            case Polygon(xs, ys):
                return Polygon([c * x for x in xs], ys)
            case Nothing():
                return Circle(c)

    def is_large(shape: Shape) -> bool:
        if isinstance(shape, Circle):
            return shape.radius > 0.5
        return True

    return [scaled(s) for s in shapes if is_large(s)]


@dataclass(frozen=True)
class Some:
    shapes: te.Array[Shape]


def held(shapes: te.Array[Shape], c: float) -> te.Array[Shape]:
    kept: Some | Nothing = Some(shapes)
    if c < 0.5:
        kept = Nothing()
    match kept:
        case Some(found):
            return found
        case Nothing():
            return [Circle(c * c) for _ in range(2)]


SHAPES = [Circle(1.5), Polygon(np.array([0.0, 1.0, 0.5]), np.array([0.0, 0.2, 1.0])), Nothing()]
PROGRAMS["list in an option"] = (te.program(held), (SHAPES, 0.8))
PROGRAMS["list in an option not taken"] = (te.program(held), (SHAPES, 0.3))


@on([Circle(1.5), Nothing(), Circle(0.4)], 0.8)
@te.program
def running(shapes: te.Array[Circle | Nothing], c: float) -> Circle | Nothing:
    best: Circle | Nothing = Nothing()
    for s in shapes:
        match s:
            case Circle(radius):
                if isinstance(best, Circle):
                    best = Circle(best.radius * radius)
                else:
                    best = Circle(radius * radius * c)
            case Nothing():
                best = best
    return best


@on([Chain(1.0, None), None, Chain(0.5, Chain(-1.0, None))], 2.0)
@te.program
def lists_of_chains(chains: te.Array[Chain | None], x: float) -> tuple[te.Array[Chain | None], float]:
    def total(chain: Chain | None) -> float:
        return 0.0 if chain is None else chain.value * x + total(chain.rest)

    longer = [Chain(total(c), c) for c in chains]
    return longer[1:], sum(total(c) * total(longer[i]) for i, c in enumerate(chains))


@pytest.fixture(params=sorted(PROGRAMS))
def case(request):
    return PROGRAMS[request.param]


def test_gives_the_value_of_the_program(case):
    program, args = case
    value, _ = program.executable.vjp(args)
    np.testing.assert_allclose(leaves(value), leaves(program(*args)), rtol=1e-13, atol=1e-13)


def test_agrees_with_the_evaluated_reverse_form(case):
    program, args = case
    value, backpropagator = program.executable.vjp(args)
    wanted, evaluated = specification.vjp(program.executable, args)
    assert leaves(value) == pytest.approx(leaves(wanted), rel=1e-13)
    ct = random_like(wanted, 1)
    got, expected = backpropagator(ct), evaluated(ct)
    assert leaves(got) == pytest.approx(leaves(expected), rel=1e-11, abs=1e-13)
    for mine, theirs, arg in zip(got, expected, args, strict=True):
        assert type(mine) is type(theirs)
        assert leaves(arg) == [] or len(leaves(mine)) == len(leaves(arg))


def test_agrees_with_dual_numbers(case):
    program, args = case
    value, backpropagator = program.executable.vjp(args)
    dual_value, dual = ENGINE.vjp(program.python, *args)
    ct = random_like(value, 5)
    expected = dual(rebuilt(dual_value, iter(leaves(ct))))
    for mine, theirs, arg in zip(backpropagator(ct), expected, args, strict=True):
        if leaves(arg):
            np.testing.assert_allclose(leaves(mine), leaves(theirs), rtol=1e-11, atol=1e-12)


def test_agrees_with_differences(case):
    program, args = case
    slopes_agree(program, args, *program.executable.vjp(args))


def test_a_backpropagator_can_be_called_again(case):
    program, args = case
    value, backpropagator = program.executable.vjp(args)
    first, second = random_like(value, 1), random_like(value, 2)
    before = leaves(backpropagator(first))
    backpropagator(second)
    assert leaves(backpropagator(first)) == before
