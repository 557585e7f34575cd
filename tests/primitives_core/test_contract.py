"""The contract of derivative rules, at every sample of every primitive of the plugin."""

import warnings

import pytest

from tapeengine.primitive import Primitive
from tapeengine.testing import check_primitive
from tapeengine_primitives import plugin

PRIMITIVES = plugin.tapeengine_primitives()


@pytest.mark.parametrize("primitive", PRIMITIVES, ids=[primitive.name for primitive in PRIMITIVES])
def test_primitive(primitive: Primitive) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check_primitive(primitive)


def test_names_are_distinct_and_documented() -> None:
    names = [primitive.name for primitive in PRIMITIVES]
    assert len(set(names)) == len(names)
    assert [primitive.name for primitive in PRIMITIVES if not primitive.doc] == []


def test_every_primitive_has_samples() -> None:
    assert [primitive.name for primitive in PRIMITIVES if not list(primitive.samples_drawn(0))] == []
