"""Random terms of the ladder's source language, and the same programs as Python functions on the engine's duals."""

import operator

import numpy

import tapeengine.math as math
from tapeengine.chad.language.terms import (
    Apply,
    Branch,
    Build,
    Call,
    Case,
    Definition,
    If,
    Index,
    Inject,
    Lambda,
    Let,
    Literal,
    Module,
    Op,
    Proj,
    Total,
    Tuple,
    Var,
    lit,
)
from tapeengine.chad.language.types import BOOL, FLOAT, INT, Array, Function, Product, Sum
from tapeengine.ladder.parse import single
from tapeengine.ladder.source import Ccl, FoldLeft, Fork, NTimes

ONE, TWO = ("sin", "cos", "neg"), ("add", "sub", "mul")
EITHER = Sum((FLOAT, FLOAT))
PYTHON = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "neg": operator.neg,
    "sin": math.sin,
    "cos": math.cos,
    "lt": operator.lt,
    "real": float,
    "le": operator.le,
    "isub": operator.sub,
}


class Generator:
    """Draws terms of type R from a seed; every constructor of the language may occur."""

    def __init__(self, seed, forks=True):
        self.rng = numpy.random.default_rng(seed)
        self.forks = forks
        self.names = 0

    def var(self, of=FLOAT):
        self.names += 1
        return Var(f"v{self.names}", of)

    def module(self, inputs=3, size=6):
        xs = tuple(self.var() for _ in range(inputs))
        return single(xs, self.term(list(xs), size))

    def term(self, scope, size):
        if size <= 0:
            return scope[self.rng.integers(len(scope))] if self.rng.random() < 0.8 else lit(float(self.rng.normal()))
        kinds = ["one", "two", "two", "let", "let", "pair", "if", "lambda", "case"] + ["fork"] * self.forks
        return getattr(self, str(self.rng.choice(kinds)))(scope, size - 1)

    def one(self, scope, size):
        return Op(str(self.rng.choice(ONE)), (self.term(scope, size),))

    def two(self, scope, size):
        return Op(str(self.rng.choice(TWO)), (self.term(scope, size - 2), self.term(scope, size - 1)))

    def let(self, scope, size):
        x = self.var()
        return Let(x, self.term(scope, size - 1), self.term([*scope, x, x], size))

    def pair(self, scope, size):
        p = Tuple((self.term(scope, size - 2), self.term(scope, size - 2)))
        return self.both(p, scope, size)

    def fork(self, scope, size):
        return self.both(Fork(self.term(scope, size - 2), self.term(scope, size - 2)), scope, size)

    def both(self, pair, scope, size):
        x = self.var(pair.type)
        return Let(x, pair, Op("mul", (Proj(x, 0), Op("add", (Proj(x, 1), self.term(scope, size - 3))))))

    def condition(self, scope, size):
        return Op("lt", (self.term(scope, size - 3), self.term(scope, size - 3)), BOOL)

    def if_(self, scope, size, make):
        return If(self.condition(scope, size), make(0), make(1))

    def case(self, scope, size):
        injected = self.if_(scope, size, lambda index: Inject(index, self.term(scope, size - 2), EITHER))
        left, right = self.var(), self.var()
        branches = tuple(Branch(x, self.term([*scope, x], size - 2)) for x in (left, right))
        return Case(injected, branches)

    def lambda_(self, scope, size):
        x = self.var()
        f = Lambda((x,), self.term([*scope, x, x], size - 2))
        g = self.var(f.type)
        twice = Apply(g, (Apply(g, (self.term(scope, size - 2),)),))
        return Let(g, f, twice)


def _if(self, scope, size):
    return self.if_(scope, size, lambda _: self.term(scope, size - 1))


setattr(Generator, "if", _if)
setattr(Generator, "lambda", Generator.lambda_)


def python(module, name=None):
    """A definition of a program, the main one by default, as a Python function."""
    called = module.definitions[name or module.main]
    return lambda *xs: evaluate(called.body, {"": module, **dict(zip((p.name for p in called.params), xs))})


def evaluate(term, scope):
    match term:
        case Var(name):
            return scope[name]
        case Literal(number):
            return number
        case Let(x, bound, body):
            return evaluate(body, {**scope, x.name: evaluate(bound, scope)})
        case Op(op, args):
            return PYTHON[op](*[evaluate(arg, scope) for arg in args])
        case Tuple(items):
            return tuple(evaluate(item, scope) for item in items)
        case Fork(left, right):
            return evaluate(left, scope), evaluate(right, scope)
        case Proj(whole, index):
            return evaluate(whole, scope)[index]
        case If(condition, then, orelse):
            return evaluate(then if evaluate(condition, scope) else orelse, scope)
        case Inject(index, payload):
            return index, evaluate(payload, scope)
        case Case(subject, branches):
            index, payload = evaluate(subject, scope)
            return evaluate(branches[index].body, {**scope, branches[index].var.name: payload})
        case Lambda(params, body):
            return lambda *xs: evaluate(body, {**scope, **dict(zip((p.name for p in params), xs))})
        case Build(size, i, body):
            return [evaluate(body, {**scope, i.name: k}) for k in range(evaluate(size, scope))]
        case Index(array, index):
            return evaluate(array, scope)[evaluate(index, scope)]
        case Total(array):
            return sum(evaluate(array, scope))
        case Call(name, args):
            return python(scope[""], name)(*[evaluate(arg, scope) for arg in args])
        case Apply(function, args):
            return evaluate(function, scope)(*[evaluate(arg, scope) for arg in args])
        case FoldLeft(pair, body, init, array):
            state = evaluate(init, scope)
            for element in evaluate(array, scope):
                state = evaluate(body, {**scope, pair.name: (state, element)})
            return state
        case NTimes(name, size, init):
            state, step = evaluate(init, scope), python(scope[""], name)
            for _ in range(evaluate(size, scope)):
                state = step(state)
            return state
        case Ccl(name, size, init):
            state, step = evaluate(init, scope), python(scope[""], name)
            for i in reversed(range(evaluate(size, scope))):
                state = step(i, state)
            return state
    raise AssertionError(term)


class VectorGenerator(Generator):
    """Terms of the working notes: no functions, sums or forks, but vectors."""

    def __init__(self, seed):
        super().__init__(seed, forks=False)

    def case(self, scope, size):
        """The sum of a vector whose elements depend on their index."""
        return Total(self.build(scope, size))

    def lambda_(self, scope, size):
        """An element of a vector, and another one."""
        v = self.var(Array(FLOAT))
        at = [Index(v, lit(int(self.rng.integers(3)))) for _ in range(2)]
        return Let(v, self.build(scope, size), Op("mul", (at[0], Op("add", (at[1], self.term(scope, size - 2))))))

    def build(self, scope, size):
        i = self.var(INT)
        element = Op("mul", (Op("real", (i,), FLOAT), self.term(scope, size - 2)))
        return Build(lit(3), i, Op("add", (element, self.term(scope, size - 2))))


setattr(VectorGenerator, "lambda", VectorGenerator.lambda_)


class FoldGenerator(VectorGenerator):
    """With folds over vectors, and with families over N."""

    def let(self, scope, size):
        return getattr(self, str(self.rng.choice(["fold", "family", "binding"])))(scope, size)

    def binding(self, scope, size):
        return super().let(scope, size)

    def fold(self, scope, size):
        """The element comes before the accumulator, so that both kinds of position occur."""
        pair, a, b = self.var(Product((FLOAT, FLOAT))), self.var(), self.var()
        body = Let(a, Proj(pair, 1), Let(b, Proj(pair, 0), Op("sin", (self.term([*scope, a, b], size - 2),))))
        return FoldLeft(pair, body, self.term(scope, size - 2), self.build(scope, size))

    def family(self, scope, size):
        i, f = self.var(INT), self.var(Function((INT,), FLOAT))
        values = Lambda((i,), Op("mul", (Op("real", (i,), FLOAT), self.term(scope, size - 2))))
        at = [Apply(f, (lit(int(self.rng.integers(1, 9))),)) for _ in range(2)]
        return Let(f, values, Op("mul", (at[0], Op("add", (at[1], self.term(scope, size - 2))))))


class LoopGenerator(VectorGenerator):
    """With sums, and with loops over definitions."""

    def __init__(self, seed):
        super().__init__(seed)
        self.definitions = {}

    def module(self):
        main = super().module()
        return Module(main.main, {**main.definitions, **self.definitions})

    def let(self, scope, size):
        return getattr(self, str(self.rng.choice(["stored", "again", "sum", "binding"])))(scope, size)

    def binding(self, scope, size):
        return super().let(scope, size)

    def sum(self, scope, size):
        return Generator.case(self, scope, size)

    def define(self, params, body):
        name = f"f{len(self.definitions)}"
        self.definitions[name] = Definition(name, params, body.type, body)
        return name

    def stored(self, scope, size):
        """A pair as the state."""
        state, a, b = self.var(Product((FLOAT, FLOAT))), self.var(), self.var()
        parts = Tuple(tuple(Op("sin", (self.term([a, b], size - 2),)) for _ in range(2)))
        name = self.define((state,), Let(a, Proj(state, 0), Let(b, Proj(state, 1), parts)))
        init = Tuple((self.term(scope, size - 3), self.term(scope, size - 3)))
        return Proj(NTimes(name, lit(int(self.rng.integers(4))), init), int(self.rng.integers(2)))

    def again(self, scope, size):
        """A scalar as the state, so that reverse passes commute: each is a factor."""
        i, s = self.var(INT), self.var()
        index = Op("real", (i,), FLOAT)
        name = self.define((i, s), Op("sin", (Op("mul", (index, self.term([s], size - 2))),)))
        return Ccl(name, lit(int(self.rng.integers(4))), self.term(scope, size - 2))


class FirstOrderGenerator(Generator):
    """Terms without functions, sums, forks and vectors."""

    def __init__(self, seed):
        super().__init__(seed, forks=False)
        self.case = self.let


setattr(FirstOrderGenerator, "lambda", Generator.pair)
