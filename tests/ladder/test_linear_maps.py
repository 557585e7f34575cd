"""WN Fig. 3 to 5: linear maps, by their laws."""

import math

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from asv_bench.ladder_programs import folded_product
from tapeengine.ladder.wn import vectors
from tapeengine.ladder.wn.application import apply, reverse, transpose
from tapeengine.ladder.wn.families import Family
from tapeengine.ladder.wn.full import jacobian
from tapeengine.ladder.wn.linear_maps import Add, Compose, HCat, Lambda, One, Scale, TLambda, VCat, Zero

INTEGERS = st.integers(-4, 4).map(float)


def spaces(depth=2):
    """Shapes of vectors: None for R, a tuple for a product."""
    if depth == 0:
        return st.none()
    return st.one_of(st.none(), st.lists(spaces(depth - 1), min_size=1, max_size=3).map(tuple))


def vector(space):
    return INTEGERS if space is None else st.tuples(*map(vector, space))


@st.composite
def maps(draw, source, target, depth=3):
    """A random linear map between two spaces, from any constructor that fits."""
    kinds = ["zero"]
    if source == target:
        kinds += ["one", "scale"]
    if depth:
        kinds += ["compose", "add"] + ["vcat"] * 3 * (target is not None) + ["hcat"] * 3 * (source is not None)
    match draw(st.sampled_from(kinds)):
        case "zero":
            return Zero()
        case "one":
            return One()
        case "scale":
            return Scale(draw(INTEGERS))
        case "compose":
            middle = draw(spaces())
            return Compose(draw(maps(middle, target, depth - 1)), draw(maps(source, middle, depth - 1)))
        case "add":
            return Add(draw(maps(source, target, depth - 1)), draw(maps(source, target, depth - 1)))
        case "vcat":
            return VCat(tuple(draw(maps(source, part, depth - 1)) for part in target))
        case "hcat":
            return HCat(tuple(draw(maps(part, target, depth - 1)) for part in source))


@st.composite
def situations(draw):
    source, target = draw(spaces()), draw(spaces())
    return draw(maps(source, target)), draw(maps(source, target)), draw(vector(source)), draw(vector(target))


@given(situations())
def test_semantics_transposes_and_reverse_application(situation):
    """All numbers are small integers, so that the laws hold to the last bit."""
    m, other, s, t = situation
    image = apply(m, s)
    assert vectors.full(apply(m, vectors.scale(3.0, s)), t) == vectors.full(vectors.scale(3.0, image), t)
    assert vectors.full(apply(m, vectors.add(s, s)), t) == vectors.full(vectors.add(image, image), t)
    assert vectors.dot(reverse(t, m), s) == vectors.dot(t, image)
    assert vectors.full(reverse(t, m), s) == vectors.full(apply(transpose(m), t), s)
    assert transpose(transpose(m)) == m
    for one, two in laws(m, other):
        assert vectors.full(apply(one, s), t) == vectors.full(apply(two, s), t)
    below = Compose(VCat((One(), Scale(2.0))), m), VCat((m, Compose(Scale(2.0), m)))
    assert vectors.full(apply(below[0], s), (t, t)) == vectors.full(apply(below[1], s), (t, t))


def laws(m, n):
    """WN Fig. 4: properties of linear maps."""
    yield Compose(Zero(), m), Zero()
    yield Compose(m, Zero()), Zero()
    yield Compose(One(), m), m
    yield Compose(m, One()), m
    yield Add(m, Zero()), m
    yield Add(m, n), Add(n, m)
    yield Compose(HCat((One(), Scale(2.0))), VCat((m, n))), Add(m, Compose(Scale(2.0), n))
    yield Compose(Scale(2.0), Compose(Scale(3.0), m)), Compose(Scale(6.0), m)
    yield Add(Compose(Scale(2.0), m), Compose(Scale(3.0), m)), Compose(Scale(5.0), m)


@pytest.mark.parametrize("k", [1.0, -2.0])
def test_matrices(k):
    """WN Fig. 3, last column."""
    m = VCat((HCat((Scale(1.0), Scale(2.0))), HCat((Scale(k), Zero())), HCat((Scale(5.0), Scale(6.0)))))
    matrix = numpy.array([[1.0, 2.0], [k, 0.0], [5.0, 6.0]])
    assert vectors.full(apply(m, (3.0, 4.0)), (0.0,) * 3) == tuple(matrix @ [3.0, 4.0])
    assert vectors.full(reverse((1.0, 2.0, 3.0), m), (0.0,) * 2) == tuple([1.0, 2.0, 3.0] @ matrix)


@st.composite
def families(draw, space):
    """A family of vectors, everywhere or on a finite support."""
    vectors_ = draw(st.lists(vector(space), min_size=4, max_size=4))
    support = draw(st.none() | st.frozensets(st.integers(0, 9), max_size=5))
    return Family(lambda i: vectors_[i % 4], support)


@st.composite
def over_the_naturals(draw):
    source, target = draw(spaces()), draw(spaces())
    made = draw(st.lists(maps(source, target), min_size=3, max_size=3))
    support = draw(st.none() | st.frozensets(st.integers(0, 9), max_size=5))
    one, other = draw(vector(source)), draw(vector(target))
    on_source, on_target = draw(families(source)), draw(families(target))
    return Family(lambda i: made[i % 3], support), one, other, on_source, on_target


def finite(family):
    """The same values on a finite support."""
    return family if family.support is not None else Family(family.at, frozenset({1, 4, 6}))


@given(over_the_naturals())
def test_linear_maps_over_the_naturals(situation):
    """WN Fig. 4 and 5, and section 2.7: L and L', their semantics, transposes and reverse application."""
    f, s, t, g, h = situation
    g, h = finite(g), finite(h)
    image = apply(Lambda(f), s)
    for i in range(12):
        assert vectors.full(image[i], t) == vectors.full(apply(f[i] or Zero(), s), t)
    total = [vectors.full(apply(f[i] or Zero(), g[i]), t) for i in sorted(g.support)]
    assert vectors.full(apply(TLambda(f), g), t) == vectors.full(vectors.total(total), t)
    assert vectors.dot(reverse(h, Lambda(f)), s) == vectors.dot(h, image)
    assert vectors.dot(reverse(t, TLambda(f)), g) == vectors.dot(t, apply(TLambda(f), g))
    assert vectors.full(reverse(h, Lambda(f)), s) == vectors.full(apply(transpose(Lambda(f)), h), s)
    back, transposed = reverse(t, TLambda(f)), apply(transpose(TLambda(f)), t)
    for i in range(12):
        assert vectors.full(back[i], s) == vectors.full(transposed[i], s)
    twice = apply(transpose(transpose(Lambda(f))), s)
    assert [vectors.full(twice[i], t) for i in range(12)] == [vectors.full(image[i], t) for i in range(12)]


@given(over_the_naturals())
def test_families_are_a_vector_space(situation):
    _, s, _, g, _ = situation
    both, scaled = g + finite(g), 3.0 * g
    for i in range(12):
        assert vectors.full(both[i], s) == vectors.full(vectors.add(g[i], finite(g)[i]), s)
        assert vectors.full(scaled[i], s) == vectors.full(vectors.scale(3.0, g[i]), s)


def test_an_infinite_sum_is_refused():
    """WN section 2.7."""
    everywhere = Family(lambda i: 1.0)
    with pytest.raises(ValueError, match="over all of N"):
        apply(TLambda(Family(lambda i: One())), everywhere)
    assert apply(TLambda(Family(lambda i: Scale(float(i)), frozenset({2, 5}))), everywhere) == 7.0


@pytest.mark.parametrize("n", [0, 1, 5])
def test_folds_as_linear_maps(n):
    """WN Fig. 12 to 15: FFold and RFold of a product, and their transposes."""
    module = folded_product(n)
    found = jacobian(module, 2.0)
    assert found.value == math.prod(2.0 + k for k in range(1, n + 1))
    slope = sum(found.value / (2.0 + k) for k in range(1, n + 1))
    for derivative in (apply(found.map, (1.0,)), reverse(1.0, found.map), apply(transpose(found.map), 1.0)):
        assert vectors.full(derivative if isinstance(derivative, tuple) else (derivative,), (1.0,)) == (
            pytest.approx(slope, rel=1e-14),
        )
    assert apply(transpose(transpose(found.map)), (1.0,)) == apply(found.map, (1.0,))
    assert vectors.full(reverse((1.0,), transpose(found.map)), 1.0) == vectors.full(apply(found.map, (1.0,)), 1.0)
