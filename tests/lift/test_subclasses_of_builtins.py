"""Instances of subclasses of builtin classes go into lifted functions and come out of them as what they are."""

import collections

import pytest

import tapeengine as te


class Text(str): ...


class Data(bytes): ...


class Whole(int): ...


class Real(float): ...


class Fixed(frozenset): ...


class Pair(tuple):
    __slots__ = ()


class Table(dict):
    def first(self):
        return next(iter(self.values()))


class Row(list): ...


class Group(set): ...


class Queue(collections.deque): ...


class Ordered(collections.OrderedDict): ...


class Count(collections.Counter): ...


class Error(ValueError): ...


VALUES = [
    *(Text("ab"), Data(b"ab"), Whole(2), Real(2.0), Fixed([1, 2]), Pair((1.0, 2.0)), Table(a=1.0, b=2.0)),
    *(Row([1.0, 2.0]), Group([1, 2]), Queue([1.0, 2.0]), Ordered(a=1.0, b=2.0), Count("ab"), Error("ab", 2)),
]


def passed(value):
    return value


def made(kind, content):
    return kind(content)


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_values_keep_their_classes(value):
    found = te.lift(passed)(value)
    assert type(found) is type(value)
    assert repr(found) == repr(value)


@pytest.mark.parametrize("value", VALUES[:-1], ids=lambda value: type(value).__name__)
def test_values_that_are_made_inside(value):
    for found in (te.lift(made)(type(value), value), te.lift(lambda: type(value)(value))()):
        assert type(found) is type(value)
        assert found == value


def grow(values):
    values["c"] = 3.0
    return values.first()


def test_changes_are_seen():
    table = Table(a=1.0)
    assert te.lift(grow)(table) == 1.0
    assert table == {"a": 1.0, "c": 3.0}


def test_derivatives_of_a_dict_of_a_class():
    assert te.grad(te.lift(lambda t: t["a"] ** 2))(Table(a=3.0)) == {"a": 6.0}
    assert te.grad(te.lift(lambda x: Table(a=x * x).first()))(3.0) == 6.0
