"""Classes that a program makes in each run are let go: only a bounded number of them is kept."""

import collections
import dataclasses
import functools
import gc
import weakref
from typing import Any

import pytest

import tapeengine as te
from tapeengine import structure
from tapeengine.transforms.captures import hidden_state, program_objects

CACHING = (program_objects, hidden_state)
MADE = {
    "dataclass": lambda: dataclasses.make_dataclass("Pair", [("a", float), ("b", float)]),
    "slots": lambda: dataclasses.make_dataclass("Pair", [("a", float), ("b", float)], slots=True, frozen=True),
    "namedtuple": lambda: collections.namedtuple("Pair", "a b"),
}
CALLS = {
    "grad": lambda f, p: te.grad(f)(p),
    "jvp": lambda f, p: te.jvp(f, (p,), (p,)),
    "hessian": lambda f, p: te.hessian(f)(p),
    "checkpoint": lambda f, p: te.grad(te.checkpoint(f))(p),
    "fork": lambda f, p: te.grad(lambda p: te.fork(lambda: f(p), lambda: 1.0)[0])(p),
    "iterate": lambda f, p: te.grad(lambda p: f(te.iterate(lambda q: type(p)(q.a * 2, q.b), 2, p)))(p),
}


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("made", MADE)
def test_classes_are_let_go(made: str, call: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(structure, "KEPT", 4)

    def run() -> Any:
        cls = MADE[made]()
        CALLS[call](lambda p: p.a * p.b, cls(2.0, 3.0))
        return weakref.ref(cls)

    kept = [run() for _ in range(40)]
    for cache in (
        f for module in CACHING for f in vars(module).values() if isinstance(f, functools._lru_cache_wrapper)
    ):
        assert cache.cache_parameters()["maxsize"] <= 1024
        cache.cache_clear()
    gc.collect()
    assert sum(ref() is not None for ref in kept) < 20


def test_a_registered_class_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also if it was met, and treated as a leaf, before it was registered."""
    monkeypatch.setattr(structure, "KEPT", 2)

    class Own:
        def __init__(self, a: float) -> None:
            self.a = a

    engine = te.Engine()
    engine.structures.find(Own)
    engine.register_container(Own)
    for _ in range(9):
        engine.structures.find(MADE["dataclass"]())
    assert engine.grad(lambda p: p.a * p.a)(Own(3.0)).a == 6.0
