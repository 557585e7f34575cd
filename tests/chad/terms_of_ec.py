"""Random well-typed terms of EC's language (EC Fig. 1): reals, pairs, binary sums, let, case, sign, operations."""

from chad import drawing as st

from tapeengine.chad.language.terms import OTHERS, Branch, Case, If, Inject, Let, Op, Proj, Tuple, Update, Var, lit
from tapeengine.chad.language.traverse import Names
from tapeengine.chad.language.types import BOOL, FLOAT, INT, UNIT, Array, Product, Sum
from tapeengine.chad.language.values import Tagged

numbers = st.floats(-1.5, 1.5)
types = st.recursive(
    st.sampled_from([FLOAT, FLOAT, UNIT]),
    lambda inner: st.tuples(inner, inner).flatmap(lambda p: st.sampled_from([Product(p), Sum(p)])),
)
OPS = {"add": 2, "mul": 2, "neg": 1, "sin": 1}


def values(of):
    """Values of a first-order type, arrays among them."""
    match of:
        case Product(items):
            return st.tuples(*map(values, items))
        case Sum(options):
            return st.integers(0, len(options) - 1).flatmap(lambda k: values(options[k]).map(lambda v: Tagged(k, v)))
        case Array(element):
            return st.lists(values(element), max_size=3)
    return st.integers(-3, 3) if of == INT else st.booleans() if of == BOOL else numbers


def cotangents(of, value):
    """Sparse cotangents of a value."""
    return st.seeded(cotangent(of, value))


def cotangent(of, value):
    match of:
        case Product(()):
            return st.just(())
        case Product(items):
            return st.none() | st.tuples(*map(cotangent, items, value))
        case Sum(options):
            k, payload = value
            return st.none() | cotangent(options[k], payload).map(lambda d: Tagged(k, d))
        case Array(element):
            each = st.tuples(*(cotangent(element, v) for v in value))
            return st.none() | each.map(lambda ds: ("entries", list(enumerate(ds))))
    return numbers if of == FLOAT else st.just(())


@st.composite
def terms(draw, of, env, names, depth):
    """A term of a type in an environment (a tuple of variables)."""
    fitting = [v for v in env if v.of == of]
    if depth == 0 or draw(st.integers(0, 9)) == 0:
        return draw(leaf(of, fitting, env, names))
    sub = lambda t, e=env: terms(t, e, names, depth - 1)  # noqa: E731
    choices = ["let", "proj", "case", "intro", "if"] + (["var"] if fitting else [])
    match draw(st.sampled_from(choices)):
        case "var":
            return draw(st.sampled_from(fitting))
        case "let":
            bound = draw(sub(draw(types)))
            x = Var(names("x"), bound.type)
            return Let(x, bound, draw(sub(of, (*env, x))))
        case "proj":
            other = draw(types)
            k = draw(st.integers(0, 1))
            return Proj(draw(sub(Product((of, other) if k == 0 else (other, of)))), k)
        case "case":
            scrutinee = draw(sub(Sum((draw(types), draw(types)))))
            options = draw(st.sampled_from([(), (), (1, 0), (0, OTHERS), (1, OTHERS), (OTHERS,)]))
            xs = [Var(names("x"), scrutinee.type.options[k] if k != OTHERS else UNIT) for k in options or (0, 1)]
            used = [() if k == OTHERS else (x,) for k, x in zip(options or (0, 1), xs, strict=True)]
            branches = (Branch(x, draw(sub(of, (*env, *own)))) for x, own in zip(xs, used, strict=True))
            return Case(scrutinee, tuple(branches), options)
        case "if":
            return If(Op("lt", (draw(sub(FLOAT)), lit(0.0)), BOOL), draw(sub(of)), draw(sub(of)))
    return draw(introduction(of, sub))


@st.composite
def introduction(draw, of, sub):
    """A term by a constructor of its type."""
    match of:
        case Product(items):
            if items and draw(st.integers(0, 3)) == 0:
                k = draw(st.integers(0, len(items) - 1))
                return Update(draw(sub(of)), k, draw(sub(items[k])))
            return Tuple(tuple(draw(sub(t)) for t in items))
        case Sum(options):
            k = draw(st.integers(0, len(options) - 1))
            return Inject(k, draw(sub(options[k])), of)
    op = draw(st.sampled_from(sorted(OPS)))
    return Op(op, tuple(draw(sub(FLOAT)) for _ in range(OPS[op])))


@st.composite
def leaf(draw, of, fitting, env, names):
    """A term without choices left: a variable, or the smallest introduction."""
    if fitting and draw(st.booleans()):
        return draw(st.sampled_from(fitting))
    match of:
        case Product(items):
            return Tuple(tuple(draw(terms(t, env, names, 0)) for t in items))
        case Sum(options):
            k = draw(st.integers(0, len(options) - 1))
            return Inject(k, draw(terms(options[k], env, names, 0)), of)
    return lit(draw(st.floats(-2, 2)))


def programs(depth=5):
    """A context of variables, their values, and a term."""
    return st.seeded(program(depth))


@st.composite
def program(draw, depth):
    names = Names(["x0", "x1", "x2"])
    env = tuple(Var(f"x{i}", t) for i, t in enumerate(draw(st.lists(types, min_size=1, max_size=3))))
    term = draw(terms(draw(types), env, names, draw(st.integers(1, depth))))
    return env, {v.name: draw(values(v.of)) for v in env}, term
