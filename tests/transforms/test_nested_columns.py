"""`jacfwd` within another trace: what it gives there is what it gives outside, and few rows replace many columns."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from counted_calls import calls
from leaves import leaves

import tapeengine as te
import tapeengine.numpy as tnp


@te.custom_jvp
def forward_only(x: Any) -> Any:
    return x * x


forward_only.defjvp(lambda primals, tangents: (primals[0] ** 2, 2.0 * primals[0] * tangents[0]))


@te.custom_vjp
def two_rules(x: Any) -> Any:
    return x * x


two_rules.defvjp(lambda x: (x * x, x), lambda x, ct: (3.0 * x * ct,))
two_rules.defjvp(lambda primals, tangents: (primals[0] ** 2, 2.0 * primals[0] * tangents[0]))


@te.custom_vjp
def broken_reverse(x: Any) -> Any:
    return x * x


broken_reverse.defvjp(lambda x: (x * x, x), lambda x, ct: 1 / 0)
broken_reverse.defjvp(lambda primals, tangents: (primals[0] ** 2, 2.0 * primals[0] * tangents[0]))


@te.primitive
def with_forward_rule(x: Any) -> Any:
    return x * x


with_forward_rule.def_jvp(x=lambda t, x: 2.0 * x * t)

ARRAYS: dict[str, Callable[[Any], Any]] = {
    "operations": lambda x: tnp.sum(tnp.sin(x) * x**2),
    "two numbers": lambda x: (x[0] * tnp.sum(x), {"b": tnp.prod(x)}),
    "an array of two": lambda x: tnp.stack([tnp.sum(x**3), x[0] * x[4]]),
    "an array of no axes": lambda x: tnp.sum(x * x) * np.ones(()),
    "single precision": lambda x: tnp.sum(x.astype(np.float32) ** 2),
    "custom_jvp": lambda x: tnp.sum(forward_only(x) * x),
    "rules that differ": lambda x: tnp.sum(two_rules(x) * x),
    "a reverse rule that raises": lambda x: tnp.sum(broken_reverse(x) * x),
    "a primitive with a forward rule": lambda x: tnp.sum(with_forward_rule(x) * x),
    "a constant": lambda x: 0.0 * x[0],
    "poles": lambda x: tnp.sum(tnp.sqrt(x - 0.5)),
    "zero times a pole": lambda x: 0.0 * tnp.sum(tnp.sqrt(x - 0.5)) + x[1],
    "a loop of writes": lambda x: written(x),
}


def written(x: Any) -> Any:
    y = tnp.zeros(3)
    for k in range(3):
        y[k] = x[k] * x[k + 1]
    return tnp.sum(y * y)


X = np.array([0.5, 1.25, 0.75, 1.0, 2.0, 1.5])


def inside(f: Callable[[Any], Any], x: Any) -> Any:
    """What a transform's function returns within another trace, in plain numbers."""
    seen = []
    te.vjp(lambda x: seen.append(f(x)) or 0.0, x)
    return plain(seen[0])


def plain(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return type(value)(map(plain, value))
    return {k: plain(v) for k, v in value.items()} if isinstance(value, dict) else te.value(value)


@pytest.mark.parametrize("name", ARRAYS)
def test_inside_it_gives_what_it_gives_outside(name: str) -> None:
    with np.errstate(all="ignore"):
        outside, found = leaves(te.jacfwd(ARRAYS[name])(X)), leaves(inside(te.jacfwd(ARRAYS[name]), X))
    assert [(type(a), a.dtype, a.shape) for a in found] == [(type(a), a.dtype, a.shape) for a in outside]
    for a, b in zip(found, outside, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6 if a.dtype == np.float32 else 1e-13, atol=1e-15)


@pytest.mark.parametrize("name", [name for name in ARRAYS if "pole" not in name and "precision" not in name])
def test_its_derivative_is_that_of_differences(name: str) -> None:
    def total(x: Any) -> Any:
        return sum(tnp.sum(part**2) for part in leaves(te.jacfwd(ARRAYS[name])(x)))

    step = 1e-5
    found = [(total(X + step * e) - total(X - step * e)) / (2.0 * step) for e in np.eye(len(X))]
    np.testing.assert_allclose(te.grad(total)(X), found, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("outer", [te.grad, te.jacfwd, te.jacrev])
def test_numbers_of_lists(outer: Any) -> None:
    x = [0.5, 1.25, 0.75, 1.0, 2.0, 1.5]

    def f(x: Any) -> Any:
        return x[0] * x[1] * x[2] + x[3] ** 3 * x[4]

    found = outer(lambda x: sum(d * d for d in te.jacfwd(f)(x)))(x)
    numbers = np.array(te.hessian(f)(x)) @ te.grad(f)(x) * 2.0
    assert {type(d) for d in found} == {float}
    np.testing.assert_allclose(found, numbers, rtol=1e-13)
    assert list(map(type, inside(te.jacfwd(f), x))) == list(map(type, te.jacfwd(f)(x)))


def counted(n: int, outputs: int) -> int:
    """How often the rules of a function run in a gradient over its Jacobian by columns."""
    calls = []

    @te.primitive
    def square(x: Any) -> Any:
        return x * x

    def rule(first: Any, x: Any) -> Any:
        calls.append(1)
        return 2.0 * x * first

    square.def_vjp(x=rule).def_jvp(x=rule)
    te.grad(lambda x: tnp.sum(te.jacfwd(lambda x: square(x)[:outputs] * tnp.sum(x))(x) ** 2))(np.linspace(1.0, 2.0, n))
    return len(calls)


def test_the_number_of_sweeps_is_that_of_the_fewer_rows() -> None:
    assert counted(50, 1) == counted(10, 1) <= 6
    assert counted(50, 4) == counted(10, 4) <= 20


def calls_of(program: Callable[[Any], Any], size: int) -> int:
    """How many functions a gradient calls, of Python and of C, apart from those of the first run."""
    primal = [1.1] * size
    te.grad(program)(primal)
    return len(calls(lambda: te.grad(program)(primal)))


@pytest.mark.parametrize(("jacobian", "most"), [(te.jacfwd, 40), (te.jacrev, 20), (te.jacobian, 20)])
def test_an_entry_of_a_row_of_numbers_takes_few_calls(jacobian: Any, most: int) -> None:
    """Fewer than a function of numpy takes for one traced number: an entry leaves no record of an array."""

    def neighbours(xs: Any) -> Any:
        total = 0.0
        for k in range(len(xs) - 1):
            total = total + xs[k] * xs[k] * xs[k + 1]
        return total

    small, large = (calls_of(lambda xs: sum(jacobian(neighbours)(xs)), size) for size in (32, 160))
    assert large - small <= most * (160 - 32)


def divides_by_zero(x: Any) -> bool:
    """Whether a number is one of numpy's."""
    try:
        with np.errstate(all="ignore"):
            x / 0.0
    except ZeroDivisionError:
        return False
    return True


@pytest.mark.parametrize("jacobian", [te.jacfwd, te.jacrev], ids=lambda f: f.__name__)
def test_entries_are_numbers_of_python_and_the_programs_own_stay_as_they_were(jacobian: Any) -> None:
    def program(x: Any) -> Any:
        y = np.sin(x[0])  # one of numpy's numbers, which is an entry as well
        entries = jacobian(lambda t: [t[0] * y, t[1] * t[0]])([1.5, 2.0])
        seen.append([divides_by_zero(y), *(divides_by_zero(z) for row in entries for z in row)])
        return entries[0][0] * y

    seen: list[Any] = []
    value, gradient = te.value_and_grad(program)([0.3, 0.4])
    assert value == np.sin(0.3) ** 2 and gradient[0] == pytest.approx(np.sin(0.6), rel=1e-14)
    assert seen == [[True, False, False, False, False]]
