"""A program that gets ever new texts does not keep what it has compiled for all of them."""

import gc
import sys
import weakref

from chad.written_functions import function_of

import tapeengine as te


def square(x: float) -> float:
    return x * x


def test_what_is_kept_is_bounded(monkeypatch):
    monkeypatch.setattr(sys.modules[te.program(square).__class__.__module__], "MOST_KINDS", 4)
    f = te.program(function_of("x, label", ["return x * x if label.startswith('a') else -x"]))
    made = []
    for k in range(12):
        assert te.grad(f)(1.5, f"a{k}") == 3.0
        assert te.grad(f)(1.5, f"b{k}") == -1.0
        assert len(f.by_kinds) <= 4
        made.append(weakref.ref([*f.by_kinds.values()][-1]))
    gc.collect()
    assert sum(ref() is not None for ref in made) <= 4
    assert te.grad(f)(1.5, "a0") == 3.0
