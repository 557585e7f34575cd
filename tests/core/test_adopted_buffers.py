"""A rule's fresh array becomes the buffer of its cotangents: no copy, one allocation less per operation."""

import numpy as np
import pytest

import tapeengine as te

SHAPE = (30, 40)
PROGRAMS = [lambda w, x: (w @ x).sum(), lambda w, x: np.sum(w * x), lambda w, x: (w + x).sum()]


def with_rule(rule):
    """The identity with a vjp rule."""
    same = te.primitive(lambda x: x.copy(), name="test.same")
    return same.def_vjp(x=rule)


def test_the_buffer_is_the_rules_array():
    made = []

    def rule(ct):
        fresh = 2.0 * ct
        made.append(fresh.ctypes.data)
        return fresh

    same = with_rule(rule)
    (found,) = te.vjp(lambda x: same(x), np.ones(SHAPE))[1](np.ones(SHAPE))
    assert found.ctypes.data == made[-1] and (found == 2.0).all()


def test_an_array_that_the_rule_keeps_is_copied():
    kept = np.full(SHAPE, 3.0)
    same = with_rule(lambda ct: kept)
    (found,) = te.vjp(lambda x: same(x), np.ones(SHAPE))[1](np.ones(SHAPE))
    assert not np.shares_memory(found, kept) and (found == 3.0).all()


@pytest.mark.parametrize("change", [lambda a: a[::-1], lambda a: a.T.copy().T, lambda a: a.astype(np.float32)])
def test_an_array_of_another_form_is_copied(change):
    wanted = np.arange(1200.0).reshape(SHAPE)
    same = with_rule(lambda ct: change(wanted.copy()))
    (found,) = te.vjp(lambda x: same(x), np.ones(SHAPE))[1](np.ones(SHAPE))
    np.testing.assert_array_equal(found, change(wanted))
    assert found.dtype == float and found.flags.writeable


@pytest.mark.parametrize("program", PROGRAMS)
def test_writing_into_a_cotangent_changes_no_other(program):
    w, x = np.ones((40, 40)), np.arange(40.0)
    _, back = te.vjp(program, w, x)
    first, second = back(1.0)
    before = second.copy()
    first[...] = 7.0
    np.testing.assert_array_equal(second, before)
    np.testing.assert_array_equal(back(1.0)[1], before)


@pytest.mark.parametrize("shape", [(2, 4), (1, 4), (2, 1), (1, 1)])
def test_cotangents_of_a_broadcast_view_are_summed(shape):
    def program(x):
        return np.broadcast_to(x, (3, *shape))[1:] * np.arange(1.0, 3.0)[:, None, None]

    ct = np.arange(float(2 * shape[0] * shape[1])).reshape(2, *shape)
    (found,) = te.vjp(program, np.ones(shape))[1](ct)
    np.testing.assert_array_equal(found, (ct * np.arange(1.0, 3.0)[:, None, None]).sum(0))
