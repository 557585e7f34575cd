"""On random programs of the whole language: all derivatives agree with one another and with finite differences."""

import contextlib
import math

from chad.terms_of_ec import cotangents
from chad.terms_of_language import programs
from hypothesis import HealthCheck, Phase, assume, given, settings
from hypothesis import strategies as st

from tapeengine.chad.language.derivative_types import cotangent
from tapeengine.chad.language.terms import Definition, Module
from tapeengine.chad.language.types import FLOAT, Array, Product, Sum
from tapeengine.chad.prepare.close import close
from tapeengine.chad.reverse import reverse
from tapeengine.chad.simplify import simplify_module
from tapeengine.chad.specification import Evaluator
from tapeengine.chad.specification.dense import Dense
from tapeengine.chad.specification.forward import forward
from tapeengine.chad.specification.ladder import reverse_in
from tapeengine.chad.specification.sparse import Sparse

CALM = settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    report_multiple_bugs=False,
    phases=(Phase.explicit, Phase.reuse, Phase.generate),
)


def module_of(env, term):
    return Module("f", {"f": Definition("f", env, term.type, term)})


def flat(of, d):
    """A sparse cotangent as a mapping from paths to numbers, zeros left out."""
    found = {}

    def go(of, d, path):
        match of:
            case Product(items) if d is not None:
                for i, (t, x) in enumerate(zip(items, d, strict=True)):
                    go(t, x, (*path, i))
            case Sum(options) if d is not None:
                go(options[d.option], d.payload, path)
            case Array(element) if d is not None:
                entries = d.items() if isinstance(d, dict) else Sparse().entries(d) if isinstance(d, tuple) else d
                for i, x in entries:
                    go(element, x, (*path, i))
            case _ if of == FLOAT and d is not None:
                found[path] = found.get(path, 0.0) + d

    go(of, d, ())
    return {k: v for k, v in found.items() if v != 0}


def dense(of, d, value):
    """A cotangent in the dense representation (EC Fig. 4)."""
    linear = Dense()
    match of:
        case Product(items):
            return linear.zero(cotangent(of)) if d is None else tuple(map(dense, items, d, value))
        case Sum(options):
            return None if d is None else d._replace(payload=dense(options[d.option], d.payload, value.payload))
        case Array(element):
            if d is None:
                return {}
            return {i: dense(element, x, value[i]) for i, x in Sparse().entries(d)}
    return d


def close_to(a, b):
    scale = 1 + max(map(abs, (*a.values(), *b.values())), default=0.0)
    return all(abs(a.get(k, 0.0) - b.get(k, 0.0)) <= 1e-9 * scale for k in {*a, *b})


def finite(value):
    if isinstance(value, float):
        return math.isfinite(value) and abs(value) < 1e6
    return all(map(finite, value)) if isinstance(value, list | tuple) else True


def gradient(module, args, d, linear=None):
    evaluator = Evaluator(module, linear)
    value, back = evaluator.run("f", args)
    whole = back(d)
    return value, [None] * len(args) if whole is None else whole


@CALM
@given(programs(), st.data())
def test_forms_agree(program, data):
    env, args, term = program
    module = module_of(env, term)
    value = Evaluator(module).run("f", args)
    assume(finite(value))
    d = data.draw(cotangents(term.type, value))
    closed = close(module)
    assert Evaluator(closed).run("f", args) == value
    derivative = reverse(closed)
    got_value, expected = gradient(derivative, args, d)
    assert got_value == value
    expected = [flat(v.of, x) for v, x in zip(env, expected, strict=True)]
    others = {
        "simplified": (simplify_module(derivative), Sparse(), d),
        "sparse": (reverse_in(closed, "sparse"), Sparse(), d),
        "simplified sparse": (simplify_module(reverse_in(closed, "sparse")), Sparse(), d),
        "vector": (reverse_in(closed, "vector"), Dense(), dense(term.type, d, value)),
        "copower": (reverse_in(module, "copower"), Sparse(), d),
        "simplified copower": (simplify_module(reverse_in(module, "copower")), Sparse(), d),
    }
    for name, (other, linear, ct) in others.items():
        other_value, got = gradient(other, args, ct, linear)
        assert other_value == value, name
        for v, x, y in zip(env, got, expected, strict=True):
            assert close_to(flat(v.of, x), y), (name, v.name, flat(v.of, x), y)


@CALM
@given(programs(), st.data())
def test_forward_agrees_with_reverse(program, data):
    """The inner products tie jvp to vjp."""
    env, args, term = program
    module = module_of(env, term)
    closed = close(module)
    value = Evaluator(closed).run("f", args)
    assume(finite(value))
    d = data.draw(cotangents(term.type, value))
    tangents = tuple(data.draw(cotangents(v.of, x)) for v, x in zip(env, args, strict=True))
    _, got = gradient(reverse(closed), args, d)
    pairs = zip(env, got, tangents, strict=True)
    expected = sum(inner(v.of, x, t) for v, x, t in pairs)
    scale = 1 + sum(abs(x) for v, g in zip(env, got, strict=True) for x in flat(v.of, g).values())
    for name, source in {"closed": closed, "with functions": module}.items():
        for derivative in (forward(source), simplify_module(forward(source))):
            forward_value, ahead = Evaluator(derivative).run("f", args)
            assert forward_value == value, name
            assert abs(inner(term.type, d, ahead(tangents)) - expected) <= 1e-9 * scale, name


def inner(of, a, b):
    a, b = flat(of, a), flat(of, b)
    return math.fsum(x * b.get(k, 0.0) for k, x in a.items())


@CALM
@given(programs(), st.data())
def test_forward_agrees_with_finite_differences(program, data):
    env, args, term = program
    module = module_of(env, term)
    value = Evaluator(module).run("f", args)
    assume(finite(value))
    tangents = [data.draw(cotangents(v.of, x)) for v, x in zip(env, args, strict=True)]
    d = data.draw(cotangents(term.type, value))
    _, ahead = Evaluator(forward(close(module))).run("f", args)
    got = inner(term.type, d, ahead(tuple(tangents)))
    slopes = [slope(module, env, args, tangents, term.type, d, h) for h in (1e-4, 1e-5)]
    assume(None not in slopes and abs(slopes[0] - slopes[1]) <= 1e-4 * (1 + abs(slopes[0])))
    assert abs(got - slopes[1]) <= 1e-3 * (1 + abs(got))


def slope(module, env, args, tangents, of, d, h):
    ends = []
    for sign in (h, -h):
        moved = [move(v.of, x, t, sign) for v, x, t in zip(env, args, tangents, strict=True)]
        ends.append(Evaluator(module).run("f", moved))
    shapes = [structure(of, e) for e in ends]
    if shapes[0] != shapes[1]:
        return None
    return sum(weight * (at(of, ends[0], k) - at(of, ends[1], k)) for k, weight in flat(of, d).items()) / (2 * h)


def structure(of, value):
    match of:
        case Product(items):
            return tuple(map(structure, items, value))
        case Sum(options):
            return value.option, structure(options[value.option], value.payload)
        case Array(element):
            return [structure(element, x) for x in value]
    return None if of == FLOAT else value


def at(of, value, path):
    while isinstance(of, Sum):
        of, value = of.options[value.option], value.payload
    if not path:
        return value
    if isinstance(of, Product):
        return at(of.items[path[0]], value[path[0]], path[1:])
    return at(of.element, value[path[0]], path[1:])


def move(of, x, t, h):
    match of:
        case Product(items):
            return x if t is None else tuple(move(s, a, b, h) for s, a, b in zip(items, x, t, strict=True))
        case Sum(options):
            return x if t is None else x._replace(payload=move(options[x.option], x.payload, t.payload, h))
        case Array(element):
            moved = list(x)
            for i, b in Sparse().entries(t):
                moved[i] = move(element, moved[i], b, h)
            return moved
    return x + h * t if of == FLOAT else x


class Enough(Exception):
    pass


def test_the_random_programs_use_the_whole_language():
    from tapeengine.chad.language import terms as S
    from tapeengine.chad.language.traverse import children

    def kinds(term):
        return {type(term)} | {k for c, _ in children(term) for k in kinds(c)}

    kinds_of_terms = {value for value in vars(S).values() if isinstance(value, type) and issubclass(value, S.Term)}
    wanted = kinds_of_terms - {S.Call, S.Primitive, S.Term}
    found = set()

    @settings(max_examples=1500, database=None, deadline=None, phases=(Phase.generate,), derandomize=True)
    @given(programs(depth=4))
    def collect(program):
        found.update(kinds(program[2]))
        if wanted <= found:
            raise Enough

    with contextlib.suppress(Enough):
        collect()
    assert wanted <= found
