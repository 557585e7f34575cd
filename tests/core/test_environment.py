"""The environment vector with mutable accumulation (EC Fig. 6)."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tapeengine import reference
from tapeengine.reference.environment import Environment


@pytest.fixture
def e():
    return Environment()


def within(e, slots, computation):
    """The result of a computation with slots open, and their final values."""
    for name, zero in slots:
        e.open(name, zero)
    value = computation()
    return value, tuple([e.close(name) for name, _ in reversed(slots)][::-1])


def test_one_adds_and_slots_hold_the_sums(e):
    def computation():
        e.one("x", 2.0)
        e.one("y", -1.0)
        e.one("x", 0.5)

    assert within(e, (("x", 0.0), ("y", 0.0), ("z", 0.0)), computation)[1] == (2.5, -1.0, 0.0)
    assert len(e) == 0


def test_a_contribution_goes_to_the_innermost_slot_of_its_name(e):
    def outer():
        e.one("x", 1.0)
        _, (inner,) = within(e, (("x", 0.0),), lambda: (e.one("x", 10.0), e.one("y", 5.0)))
        e.one("x", 2.0)
        return inner

    assert within(e, (("x", 0.0), ("y", 0.0)), outer) == (10.0, (3.0, 5.0))


def test_arrays_are_buffers_that_are_added_into_in_place(e):
    buffer = np.zeros(3)

    _, (found,) = within(e, (("a", buffer),), lambda: e.one("a", np.array([1.0, 2.0, 3.0])))
    assert found is buffer
    assert found.tolist() == [1.0, 2.0, 3.0]


def test_other_values_are_summed_by_a_function(e):
    _, (found,) = within(e, (("s", ()),), lambda: [e.one("s", (k,), lambda a, b: a + b) for k in (1, 2)])
    assert found == (2, 1)


@pytest.mark.parametrize(
    ("use", "error", "words"),
    [
        (lambda e: e.one("z", 1.0), KeyError, "no slot 'z'"),
        (lambda e: e.close("z"), KeyError, "no slot 'z'"),
        (lambda e: e.one("s", 1), TypeError, "give the function"),
        (lambda e: e.one("x", "1"), TypeError, "must be real"),
        (lambda e: e.close("x"), ValueError, "not the innermost"),
    ],
)
def test_misuse_says_what_is_wrong_and_changes_nothing(e, use, error, words):
    e.open("x")
    e.open("s", ())
    with pytest.raises(error, match=words):
        use(e)
    assert (e.close("s"), e.close("x"), len(e)) == ((), 0.0, 0)


def test_the_cells_grow(e):
    slots = [(f"x{i}", 0.0) for i in range(10_000)]
    _, found = within(e, slots, lambda: [e.one(name, float(i)) for i, (name, _) in enumerate(slots)])
    assert found == tuple(map(float, range(10_000)))


names = st.sampled_from("abc")
actions = st.recursive(
    st.tuples(names, st.floats(-1e6, 1e6)),
    lambda inner: st.tuples(names, st.lists(inner, max_size=4)),
    max_leaves=30,
)


@given(st.lists(actions, max_size=8))
def test_a_slot_holds_the_sum_of_its_contributions(program):
    """Random programs of contributions and scopes, against sums of the contributions of each scope in order."""

    def perform(e, steps):
        for name, what in steps:
            if isinstance(what, list):
                assert within(e, [(name, 0.0)], lambda what=what: perform(e, what))[1] == (total(name, what),)
            else:
                e.one(name, what)

    def total(name, steps):
        found = 0.0
        for n, what in steps:
            inner = reaching(name, what) if isinstance(what, list) and n != name else [what] if n == name else []
            for amount in (x for x in inner if not isinstance(x, list)):
                found += amount
        return found

    def reaching(name, steps):
        found = []
        for n, what in steps:
            if isinstance(what, list):
                found += reaching(name, what) if n != name else []
            elif n == name:
                found.append(what)
        return found

    e = Environment()
    _, found = within(e, [(name, 0.0) for name in "abc"], lambda: perform(e, program))
    assert found == tuple(total(name, program) for name in "abc")


def test_the_reference_names_it():
    assert reference.Environment is Environment
