"""An array that an inner trace made and that depends on inputs of outer traces only, as operand of every kind of call.

The inner derivative is a plain factor, so the outer one is compared with central differences of the plain function.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tapeengine as te
import tapeengine.numpy as tnp

X, Y = np.array([1.2, 1.7, 0.9]), np.array([0.3, 0.4, 0.5])
M = np.arange(9.0).reshape(3, 3) / 7


@te.custom_vjp
def square(a: Any) -> Any:
    return a * a


square.defvjp(lambda a: (a * a, a), lambda a, ct: (2.0 * a * ct,))


def written(a: Any) -> Any:
    made = tnp.zeros(3)
    made[1:] = a[1:]
    made[0] = a[0] * 2
    return made


def added(a: Any) -> Any:
    made = a.copy()
    made += a
    np.add.at(made, [0, 0, 1], a)
    return made


CALLS: dict[str, Callable[[Any], Any]] = {
    "add": lambda a: a + 1,
    "multiply": lambda a: a * a * M[0],
    "sine": np.sin,
    "power": lambda a: a**2,
    "sum": lambda a: a.sum(),
    "numpy sum": np.sum,
    "mean": np.mean,
    "maximum of all": lambda a: a.max(),
    "prod": np.prod,
    "element": lambda a: a[1],
    "slice": lambda a: a[1:],
    "reversed": lambda a: a[::-1],
    "gather": lambda a: a[[0, 2, 2]],
    "mask": lambda a: a[np.array([True, False, True])],
    "matmul": lambda a: M @ a + a @ M,
    "dot": lambda a: np.dot(M, a) * (a @ a),
    "outer": lambda a: np.outer(a, a),
    "einsum": lambda a: np.einsum("ij,j->i", M, a),
    "concatenate": lambda a: np.concatenate([a, a]),
    "stack": lambda a: np.stack([a, a * 2]),
    "where": lambda a: np.where(a > 1, a, 0.0),
    "reshape": lambda a: a.reshape(3, 1),
    "broadcast": lambda a: np.broadcast_to(a, (2, 3)),
    "copy": lambda a: a.copy(),
    "astype": lambda a: a.astype(float),
    "array of elements": lambda a: tnp.array([a[0], a[1]]),
    "asarray": tnp.asarray,
    "array of list": lambda a: tnp.array(list(a)),
    "python sum": sum,
    "cumsum": np.cumsum,
    "sort": np.sort,
    "solve": lambda a: np.linalg.solve(M + np.eye(3), a),
    "norm": np.linalg.norm,
    "out": lambda a: np.multiply(a, 2, out=tnp.zeros(3)),
    "clip": lambda a: np.clip(a, 0, 2),
    "reduce": np.logaddexp.reduce,
    "axis": lambda a: a[:, None] * np.expand_dims(a, 0),
    "diag": np.diag,
    "tolist": lambda a: sum(a.tolist()),
    "real": lambda a: a.real,
    "fft": lambda a: np.abs(np.fft.fft(a)),
    "complex": lambda a: np.abs(a * 1j + 1),
    "flat": lambda a: a.flat[1],
    "take": lambda a: np.take(a, [0, 1]),
    "interp": lambda a: np.interp(a, [0.0, 9.0], [0.0, 3.0]),
    "convolve": lambda a: np.convolve(a, a),
    "kron": lambda a: np.kron(a, a),
    "pad": lambda a: np.pad(a, 1),
    "tile": lambda a: np.tile(a, 2),
    "checkpoint": te.checkpoint(lambda a: a * a),
    "custom rule": square,
    "writes": written,
    "additions": added,
}


def by_slices(x: Any, like: Any) -> Any:
    made = np.empty_like(like)
    made[...] = x
    return made


def by_elements(x: Any, like: Any) -> Any:
    made = tnp.zeros(3)
    for i in range(3):
        made[i] = x[i]
    return made


def by_operators(x: Any, like: Any) -> Any:
    made = tnp.ones((2, 3))[1]
    made += x - 1
    return made


def reduced(value: Any) -> Any:
    return np.sum(value * np.cos(value))


@pytest.mark.parametrize("make", [by_slices, by_elements, by_operators], ids=lambda make: make.__name__)
@pytest.mark.parametrize("name", CALLS)
@pytest.mark.filterwarnings("ignore:invalid value")
def test_calls_on_what_depends_on_outer_inputs_only(name: str, make: Callable[[Any, Any], Any]) -> None:
    call = CALLS[name]

    def plain(x: Any) -> Any:
        return reduced(call(x.copy()))

    def within(y: Any, x: Any) -> Any:
        return reduced(call(make(x, y))) * y.sum()

    step = 1e-6
    expected = [(plain(X + step * e) - plain(X - step * e)) / (2 * step) for e in np.eye(3)]
    for inner in (
        lambda x: te.grad(within)(Y, x)[1],
        lambda x: te.jvp(lambda y: within(y, x), (Y,), (np.eye(3)[1],))[1],
    ):
        assert float(te.value(inner(X))) == pytest.approx(float(plain(X)), rel=1e-14)
        np.testing.assert_allclose(te.grad(inner)(X), expected, rtol=1e-7, atol=1e-8)
        np.testing.assert_allclose(te.jacfwd(inner)(X), te.grad(inner)(X), rtol=1e-13, atol=1e-15)


@pytest.mark.parametrize("name", CALLS)
def test_three_traces(name: str) -> None:
    """The array depends on the two outer traces, and the innermost one multiplies it."""
    call = CALLS[name]

    def mixed(make: Callable[[Any, Any], Any]) -> Any:
        def innermost(z: Any, y: Any, x: Any) -> Any:
            return reduced(call(make(x * y, z)) * z.sum())

        def middle(y: Any, x: Any) -> Any:
            return te.grad(innermost)(Y, y, x)[0]

        return te.jacobian(lambda x: te.grad(middle)(Y, x))(X)

    np.testing.assert_allclose(mixed(by_slices), mixed(lambda x, like: x.copy()), rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("outer", [te.jacfwd, te.jacrev], ids=["forward", "reverse"])
@pytest.mark.parametrize("inner", [te.jacfwd, te.jacrev, te.grad], ids=["forward", "reverse", "grad"])
@pytest.mark.parametrize(
    ("f", "hessian"),
    [
        (lambda x: np.sum(x) ** 2, [[2, 2], [2, 2]]),
        (lambda x: x[0] * np.sum(x), [[2, 1], [1, 0]]),
        (lambda x: np.sum(x * np.mean(x)), [[1, 1], [1, 1]]),
    ],
)
def test_second_derivatives_of_checkpoints(outer: Any, inner: Any, f: Any, hessian: Any) -> None:
    """A rule that runs a program again sweeps its tape with cotangents of an outer trace."""
    for saved in (te.checkpoint(f), te.checkpoint(te.checkpoint(f)), te.stage(te.checkpoint(f))):
        np.testing.assert_allclose(outer(inner(saved))(np.array([1.0, 2.0])), hessian, rtol=1e-14)


def swept(f: Any, x: Any) -> Any:
    return te.hvp(f, (x,), (x,))


@pytest.mark.parametrize(
    "inner", [swept, lambda f, x: te.jvp(te.grad(f), (x,), (x,))[1], lambda f, x: te.grad(f)(x) * x]
)
@pytest.mark.parametrize("size", [1, 2, 3])
@pytest.mark.parametrize(
    "f", [lambda x: np.sum(x) ** 3, lambda x: np.var(x) * np.prod(x), np.logaddexp.reduce, np.linalg.norm]
)
def test_third_derivatives_of_checkpoints(f: Any, size: int, inner: Any) -> None:
    x = np.linspace(1.2, 2.1, size)
    saved, plain = (te.grad(lambda x, g=g: np.sum(inner(g, x) * np.cos(x)))(x) for g in (te.checkpoint(f), f))
    np.testing.assert_allclose(saved, plain, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("use", [lambda a: a, lambda a: np.sin(a), te.checkpoint(lambda a: a * a), written, added])
def test_arrays_that_leave_their_trace(use: Any) -> None:
    """What an inner program made of outer inputs is kept in a list, and used after the inner trace has ended."""

    def plain(x: Any) -> Any:
        return reduced(use(x.copy()) * 1.0)

    def leaking(x: Any) -> Any:
        kept: list[Any] = []

        def inner(y: Any) -> Any:
            kept.append(by_slices(x, y))
            return y.sum()

        te.grad(inner)(Y)
        return use(kept[0])

    np.testing.assert_allclose(te.grad(lambda x: reduced(leaking(x) * 1.0))(X), te.grad(plain)(X), rtol=1e-13)
    np.testing.assert_allclose(te.jacrev(leaking)(X), te.jacfwd(use)(X), rtol=1e-13)


def test_a_cotangent_that_an_inner_trace_made_of_outer_inputs() -> None:
    def pulled(x: Any) -> Any:
        def inner(y: Any) -> Any:
            return np.sum(te.vjp(np.sin, Y)[1](by_slices(x, y))[0]) * y.sum()

        return te.grad(inner)(Y)[0]

    np.testing.assert_allclose(te.grad(pulled)(X), np.cos(Y), rtol=1e-14)
