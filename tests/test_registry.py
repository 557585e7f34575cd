"""The registry is a value: it joins contributions, refuses clashes, and explains missing names."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tapeengine.errors import RegistryError
from tapeengine.primitive import Primitive
from tapeengine.primitive.registry import Contribution, Origin, PluginFailure, Registry

A, B = Origin("a", "dist-a", "1.0"), Origin("b", "dist-b", "2.0")


def primitive(name: str) -> Primitive:
    return Primitive(name, lambda x: x, {}, {})


def test_it_is_a_mapping_by_name() -> None:
    one, two = primitive("a.one"), primitive("b.two")
    registry = Registry([Contribution(A, (one,)), Contribution(B, (two,), {np.sin: two})])
    assert dict(registry) == {"a.one": one, "b.two": two}
    assert "a.one" in registry
    assert "a.two" not in registry
    assert registry.get("a.two") is None
    assert registry.origin("b.two") == B
    assert registry.numpy_rules[np.sin] is two


def test_it_cannot_be_changed() -> None:
    registry = Registry([Contribution(A, (primitive("a.one"),), {np.sin: np.cos})])
    with pytest.raises(TypeError):
        registry["a.two"] = primitive("a.two")  # type: ignore[index]
    with pytest.raises(TypeError):
        registry.numpy_rules[np.cos] = np.sin  # type: ignore[index]
    with pytest.raises(AttributeError):
        registry.other = 3  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("fields", "what"),
    [
        (lambda: {"primitives": (primitive("same.name"),)}, "the primitive 'same.name'"),
        (lambda: {"numpy_rules": {np.linalg.det: np.cos}}, "a rule for det"),
        (lambda: {"structures": {complex: None}}, "the container class complex"),
    ],
)
def test_a_clash_names_both_distributions_and_versions(fields: Callable[[], Any], what: str) -> None:
    with pytest.raises(RegistryError) as caught:
        Registry([Contribution(A, **fields()), Contribution(B, **fields())])
    assert f"plugin a (dist-a 1.0) and plugin b (dist-b 2.0) both bring {what}" in str(caught.value)


def test_an_unknown_name_gets_a_hint_and_the_failures() -> None:
    registry = Registry([Contribution(A, (primitive("a.sine"),))], [PluginFailure(B, "ImportError: no")])
    with pytest.raises(RegistryError, match=r"did you mean 'a\.sine'") as caught:
        registry["a.sin"]
    assert "plugin b (dist-b 2.0) failed: ImportError: no" in str(caught.value)
    with pytest.raises(RegistryError, match="python -m tapeengine plugins"):
        registry["zzz"]
    with pytest.raises(RegistryError):
        registry.origin("zzz")
