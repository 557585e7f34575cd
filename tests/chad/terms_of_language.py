"""Random well-typed terms of the whole language: those of EC's, arrays, iteration and functions."""

from chad import drawing as st
from chad.terms_of_ec import OPS, numbers, values

from tapeengine.chad.language.terms import (
    OTHERS,
    Apply,
    Branch,
    Build,
    Case,
    Concatenate,
    Elements,
    Filter,
    Fold,
    For,
    Gather,
    If,
    Index,
    Inject,
    Lambda,
    Let,
    Map,
    Op,
    Proj,
    Replicate,
    Resize,
    Scan,
    Scatter,
    Size,
    Total,
    Tuple,
    Update,
    Var,
    While,
    lit,
)
from tapeengine.chad.language.traverse import Names
from tapeengine.chad.language.types import BOOL, FLOAT, INT, UNIT, Array, Function, Product, Sum

first_order = st.recursive(
    st.sampled_from([FLOAT, FLOAT, FLOAT, UNIT, Array(FLOAT), Product((FLOAT, INT))]),
    lambda inner: st.one_of(st.tuples(inner, inner).map(Product), st.tuples(inner, inner).map(Sum), inner.map(Array)),
)


class Draw:
    """Draws terms; `names` keeps binders unique."""

    def __init__(self, draw, functions):
        self.draw = draw
        self.names = Names(["x0", "x1", "x2"])
        self.functions = functions

    def var(self, of):
        return Var(self.names("v"), of)

    def choose(self, options):
        return self.draw(st.sampled_from(options))

    def term(self, of, env, depth):
        fitting = [v for v in env if v.of == of]
        if depth <= 0:
            return self.choose(fitting) if fitting and self.draw(st.booleans()) else self.leaf(of, env)
        makers = [
            self.let,
            self.proj,
            self.case,
            self.condition,
            self.introduce,
            self.introduce,
            self.loop,
            self.repeat,
        ]
        makers += [self.index, self.fold] + ([self.apply, self.apply] if self.functions else [])
        if fitting:
            makers += [lambda *_: self.choose(fitting)] * 2
        return self.choose(makers)(of, env, depth - 1)

    def leaf(self, of, env):
        match of:
            case Product(items):
                return Tuple(tuple(self.term(t, env, 0) for t in items))
            case Sum(options):
                k = self.choose(range(len(options)))
                return Inject(k, self.term(options[k], env, 0), of)
            case Array(element):
                items = [self.term(element, env, 0) for _ in range(self.choose([0, 1, 2]))]
                return Elements(tuple(items), element)
            case Function(params, result):
                xs = tuple(self.var(t) for t in params)
                return Lambda(xs, self.term(result, (*env, *xs), 0))
        return lit(self.choose([0, 1, 2])) if of == INT else lit(True) if of == BOOL else lit(self.draw(numbers))

    def type(self):
        return self.draw(first_order)

    def let(self, of, env, depth):
        bound = self.term(self.type(), env, depth)
        x = self.var(bound.type)
        return Let(x, bound, self.term(of, (*env, x), depth))

    def proj(self, of, env, depth):
        k = self.choose([0, 1])
        other = self.type()
        return Proj(self.term(Product((of, other) if k == 0 else (other, of)), env, depth), k)

    def case(self, of, env, depth):
        scrutinee = self.term(Sum((self.type(), self.type())), env, depth)
        options = self.choose([(), (), (1, 0), (0, OTHERS), (1, OTHERS), (OTHERS,)])
        xs = [self.var(scrutinee.type.options[k] if k != OTHERS else UNIT) for k in options or (0, 1)]
        used = [() if k == OTHERS else (x,) for k, x in zip(options or (0, 1), xs, strict=True)]
        branches = (Branch(x, self.term(of, (*env, *own), depth)) for x, own in zip(xs, used, strict=True))
        return Case(scrutinee, tuple(branches), options)

    def condition(self, of, env, depth):
        return If(self.test(env, depth), self.term(of, env, depth), self.term(of, env, depth))

    def test(self, env, depth):
        return Op("lt", (self.term(FLOAT, env, depth), lit(0.123)), BOOL)

    def count(self, env):
        arrays = [v for v in env if isinstance(v.of, Array)]
        return Size(self.choose(arrays)) if arrays and self.draw(st.booleans()) else lit(self.choose([0, 1, 3]))

    def loop(self, of, env, depth):
        state, i = self.var(of), self.var(INT)
        body = self.term(of, (*env, state, i), depth)
        return For(self.count(env), i, state, self.term(of, env, depth), body)

    def repeat(self, of, env, depth):
        both = self.var(Product((of, INT)))
        inner = (*env, both)
        step = Tuple((self.term(of, inner, depth), Op("iadd", (Proj(both, 1), lit(1)), INT)))
        test = Op("lt", (Proj(both, 1), lit(self.choose([0, 2]))), BOOL)
        return Proj(While(both, Tuple((self.term(of, env, depth), lit(0))), test, step), 0)

    def index(self, of, env, depth):
        array = self.term(Array(of), env, depth)
        xs = self.var(array.type)
        i = Op("imod", (self.term(INT, env, 0), Size(xs)), INT)
        test = Op("lt", (lit(0), Size(xs)), BOOL)
        return Let(xs, array, If(test, Index(xs, i), self.term(of, env, 0)))

    def fold(self, of, env, depth):
        array = self.term(Array(of), env, depth)
        xs, a, b = self.var(array.type), self.var(of), self.var(of)
        test = Op("lt", (lit(0), Size(xs)), BOOL)
        whole = Fold(a, b, self.term(of, (*env, a, b), depth), xs)
        return Let(xs, array, If(test, whole, self.term(of, env, 0)))

    def apply(self, of, env, depth):
        params = tuple(self.type() for _ in range(self.choose([1, 2])))
        function = Function(params, of)
        known = [v for v in env if v.of == function]
        f = self.choose(known) if known else self.function(function, env, depth)
        args = tuple(self.term(t, env, depth - 1) for t in params)
        if known or self.draw(st.booleans()):
            return Apply(f, args)
        x = self.var(function)
        return Let(
            x, f, Apply(x, args) if of != FLOAT else Op("mul", (Apply(x, args), self.term(of, (*env, x), depth)))
        )

    def function(self, of, env, depth):
        xs = tuple(self.var(t) for t in of.params)
        made = Lambda(xs, self.term(of.result, (*env, *xs), depth))
        if self.draw(st.booleans()):
            return made
        ys = tuple(self.var(t) for t in of.params)
        return If(self.test(env, 0), made, Lambda(ys, self.term(of.result, (*env, *ys), depth - 1)))

    def introduce(self, of, env, depth):
        match of:
            case Product(items):
                if items and self.choose([True, False, False]):
                    k = self.choose(range(len(items)))
                    return Update(self.term(of, env, depth), k, self.term(items[k], env, depth))
                return Tuple(tuple(self.term(t, env, depth) for t in items))
            case Sum(options):
                if len(options) > 1 and self.choose([True, False, False]):
                    return Resize(self.term(Sum(options[: self.choose(range(1, len(options)))]), env, depth), of)
                k = self.choose(range(len(options)))
                return Inject(k, self.term(options[k], env, depth), of)
            case Array(element):
                return self.array(element, env, depth)
        if of == FLOAT:
            op = self.choose([*sorted(OPS), "total", "total"])
            if op == "total":
                return Total(self.term(Array(FLOAT), env, depth))
            return Op(op, tuple(self.term(FLOAT, env, depth) for _ in range(OPS[op])))
        if of == INT:
            return Op("iadd", (self.term(INT, env, depth), lit(1)), INT)
        return self.leaf(of, env)

    def array(self, element, env, depth):
        kind = self.choose(
            ["build", "elements", "map", "scan", "gather", "scatter", "replicate", "filter", "concatenate"]
        )
        of = Array(element)
        match kind:
            case "build":
                i = self.var(INT)
                return Build(self.count(env), i, self.term(element, (*env, i), depth))
            case "elements":
                return Elements(tuple(self.term(element, env, depth) for _ in range(self.choose([1, 2]))), element)
            case "map":
                arrays = tuple(self.term(Array(self.type()), env, depth) for _ in range(self.choose([1, 2])))
                xs = tuple(self.var(a.type.element) for a in arrays)
                return Map(xs, self.term(element, (*env, *xs), depth), arrays)
            case "scan":
                array = self.term(Array(self.type()), env, depth)
                s, x = self.var(element), self.var(array.type.element)
                return Scan(s, x, self.term(element, env, depth), self.term(element, (*env, s, x), depth), array)
            case "gather" | "scatter" if kind == "gather" or element == FLOAT:
                xs, j = self.var(of), self.var(INT)
                at = Op("imod", (Op("imul", (j, lit(2)), INT), Op("imax", (Size(xs), lit(1)), INT)), INT)
                n = Op("imul", (Op("imin", (Size(xs), lit(1)), INT), lit(self.choose([0, 2, 3]))), INT)
                if kind == "gather":
                    return Let(xs, self.term(of, env, depth), Gather(xs, Build(n, j, at)))
                k = self.var(INT)
                given = Build(n, k, self.term(FLOAT, (*env, k), depth))
                return Let(xs, self.term(of, env, depth), Scatter(xs, Build(n, j, at), given))
            case "replicate":
                return Replicate(self.count(env), self.term(element, env, depth))
            case "filter":
                x = self.var(element)
                return Filter(x, self.test((*env, x), 1), self.term(of, env, depth))
        return Concatenate(self.term(of, env, depth), self.term(of, env, depth))


def programs(depth=3, functions=True):
    """A context of first-order variables, their values, and a term of first-order type."""
    return st.seeded(program(depth, functions))


@st.composite
def program(draw, depth, functions):
    env = tuple(Var(f"x{i}", t) for i, t in enumerate(draw(st.lists(first_order, min_size=1, max_size=3))))
    maker = Draw(draw, functions)
    term = maker.term(draw(first_order), env, draw(st.integers(1, depth)))
    return env, [draw(values(v.of)) for v in env], term
