"""Annotations and the types that they stand for."""

# ruff: noqa: UP007, UP045

from collections.abc import Callable
from dataclasses import dataclass
from types import GenericAlias
from typing import NamedTuple, Optional, Union

import pytest

from tapeengine import chad as te
from tapeengine.chad.language.types import BOOL, FLOAT, INT, UNIT, Array, Function, Named, Product, Sum, show
from tapeengine.chad.parse.names.types import TypeTable, UnknownType


@dataclass(frozen=True)
class Leaf:
    value: float


@dataclass(frozen=True)
class Node:
    left: "Tree"
    right: "Tree"


class Pair(NamedTuple):
    first: float
    second: int


@dataclass
class Thawed:
    value: float


class Plain:
    value: float


Tree = Leaf | Node
LEAF = Product((FLOAT,), "Leaf", ("value",))


def table():
    return TypeTable(lambda name: globals()[name])


@pytest.mark.parametrize(
    ("annotation", "of"),
    [
        (float, FLOAT),
        (int, INT),
        (bool, BOOL),
        (None, UNIT),
        (te.Vec, Array(FLOAT)),
        (te.Array[te.Vec], Array(Array(FLOAT))),
        (GenericAlias(type("Array", (), {}), (int,)), Array(INT)),
        (list[float], Array(FLOAT)),
        (tuple[float, bool], Product((FLOAT, BOOL))),
        (Pair, Product((FLOAT, INT), "Pair", ("first", "second"))),
        (Callable[[float, int], bool], Function((FLOAT, INT), BOOL)),
        (Optional[Leaf], Sum((LEAF, UNIT), "Leaf | None")),
        (Union[Leaf, Pair], Sum((LEAF, Product((FLOAT, INT), "Pair", ("first", "second"))), "Leaf | Pair")),
        ("Leaf", LEAF),
        (Thawed, Product((FLOAT,), "Thawed", ("value",))),
        (tuple[float, ...], Array(FLOAT)),
    ],
)
def test_annotations(annotation, of):
    assert table()(annotation) == of


def test_recursive_unions_are_named():
    types = table()
    assert types(Tree) == Named("Leaf | Node")
    inner = (Named("Leaf | Node"), Named("Leaf | Node"))
    assert types.named["Leaf | Node"] == Sum((LEAF, Product(inner, "Node", ("left", "right"))), "Leaf | Node")
    assert types.classes == {"Leaf": Leaf, "Node": Node}


@pytest.mark.parametrize("annotation", [complex, str, dict[str, float], Plain, Leaf | float, 3])
def test_what_is_no_type_is_refused(annotation):
    with pytest.raises(UnknownType):
        table()(annotation)


def test_types_are_shown_as_annotations():
    assert show(Array(Array(FLOAT))) == "Array[Array[float]]"
    assert show(Function((FLOAT,), Product((INT, BOOL)))) == "Callable[[float], tuple[int, bool]]"
