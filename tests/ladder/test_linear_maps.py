"""WN Fig. 3 to 5: linear maps, by their laws."""

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tapeengine.ladder.wn import vectors
from tapeengine.ladder.wn.application import apply, reverse, transpose
from tapeengine.ladder.wn.linear_maps import Add, Compose, HCat, One, Scale, VCat, Zero

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
    """A linear map between two spaces, of any constructor that fits."""
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
