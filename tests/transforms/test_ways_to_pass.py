"""Functions with rules of their own, called in every way in which Python passes arguments."""

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tapeengine as te
from tapeengine.errors import DroppedDerivativeError


def formula(x: Any, y: Any, z: Any = 2.0, *, power: int = 1, **more: Any) -> Any:
    return x * y**power + z * y * more.get("scale", 1.0)


def partials(x: Any, y: Any, z: Any, power: int = 1, scale: float = 1.0) -> tuple[Any, Any, Any]:
    return y**power, x * power * y ** (power - 1) + z * scale, y * scale


def of_vjp() -> Any:
    made = te.custom_vjp(formula)

    def forward(x: Any, y: Any, z: Any, **others: Any) -> Any:
        return formula(x, y, z, **others), (partials(x, y, z, **others), np.ndim(z))

    def backward(kept: Any, ct: Any) -> Any:
        (of_x, of_y, of_z), ndim = kept
        return ct * of_x, ct * of_y, ct * of_z if ndim else np.sum(ct * of_z)

    made.defvjp(forward, backward)
    return made


def of_jvp() -> Any:
    made = te.custom_jvp(formula)

    @made.defjvp
    def rule(primals: Any, tangents: Any, **others: Any) -> Any:
        return formula(*primals, **others), sum(
            p * t for p, t in zip(partials(*primals, **others), tangents, strict=True)
        )

    return made


def of_primitive() -> Any:
    @te.primitive(static=("power", "scale"))
    def made(x: Any, y: Any, z: Any = 2.0, power: int = 1, scale: float = 1.0) -> Any:
        return formula(x, y, z, power=power, scale=scale)

    return made.def_vjp(
        x=lambda ct, y, power: ct * y**power,
        y=lambda ct, x, y, z, power, scale: ct * (x * power * y ** (power - 1) + z * scale),
        z=lambda ct, y, scale: ct * (y * scale),
    )


MAKERS: dict[str, Callable[[], Any]] = {"vjp": of_vjp, "jvp": of_jvp, "primitive": of_primitive}
VALUES = {"x": 1.5, "y": 0.5, "z": 3.0}
WAYS = [
    (first, traced, others)
    for first in range(4)
    for count in (2, 3)
    for traced in itertools.combinations("xyz", count)
    for others in ({}, {"power": 3}, {"scale": 0.25}, {"scale": 0.25, "power": 2})
]


class Way:
    """Some arguments by position and the others by name; some of them are traced."""

    def __init__(self, names: str, first: int, traced: tuple[str, ...], others: dict[str, Any], values: Any) -> None:
        self.names, self.first, self.traced, self.others, self.values = names, first, traced, others, values

    def __call__(self, f: Callable[..., Any], *given: Any) -> Any:
        named = {key: self.values[key] for key in self.names} | dict(zip(self.traced, given, strict=True))
        positional = [named.pop(key) for key in list(named)[: self.first]]
        return np.sum(f(*positional, **named, **self.others))

    def results(self, f: Callable[..., Any]) -> Any:
        """The value, the gradient and a directional derivative."""
        given = tuple(self.values[key] for key in self.traced)
        places = tuple(range(len(given)))
        value, gradient = te.value_and_grad(lambda *given: self(f, *given), places)(*given)
        assert value == self(f, *given)
        return np.hstack([value, *map(np.ravel, gradient), te.jvp(lambda *given: self(f, *given), given, given)[1]])


@pytest.mark.parametrize("name", MAKERS)
@pytest.mark.parametrize("as_arrays", [False, True])
def test_every_way(name: str, as_arrays: bool) -> None:
    made = MAKERS[name]()
    values = {key: np.full(2, x) for key, x in VALUES.items()} if as_arrays else VALUES
    for first, traced, others in WAYS:
        for names in ("xyz",) if "z" in traced else ("xyz", "xy"):
            way = Way(names, first, traced, others, values)
            np.testing.assert_allclose(way.results(made), way.results(formula), rtol=1e-14)


@pytest.mark.parametrize("name", ["vjp", "jvp"])
def test_traced_arguments_that_have_no_position_are_refused(name: str) -> None:
    made = MAKERS[name]()
    for call in (lambda x: made(1.0, 2.0, scale=x), lambda x: made(x, 2.0, scale=[x, 1.0])):
        with pytest.raises(DroppedDerivativeError, match="scale by keyword only"):
            te.grad(call)(1.0)


def test_the_value_of_a_primitive_depends_on_its_arguments() -> None:
    made = of_primitive()
    for call in (lambda x: made(x, 2.0, power=x), lambda x: made(x, 2.0, 1.0, 1, x)):
        with pytest.raises(DroppedDerivativeError, match="not one of its arguments"):
            te.grad(call)(1.0)

    def capturing(a: Any) -> Any:
        return te.primitive(lambda x: x * a, name="test.scaled").def_vjp(x=lambda ct: ct * te.value(a))(a)

    with pytest.raises(DroppedDerivativeError, match="not one of its arguments"):
        te.grad(capturing)(1.0)
