"""Python's complex numbers in every transform: as arguments, results, captures, and in containers.

Each program is tried on a number of Python, one of numpy, and an array without dimensions; differences of the plain
program tell the derivative with respect to the two parts.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tapeengine as te


def square(z: Any) -> Any:
    return z * z + 0.5j * z


def with_vjp(f: Callable[[Any], Any]) -> Any:
    made = te.custom_vjp(f)
    made.defvjp(lambda z: (f(z), z), lambda z, ct: te.vjp(f, z)[1](ct))
    return made


def with_jvp(f: Callable[[Any], Any]) -> Any:
    made = te.custom_jvp(f)
    made.defjvp(lambda primals, tangents: te.jvp(f, primals, tangents))
    return made


def in_dict(f: Callable[[Any], Any]) -> Any:
    return lambda z: f({"z": [z]})["z"][0]


def on_dict(state: Any) -> Any:
    return {"z": [square(state["z"][0])]}


FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "plain": square,
    "custom_vjp": with_vjp(square),
    "custom_jvp": with_jvp(square),
    "custom_vjp of a dict": in_dict(with_vjp(on_dict)),
    "custom_jvp of a dict": in_dict(with_jvp(on_dict)),
    "checkpoint": te.checkpoint(square),
    "checkpoint of a dict": in_dict(te.checkpoint(on_dict)),
    "checkpoint of a capture": lambda z: te.checkpoint(lambda: square(z))(),
    "iterate": lambda z: te.iterate(square, 2, z),
    "iterate of a dict": in_dict(lambda state: te.iterate(on_dict, 2, state)),
    "iterate of a capture": lambda z: te.iterate(lambda s: s * z, 2, z),
    "fork": lambda z: te.fork(lambda: square(z), lambda: z)[0],
    "fork_map": lambda z: sum(te.fork_map(square, [z, z * 2.0])),
    "stage": te.stage(square),
    "lift": te.lift(square),
    "stop_gradient": lambda z: te.stop_gradient(z) * z,
    "stop_gradient of a list": lambda z: te.stop_gradient([z])[0] * z,
    "vjp": lambda z: te.vjp(square, z)[0],
    "jvp": lambda z: te.jvp(square, (z,), (z * 0.5,))[0],
    "linearize": lambda z: te.linearize(square, z)[0],
    "checkpoint of custom": te.checkpoint(with_vjp(square)),
    "custom of checkpoint": with_vjp(te.checkpoint(square)),
}
#: Results of these are functions of the plain value of a part of their argument.
STOPPED = ("stop_gradient", "stop_gradient of a list")
LOSSES: tuple[Callable[[Any], Any], ...] = (lambda w: w.real, lambda w: w.imag, lambda w: abs(w) ** 2)
MAKERS: dict[str, Callable[[complex], Any]] = {"complex": complex, "numpy": np.complex128, "array": np.array}


def parts(f: Callable[[Any], Any], loss: Callable[[Any], Any], z: complex, stopped: bool) -> complex:
    """The derivatives with respect to the real part and, negated, the imaginary one, as the engine gives them."""
    h = 1e-6

    def at(step: complex) -> float:
        w = (z * (z + step)) if stopped else f(z + step)
        return float(loss(complex(w)))

    return complex((at(h) - at(-h)) / (2 * h), -(at(1j * h) - at(-1j * h)) / (2 * h))


@pytest.mark.parametrize("maker", MAKERS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_derivatives_of_complex_numbers(name: str, maker: str) -> None:
    f, z = FUNCTIONS[name], 0.7 + 0.4j
    for loss in LOSSES:
        expected = parts(f, loss, z, name in STOPPED)
        primal = MAKERS[maker](z)
        gradient = te.grad(lambda z, loss=loss: loss(f(z)))(primal)
        assert complex(gradient) == pytest.approx(expected, rel=1e-7, abs=1e-8)
        inside = te.vjp(lambda z, loss=loss: te.vjp(lambda z: loss(f(z)), z)[1](1.0)[0].real, primal)[0]
        assert complex(inside) == pytest.approx(expected.real, rel=1e-7, abs=1e-8)


@pytest.mark.parametrize("name", [name for name in FUNCTIONS if name not in STOPPED])
def test_values_are_the_plain_programs(name: str) -> None:
    f, z = FUNCTIONS[name], 0.7 + 0.4j
    assert te.vjp(f, z)[0] == f(z)


def test_a_function_with_a_rule_may_return_a_complex_number_of_a_real_one() -> None:
    @te.custom_vjp
    def turned(x: Any) -> Any:
        return complex(1.0, 2.0) * x

    turned.defvjp(lambda x: (complex(te.value(x), 2.0 * te.value(x)), None), lambda _, ct: ((ct * (1 + 2j)).real,))
    assert te.grad(lambda x: abs(turned(x)) ** 2)(3.0) == pytest.approx(30.0, rel=1e-14)


def test_a_constant_complex_number_is_a_value() -> None:
    value, back = te.vjp(lambda x: 1j, 2.0)
    assert (value, back(1.0)) == (1j, (0.0,))


NUMBERS = {
    "vdot": lambda x: np.vdot(x * 1j, x * (2 + 1j)),
    "sum": lambda x: np.sum(x * x * (1 + 2j)),
    "element": lambda x: x[0] * 1j * x[1] + np.array(0.5),
    "reshaped": lambda x: (x * x * 1j).reshape(1, 2)[0, 1:].reshape(()),
    "ellipsis": lambda x: (x * 1j)[..., 0] ** 3,
    "det": lambda x: np.linalg.det(np.diag(x * 1j + 1)),
    "trace": lambda x: np.trace(np.diag(x * x * 1j)),
    "max": lambda x: np.max(x * 1j) ** 2,
    "mean": lambda x: np.mean(x**3 * (3 - 1j)),
    "einsum": lambda x: np.einsum("i,i", x * 1j, x),
    "conjugate": lambda x: np.conj(np.vdot(x * 1j, x)),
    "copy": lambda x: np.sum(x * x * 1j).copy(),
    "product": lambda x: np.prod(x + 1j),
}
PARTS = {"real": lambda z: z.real, "imag": lambda z: z.imag, "np.imag": np.imag, "abs": abs, "angle": np.angle}


@pytest.mark.parametrize("number", NUMBERS)
@pytest.mark.parametrize("part", PARTS)
def test_parts_of_a_complex_number_have_derivatives_of_all_orders(number: str, part: str) -> None:
    def f(x: Any) -> Any:
        z = NUMBERS[number](x)
        return PARTS[part](z) ** 2 + PARTS["real"](z)

    x, d, e = np.array([1.2, 2.5]), np.array([1.0, 0.5]), np.array([0.3, -0.7])

    def along(s: float) -> Any:
        return te.grad(f)(x + s * d)

    second = (8 * (along(1e-3) - along(-1e-3)) - (along(2e-3) - along(-2e-3))) / 12e-3
    product = te.hvp(f, (x,), (d,))
    np.testing.assert_allclose(product, second, rtol=1e-7, atol=1e-8)
    np.testing.assert_allclose(te.hessian(f)(x) @ d, product, rtol=1e-12, atol=1e-12)
    third = te.jvp(lambda x: te.hvp(f, (x,), (d,)), (x,), (e,))[1]
    ahead, behind = (te.hvp(f, (x + s * e,), (d,)) for s in (1e-4, -1e-4))
    np.testing.assert_allclose(third, (ahead - behind) / 2e-4, rtol=1e-5, atol=1e-6)
