"""`numpy.nditer` whose position the program reads and assigns: numpy's elements, or a refusal."""

import copy

import numpy
import pytest

import tapeengine as te
import tapeengine.numpy as np
from tapeengine.errors import UnsupportedError

X = numpy.arange(1.0, 7.0).reshape(2, 3)


def moved(x, n, flags, name, place):
    it = n.nditer(x, flags=flags)
    setattr(it, name, place)
    return it[0] * 1.0


def rest_after_a_move(x, n):
    it = n.nditer(x)
    next(it), next(it)
    it.iterindex = 3
    return sum(e * 2.0 for e in it)


def move_within_a_loop(x, n):
    it, total = n.nditer(x, flags=["f_index"]), 0.0
    for e in it:
        total = total + e * it.index
        if it.index == 0:
            it.index = 5
    return total


def within_a_range(x, n):
    it = n.nditer(x, flags=["ranged"])
    it.iterrange = (2, 4)
    return sum(e * 1.0 for e in it)


def copied(x, n, make):
    it = n.nditer([x, x * x])
    next(it)
    other = make(it)
    next(it)
    return next(other)[1] * len(other)


def written(x, n, write):
    y = x * 1.0
    with n.nditer([y, x], op_flags=[["readwrite"], ["readonly"]]) as it:
        while not it.finished:
            write(it, it[1] * it[1] * it.iterindex)
            it.iternext()
    return (y * numpy.arange(6.0).reshape(2, 3)).sum()


def by_item(it, value):
    it[0] = value


def by_element(it, value):
    it[0][...] = value


def by_value(it, value):
    it.value[0][...] += value


VISITS = {
    "written by item": lambda x, n: written(x, n, by_item),
    "written by element": lambda x, n: written(x, n, by_element),
    "written by value": lambda x, n: written(x, n, by_value),
    "index": lambda x, n: moved(x, n, ["c_index"], "index", 4),
    "index by columns": lambda x, n: moved(x, n, ["f_index"], "index", 4),
    "multi_index": lambda x, n: moved(x, n, ["multi_index"], "multi_index", (1, 2)),
    "iterindex": lambda x, n: moved(x, n, [], "iterindex", 2),
    "rest": rest_after_a_move,
    "loop": move_within_a_loop,
    "range": within_a_range,
    "copy": lambda x, n: copied(x, n, lambda it: it.copy()),
    "module copy": lambda x, n: copied(x, n, copy.copy),
}


@pytest.mark.parametrize("name", VISITS)
def test_value_and_gradient(name):
    visit = VISITS[name]
    value, found = te.value_and_grad(lambda x: visit(x, np))(X)
    assert value == visit(X, numpy)
    step = [numpy.eye(1, 6, k).reshape(2, 3) * 1e-6 for k in range(6)]
    expected = [(visit(X + h, numpy) - visit(X - h, numpy)) / 2e-6 for h in step]
    numpy.testing.assert_allclose(found.ravel(), numpy.ravel(expected), atol=1e-8)


REFUSED = {
    "axes": lambda x, n: n.nditer([x, numpy.arange(2.0)], op_axes=[[0, 1], [0, -1]]),
    "remove_axis": lambda x, n: n.nditer(x, flags=["multi_index"]).remove_axis(0),
    "remove_multi_index": lambda x, n: n.nditer(x, flags=["multi_index"]).remove_multi_index(),
    "nested": lambda x, n: n.nested_iters(x, [[0], [1]]),
}


@pytest.mark.parametrize("name", REFUSED)
def test_other_orders_are_refused(name):
    REFUSED[name](X, numpy)
    REFUSED[name](X, np)
    with pytest.raises(UnsupportedError, match="single elements"):
        te.grad(lambda x: REFUSED[name](x, np) or x[0, 0])(X)
