"""Jacobians, Hessians and their products: structures, modes, array programs to third order, and optimisers."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tapeengine as te
import tapeengine.math as tm
import tapeengine.numpy as tnp
from tapeengine.errors import ResultError, StructureError, UnsupportedError


def many(xs: list[Any], k: Any) -> dict[str, Any]:
    """20 inputs and 40 outputs, all scalars."""
    out, state = [], k
    for i in range(40):
        state = tm.sin(state + xs[i % len(xs)]) * xs[(3 * i) % len(xs)]
        out.append(state)
    return {"out": out, "n": 3, "constant": 1.5}


def test_blocks_of_scalars_agree_with_single_sweeps() -> None:
    xs = [0.1 * k - 0.7 for k in range(20)]
    forward, reverse = te.jacfwd(many, (0, 1))(xs, 0.3), te.jacrev(many, (0, 1))(xs, 0.3)
    _value, backpropagator = te.vjp(many, xs, 0.3)
    for i in range(40):
        one_hot = {"out": [float(i == j) for j in range(40)], "n": None, "constant": 0.0}
        row = backpropagator(one_hot)
        np.testing.assert_allclose(reverse["out"][i][0], row[0], rtol=1e-13)
        np.testing.assert_allclose(forward["out"][i][0], row[0], rtol=1e-12, atol=1e-15)
        assert forward["out"][i][1] == pytest.approx(row[1])
    assert forward["n"] == ([None] * 20, None)
    assert reverse["constant"] == ([0.0] * 20, 0.0)


@pytest.mark.parametrize(
    ("n", "m", "forward"), [(20, 24, True), (24, 20, True), (25, 20, False), (3, 9, True), (9, 3, False)]
)
def test_the_mode_takes_what_costs_fewer_walks(n: int, m: int, forward: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Scalars are swept in blocks of eight; a walk costs the same in both directions."""
    from tapeengine._core.sweeps import linear

    asked: list[bool] = []
    matrix = linear.matrix
    monkeypatch.setattr(linear, "matrix", lambda *args: (asked.append(args[4]), matrix(*args))[1])
    te.jacobian(lambda xs: [tm.sin(xs[k % n]) for k in range(m)])([0.1] * n)
    assert asked == [forward]


def test_a_zero_meets_an_infinite_partial_in_a_block() -> None:
    def program(x: Any) -> Any:
        root = tm.sqrt(x[0])
        return [root * 0.0 if x[0] > 0 else x[1], x[1] * 2.0, root]

    for mode in ("forward", "reverse"):
        rows = te.jacobian(program, mode=mode)([0.0, 3.0])
        assert rows[:2] == [[0.0, 1.0], [0.0, 2.0]]
        assert rows[2] == [np.inf, 0.0]


def test_shapes_are_out_plus_in() -> None:
    def program(a: Any, b: Any) -> Any:
        return {"m": a @ b, "s": tnp.sum(a), "f": b[0, 0] * 2.0}

    a, b = np.arange(6.0).reshape(2, 3), np.arange(12.0).reshape(3, 4)
    for mode in ("forward", "reverse"):
        da, db = (part for part in te.jacobian(program, (0, 1), mode)(a, b)["m"])
        assert da.shape == (2, 4, 2, 3) and db.shape == (2, 4, 3, 4)
        np.testing.assert_allclose(da, np.einsum("ik,lj->ijkl", np.eye(2), b))
        scalar = te.jacobian(program, 1, mode)(a, b)["f"]
        assert scalar.shape == (3, 4) and scalar[0, 0] == 2.0


def test_names_of_keyword_arguments_and_aux() -> None:
    def program(x: Any, *, scale: Any) -> Any:
        return x * x * scale, {"seen": x}

    result, aux = te.jacobian(program, (0, "scale"), has_aux=True)(3.0, scale=2.0)
    assert result == (12.0, 9.0) and aux == {"seen": 3.0}
    assert te.grad(program, "scale", has_aux=True)(3.0, scale=2.0) == (9.0, {"seen": 3.0})
    assert te.value_and_grad(program, -1, has_aux=True)(3.0, scale=2.0) == ((18.0, {"seen": 3.0}), 12.0)
    assert te.jvp(lambda x: program(x, scale=2.0), (3.0,), (1.0,), has_aux=True) == (18.0, 12.0, {"seen": 3.0})
    with pytest.raises(StructureError, match="keyword arguments of this call are: scale"):
        te.grad(program, "size")(3.0, scale=2.0)
    with pytest.raises(StructureError, match="1 positional arguments"):
        te.grad(program, 1)(3.0, scale=2.0)
    with pytest.raises(StructureError, match="1 positional arguments"):
        te.grad(te.program(lambda x: x * x), 1)(3.0)


@pytest.mark.parametrize(
    ("program", "message"),
    [
        (lambda x: (x, x), "has_aux"),
        (lambda x: [x], "list of 1"),
        (lambda x: 3, "no derivative"),
        (lambda x: x * np.ones(2), r"shape \(2,\).*Sum it"),
        (lambda x: x * (1.0 + 2.0j) * np.ones(()), "complex"),
        (lambda x: None, "no derivative"),
    ],
)
def test_a_result_that_is_no_number_is_refused(program: Any, message: str) -> None:
    for transform in (te.grad, te.value_and_grad, lambda f: lambda x: te.hvp(f, (x,), (1.0,))):
        with pytest.raises(ResultError, match=message):
            transform(program)(2.0)


@pytest.mark.parametrize(
    ("program", "got"), [(lambda x: (x, x, x), "a tuple of 3"), (lambda x: [x, x], "list"), (lambda x: x, "")]
)
def test_a_result_with_aux_is_a_pair(program: Any, got: str) -> None:
    for transform in (te.grad, te.value_and_grad, te.jacobian, te.hessian):
        for function in (program, te.program(program)):
            with pytest.raises(ResultError, match=rf"must return a tuple \(value, aux\), not {got}"):
                transform(function, has_aux=True)(2.0)
    with pytest.raises(ResultError, match="must return a tuple"):
        te.jacobian(te.program(lambda x: tnp.tanh(x) * x), has_aux=True)(np.ones(3))


@pytest.mark.filterwarnings("error")
def test_derivatives_of_real_leaves_beside_complex_ones_are_real() -> None:
    x = np.array([1.0, 2.0])
    found = te.jacfwd(lambda r: {"a": r * 2.0, "b": r * (1.0 + 1.0j)})(x)
    np.testing.assert_array_equal(found["a"], 2.0 * np.eye(2), strict=True)
    np.testing.assert_array_equal(found["b"], (1.0 + 1.0j) * np.eye(2), strict=True)
    of_real, of_complex = te.jacrev(lambda p: p[0] * np.real(p[1]))((x, x + 1j * x))
    np.testing.assert_array_equal(of_real, np.diag(x), strict=True)
    np.testing.assert_array_equal(of_complex, np.diag(x) + 0j, strict=True)


def test_a_program_without_arguments_has_no_products() -> None:
    for function in (lambda: 2.0, te.program(lambda: 2.0)):
        assert te.hvp(function, (), ()) == te.vhp(function, (), ()) == ()


@pytest.mark.parametrize("program", [lambda x: x * np.ones(()), lambda x: np.float32(2.0) * x, lambda x: 5.0])
def test_scalars_of_every_kind_are_results(program: Any) -> None:
    assert te.grad(program)(1.0) == te.jacfwd(program)(1.0)


def test_complex_jacobians_are_refused() -> None:
    with pytest.raises(UnsupportedError, match=r"say holomorphic=True.*real and imaginary parts"):
        te.jacobian(lambda x: x * 2.0)(np.ones(2) + 1j)


def quartic(x: Any) -> Any:
    """A program over arrays with reads, writes, views and products."""
    y = tnp.zeros(3)
    y[0] = x[0] * x[1]
    y[1:] = tnp.sin(x[1:]) * x[0]
    a = tnp.outer(y, x) @ x
    return tnp.sum(a * a[::-1]) + tnp.prod(x)


X = np.array([0.7, -0.4, 1.1])


def differences(f: Any, x: Any, step: float = 1e-4) -> Any:
    """Fourth-order central differences along each entry, as the last axis."""
    columns = []
    for e in np.eye(len(x)):
        one, two = (np.asarray(f(x + k * step * e)) - np.asarray(f(x - k * step * e)) for k in (1, 2))
        columns.append((8.0 * one - two) / (12.0 * step))
    return np.stack(columns, axis=-1)


@pytest.mark.parametrize("order", [1, 2, 3])
@pytest.mark.parametrize("modes", ["fff", "rrr", "frf", "rfr"])
def test_array_programs_to_third_order(order: int, modes: str) -> None:
    f, below = quartic, quartic
    for mode in modes[:order]:
        below, f = f, {"f": te.jacfwd, "r": te.jacrev}[mode](f)
    np.testing.assert_allclose(f(X), differences(below, X), rtol=2e-9, atol=1e-9)


@settings(max_examples=20, deadline=None)
@given(st.lists(st.floats(-1.5, 1.5), min_size=3, max_size=3))
def test_products_are_those_of_the_hessian(v: list[float]) -> None:
    tangent = np.array(v)
    expected = te.hessian(quartic)(X) @ tangent
    np.testing.assert_allclose(te.hvp(quartic, (X,), (tangent,)), expected, rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(te.vhp(quartic, (X,), (tangent,)), expected, rtol=1e-11, atol=1e-11)


OPERATIONS = [
    *(tm.sin, tm.cos, tm.tan, tm.exp, tm.expm1, tm.sinh, tm.cosh, tm.tanh, tm.atan, tm.asinh, tm.erf, tm.erfc),
    *(lambda x: tm.log(x * x + 1.5), lambda x: tm.sqrt(x * x + 0.5), lambda x: (x * x + 0.3) ** 1.7),
    *(lambda x: 1.0 / (x + 3.0), lambda x: 2.0 - x, lambda x: 2.0**x, lambda x: abs(x + 2.5), lambda x: x % 0.7),
    *(
        lambda x: tm.lgamma(x + 3.0),
        lambda x: tm.gamma(x + 3.0),
        lambda x: tm.atan2(x, 2.0),
        lambda x: tm.atan2(2.0, x),
    ),
    *(lambda x: tm.hypot(x, 1.0), lambda x: tm.log1p(x * x), lambda x: (x + 3.0) ** x, lambda x: x / (x + 4.0)),
]


@pytest.mark.parametrize("operation", OPERATIONS)
def test_second_order_on_one_tape_agrees_with_nesting(operation: Any) -> None:
    """The sweep that carries the partials' derivatives, compared with forward over reverse by nested traces."""

    def program(xs: Any) -> Any:
        a, b = xs
        return operation(a * b) * a + operation(a) * operation(b)

    primal, tangent = [0.37, -0.81], [0.9, -0.4]
    nested = te.jvp(te.grad(program), (primal,), (tangent,))[1]
    np.testing.assert_allclose(te.hvp(program, (primal,), (tangent,)), nested, rtol=1e-12, atol=1e-13)


def test_elementwise_grad() -> None:
    x = np.linspace(-1.0, 1.0, 5)
    np.testing.assert_allclose(te.elementwise_grad(tnp.tanh)(x), 1.0 - np.tanh(x) ** 2)
    np.testing.assert_allclose(te.elementwise_grad(te.elementwise_grad(tnp.sin))(x), -np.sin(x), rtol=1e-14, atol=1e-16)


def rosenbrock(x: Any) -> Any:
    return tnp.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


START = np.array([-1.2, 1.0, 0.7])


@pytest.mark.parametrize(
    ("method", "options"),
    [
        ("BFGS", {"jac": te.grad(rosenbrock)}),
        ("trust-exact", {"jac": te.grad(rosenbrock), "hess": te.hessian(rosenbrock)}),
        ("Newton-CG", {"jac": te.grad(rosenbrock), "hessp": lambda x, v: te.hvp(rosenbrock, (x,), (v,))}),
    ],
)
def test_scipy_minimises(method: str, options: Any) -> None:
    optimize = pytest.importorskip("scipy.optimize")
    found = optimize.minimize(rosenbrock, START, method=method, **options)
    np.testing.assert_allclose(found.x, 1.0, atol=1e-4)


def test_scipy_takes_value_and_gradient_at_once() -> None:
    optimize = pytest.importorskip("scipy.optimize")
    found = optimize.minimize(te.value_and_grad(rosenbrock), START, jac=True, method="L-BFGS-B")
    np.testing.assert_allclose(found.x, 1.0, atol=1e-4)


def test_scipy_fits_with_a_jacobian() -> None:
    optimize = pytest.importorskip("scipy.optimize")
    t = np.linspace(0.0, 2.0, 15)
    data = 2.0 * np.exp(-1.3 * t) + 0.5

    def residuals(p: Any) -> Any:
        return p[0] * tnp.exp(-p[1] * t) + p[2] - data

    found = optimize.least_squares(residuals, np.ones(3), jac=te.jacobian(residuals))
    np.testing.assert_allclose(found.x, [2.0, 1.3, 0.5], atol=1e-7)


def test_the_hessian_of_a_vector_is_that_of_each_of_its_numbers() -> None:
    def program(x: Any) -> Any:
        return {"cubes": x**3, "pair": (x[0] * x[1], 2.0)}

    x = np.array([1.5, -2.0])
    found = te.hessian(program)(x)
    np.testing.assert_allclose(found["cubes"], [np.diag([9.0, 0.0]), np.diag([0.0, -12.0])], rtol=1e-14)
    np.testing.assert_array_equal(found["pair"][0], [[0.0, 1.0], [1.0, 0.0]])
    np.testing.assert_array_equal(found["pair"][1], np.zeros((2, 2)))
    for order in (te.jacrev(te.jacfwd(program)), te.jacfwd(te.jacfwd(program))):
        np.testing.assert_allclose(order(x)["cubes"], found["cubes"], rtol=1e-14)


def test_the_hessian_has_aux() -> None:
    hessian, aux = te.hessian(lambda x: (x[0] ** 2 * x[1], {"kept": 1}), has_aux=True)(np.array([3.0, 2.0]))
    np.testing.assert_array_equal(hessian, [[4.0, 6.0], [6.0, 0.0]])
    assert aux == {"kept": 1}


@pytest.mark.parametrize("mode", ["forward", "reverse"])
@pytest.mark.parametrize("argnums", [(0,), (0, 1), (1, 0)])
def test_blocks_are_contiguous_so_that_products_have_the_bits_of_a_traced_program(argnums: Any, mode: Any) -> None:
    def step(x: Any, u: Any, w: Any) -> Any:
        return x + 0.1 * np.sin(x[::-1] * u) + w[0]

    def program(x: Any, u: Any, w: Any) -> Any:
        parts = te.jacobian(step, argnums=argnums, mode=mode)(x, u, w)
        strides.append([part.strides for part in parts])
        return sum(np.sum(part.T @ x) for part in parts)

    strides: list[Any] = []
    generator = np.random.default_rng(1)
    for _ in range(40):
        x, w = generator.standard_normal((2, 3))
        u = float(generator.standard_normal())
        assert te.vjp(program, x, u, w)[0] == program(x, u, w)
        assert strides[-1] == strides[-2]
    base = te.jacobian(step, argnums=argnums, mode=mode)(x, u, w)[0].base
    assert len(argnums) == 1 or base is None or base.size <= 9
