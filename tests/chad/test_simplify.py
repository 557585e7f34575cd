"""Laws of the simplification rules, the work that simplifying takes, and how CHAD's figures are printed."""

import itertools
import math
import operator
from collections import Counter

import pytest
from chad import laws
from chad.canonical import canonical
from chad.examples import figure_1a, figure_1b, figure_2a, figure_2b
from chad.terms_of_ec import programs
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tapeengine.chad.display import display
from tapeengine.chad.language.target import (
    Bind,
    Collect,
    ForEach,
    LApply,
    LCast,
    LDense,
    LInject,
    LLambda,
    LProj,
    LScale,
    LSingle,
    LTotal,
    LTuple,
    LUpdate,
    One,
    Plus,
    Return,
    Run,
    Scope,
    Then,
    Zero,
)
from tapeengine.chad.language.terms import (
    MANY,
    NOUGHT,
    Apply,
    Branch,
    Build,
    Case,
    Definition,
    Elements,
    If,
    Index,
    Inject,
    Lambda,
    Let,
    Map,
    Module,
    Op,
    Proj,
    Replicate,
    Size,
    Total,
    Tuple,
    Update,
    Var,
    lit,
    opened,
    unit,
)
from tapeengine.chad.language.traverse import Names, all_names, same, size
from tapeengine.chad.language.types import (
    BOOL,
    EVM,
    FLOAT,
    INT,
    UNIT,
    Array,
    LArray,
    LFunction,
    LProduct,
    LReal,
    LSum,
    Product,
    Sum,
)
from tapeengine.chad.reverse import reverse
from tapeengine.chad.simplify import fission, rules, simplify, simplify_module
from tapeengine.chad.simplify.effects import Step, of_other_parts, sequence
from tapeengine.chad.simplify.engine import Pass
from tapeengine.chad.simplify.lengths import Lengths
from tapeengine.chad.specification import Evaluator, derivative
from tapeengine.chad.specification.forward import forward
from tapeengine.chad.specification.ladder import reverse_in
from tapeengine.chad.specification.sparse import Sparse
from tapeengine.recursion import deep

REAL, PAIR = LReal(), LProduct((LReal(), LReal()))
x, y, z = (Var(n, FLOAT) for n in "xyz")
v, w = Var("v", REAL), Var("w", REAL)
q, r = Var("q", PAIR), Var("r", PAIR)
p = Var("p", Product((FLOAT, FLOAT)))
xs = Var("xs", Array(FLOAT))
n, i, k = Var("n", INT), Var("i", INT), Var("k", INT)
sin = Op("sin", (x,))
product = Op("mul", (x, y))
lin = LScale(v, x)
WORLD = {"x": 0.7, "y": -1.3, "v": 0.4, "w": 2.0, "q": (1.5, -2.0), "r": (0.25, 3.0), "p": (0.1, 0.2)}
WORLD |= {"xs": [1.0, -2.0, 0.5], "n": 3, "k": 1}
ARRAY = LDense(Build(n, i, LScale(v, Index(xs, i))))
FN = Var("f", Lambda((z,), product).type)


def by_components(term):
    """The sum of two linear tuples."""
    return rules.sum_of_components(term.left, term.right, Plus)


LAWS = [
    (rules.apply, Apply(Lambda((z,), Op("mul", (z, z))), (sin,))),
    (laws.let_rotate, Let(z, Let(Var("t", FLOAT), sin, Op("mul", (Var("t", FLOAT), y))), Op("add", (z, x)))),
    (
        laws.let_pair_split,
        Let(Var("t", p.of), Tuple((sin, product)), Op("mul", (Proj(Var("t", p.of), 0), Proj(Var("t", p.of), 1)))),
    ),
    (laws.let_inline, Let(z, sin, Op("mul", (z, x)))),
    (laws.let_inline, Let(z, x, Op("mul", (z, z)))),
    (rules.proj, Proj(Tuple((sin, product)), 0)),
    (rules.proj, Proj(Tuple((sin, product)), 1)),
    (rules.proj, LProj(LTuple((v, lin)), 1)),
    (rules.proj, Proj(Update(p, 0, sin), 0)),
    (rules.proj, Proj(Update(p, 0, sin), 1)),
    (rules.proj, LProj(LUpdate(q, 1, v), 1)),
    (rules.proj, LProj(LUpdate(q, 1, v), 0)),
    (rules.linear, LUpdate(Zero(PAIR), 1, Zero(REAL))),
    (by_components, Plus(LUpdate(q, 0, v), LUpdate(Zero(PAIR), 0, w))),
    (by_components, Plus(LUpdate(q, 0, v), LUpdate(Zero(PAIR), 1, w))),
    (by_components, Plus(LUpdate(Zero(PAIR), 0, v), LUpdate(q, 1, w))),
    (by_components, Plus(LUpdate(Zero(PAIR), 0, v), LUpdate(Zero(PAIR), 1, w))),
    (by_components, Plus(LUpdate(LTuple((v, w)), 0, w), LUpdate(Zero(PAIR), 1, lin))),
    (rules.tuple_, Tuple((Proj(p, 0), Proj(p, 1)))),
    (rules.tuple_, LTuple((LProj(q, 0), LProj(q, 1)))),
    (rules.proj, Proj(Let(z, sin, Tuple((z, z))), 0)),
    (rules.proj, Proj(Let(z, sin, Tuple((z, x))), 1)),
    (rules.plus, Plus(Zero(REAL), v)),
    (rules.plus, Plus(v, Zero(REAL))),
    (by_components, Plus(LTuple((v, w)), LTuple((w, lin)))),
    (rules.plus, Plus(Let(z, sin, LScale(v, z)), w)),
    (rules.plus, Plus(w, Let(z, sin, LScale(v, z)))),
    (rules.algebra, Op("mul", (NOUGHT, x))),
    (rules.algebra, Op("mul", (x, lit(1.0)))),
    (rules.algebra, Op("add", (NOUGHT, x))),
    (rules.algebra, Op("add", (x, lit(-0.0)))),
    (rules.algebra, Op("sub", (x, lit(0.0)))),
    (rules.algebra, LScale(v, lit(1.0))),
    (rules.linear, LDense(Map((z,), Zero(REAL), (xs,)))),
    (rules.total, LTotal(LDense(Map((z,), LTuple((LScale(v, z), w)), (xs,))))),
    (rules.total, LTotal(LDense(Build(n, i, LTuple((LScale(v, Index(xs, i)), w)))))),
    (rules.linear, LTotal(Zero(LArray(REAL)))),
    (rules.total, Total(Elements((sin,), FLOAT))),
    (
        rules.branch,
        Case(Inject(1, sin, Sum((UNIT, FLOAT))), (Branch(Var("u", UNIT), x), Branch(z, Op("mul", (z, z))))),
    ),
    (rules.branch, If(lit(False), x, y)),
    (rules.constant_fold, Op("add", (lit(2.0), lit(3.0)))),
    *((rules.power_partial, Op("powda", (x, lit(n)))) for n in (3.0, 2.0, 1.0, 0.5, -1.0, -2.5)),
    (rules.proj, LProj(Zero(PAIR), 0)),
    (rules.linear, LCast(1, LInject(1, v, LSum((REAL, REAL))), REAL)),
    (rules.linear, LSingle(k, Zero(REAL))),
    (rules.linear, LScale(Let(z, sin, LScale(v, z)), x)),
    (rules.tuple_, LTuple((v, Let(z, sin, LScale(v, z))))),
    (rules.collect, Collect(ARRAY, n)),
    (rules.index_build, Index(Build(n, i, Op("mul", (Index(xs, i), x))), lit(1))),
    (rules.size_build, Size(Build(n, i, x))),
    (rules.plus, Plus(ARRAY, LDense(Build(n, k, LScale(w, Index(xs, k)))))),
    (rules.apply, LApply(LLambda((z,), LScale(v, z)), (sin,))),
    (rules.apply, LApply(Zero(LFunction((FLOAT,), REAL)), (sin,))),
]


SLOTS = {"s": 0.0, "t": 0.0, "u": None, "xs": None}


def run(term, values=WORLD):
    evaluator = Evaluator(Module("", {}), Sparse())
    for name, zero in SLOTS.items():
        evaluator.slots.open(name, zero)
    result = evaluator(term, values)
    if isinstance(term.type, EVM):
        result = result()
    return settled(result, term), settled_slots(evaluator)


def settled(value, term):
    of = term.type
    if value is None and isinstance(of, LProduct):
        return tuple(0.0 for _ in of.items)
    if isinstance(of, LArray):
        return Sparse().collect(of, value, 3)
    return value


def flattened(value):
    return [x for item in value for x in flattened(item)] if isinstance(value, tuple | list) else [value]


def settled_slots(evaluator):
    slots = {name: evaluator.slots.close(name) for name in reversed(SLOTS)}
    arrays = {name: Sparse().collect(LArray(REAL), slots[name], 3) for name in ("u", "xs")}
    return slots | arrays


@pytest.mark.parametrize(("rule", "term"), LAWS, ids=lambda a: getattr(a, "__name__", ""))
def test_law(rule, term):
    result = rule(term)
    assert result is not None and result != term
    assert result.type == term.type
    assert run(result)[0] == pytest.approx(run(term)[0], rel=1e-15)


def test_a_scope_with_a_result_of_its_own_is_not_a_sum():
    inner = Scope("t", REAL, ONE_T)
    assert laws.scope_sum(Scope("s", REAL, Then(ONE_S, inner))) is None
    found = laws.scope_sum(Scope("s", REAL, Then(ONE_S, ForEach(n, i, ONE_T))))
    assert found is not None and found.type == Scope("s", REAL, Then(ONE_S, ONE_T)).type


def test_every_rule_of_table_1_has_a_law():
    tested = {rule for rule, _ in (*LAWS, *MONAD)}
    assert {f for some in rules.RULES.values() for f in some} <= tested


ONE_S, ONE_T = One("s", v), One("t", lin)


def sums(term):
    """The rule for loops of contributions, where nothing is known of what is outside."""
    return fission.for_each_sum(term, Names("xyzi"), Lengths({}, {}))


MONAD = [
    (laws.then_laws, Then(Return(unit()), ONE_S)),
    (laws.then_laws, Then(ONE_S, Return(unit()))),
    (laws.then_laws, Then(Let(z, sin, One("s", LScale(v, z))), ONE_T)),
    (laws.then_laws, Then(Then(ONE_S, ONE_T), ONE_S)),
    (laws.then_laws, Then(ONE_S, Let(z, sin, One("s", LScale(v, z))))),
    (laws.bind_laws, Bind(z, Return(sin), One("s", LScale(v, z)))),
    (laws.bind_laws, Bind(z, Then(ONE_S, Return(sin)), One("s", LScale(v, z)))),
    (laws.bind_laws, Bind(z, Let(y, sin, Return(y)), One("s", LScale(v, z)))),
    (laws.bind_laws, Bind(z, Bind(y, Return(sin), Return(y)), One("s", LScale(v, z)))),
    (rules.one_zero, One("s", Zero(REAL))),
    (rules.one_zero, One("s", Let(z, sin, LScale(v, z)))),
    (rules.one_zero, ForEach(n, i, Return(unit()))),
    (laws.scope_sum, Scope("s", REAL, Then(ONE_S, Then(ONE_T, One("s", lin))))),
    (laws.scope_sum, Scope("s", REAL, ONE_S)),
    (laws.scope_sum, Scope("s", REAL, Let(z, sin, One("s", LScale(v, z))))),
    (laws.run_sum, Run((("s", REAL), ("t", REAL)), Then(ONE_S, Then(ONE_T, One("s", lin))))),
    (sums, ForEach(n, i, One("s", LScale(v, Index(xs, i))))),
    (sums, ForEach(n, i, Then(ONE_S, ONE_T))),
    (sums, ForEach(n, i, One("u", LSingle(i, LScale(v, Index(xs, i)))))),
    (sums, ForEach(Size(xs), i, One("xs", LSingle(i, LScale(v, Index(xs, i)))))),
    (sums, ForEach(n, i, One("u", LSingle(k, v)))),
    (
        sums,
        ForEach(n, i, One("u", LSingle(Op("isub", (lit(2), i), INT), LScale(v, Index(xs, i))))),
    ),
    (
        sums,
        ForEach(n, i, Let(w, LScale(v, Index(xs, i)), Then(One("s", w), One("t", w)))),
    ),
]


@pytest.mark.parametrize(("rule", "term"), MONAD)
def test_monad_law(rule, term):
    result = rule(term)
    assert result is not None and result.type == term.type
    value, slots = run(result)
    expected, expected_slots = run(term)
    assert flattened(value) == pytest.approx(flattened(expected), rel=1e-15)
    for name, slot in slots.items():
        assert slot == pytest.approx(expected_slots[name], rel=1e-14)


def up_to_names(term):
    return canonical(simplify(term, Names(all_names(term))), [Var(name, of) for name, of in FREE.items()])


FREE = {v.name: v.of for v in (x, y, v, w, q, r, p, xs, n, k)}


@pytest.mark.parametrize(("rule", "term"), [*LAWS, *MONAD], ids=lambda a: getattr(a, "__name__", ""))
def test_the_simplifier_does_what_the_rule_does(rule, term):
    """A term and what one rule makes of it simplify to one term, up to names."""
    assert same(up_to_names(rule(term)), up_to_names(term))


def scalar_chain(size):
    """The reverse derivative of ``size`` statements, each with two uses of the one before."""
    value = Op("mul", (x, y))
    body = a = Var(f"a{size}", FLOAT)
    for i in range(size, 0, -1):
        before = Var(f"a{i - 1}", FLOAT)
        body = Let(a, Op("add", (Op("mul", (before, x)), Op("sin", (before,)))), body)
        a = before
    definition = Definition("f", (x, y), FLOAT, Let(a, value, body))
    return reverse(Module("f", {"f": definition})).definitions["f"].body


def branching_chain(size):
    """The same with a choice in each statement."""
    body = a = Var(f"a{size}", FLOAT)
    for i in range(size, 0, -1):
        before = Var(f"a{i - 1}", FLOAT)
        choice = If(Op("lt", (before, y), BOOL), Op("mul", (before, x)), Op("sin", (before,)))
        body = Let(a, choice, body)
        a = before
    definition = Definition("f", (x, y), FLOAT, Let(a, x, body))
    return reverse(Module("f", {"f": definition})).definitions["f"].body


def array_chain(size):
    """The reverse derivative of as many whole-array statements."""
    body = a = Var(f"a{size}", Array(FLOAT))
    for i in range(size, 0, -1):
        before, index = Var(f"a{i - 1}", Array(FLOAT)), Var(f"i{i}", INT)
        body = Let(a, Build(n, index, Op("sin", (Index(before, index),))), body)
        a = before
    definition = Definition("f", (xs, n), Array(FLOAT), Let(a, xs, body))
    return reverse(Module("f", {"f": definition})).definitions["f"].body


def work(term):
    """How many subterms are looked at until nothing changes, and in how many passes."""
    names, visited, passes = Names(all_names(term)), 0, 0
    with deep():
        while True:
            step = Pass(term, names)
            before, term = term, step.run()
            visited, passes = visited + step.visited, passes + 1
            if same(before, term):
                return visited, passes


@pytest.mark.parametrize("chain", [scalar_chain, branching_chain, array_chain])
def test_work_grows_as_the_program(chain):
    """Twice the program is twice the work, in as many passes."""
    with deep():
        found = [work(chain(size)) for size in (20, 40, 80)]
    (first, passes), (second, _), (third, last) = found
    assert last == passes <= 8
    assert third - second == pytest.approx(2 * (second - first), rel=0.02)


def test_a_dead_chain_goes_at_once():
    term = x
    for i in range(30, 0, -1):
        term = Let(Var(f"b{i}", FLOAT), Op("sin", (Var(f"b{i - 1}", FLOAT) if i > 1 else x,)), term)
    assert Pass(term, Names()).run() == x


def test_scope_is_kept_where_unknown_functions_may_contribute():
    f = Var("f", Lambda((v,), ONE_S).type)
    assert laws.scope_sum(Scope("s", REAL, Then(ONE_S, Apply(f, (v,))))) is None


@pytest.mark.parametrize("items", [(FLOAT,), (FLOAT, FLOAT), (FLOAT, REAL, FLOAT)])
def test_a_tuple_of_all_parts_of_a_value_is_the_value(items):
    p = Var("p", Product(items))
    parts = tuple(Proj(p, k) for k in range(len(items)))
    assert Pass(Tuple(parts), Names(["p"])).run() == p
    for other in (parts[1:], parts[::-1], (*parts, x)):
        if other != parts and other:
            assert Pass(Tuple(other), Names(["p"])).run() == Tuple(other)


def test_a_dead_part_of_a_tuple_goes_at_once():
    p = Var("p", Product((FLOAT, FLOAT)))
    for k in (0, 1):
        items = (sin, x) if k else (x, sin)
        assert Pass(Let(p, Tuple(items), Proj(p, k)), Names(["p"])).run() == x


def test_a_part_of_a_tuple_that_is_used_beside_the_tuple_is_computed_once():
    p = Var("p", Product((FLOAT, FLOAT)))
    found = Pass(Let(p, Tuple((sin, x)), Tuple((p, Proj(p, 0)))), Names(["p"])).run()
    assert str(found).count("'sin'") == 1


#: Uses of a tuple of a sine and a cosine: how often each part is used, and whether in a loop.
USES = {
    "whole": (p, {"sin": 1, "cos": 1}, False),
    "first": (Proj(p, 0), {"sin": 1}, False),
    "second": (Proj(p, 1), {"cos": 1}, False),
    "first in a loop": (Build(n, i, Proj(p, 0)), {"sin": 1}, True),
    "whole in a loop": (Build(n, i, p), {"sin": 1, "cos": 1}, True),
}


@pytest.mark.parametrize("uses", [u for k in (1, 2, 3) for u in itertools.combinations_with_replacement(USES, k)])
def test_parts_of_a_tuple_are_computed_once_and_outside_of_loops_and_named_only_if_they_must_be(uses):
    counts = Counter()
    for use in uses:
        counts += USES[use][1]
    looped = {op for use in uses if USES[use][2] for op in USES[use][1]}
    term = Let(p, Tuple((sin, Op("cos", (x,)))), Tuple(tuple(USES[use][0] for use in uses)))
    found = Pass(term, Names(all_names(term))).run()
    bound, body = opened(found)
    assert {op: str(found).count(f"'{op}'") for op in counts} == dict.fromkeys(counts, 1)
    is_kept = "whole" in uses and bool(looped)  # also parts that are used once, not in a loop
    assert len(bound) == sum(n > 1 or op in looped or is_kept for op, n in counts.items())
    assert all(f"'{op}'" not in str(body) for op in looped)
    parts = (math.sin(WORLD["x"]), math.cos(WORLD["x"]))
    each = {"whole": parts, "first": parts[0], "second": parts[1]}
    each |= {"first in a loop": [parts[0]] * WORLD["n"], "whole in a loop": [parts] * WORLD["n"]}
    assert run(found)[0] == tuple(each[use] for use in uses)


@pytest.mark.parametrize("size", [2, MANY, MANY + 1])
@pytest.mark.parametrize("whole", [0, 1, 2])
def test_tuples_of_any_length_keep_their_values_and_the_names_of_their_types(size, whole):
    of = Product((FLOAT,) * size, "Point", tuple(f"f{k}" for k in range(size)))
    p, items = Var("p", of), tuple(Op("sin", (Op("add", (x, lit(float(k)))),)) for k in range(size))
    term = Let(p, Tuple(items, of), Tuple((*[p] * whole, Proj(p, 1))))
    found = Pass(term, Names(all_names(term))).run()
    wanted = tuple(math.sin(WORLD["x"] + k) for k in range(size))
    assert run(found)[0] == (*[wanted] * whole, wanted[1])
    assert found.type == term.type
    assert str(found).count("'sin'") == (size if whole else 1)


def test_a_build_whose_elements_are_used_whole_is_not_split():
    pairs = Build(n, i, Tuple((sin, Lambda((v,), Op("mul", (v, x))))))
    m = Var("m", pairs.type)
    first = Proj(Index(m, k), 0)
    assert fission.build_pair_split(Let(m, pairs, Tuple((first, Size(m)))), Names(["m"])) is not None
    for use in (m, Index(m, k), Index(m, lit(0))):
        assert fission.build_pair_split(Let(m, pairs, Tuple((first, use))), Names(["m"])) is None


def test_cotangents_of_a_tuple_are_joined_only_if_they_are_of_other_parts():
    first, again, second = LTuple((v, Zero(REAL))), LUpdate(Zero(PAIR), 0, w), LTuple((Zero(REAL), w))
    assert of_other_parts(first, second) == LTuple((v, w))
    for other in (again, LUpdate(q, 1, w)):
        assert of_other_parts(first, other) is None
        assert of_other_parts(other, first) is None


@pytest.mark.parametrize("other", ["l", "z"])
def test_a_split_build_leaves_other_arrays_as_they_are(other):
    """Names before and after that of the build in the alphabet."""
    function = Lambda((v,), Op("mul", (v, x)))
    pairs = Build(n, i, Tuple((sin, function)))
    m, apart = Var("m", pairs.type), Var(other, pairs.type)
    rest = (Size(apart), Build(n, k, Proj(Index(apart, k), 0)), Proj(Index(apart, k), 0))
    found = fission.build_pair_split(Let(m, pairs, Tuple((Size(m), *rest))), Names(["m", other]))
    while isinstance(found, Let):
        found = found.body
    assert found == Tuple((n, *rest))


def test_a_scope_becomes_a_sum_where_all_its_contributions_are_known():
    """An unknown function contributes to no slot whose contributions all stand in the scope."""
    f = Var("f", Lambda((v,), ONE_T).type)
    found = Pass(Scope("s", REAL, Then(ONE_S, Apply(f, (v,)))), Names(["f", "v"])).run()
    assert found == Then(Apply(f, (v,)), Return(Tuple((unit(), v))))


def test_a_sequence_has_the_type_of_its_value():
    number, nothing = Step(Then(ONE_T, Return(sin))), Step(ONE_S)
    assert sequence([number, nothing], unit()) == Then(number.term, ONE_S)
    assert sequence([nothing, number], unit()) == Then(ONE_S, Then(number.term, Return(unit())))


@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(programs())
def test_simplify_keeps_the_meaning_and_is_idempotent(program):
    env, values, term = program
    simple = simplify(term, Names([v.name for v in env]))
    evaluate = Evaluator(Module("", {}))
    assert simple.type == term.type
    assert evaluate(simple, values) == evaluate(term, values)
    assert size(simplify(simple)) == size(simple)


FIGURE_9A = """\
def figure_1a(x: float):
    y = 2.0 * x
    z = x * y
    def backpropagator(v):
        v_1 = v[0]
        v_2 = v_1 * 2.0
        v_3 = v_1 * y + v_2 * x
        return (v_2, v_3, v_3 * -sin(z))
    return (y, z, cos(z)), backpropagator"""

FIGURE_9B = """\
def figure_1b(x1: float, x2: float, x3: float, x4: float):
    y = x1 * x4 + 2.0 * x2
    w = y * x3 + x4
    def backpropagator(d):
        d_w = d * cos(w)
        d_y = d_w * x3
        return (d_y * x4, d_y * 2.0, d_w * y, d_w + d_y * x1)
    return sin(w), backpropagator"""


def test_figures_1c_and_9a():
    """Forward derivative of Fig. 1(a); Fig. 9(a) up to names: y', z' and -sin z * z' are v_2, v_3 and the last item."""
    assert derivative(figure_1a, "tangent") == FIGURE_9A


def test_figures_1d_and_9b():
    """Reverse derivative of Fig. 1(b); Fig. 9(b) up to names: w' and y' are d_w and d_y."""
    assert figure_1b.derivative("accumulate") == FIGURE_9B


FIGURE_2D = """\
def figure_2b(x1: float, x2: Array[float]):
    n = len(x2)
    def backpropagator(d):
        return (sum(dense([d * x2[k] for k in range(n)])), dense([d * x1 for k_1 in range(n)]))
    return sum([x1 * x2[i] for i in range(n)]), backpropagator"""


def test_figures_2d_and_12():
    """Reverse derivative of Fig. 2(b): a sum for the cotangent of x1, a map (or zipWith) for that of x2.

    The cotangent of f, a copower in the paper, is gone: the local function is inlined before differentiation.
    """
    assert figure_2b.derivative("accumulate") == FIGURE_2D


FIGURE_2C = """\
def figure_2a(x: float, n: int):
    def backpropagator(v):
        v_1 = v[0]
        return dense([v_1 * x + v_1 * x for k in range(n)])
    return [x * x + 1.0 for i in range(n)], backpropagator"""


def test_figures_2c_and_11():
    """Forward derivative of Fig. 2(a): ys' = map (\\\\z. x' * z) zs + zipWith (\\\\z z'. x * z') zs zs'.

    Here zs = replicate x and zs' = replicate x' are inlined, so that z is x and z' is x'.
    """
    assert derivative(figure_2a, "tangent") == FIGURE_2C


def test_functions_in_both_modes_without_closing():
    """The same figures with functions differentiated as such: CHAD 7.4 with tangents, 7.5 with copowers."""
    by_tangents = display(simplify_module(forward(figure_2a.module)))
    assert "def y(z):" in by_tangents and "x * z + 1.0, backpropagator" in by_tangents
    by_copowers = display(simplify_module(reverse_in(figure_2b.module, "copower")))
    assert "copowfold" in by_copowers and "singleton" in by_copowers


def test_code_of_a_chain_of_functions_stays_linear():
    """Functions that call one another twice are not copied 2^n times: large ones become definitions."""
    from tapeengine.chad.language.terms import Definition
    from tapeengine.chad.prepare.close import close

    def chain(m):
        body = Var("x", FLOAT)
        for _ in range(12):
            body = Op(
                "add", (Op("sin", (Op("mul", (body, body)) if isinstance(body, Var) else body,)), Var("x", FLOAT))
            )
        for _ in range(6):
            body = Op("mul", (Op("add", (body, Var("x", FLOAT))), Op("sin", (Var("x", FLOAT),))))
        f = Lambda((Var("x", FLOAT),), body)
        names = [Var(f"f{j}", f.type) for j in range(m)]
        lets = []
        for j, name in enumerate(names):
            inner = f if j == 0 else twice(names[j - 1], body, j)
            lets.append((name, inner))
        term = Apply(names[-1], (Var("a", FLOAT),))
        for name, bound in reversed(lets):
            term = Let(name, bound, term)
        return Module("f", {"f": Definition("f", (Var("a", FLOAT),), FLOAT, term)})

    def twice(g, body, j):
        arg = Var(f"x_{j}", FLOAT)
        from tapeengine.chad.language.traverse import substitute

        return Lambda((arg,), Op("add", (Apply(g, (Apply(g, (arg,)),)), substitute(body, {"x": arg}))))

    sizes = [sum(size(d.body) for d in close(chain(m)).definitions.values()) for m in (2, 4, 8)]
    assert sizes[2] < 6 * sizes[0]
    assert BOOL != INT and r != q and FN.of.params == (FLOAT,) and isinstance(Replicate(n, x).type, Array)
    assert st is not None and product is not None


def test_an_element_at_a_negative_index_counts_from_the_end():
    term = Index(Build(n, i, Op("mul", (Index(xs, i), x))), k)
    assert rules.index_build(term) is None
    assert rules.index_build(Index(term.array, lit(-1))) is None
    assert run(rules.index_build(term, {"k"})) == run(term)
    assert run(simplify(Index(term.array, lit(-1)))) == run(Index(term.array, lit(-1)))
    for at, counting in ((lit(2), ()), (k, {"k"})):
        assert rules.index_build(Index(Replicate(n, sin), at), counting) == sin
    for at in (lit(-1), k):
        assert rules.index_build(Index(Replicate(n, sin), at), {"other"}) is None


ARITHMETIC = {"add": operator.add, "sub": operator.sub, "mul": operator.mul, "div": operator.truediv}


@pytest.mark.parametrize("op", ["add", "sub", "mul", "div", "iadd", "isub"])
@pytest.mark.parametrize("number", [0, 1, 2])
@pytest.mark.parametrize("side", [0, 1])
def test_algebra_keeps_values(op: str, number: int, side: int) -> None:
    """Each operation with each small number on each side: what stands for it has its value."""
    whole = op.startswith("i")
    constant = lit(number if whole else float(number))
    x = Var("x", INT if whole else FLOAT)
    args = (constant, x) if side == 0 else (x, constant)
    found = rules.algebra(Op(op, args, INT if whole else FLOAT))
    values = [number, 3] if side == 0 else [3, number]
    if found is not None:
        assert (3 if found == x else found.value) == ARITHMETIC[op.removeprefix("i")](*values)
