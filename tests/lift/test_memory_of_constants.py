"""Arrays that depend on no input, in lifted code: what reads their memory gets what it gets of numpy's arrays."""

from __future__ import annotations

import array  # noqa: F401
import hashlib  # noqa: F401
import itertools
import pickle  # noqa: F401
import zlib  # noqa: F401
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.special  # noqa: F401

import tapeengine as te
from tapeengine.errors import DroppedDerivativeError, TapeEngineError


class Marked(np.ndarray):
    """A subclass with an attribute, as packages write them."""

    unit = "m"

    def __array_finalize__(self, made: Any) -> None:
        self.unit = getattr(made, "unit", "s")


class Copied(np.ndarray):
    """A subclass that is made of the memory of an array."""

    def __new__(cls, x: Any) -> Any:
        return super().__new__(cls, x.shape, x.dtype, x)


MADE = (
    *("np.zeros(4)", "np.array([1.0, 2.0])", "np.linspace(0.0, 1.0, 6).reshape(2, 3)", "np.ones((2, 3), order='F')"),
    *("np.arange(6.0)[::2]", "np.eye(3)[1]", "np.ones(3, np.float32)", "np.full(2, 1 + 2j)", "np.zeros((0, 2))"),
    *("np.exp(np.ones(3)) * 2", "np.empty(2) * 0 + 3", "np.array(1.5)", "np.array([1.0, 2.0, 3.0])[None, ::-1]"),
)
READ = (
    *("c.tobytes()", "c.tobytes('F')", "c.dumps()", "list(c.ctypes.shape)", "c.data.tolist()", "c.byteswap()"),
    *("memoryview(c).tolist()", "memoryview(c).format", "bytes(c)", "bytearray(c)", "hashlib.md5(bytes(c)).digest()"),
    *("zlib.crc32(np.ascontiguousarray(c))", "array.array('d', c)", "array.array('d', c.ravel())", "c.view(Marked)"),
    *("c.view(Marked).unit", "np.sum(c.view(Marked))", "c.view(Marked) * c", "c * c.view(Marked)", "Copied(c)"),
    *("np.frombuffer(c)", "c.view(np.matrix)", "c.view(np.int64)", "c.view('f4')", "c.view(type=Marked)"),
    *(
        "scipy.special.airye(c)",
        "scipy.special.binom(c, 1.0)",
        "np.ctypeslib.as_ctypes(c)[:1][0] if c.ndim == 1 else 0",
        "np.ma.masked_array(c)",
    ),
    *("c.__array_interface__['shape']", "scipy.special.airye(c.view(Marked))[0]", "np.maximum(c.view(Marked), c)"),
    *("scipy.special.pdtrik.outer(c, c)", "pickle.loads(pickle.dumps(c))", "pickle.loads(pickle.dumps([c], 1))[0]"),
)


def outcome(program: Callable[[], Any]) -> Any:
    try:
        return program()
    except Exception as error:
        return error


def same(a: Any, b: Any) -> bool:
    """Whether two outcomes have one class and one value, or are errors of one class."""
    if isinstance(b, tuple):
        return isinstance(a, tuple) and all(map(same, a, b))
    if isinstance(b, (np.ndarray, np.generic)):
        return type(a).__name__ == type(b).__name__ and a.dtype == b.dtype and np.array_equal(a, b, equal_nan=True)
    if isinstance(b, Exception):  # of another buffer's shape, numpy raises another error
        return type(a) is type(b) or isinstance(a, BufferError)
    return type(a) is type(b) and a == b


@pytest.mark.parametrize("read", READ)
def test_plain_results(read: str) -> None:
    for made in MADE:
        body = eval(f"lambda: (lambda c: {read})({made})")
        seen: list[Any] = []
        te.grad(te.lift(lambda x, body=body, seen=seen: (seen.append(outcome(body)), x * x)[1]))(3.0)
        (found,) = seen
        found = te.value(found) if type(found) is te.Array else found
        assert same(found, outcome(body)), (made, found, outcome(body))


ALIASES = (
    "c.view(Marked)",
    "memoryview(c)",
    "Copied(c)",
    "np.frombuffer(c)",
    "np.ctypeslib.as_ctypes(c)",
    "c.view('i8')",
)


@pytest.mark.parametrize(("alias", "depth"), [*itertools.product(ALIASES, (1, 2))])
def test_plain_writes_are_seen_on_both_sides(alias: str, depth: int) -> None:
    """Also by rules that have kept the values before: gradients are those of the values at the time of use."""
    source = f"""
def program(x):
    c = np.array([1.0, 2.0, 3.0])
    early = x * c
    shown = {alias}
    middle = x * x * c
    shown[0] = 5
    late = (x * c).sum()
    c[1] = 7.0
    return early.sum() + middle.sum() + 2 * late + 0 * x * float(np.asarray(shown)[1]), list(shown)
"""
    names = {"np": np, "Marked": Marked, "Copied": Copied, "__name__": "__main__"}
    exec(source, names)
    program: Any = te.lift(names["program"])

    def first(x: Any) -> Any:
        return program(x)[0]

    derivative: Any = first
    for _ in range(depth):
        derivative = te.grad(derivative)
    assert program(2.0) == names["program"](2.0)
    late = 10 if alias != "c.view('i8')" else 5  # the bits of a tiny number
    expected = (6 + 2 * 2 * 6 + 2 * late, 2 * 6)[depth - 1]
    assert derivative(2.0) == pytest.approx(expected)
    assert te.value_and_grad(first)(2.0)[0] == names["program"](2.0)[0]
    staged = te.stage(first)
    for x in (2.0, 3.0, 4.0):
        assert staged(x) == names["program"](x)[0]


KEPT = ("Copied(c)", "np.ctypeslib.as_ctypes(c)")  # they keep the address, and do not tell when they end


@pytest.mark.parametrize("alias", ALIASES)
@pytest.mark.parametrize(
    "write", ["c[0] = x", "c[:] = x", "c += x", "np.add.at(c, [0], x)", "np.copyto(c, x)", "c.fill(x)"]
)
def test_traced_writes(alias: str, write: str) -> None:
    """They are refused as long as plain memory shows the array, and right afterwards."""
    source = f"""
def program(x, release):
    c = np.zeros(3)
    shown = {alias}
    if release:
        del shown
    {write}
    return (c * c).sum()
"""
    names = {"np": np, "Marked": Marked, "Copied": Copied, "__name__": "__main__"}
    exec(source, names)
    program: Any = te.lift(names["program"])
    with pytest.raises(DroppedDerivativeError):
        te.grad(program)(2.0, False)
    if alias in KEPT:
        return
    plain = names["program"]
    slope = (plain(2.0 + 1e-6, True) - plain(2.0 - 1e-6, True)) / 2e-6
    assert te.grad(program)(2.0, True) == pytest.approx(slope)


@pytest.mark.parametrize("read", [r for r in READ if "ctypeslib" not in r and "byteswap" not in r])
def test_traced_arrays_are_refused(read: str) -> None:
    """Never by an error that does not say what to write; results that hold no numbers are plain."""
    for lifted in (True, False):
        program = eval(f"lambda c: np.sum(np.asarray({read}))")
        with pytest.raises((TapeEngineError, TypeError)) as caught:
            te.grad(te.lift(program) if lifted else program)(np.array([1.0, 2.0]))
        error = caught.value
        assert isinstance(error, TapeEngineError) or getattr(error, "__notes__", []), error


@pytest.mark.parametrize("name", ["base", "resize", "__array_priority__", "__array_wrap__"])
def test_attributes_of_an_array_that_owns_its_memory(name: str) -> None:
    """An array of a trace has others; asking for them does not lend its memory."""

    def program(x: Any) -> Any:
        c = np.zeros(2)
        with pytest.raises(AttributeError):
            getattr(c, name)
        c[0] = x
        return c.sum()

    assert te.grad(te.lift(program))(2.0) == 1.0
