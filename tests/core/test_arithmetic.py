"""Arithmetic of duals with all operands of floats: the float's value, its errors, and the derivative."""

import copy
import math
import numbers
import operator
import pickle
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from forward_mode import Forward
from hypothesis import given
from hypothesis import strategies as st

BINARY = [operator.add, operator.sub, operator.mul, operator.truediv, operator.pow, operator.mod]
DISCRETE = [operator.floordiv]
COMPARISONS = [operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne]
OTHERS = [3, 2.5, True, Fraction(5, 2), np.float64(2.5), np.uint8(3), np.int64(3), np.int8(3), np.bool_(True)]


def outcome(compute: Callable[[], Any]) -> Any:
    """The result of a computation, or the error that it raises."""
    try:
        return repr(compute())
    except (ArithmeticError, ValueError) as error:
        return type(error), str(error)


def run(core: Any, program: Callable[..., Any], *primals: float) -> tuple[Any, tuple[Any, ...]]:
    value, backpropagator = core.vjp(program, *primals)
    return value, backpropagator(1.0)


def as_plain(x: Any) -> float:
    return float(x)


def kind_of(core: Any, plain: Any) -> type:
    """The class of a value: the plain program's; the specification of the core knows Python's floats only."""
    return float if core.name == "reference" else type(plain)


@pytest.mark.parametrize("other", OTHERS, ids=lambda x: f"{type(x).__name__}")
@pytest.mark.parametrize("op", BINARY)
def test_a_dual_with_another_number(core: Any, op: Any, other: Any) -> None:
    value, (slope,) = run(core, lambda x: op(x, other), 1.7)
    assert value == op(1.7, as_plain(other))
    assert type(value) is kind_of(core, op(1.7, other))
    assert slope == pytest.approx(op(Forward(1.7, 1.0), as_plain(other)).tangent, rel=1e-14)


@pytest.mark.parametrize("other", OTHERS, ids=lambda x: f"{type(x).__name__}")
@pytest.mark.parametrize("op", BINARY)
def test_another_number_with_a_dual(core: Any, op: Any, other: Any) -> None:
    value, (slope,) = run(core, lambda x: op(other, x), 1.7)
    assert value == op(as_plain(other), 1.7)
    assert type(value) is kind_of(core, op(other, 1.7))
    assert slope == pytest.approx(op(as_plain(other), Forward(1.7, 1.0)).tangent, rel=1e-14)


@pytest.mark.parametrize("op", BINARY)
def test_two_duals(core: Any, op: Any) -> None:
    value, slopes = run(core, op, 1.7, 2.3)
    assert value == op(1.7, 2.3)
    assert slopes[0] == pytest.approx(op(Forward(1.7, 1.0), 2.3).tangent, rel=1e-14)
    assert slopes[1] == pytest.approx(op(1.7, Forward(2.3, 1.0)).tangent, rel=1e-14)


@pytest.mark.parametrize("op", BINARY)
def test_a_dual_with_itself(core: Any, op: Any) -> None:
    _, (slope,) = run(core, lambda x: op(x, x), 1.7)
    x = Forward(1.7, 1.0)
    assert slope == pytest.approx(op(x, x).tangent, rel=1e-14)


SPECIAL = [0.0, -0.0, 1.0, -1.0, 2.0, -2.0, 0.5, -3.5, 1e308, -1e308, 5e-324, math.inf, -math.inf, math.nan]


@pytest.mark.parametrize("op", [*BINARY, *DISCRETE, divmod], ids=lambda op: op.__name__)
def test_values_and_errors_are_the_floats_own(core: Any, op: Any) -> None:
    def each(a: float, b: float) -> list[Any]:
        seen: list[Any] = []

        def program(x: Any, y: Any) -> Any:
            seen.extend(outcome(compute) for compute in (lambda: op(x, y), lambda: op(x, b), lambda: op(a, y)))
            return x

        core.vjp(program, a, b)
        return seen

    for a in SPECIAL:
        for b in SPECIAL:
            expected = outcome(lambda a=a, b=b: op(a, b))
            if op is operator.pow and isinstance(expected, str) and "j" in expected:
                continue
            assert each(a, b) == [expected] * 3, (a, b)


@given(st.floats(), st.floats())
def test_values_are_the_floats_own_everywhere(cores: Any, a: float, b: float) -> None:
    for core in cores:
        for op in (*BINARY, *DISCRETE):
            expected = outcome(lambda op=op: op(a, b))
            if op is operator.pow and isinstance(expected, str) and "j" in expected:
                continue
            seen: list[Any] = []
            core.vjp(lambda x, y, op=op, seen=seen: seen.append(outcome(lambda: op(x, y))), a, b)
            assert seen == [expected], (op, a, b)


@pytest.mark.parametrize("op", COMPARISONS)
@pytest.mark.parametrize("other", [1.7, 2, -1, True, Fraction(17, 10), np.float64(1.7), 10**400, -(10**400), math.nan])
def test_comparisons_look_at_the_value(core: Any, op: Any, other: Any) -> None:
    seen: list[Any] = []
    core.vjp(lambda x, y: seen.extend([op(x, other), op(other, x), op(x, y), op(y, x)]), 1.7, 2.0)
    assert seen == [op(1.7, other), op(other, 1.7), op(1.7, 2.0), op(2.0, 1.7)]


def test_comparison_with_integers_is_exact(core: Any) -> None:
    seen: list[Any] = []
    core.vjp(lambda x: seen.extend([x == 2**53 + 1, x < 2**53 + 1, x == 2**53]), 2.0**53)
    assert seen == [False, True, True]


def test_equality_with_what_is_no_number(core: Any) -> None:
    seen: list[Any] = []
    core.vjp(lambda x: seen.extend([x == "a", x != None, x in ["a", 2.0]]), 2.0)  # noqa: E711
    assert seen == [False, True, True]


@pytest.mark.parametrize("op", [*BINARY, *DISCRETE, divmod, operator.lt, operator.ge], ids=lambda op: op.__name__)
@pytest.mark.parametrize("other", ["a", None, [1.0], object()], ids=lambda x: type(x).__name__)
def test_what_is_no_number_is_a_type_error(core: Any, op: Any, other: Any) -> None:
    with pytest.raises(TypeError):
        core.vjp(lambda x: op(x, other), 2.0)
    if op is operator.mod and type(other) is str:
        return  # a string formats numpy's scalars, which also have subscripts
    with pytest.raises(TypeError):
        core.vjp(lambda x: op(other, x), 2.0)


@pytest.mark.parametrize("x", [2.0, -2.5, 0.0, -0.0, 1e300, 0.1])
def test_a_dual_looks_like_its_value(core: Any, x: float) -> None:
    seen: list[Any] = []

    def program(d: Any) -> Any:
        seen.append((repr(d), str(d), f"{d:.3e}", f"{d}", bool(d), int(d), round(d), round(d, 1), d in [x]))
        seen.append((math.floor(d), math.ceil(d), math.trunc(d), d.is_integer()))
        seen.append((d.imag, d.real is d, d.conjugate() is d, +d is d, d._value))
        return d

    core.vjp(program, x)
    assert seen[0] == (repr(x), str(x), f"{x:.3e}", f"{x}", bool(x), int(x), round(x), round(x, 1), True)
    assert seen[1] == (math.floor(x), math.ceil(x), math.trunc(x), x.is_integer())
    assert seen[2] == (0.0, True, True, True, x)


def test_a_dual_is_a_real_number(core: Any) -> None:
    seen: list[Any] = []
    core.vjp(lambda x: seen.extend([isinstance(x, numbers.Real), isinstance(x, core.Dual), isinstance(x, float)]), 1.0)
    assert seen == [True, True, False]


def test_copies_are_the_dual_itself(core: Any) -> None:
    seen: list[Any] = []
    core.vjp(lambda x: seen.extend([copy.copy(x) is x, copy.deepcopy([x])[0] is x]), 1.0)
    assert seen == [True, True]


def test_sum_max_min_sorted_and_abs(core: Any) -> None:
    value, slopes = run(core, lambda x, y: sum([x, y, x]) + 10 * max(x, y) + 100 * min(x, y) + abs(x), -2.0, 3.0)
    assert value == -1.0 + 30.0 - 200.0 + 2.0
    assert slopes == (2.0 + 100.0 - 1.0, 1.0 + 10.0)


@pytest.mark.parametrize("call", [float, complex, math.sin, math.sqrt, math.hypot], ids=lambda f: f.__name__)
def test_what_drops_the_derivative_is_refused(core: Any, call: Any) -> None:
    from tapeengine.errors import DroppedDerivativeError

    with pytest.raises(DroppedDerivativeError, match=r"2\.5.*lose its derivative"):
        core.vjp(lambda x: call(x), 2.5)


def test_the_message_names_what_to_use(cores: Any) -> None:
    from tapeengine.errors import DroppedDerivativeError

    compiled, _ = cores
    with pytest.raises(DroppedDerivativeError, match=r"math\.sin\(x\) .*Import tapeengine\.math in place of math"):
        compiled.vjp(lambda x: math.sin(x), 2.5)


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_pickling_is_refused_with_a_reason(core: Any, protocol: int) -> None:
    from tapeengine.errors import DroppedDerivativeError

    with pytest.raises(DroppedDerivativeError, match="cannot be pickled"):
        core.vjp(lambda x: pickle.dumps([x], protocol), 2.5)


def test_a_complex_power_is_refused(core: Any) -> None:
    from tapeengine.errors import UnsupportedError

    with pytest.raises(UnsupportedError, match=r"-8\.0 \*\* 0\.5 is complex"):
        core.vjp(lambda x: x**0.5, -8.0)


def test_modular_power_is_refused(core: Any) -> None:
    with pytest.raises(TypeError):
        core.vjp(lambda x: pow(x, 2, 3), 2.0)


def test_an_integer_beyond_64_bits_is_a_float(core: Any) -> None:
    assert run(core, lambda x: x * 10**20 - 10**30 / x, 2.0) == (2.0 * 1e20 - 1e30 / 2.0, (1e20 + 2.5e29,))


def test_overflow_of_an_integer_operand(core: Any) -> None:
    with pytest.raises(OverflowError):
        core.vjp(lambda x: x + 10**400, 2.0)


@pytest.mark.parametrize(
    ("base", "exponent", "slope"),
    [(0.0, 2, 0.0), (0.0, 1, 1.0), (0.0, 0, 0.0), (0.0, 3, 0.0), (-2.0, 3, 12.0), (-2.0, 2, -4.0), (-2.0, -1, -0.25)],
)
def test_powers_with_integer_exponents(core: Any, base: float, exponent: int, slope: float) -> None:
    assert run(core, lambda x: x**exponent, base) == (base**exponent, (slope,))
    assert run(core, lambda x: x ** float(exponent), base) == (base**exponent, (slope,))


def test_zero_to_a_power(core: Any) -> None:
    assert run(core, lambda x: 0.0**x, 2.0) == (0.0, (0.0,))
    assert run(core, lambda x: 0**x, 0.0) == (1.0, (0.0,))
    assert run(core, lambda x, y: x**y, 0.0, 1.0) == (0.0, (1.0, 0.0))
    assert run(core, lambda x: x**0, 5.0) == (1.0, (0.0,))


def test_a_negative_base_has_no_slope_by_its_exponent(core: Any) -> None:
    value, slopes = run(core, lambda x, y: x**y, -2.0, 2.0)
    assert value == 4.0
    assert slopes[0] == -4.0
    assert math.isnan(slopes[1])


def test_modulo_takes_the_sign_of_the_divisor(core: Any) -> None:
    for a, b in ((7.5, 2.0), (-7.5, 2.0), (7.5, -2.0), (-7.5, -2.0)):
        assert run(core, lambda x, y: x % y, a, b) == (a % b, (1.0, -float(a // b)))
        assert run(core, lambda x, y: divmod(x, y)[1], a, b) == (a % b, (1.0, -float(a // b)))


def test_abs_at_zero(core: Any) -> None:
    assert run(core, abs, 0.0) == (0.0, (0.0,))
    assert run(core, abs, -3.0) == (3.0, (-1.0,))
