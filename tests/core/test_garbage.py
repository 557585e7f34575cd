"""Cycles through a backpropagator are found by the garbage collector, whatever a record keeps."""

import gc
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tapeengine as te
from tapeengine.primitive import Primitive


class Holder:
    """Holds a backpropagator; a record keeps it as a static parameter or because a rule asked for it."""

    back: Any = None


KEEPS = Primitive(
    "tests.keeps",
    lambda x, *, holder: np.asarray(x) * 2.0,
    vjp={"x": lambda ct, holder: ct * 2.0},
    jvp={"x": lambda t, holder: t * 2.0},
    static=("holder",),
)


def by_static(x: Any, holder: Holder) -> Any:
    return KEEPS(x, holder=holder)


def in_a_container(x: Any, holder: Holder) -> Any:
    return KEEPS(x, holder=[{"deep": (holder,)}])


@pytest.mark.parametrize("transform", ["vjp", "linearize"])
@pytest.mark.parametrize("keep", [by_static, in_a_container])
def test_a_cycle_through_a_record_is_collected(keep: Callable[..., Any], transform: str) -> None:
    def run() -> weakref.ref[Holder]:
        holder = Holder()
        _, holder.back = getattr(te, transform)(lambda x: keep(x, holder), np.arange(5.0))
        return weakref.ref(holder)

    gc.collect()
    found = [run() for _ in range(20)]
    gc.collect()
    assert not any(ref() for ref in found)


def test_what_is_reachable_stays() -> None:
    """Collections between and during uses free nothing in use, also if the list of records is held elsewhere."""
    holder = Holder()
    _, back = te.vjp(lambda x: by_static(x, holder), np.arange(5.0))
    holder.back = back
    records = back.tape.arrays
    del back
    holder = Holder()
    gc.collect()
    gc.collect()
    assert len(records) == 1
    assert repr(records[0])
    del records
    kept = Holder()
    _, kept.back = te.vjp(lambda x: by_static(x, kept), np.arange(5.0))
    for _ in range(3):
        gc.collect()
        np.testing.assert_array_equal(kept.back(np.ones(5))[0], np.full(5, 2.0))
    inside: list[Any] = []

    def program(x: Any) -> Any:
        for _ in range(10):
            x = by_static(x, kept)
            gc.collect()
            inside.append(kept.back is not None)
        return x

    np.testing.assert_array_equal(te.vjp(program, np.ones(2))[1](np.ones(2))[0], np.full(2, 1024.0))


def test_records_are_not_tracked() -> None:
    _, back = te.vjp(lambda x: np.sum(np.sin(x) * KEEPS(x, holder=None)), np.arange(5.0))
    assert not any(gc.is_tracked(record) for record in back.tape.arrays)
