"""The costs of array programs, by counts: records, bytes, buffers."""

import gc
import tracemalloc
from typing import Any

import numpy
import pytest

import tapeengine as te
import tapeengine.numpy as np

LARGE = numpy.ones(200_000)


def peak_of_reverse(program: Any, x: Any) -> int:
    """The largest number of bytes that the backpropagator held at a time."""
    value, backpropagator = te.vjp(program, x)
    gc.collect()
    tracemalloc.start()
    try:
        backpropagator(numpy.ones_like(value) if numpy.ndim(value) else 1.0)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_a_read_is_one_record_and_a_slice_none() -> None:
    tape = te.vjp(lambda a: a[3] * a[4], LARGE)[1].tape
    assert [name for _, name, _, _ in tape.records()] == ["read", "read", "mul"]
    assert len(te.vjp(lambda a: a[3:5].T.reshape(1, 2)[0, None], LARGE)[1].tape) == 0


def test_a_write_of_an_element_is_one_record() -> None:
    def program(a: Any) -> Any:
        b = np.zeros(1000)
        for i in range(1000):
            b[i] = a[i]
        return b

    tape = te.vjp(program, LARGE)[1].tape
    assert len(tape) == 2000


@pytest.mark.parametrize("reads", [1, 300])
def test_reads_have_one_buffer_in_all(reads: int) -> None:
    peak = peak_of_reverse(lambda a: sum(a[7 * i] * a[7 * i + 1] for i in range(reads)), LARGE)
    assert peak < 1.5 * LARGE.nbytes


def test_slices_have_one_buffer_in_all() -> None:
    peak = peak_of_reverse(lambda a: sum(np.sum(a[5 * i : 5 * i + 5] ** 2) for i in range(300)), LARGE)
    assert peak < 1.5 * LARGE.nbytes


def test_reading_and_writing_in_a_loop_keeps_parts_only() -> None:
    def program(a: Any) -> Any:
        b = a * 1.0
        for i in range(100):
            b[10 * i : 10 * i + 10] = np.sin(b[10 * i + 10 : 10 * i + 20]) * b[10 * i : 10 * i + 10]
        return b

    tracemalloc.start()
    try:
        te.vjp(program, LARGE)
        assert tracemalloc.get_traced_memory()[1] < 4 * LARGE.nbytes
    finally:
        tracemalloc.stop()


def test_a_chain_keeps_one_array_a_step_and_resolves_with_two_buffers() -> None:
    def chain(a: Any) -> Any:
        for _ in range(20):
            a = np.sin(a)
        return np.sum(a)

    tracemalloc.start()
    try:
        _, backpropagator = te.vjp(chain, LARGE)
        forward = tracemalloc.get_traced_memory()[1]
        tracemalloc.reset_peak()
        backpropagator(1.0)
        reverse = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert forward < 21.5 * LARGE.nbytes
    assert reverse < 23.5 * LARGE.nbytes


def test_nothing_of_which_there_is_one_per_operation_is_tracked_by_the_garbage_collector() -> None:
    found = []

    def program(a: Any) -> Any:
        b = a * a
        found.extend([a[0], b, b[1:], np.sum(b)])
        return b

    tape = te.vjp(program, numpy.ones(3))[1].tape
    assert not any(gc.is_tracked(x) for x in [*found, *tape.arrays])


def test_where_at_a_singular_point_has_the_derivative_zero() -> None:
    x = numpy.array([0.0, 4.0])
    assert te.grad(lambda a: np.sum(np.where(a > 0, np.sqrt(a), 0.0)))(x).tolist() == [0.0, 0.25]
    assert te.grad(np.linalg.norm)(numpy.zeros(3)).tolist() == [0.0, 0.0, 0.0]


@pytest.mark.parametrize("dtype", [numpy.float32, numpy.float64, numpy.complex64, numpy.complex128])
def test_dtypes_are_numpys(dtype: Any) -> None:
    x = numpy.array([[0.5, 1.5], [2.0, 1.0]], dtype)

    def program(a: Any) -> Any:
        b = np.exp(a) * 2 + a.T
        b[0] = a[1] * a[0, 0]
        return b @ a

    value, backpropagator = te.vjp(program, x)
    assert value.dtype == program(x).dtype == dtype
    assert backpropagator(numpy.ones_like(value))[0].dtype == dtype
