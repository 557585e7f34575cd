"""A rule's fresh array becomes the buffer of its cotangents: no copy, one allocation less per operation."""

import numpy as np
import pytest

import tapeengine as te

SHAPE = (30, 40)


def with_rule(made):
    """The identity with a rule that returns a new array each time, and notes where it lies."""

    @te.custom_vjp
    def same(x):
        return x.copy()

    def forward(x):
        return x.copy(), None

    def backward(kept, ct):
        fresh = 2.0 * ct
        made.append((fresh.ctypes.data, fresh if kept else None))
        return (fresh,)

    same.defvjp(forward, backward)
    return same


def test_the_buffer_is_the_rules_array():
    made = []
    _, back = te.vjp(with_rule(made), np.ones(SHAPE))
    (found,) = back(np.ones(SHAPE))
    assert found.ctypes.data == made[0][0] and (found == 2.0).all()


def test_an_array_that_the_rule_keeps_is_copied():
    kept = np.full(SHAPE, 3.0)

    @te.custom_vjp
    def same(x):
        return x.copy()

    same.defvjp(lambda x: (x.copy(), None), lambda _, ct: (kept,))
    (found,) = te.vjp(lambda x: same(x), np.ones(SHAPE))[1](np.ones(SHAPE))
    assert not np.shares_memory(found, kept) and (found == 3.0).all()


@pytest.mark.parametrize("change", [lambda a: a[::-1], lambda a: a.T.copy().T, lambda a: a.astype(np.float32)])
def test_an_array_of_another_form_is_copied(change):
    @te.custom_vjp
    def same(x):
        return x.copy()

    wanted = np.arange(1200.0).reshape(SHAPE)
    same.defvjp(lambda x: (x.copy(), None), lambda _, ct: (change(wanted.copy()),))
    (found,) = te.vjp(lambda x: same(x), np.ones(SHAPE))[1](np.ones(SHAPE))
    np.testing.assert_array_equal(found, change(wanted))
    assert found.dtype == float and found.flags.writeable


@pytest.mark.parametrize(
    "program", [lambda w, x: (w @ x).sum(), lambda w, x: np.sum(w * x), lambda w, x: (w + x).sum()]
)
def test_writing_into_a_cotangent_changes_no_other(program):
    w, x = np.ones((40, 40)), np.arange(40.0)
    _, back = te.vjp(program, w, x)
    first, second = back(1.0)
    before = second.copy()
    first[...] = 7.0
    np.testing.assert_array_equal(second, before)
    np.testing.assert_array_equal(back(1.0)[1], before)
