"""Vector spaces of values: the laws of the protocol on drawn structures, and membership in a space."""

import copy
import re
import sys
from collections import OrderedDict, defaultdict, deque, namedtuple
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tapeengine.primitive.spaces import Space, children, is_whole, leaves, space_of
from tapeengine.testing.derivative import is_exactly_zero, same_bits

Pair = namedtuple("Pair", "left right")


@dataclass(frozen=True)
class Layer:
    weights: Any
    name: str


DTYPES = st.sampled_from([np.float32, np.float64, np.complex64, np.complex128])
SHAPES = st.lists(st.integers(0, 3), max_size=3).map(tuple)
ARRAYS = st.builds(lambda shape, dtype: np.ones(shape, dtype), SHAPES, DTYPES)
LEAVES = st.one_of(st.just(1.5), st.just(2j), ARRAYS, st.just(3), st.none(), st.just("text"), st.just(np.arange(3)))
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.tuples(inner, inner),
        st.dictionaries(st.text(max_size=2), inner, max_size=3),
        st.builds(Pair, inner, inner),
        st.builds(Layer, inner, st.just("name")),
    ),
    max_leaves=6,
)
GENERATOR = st.integers(0, 2**32 - 1).map(np.random.default_rng)


@given(VALUES, GENERATOR)
def test_random_elements_and_zeros_lie_in_the_space(value: Any, generator: np.random.Generator) -> None:
    space = space_of(value)
    assert space.mismatch(space.random(generator)) is None
    assert space.mismatch(space.zeros()) is None
    assert is_exactly_zero(space.zeros())
    assert space.norm(space.zeros()) == 0.0
    assert space.size == sum(map(np.size, leaves(value)))
    assert space == space_of(copy.deepcopy(value))
    assert hash(space) == hash(space_of(copy.deepcopy(value)))


@pytest.mark.parametrize(
    "value", [1.5, 2j, *(dtype(1.5) for dtype in (np.float32, np.float64, np.complex64))], ids=repr
)
def test_the_zero_of_a_number_has_its_class(value: Any) -> None:
    """The zero of a real number in double precision is Python's: one of numpy's would change the class of a sum."""
    wanted = float if isinstance(value, float) else np.asarray(value).dtype.type
    assert type(space_of(value).zeros()) is wanted
    assert space_of(value).zeros() == 0


@pytest.mark.parametrize("dtype", [float, "f4", np.complex64, np.dtype("f8")])
def test_a_space_may_be_given_by_whatever_names_a_dtype(dtype: Any) -> None:
    assert Space((2,), dtype).zeros().dtype == np.dtype(dtype)
    assert Space((2,), dtype).dtype.itemsize == np.dtype(dtype).itemsize


@given(VALUES, GENERATOR)
def test_the_laws_of_a_vector_space(value: Any, generator: np.random.Generator) -> None:
    space = space_of(value)
    u, v, w = (space.random(generator) for _ in range(3))
    assert same_bits(space.add(u, v), space.add(v, u))
    assert same_bits(space.add(u, space.zeros()), u)
    assert same_bits(space.add(u, u), space.scale(u, 2.0))
    assert space.inner(u, v) == pytest.approx(space.inner(v, u), rel=1e-12, abs=1e-12)
    split = space.inner(u, w) + space.inner(v, w)
    assert space.inner(space.add(u, v), w) == pytest.approx(split, rel=1e-5, abs=1e-4)
    assert space.norm(space.scale(u, -2.0)) == pytest.approx(2.0 * space.norm(u), rel=1e-5)


def test_random_elements_are_drawn_in_their_own_field() -> None:
    draw = np.random.default_rng(5).standard_normal
    assert same_bits(Space((3,)).random(np.random.default_rng(5)), draw(3))
    draw = np.random.default_rng(5).standard_normal
    assert same_bits(Space((3,), np.dtype(complex)).random(np.random.default_rng(5)), draw(3) + 1j * draw(3))


def test_only_complex_spaces_are_complex() -> None:
    for value, expected in ((1.0, False), (1j, True), (np.ones(2), False), (np.ones(2, "c8"), True), ([1.0, 1j], True)):
        assert space_of(value).is_complex is expected
    assert space_of([1.0, 2.0]).is_complex is False
    assert Space((), np.dtype(bool)).is_complex is False


def test_spaces_are_equal_if_all_of_their_parts_are() -> None:
    values = [(1.0, 2.0), [1.0, 2.0], (1.0,), (1.0, 1j), {"a": 1.0}, {"b": 1.0}, 1.0, 1j, np.ones(2), np.ones(2, "f4")]
    for i, a in enumerate(values):
        for j, b in enumerate(values):
            assert (space_of(a) == space_of(b)) is (i == j)


def test_spaces_are_equal_whichever_object_describes_their_dtype() -> None:
    """numpy makes a new dtype object each time that it reads a byte order which is not the machine's."""
    swapped = np.dtype(float).newbyteorder()
    assert Space((2,), np.dtype(swapped.str)) == Space((2,), np.dtype(swapped.str)) != Space((2,))


def test_the_inner_product_does_not_conjugate() -> None:
    assert space_of(1j).inner(1j, 1j) == -1.0
    assert space_of(np.ones(2)).inner(np.array([1.0, 2.0]), np.array([3.0, 4.0])) == 11.0


def test_a_narrow_inner_product_is_summed_in_double_precision() -> None:
    ones = np.ones(2**12, np.float32)
    assert space_of(ones).inner(ones * np.float32(1e-4), ones) == pytest.approx(0.4096, rel=1e-7)
    assert space_of(ones).inner(ones, ones + np.float32(2.0**-20)) == 2**12 + 2.0**-8


@pytest.mark.parametrize("scalar", [1.0, np.float64(1.0), np.array(1.0)])
def test_a_float_is_a_value_of_shape_nothing(scalar: Any) -> None:
    assert space_of(scalar) == Space(())


@pytest.mark.parametrize(
    ("value", "other", "message"),
    [
        (1.0, np.ones(2), r"v must be in Space\(\(\), float64\), not in Space\(\(2,\), float64\)"),
        ([np.ones(2, np.float32)], [np.ones(2)], r"v\[0\] must be in Space\(\(2,\), float32\)"),
        (Pair(1.0, 2.0), (1.0, 2.0), "v must be a Pair"),
        ((1.0, 2.0), (1.0, 2.0, 3.0), r"v must be a tuple with \[0\], \[1\]"),
        ({"a": Pair(1.0, [2.0])}, {"a": Pair(1.0, [2j])}, r"v\['a'\]\.right\[0\] must be in"),
        ({"a": 1.0}, {"b": 1.0}, "v must be a dict"),
        ((3, 1.0), (3, 1.0), r"v\[0\] belongs to a discrete value and must be None, not int"),
        (Layer(1.0, "x"), Layer(None, None), r"v\.weights must be in"),
    ],
)
def test_a_mismatch_names_the_place(value: Any, other: Any, message: str) -> None:
    wrong = space_of(value).mismatch(other, "v")
    assert wrong is not None
    assert re.match(message, wrong)


def test_discrete_spaces() -> None:
    space = space_of((1, True, None, "text", np.arange(3), np.int64(2)))
    assert space.is_discrete
    assert space.zeros() == (None,) * 6
    assert space.inner(space.zeros(), space.zeros()) == 0.0


@pytest.mark.parametrize(("shape", "size"), [((), 1), ((3,), 3), ((2, 3), 6), ((0, 2), 0)])
def test_a_space_has_as_many_elements_as_its_arrays(shape: tuple[int, ...], size: int) -> None:
    assert type(Space((), np.dtype(float, metadata={"unit": "m"})).zeros()) is float
    assert Space(shape).size == size == np.size(Space(shape).zeros())


def test_what_is_a_container_for_an_engine_is_one_for_spaces() -> None:
    """Containers of the standard library are decomposed and rebuilt; other classes are leaves."""
    for value in (
        {"a": 1.0, "b": (2.0, [3.0])},
        deque([1.0, 2.0]),
        OrderedDict(b=1.0, a=2.0),
        defaultdict(list, a=1.0),
        SimpleNamespace(a=1.0, b=2.0),
    ):
        split = children(value)
        assert split is not None
        paths, parts, rebuild = split
        made = rebuild(parts)
        assert made == value and type(made) is type(value) and len(paths) == len(parts)
    assert children(object()) is None


@pytest.mark.parametrize("other", [(1.0,), (1.0, 2.0, 3.0)])
def test_parts_are_combined_with_as_many_parts(other: Any) -> None:
    pair = space_of((1.0, 2.0))
    for combine in (pair.add, pair.translate, pair.inner):
        with pytest.raises(ValueError, match="argument 3 is"):
            combine((1.0, 2.0), other)
    for of_one in (pair.norm, lambda x: pair.scale(x, 2.0)):
        with pytest.raises(ValueError, match="argument 2 is"):
            of_one(other)


def test_nothing_has_no_length() -> None:
    assert space_of(()).norm(()) == 0.0


def test_a_structure_of_another_class_does_not_fit() -> None:
    space = space_of((1.0, 2.0))
    assert space.mismatch((3.0, 4.0)) is None
    for wrong in ([3.0, 4.0], (3.0,), 3.0):
        assert "must be a tuple with [0], [1]" in str(space.mismatch(wrong))


def test_a_whole_number_is_one_that_floats_reach() -> None:
    largest = int(sys.float_info.max)
    assert all(map(is_whole, (0, -3, True, largest, -largest)))
    assert not any(map(is_whole, (2 * largest, -2 * largest, 1.0)))
