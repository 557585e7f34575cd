"""Checkpoints of functions that capture checkpoints: each object is looked at once by each search."""

import operator
from collections.abc import Callable
from typing import Any

import pytest

import tapeengine as te
from tapeengine.transforms.captures import hidden_state


def layered(depth: int) -> Callable[[Any], Any]:
    """A checkpoint within a checkpoint, through closures."""

    def around(inner: Any) -> Any:
        return te.checkpoint(lambda y: inner(y) * y + 0.1)

    f: Any = operator.neg
    for _ in range(depth):
        f = around(f)
    return f  # type: ignore[no-any-return]


def looks(depth: int, monkeypatch: pytest.MonkeyPatch) -> int:
    """How many objects a value of the layers looks into for captured numbers."""
    count = 0
    plain = hidden_state._referents

    def counted(*args: Any) -> Any:
        nonlocal count
        count += 1
        return plain(*args)

    with monkeypatch.context() as patch:
        patch.setattr(hidden_state, "_referents", counted)
        te.vjp(layered(depth), 0.5)
    return count


def test_the_search_is_linear_in_what_each_layer_captures(monkeypatch: pytest.MonkeyPatch) -> None:
    few, more = looks(10, monkeypatch), looks(20, monkeypatch)
    assert 0 < more <= 4.6 * few


def test_the_gradient_is_that_of_the_layers() -> None:
    def plain(y: Any, depth: int) -> Any:
        return -y if depth == 0 else plain(y, depth - 1) * y + 0.1

    want = plain(0.5 + 1e-20j, 8).imag / 1e-20
    assert te.grad(layered(8))(0.5) == pytest.approx(want, rel=1e-13)
