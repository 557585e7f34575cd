"""The outputs of CHAD Figures 1(c), 1(d), 2(c), 2(d) and 9 to 12 are those of the implementation, up to names.

Each figure is written down as the paper prints it. What stands between a figure and the simplified derivative is only
what the paper's appendix B names: reading ``map`` and ``zipWith`` as builds, the functions bound by let put in their
places (letLamPairSplit, then letInline), and the rules. Two terms are compared with every bound variable renamed.
"""

import pytest
from chad import evaluated as specification
from chad.canonical import canonical
from chad.examples import figure_1a, figure_1b, figure_2a, figure_2b

from tapeengine.chad.language.target import (
    LApply,
    LDense,
    LIndex,
    LLambda,
    LProj,
    LScale,
    LTotal,
    LTuple,
    Plus,
    Zero,
)  # fmt: skip
from tapeengine.chad.language.terms import (
    Apply,
    Build,
    Index,
    Lambda,
    Let,
    Module,
    Op,
    Proj,
    Replicate,
    Size,
    Total,
    Tuple,
    Var,
    lit,
)  # fmt: skip
from tapeengine.chad.language.traverse import Names, all_names, freshen, map_children, same
from tapeengine.chad.language.types import (
    FLOAT,
    INT,
    Array,
    Function,
    LArray,
    LFunction,
    Linear,
    LProduct,
    LReal,
    LUnit,
    Product,
)
from tapeengine.chad.simplify import simplify, simplify_module
from tapeengine.chad.specification import Evaluator
from tapeengine.chad.specification.forward import forward
from tapeengine.chad.specification.ladder import reverse_in
from tapeengine.chad.specification.sparse import Sparse

REAL = LReal()
x, x1, x2, x3, x4, y, z, w = (Var(n, FLOAT) for n in "x x1 x2 x3 x4 y z w".split())
x_, y_, z_, w_ = (Var(f"{n}'", REAL) for n in "xyzw")


def lets(*parts):
    """``lets(x, t, y, s, r)`` is ``let x = t; y = s in r``."""
    *bindings, term = parts
    for var, bound in reversed(list(zip(bindings[::2], bindings[1::2], strict=True))):
        term = Let(var, bound, term)
    return term


def mul(a, b):
    return Op("mul", (a, b))


def add(a, b):
    return Op("add", (a, b))


def cos(a):
    return Op("cos", (a,))


def sin(a):
    return Op("sin", (a,))


def generated(program, form):
    """The simplified derivative of a program: its parameters and its term."""
    executable = program.executable
    forms = {"accumulate": lambda: executable.reverse, "tangent": lambda: simplify_module(forward(executable.closed))}
    module = forms[form]() if form in forms else simplify_module(reverse_in(executable.module, form))
    definition = module.definitions[module.main]
    return definition.params, definition.body


def with_functions(program, transform, *form):
    """The simplified derivative of a program whose functions are differentiated as such (CHAD 7.4, 7.5)."""
    module = simplify_module(transform(program.module, *form))
    definition = module.definitions[module.main]
    return definition.params, definition.body


def alpha_equal(a, b, params):
    return same(canonical(a, params), canonical(b, params))


def inlined(term, names=None):
    """A term with the functions that a let binds in the places where they are used."""
    names = names or Names(all_names(term))
    if isinstance(term, Let) and isinstance(term.var.of, Function | LFunction):
        return inlined(placed(term.body, term.var.name, inlined(term.bound, names), names), names)
    return map_children(term, lambda child: inlined(child, names))


def placed(term, name, function, names):
    if isinstance(term, Var):
        return freshen(function, names) if term.name == name else term
    return map_children(term, lambda child: placed(child, name, function, names))


def normal(term, params):
    """A figure, by the rules."""
    return simplify(inlined(term), Names(all_names(term) | {p.name for p in params}))


# ---------------------------------------------------------------- first order: Fig. 1 and 9

d1 = Var("x'_env", LProduct((REAL,)))
FIGURE_1C = lets(
    y, mul(lit(2.0), x),
    z, mul(x, y),
    w, cos(z),
    Tuple((
        Tuple((y, z, w), Product((FLOAT, FLOAT, FLOAT))),
        Lambda((d1,), lets(
            x_, LProj(d1, 0),
            y_, LScale(x_, lit(2.0)),
            z_, Plus(LScale(x_, y), LScale(y_, x)),
            w_, LScale(z_, Op("neg", (sin(z),))),
            LTuple((y_, z_, w_)),
        )),
    )),
)  # fmt: skip
FIGURE_9A = lets(
    y, mul(lit(2.0), x),
    z, mul(x, y),
    Tuple((
        Tuple((y, z, cos(z)), Product((FLOAT, FLOAT, FLOAT))),
        Lambda((d1,), lets(
            x_, LProj(d1, 0),
            y_, LScale(x_, lit(2.0)),
            z_, Plus(LScale(x_, y), LScale(y_, x)),
            LTuple((y_, z_, LScale(z_, Op("neg", (sin(z),))))),
        )),
    )),
)  # fmt: skip
v_ = Var("v'", REAL)
FIGURE_1D = lets(
    y, add(mul(x1, x4), mul(lit(2.0), x2)),
    z, mul(y, x3),
    w, add(z, x4),
    Tuple((
        sin(w),
        Lambda((v_,), lets(
            w_, LScale(v_, cos(w)),
            z_, w_,
            y_, LScale(z_, x3),
            LTuple((LScale(y_, x4), LScale(y_, lit(2.0)), LScale(z_, y), Plus(w_, LScale(y_, x1)))),
        )),
    )),
)  # fmt: skip
FIGURE_9B = lets(
    y, add(mul(x1, x4), mul(lit(2.0), x2)),
    w, add(mul(y, x3), x4),
    Tuple((
        sin(w),
        Lambda((v_,), lets(
            w_, LScale(v_, cos(w)),
            y_, LScale(w_, x3),
            LTuple((LScale(y_, x4), LScale(y_, lit(2.0)), LScale(w_, y), Plus(w_, LScale(y_, x1)))),
        )),
    )),
)  # fmt: skip


def test_figure_9a_is_the_forward_derivative_of_1a():
    params, term = generated(figure_1a, "tangent")
    assert alpha_equal(term, FIGURE_9A, params)


def test_figure_9b_is_the_reverse_derivative_of_1b():
    params, term = generated(figure_1b, "accumulate")
    assert alpha_equal(term, FIGURE_9B, params)


def test_figure_9b_by_copowers_and_by_accumulation():
    """With cotangents of environments as nested pairs (CHAD 7.5) the result is the same up to names."""
    for form in ("copower", "accumulate"):
        params, term = generated(figure_1b, form)
        assert alpha_equal(term, FIGURE_9B, params), form


def test_figures_1c_and_1d_simplify_to_9a_and_9b():
    assert alpha_equal(normal(FIGURE_1C, (x,)), FIGURE_9A, (x,))
    params = (x1, x2, x3, x4)
    assert alpha_equal(normal(FIGURE_1D, params), FIGURE_9B, params)


# ---------------------------------------------------------------- functions: Fig. 2, 10, 11 and 12

n, i, k, j = (Var(name, INT) for name in "nikj")
u, t = Var("u", FLOAT), Var("t", FLOAT)
zs, x2s = Var("zs", Array(FLOAT)), Var("x2", Array(FLOAT))
zs_, ys_ = Var("zs'", LArray(REAL)), Var("ys'", LArray(REAL))
NIL = LUnit()
SNOC = LProduct((NIL, REAL))
env = Var("x'_env", LProduct((REAL, NIL)))
x_env = LTuple((Zero(NIL), x_))  # the environment as the paper's implementation nests it: 1 * real
no_x, no_z = Zero(SNOC), Zero(REAL)


def apply(function, *args):
    """``function arg1 arg2 ...``, one after the other."""
    for arg in args:
        function = (LApply if isinstance(function.type, LFunction) else Apply)(function, (arg,))
    return function


def fun(param, body):
    return (LLambda if isinstance(body.type, Linear) and param.of == FLOAT else Lambda)((param,), body)


def named(name, function):
    """A variable for a function, and the function."""
    return Var(name, function.type), function


def product_with_derivative(arg, arg_, body):
    """``\\z. <body, \\z'. c * z'>`` of Fig. 2(c) and (d)."""
    return Lambda((arg,), Tuple((body, Lambda((arg_,), LScale(arg_, x if arg is z else x1)))))


f, f_of_z = named("f", product_with_derivative(z, z_, add(mul(x, z), lit(1.0))))
f_, x_times = named("f'", fun(u, LScale(x_, u)))
FIGURE_2C = lets(
    f, f_of_z,
    zs, Replicate(n, x),
    Tuple((
        Build(n, i, Proj(apply(f, Index(zs, i)), 0)),
        Lambda((env,), lets(
            x_, LProj(env, 0),
            f_, x_times,
            zs_, LDense(Replicate(n, x_)),
            Plus(
                LDense(Build(n, k, apply(f_, Index(zs, k)))),
                LDense(Build(n, j, apply(Proj(apply(f, Index(zs, j)), 1), LIndex(zs_, j)))),
            ),
        )),
    )),
)  # fmt: skip

v = Var("v", LProduct((SNOC, REAL)))
g_, both = named("f'", Lambda((z,), Lambda((v,), Plus(LScale(LProj(v, 1), x), LScale(LProj(LProj(v, 0), 1), z)))))
FIGURE_11 = lets(
    g_, both,
    zs, Replicate(n, x),
    Tuple((
        Build(n, i, add(mul(x, Index(zs, i)), lit(1.0))),
        Lambda((env,), lets(
            x_, LProj(env, 0),
            zs_, LDense(Replicate(n, LProj(x_env, 1))),
            Plus(
                LDense(Build(n, k, apply(g_, Index(zs, k), LTuple((no_x, LIndex(zs_, k)))))),
                LDense(Build(n, j, apply(g_, Index(zs, j), LTuple((x_env, no_z))))),
            ),
        )),
    )),
)  # fmt: skip

INNER = LProduct((SNOC, LFunction((FLOAT,), REAL)))
OUTER = LProduct((INNER, LArray(REAL)))
denv = Var("denv", LProduct((OUTER, REAL)))
dfun = Var("dfun", both.body.type)
g, g_of_z = named("g", Lambda((t,), lets(
    dfun, apply(g_, t),
    Tuple((
        add(mul(x, t), lit(1.0)),
        Lambda((denv,), Plus(
            apply(LProj(LProj(LProj(denv, 0), 0), 1), t),
            apply(dfun, LTuple((no_x, LProj(denv, 1)))),
        )),
    )),
)))  # fmt: skip
FIGURE_10 = lets(
    g_, both,
    zs, Replicate(n, x),
    g, g_of_z,
    Tuple((
        Build(n, i, Proj(apply(g, Index(zs, i)), 0)),
        Lambda((env,), lets(
            x_, LProj(env, 0),
            zs_, LDense(Replicate(n, LProj(x_env, 1))),
            Plus(
                LDense(Build(n, k, apply(
                    Proj(apply(g, Index(zs, k)), 1), LTuple((Zero(OUTER), LIndex(zs_, k))),
                ))),
                LDense(Build(n, j, apply(
                    Proj(apply(g, Index(zs, j)), 1),
                    LTuple((LTuple((LTuple((x_env, fun(u, apply(g_, u, LTuple((x_env, no_z)))))), zs_)), no_z)),
                ))),
            ),
        )),
    )),
)  # fmt: skip

h, h_of_x2 = named("f", product_with_derivative(u, y_, mul(x1, u)))
# zip x2 ys' is read as the pair of its arrays
FIGURE_2D = lets(
    h, h_of_x2,
    n, Size(x2s),
    Tuple((
        Total(Build(n, i, Proj(apply(h, Index(x2s, i)), 0))),
        Lambda((w_,), lets(
            ys_, LDense(Replicate(n, w_)),
            LTuple((
                LTotal(LDense(Build(n, k, LScale(LIndex(ys_, k), Index(x2s, k))))),
                LDense(Build(n, j, apply(Proj(apply(h, Index(x2s, j)), 1), LIndex(ys_, j)))),
            )),
        )),
    )),
)  # fmt: skip
FIGURE_12 = lets(
    n, Size(x2s),
    Tuple((
        Total(Build(n, i, mul(x1, Index(x2s, i)))),
        Lambda((w_,), lets(
            ys_, LDense(Replicate(n, w_)),
            LTuple((
                LTotal(LDense(Build(n, k, LScale(LIndex(ys_, k), Index(x2s, k))))),
                LDense(Build(n, j, LScale(LIndex(ys_, j), x1))),
            )),
        )),
    )),
)  # fmt: skip


@pytest.mark.parametrize("figure", [FIGURE_2C, FIGURE_10, FIGURE_11], ids=["2(c)", "10", "11"])
def test_figures_2c_10_and_11_are_the_forward_derivative_of_2a(figure):
    params, term = generated(figure_2a, "tangent")
    assert alpha_equal(normal(figure, (x, n)), term, params)


@pytest.mark.parametrize("figure", [FIGURE_2D, FIGURE_12], ids=["2(d)", "12"])
def test_figures_2d_and_12_are_the_reverse_derivative_of_2b(figure):
    params, term = generated(figure_2b, "accumulate")
    assert alpha_equal(normal(figure, (x1, x2s)), term, params)


def test_functions_differentiated_as_such_give_the_figures_too():
    """CHAD 7.4 on Fig. 2(a) without closing it first: with its functions in their places it is Fig. 2(c)."""
    params, term = with_functions(figure_2a, forward)
    assert alpha_equal(normal(term, params), normal(FIGURE_2C, params), params)


FIGURES = {
    "1(c)": (FIGURE_1C, figure_1a, (1.3,), (0.7,)),
    "9(a)": (FIGURE_9A, figure_1a, (1.3,), (0.7,)),
    "2(c)": (FIGURE_2C, figure_2a, (1.3, 3), (0.7, None)),
    "10": (FIGURE_10, figure_2a, (1.3, 3), (0.7, None)),
    "11": (FIGURE_11, figure_2a, (1.3, 3), (0.7, None)),
}
REVERSE = {
    "1(d)": (FIGURE_1D, figure_1b, (0.3, -1.2, 0.8, 2.0)),
    "9(b)": (FIGURE_9B, figure_1b, (0.3, -1.2, 0.8, 2.0)),
    "2(d)": (FIGURE_2D, figure_2b, (0.3, [1.0, -2.0])),
    "12": (FIGURE_12, figure_2b, (0.3, [1.0, -2.0])),
}


def evaluated(term, program, args):
    """The value of a figure, and the linear function that it gives with it."""
    evaluator = Evaluator(Module("", {}), Sparse())
    names = [p.name for p in program.executable.definition.params]
    return evaluator(term, dict(zip(names, args, strict=True))), evaluator.linear


@pytest.mark.parametrize("name", FIGURES)
def test_a_forward_figure_computes_the_derivative(name):
    """What is written down above is the derivative before any rule is applied to it."""
    term, program, args, tangents = FIGURES[name]
    (value, ahead), linear = evaluated(term, program, args)
    wanted, expected = specification.jvp(program.executable, args, tangents)
    given = tuple(t for t in tangents if t is not None) + ((),) * tangents.count(None)
    tangent = ahead(given)
    found = linear.collect(LArray(REAL), tangent, len(value)) if isinstance(value, list) else tangent
    assert list(value) == pytest.approx(list(wanted))
    assert list(found) == pytest.approx(list(expected))


@pytest.mark.parametrize("name", REVERSE)
def test_a_reverse_figure_computes_the_derivative(name):
    term, program, args = REVERSE[name]
    (value, back), linear = evaluated(term, program, args)
    wanted, backpropagator = specification.vjp(program.executable, args)
    found = back(0.9)
    assert value == pytest.approx(wanted)
    for d, expected in zip(found, backpropagator(0.9), strict=True):
        flat = linear.collect(LArray(REAL), d, 2) if isinstance(expected, list) else d
        assert flat == pytest.approx(expected)


def test_figures_differ_where_they_should():
    """Comparing up to names tells terms apart that differ in more."""
    params = (x1, x2, x3, x4)
    assert not alpha_equal(FIGURE_9B, FIGURE_1D, params)
    assert not alpha_equal(LScale(v_, x1), LScale(v_, x2), params)
    assert alpha_equal(Let(y, x1, y), Let(z, x1, z), params)
