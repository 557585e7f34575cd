import numpy as np
import pytest
import scipy.integrate
from differences import assert_gradient, assert_second_order, gradient

import tapeengine as te
import tapeengine.numpy as tnp
from tapeengine.errors import UnsupportedError
from tapeengine_scipy import integrate, linalg
from tapeengine_scipy._callables import Closed
from tapeengine_scipy.integrate.trajectory import ADJOINT, TRAJECTORY

RNG = np.random.default_rng(6)
TIGHT = {"rtol": 1e-10, "atol": 1e-12}


def lotka_volterra(t, y, a, b):
    return [a * y[0] - b * y[0] * y[1], -y[1] + y[0] * y[1]]


def weighted_states(p, method="RK45", t_eval=None, differentiate="adjoint", **options):
    start = tnp.array([p[2], 1.0])
    solution = integrate.solve_ivp(
        lotka_volterra, (0.0, 2.0), start, method, t_eval, args=(p[0], p[1]), differentiate=differentiate, **options
    )
    weights = np.cos(np.arange(np.size(solution.t)))
    return np.sum(solution.y[0] * weights) + np.sum(solution.y[1] ** 2 * weights)


POINT = [1.1, 0.7, 0.9]


@pytest.mark.parametrize("method", ["RK45", "DOP853", "Radau", "LSODA"])
def test_adjoint_of_solve_ivp(method):
    times = np.linspace(0.1, 1.9, 4)
    options = {"rtol": 1e-8, "atol": 1e-10} if method == "Radau" else TIGHT
    assert_gradient(lambda p: weighted_states(p, method, times, **options), POINT, rtol=3e-6, h=2e-2)


@pytest.mark.parametrize("method", ["RK45", "RK23"])
@pytest.mark.parametrize(
    "times", [None, np.linspace(0.0, 2.0, 5), np.array([0.0, 0.33])], ids=["steps", "even", "early"]
)
def test_differentiated_steps(method, times):
    options = {"rtol": 1e-6, "atol": 1e-8}
    plain = weighted_states(np.array(POINT), method, times, **options)
    value, backpropagator = te.vjp(lambda p: weighted_states(p, method, times, "steps", **options), np.array(POINT))
    assert value == pytest.approx(plain, rel=1e-12)
    if times is not None:  # with None, the times themselves move with the parameters in the differences
        adjoint = gradient(lambda p: weighted_states(p, method, times, **options), POINT)
        np.testing.assert_allclose(backpropagator(1.0)[0], adjoint, rtol=1e-3)


def test_steps_are_the_derivative_of_the_computed_numbers():
    fixed = {"max_step": 0.1, "first_step": 0.1, "rtol": 1e3, "atol": 1e3}
    assert_gradient(lambda p: weighted_states(p, "RK45", None, "steps", **fixed), POINT, rtol=1e-9)


def test_second_order_of_both():
    times = np.array([0.4, 1.0])
    assert_second_order(lambda p: weighted_states(p, "RK45", times, **TIGHT), POINT, rtol=1e-5, h=2e-2)
    fixed = {"max_step": 0.25, "first_step": 0.25, "rtol": 1e3, "atol": 1e3}
    assert_second_order(lambda p: weighted_states(p, "RK23", times, "steps", **fixed), POINT)


def test_backwards_in_time_and_traced_times():
    end = lambda p: integrate.solve_ivp(  # noqa: E731
        lambda t, y: -y * t, (p[0], p[1]), np.array([1.0]), **TIGHT
    ).y[0, -1]
    exact = lambda a, b: np.exp((a * a - b * b) / 2)  # noqa: E731
    for a, b in ((0.0, 1.5), (1.5, 0.2)):
        np.testing.assert_allclose(gradient(end, [a, b]), [a * exact(a, b), -b * exact(a, b)], rtol=1e-7, atol=1e-9)


def test_captured_values_in_closures_and_objects():
    class Decay:
        def __init__(self, rate):
            self.rate = rate

        def slope(self, t, y):
            return -self.rate * y

    end = lambda k: integrate.solve_ivp(  # noqa: E731
        Decay(k).slope, (0.0, 1.0), np.array([2.0]), t_eval=[1.0], **TIGHT
    ).y[0, 0]
    assert te.grad(end)(0.8) == pytest.approx(-2 * np.exp(-0.8), rel=1e-7)
    assert te.grad(te.grad(end))(0.8) == pytest.approx(2 * np.exp(-0.8), rel=1e-6)


def test_the_two_rules_of_a_trajectory_are_transposes_up_to_the_tolerance():
    solver = integrate.initial_values._ivp_solver(Closed((), ""), "DOP853", TIGHT)
    system = lambda p: lambda t, y: lotka_volterra(t, y, p[0], p[1])  # noqa: E731
    point, times = np.array([0.9, 1.0, 1.1, 0.7]), np.array([0.0, 0.5, 1.2])
    static = {"system": system, "solver": solver}
    for primitive, args, more in (
        (TRAJECTORY, [point, times], {"size": 2}),
        (ADJOINT, [RNG.standard_normal((2, 3)), point, times], {}),
    ):
        given = {**static, **more}
        out = primitive(*args, **given)
        ct = RNG.standard_normal(out.shape)
        for position, arg in enumerate(args):
            tangent = RNG.standard_normal(arg.shape)
            jvp, vjp = primitive.jvp_rules[position], primitive.vjp_rules[position]
            forwards = np.sum(ct * jvp(tangent, jvp.keep(args, given, out, position)))
            backwards = np.sum(tangent * vjp(ct, vjp.keep(args, given, out, position)))
            assert forwards == pytest.approx(backwards, rel=1e-7)
            moved = [
                primitive(*args[:position], arg + step, *args[position + 1 :], **given)
                for step in (1e-4 * tangent, -1e-4 * tangent)
            ]
            np.testing.assert_allclose(forwards, np.sum(ct * (moved[0] - moved[1])) / 2e-4, rtol=1e-5, atol=1e-5)


def test_derivatives_of_states_that_integration_backwards_would_lose():
    """Perturbations that the system damps grow backwards, here by up to exp(40), or as fast as Robertson's reaction."""
    rate = lambda t, y, k: np.array([-k * (y[0] - np.cos(t)), y[0] - y[1]])  # noqa: E731
    run = lambda k, **options: integrate.solve_ivp(  # noqa: E731
        rate, (0.0, 1.0), np.array([1.0, 0.5]), args=(k,), **options
    ).y[1, -1]
    exact = -1.9330920e-4, 9.27396e-6
    for options in ({}, {"t_eval": [1.0]}, {"t_eval": [1.0], "method": "BDF"}, {"method": "Radau"}):
        assert te.grad(lambda k, o=options: run(k, **o))(40.0) == pytest.approx(exact[0], rel=2e-2)
        assert te.hvp(lambda k, o=options: run(k, **o), (40.0,), (1.0,)) == pytest.approx(exact[1], rel=2e-2)
    end = lambda k: integrate.odeint(lambda y, t: rate(t, y, k), np.array([1.0, 0.5]), [0.0, 1.0])[-1, 1]  # noqa: E731
    assert te.grad(end)(40.0) == pytest.approx(exact[0], rel=1e-4)

    def robertson(k):
        def reaction(t, y):
            one, two, three = k[0] * y[0], k[1] * y[1] * y[2], k[2] * y[1] ** 2
            return np.array([two - one, one - two - three, three])

        options = {"method": "LSODA", "rtol": 1e-6, "atol": 1e-10}
        return integrate.solve_ivp(reaction, (0.0, 40.0), np.array([1.0, 0.0, 0.0]), **options).y[0, -1]

    rates = np.array([0.04, 1e4, 3e7])
    forwards = [te.jvp(robertson, (rates,), (e,))[1] for e in np.eye(3)]
    np.testing.assert_allclose(te.grad(robertson)(rates), forwards, rtol=1e-3)


def test_odeint():
    times = np.array([0.0, 0.5, 1.0])
    end = lambda k: integrate.odeint(lambda y, t: -k * y, [1.0], times, rtol=1e-11, atol=1e-12)[2, 0]  # noqa: E731
    assert te.grad(end)(1.0) == pytest.approx(-np.exp(-1), rel=1e-7)
    assert te.grad(te.grad(end))(1.0) == pytest.approx(np.exp(-1), rel=1e-6)
    start = lambda y: integrate.odeint(lambda t, y: -2 * y, y, times, tfirst=True)[1, 0]  # noqa: E731
    assert gradient(start, [1.0])[0] == pytest.approx(np.exp(-1), rel=1e-6)


def test_what_has_no_derivative_is_refused():
    run = lambda k, **options: integrate.solve_ivp(lambda t, y: -k * y, (0.0, 1.0), np.array([1.0]), **options).y[0, -1]  # noqa: E731
    for options, words in (
        ({"events": lambda t, y: y[0], "differentiate": "steps"}, "events"),
        ({"dense_output": True, "differentiate": "steps"}, "dense_output"),
        ({"method": "LSODA", "differentiate": "steps"}, "RK45 and RK23"),
    ):
        with pytest.raises(UnsupportedError, match=words):
            te.grad(lambda k, o=options: run(k, **o))(1.0)
    with pytest.raises(ValueError, match="adjoint"):
        te.grad(lambda k: run(k, differentiate="both"))(1.0)


def test_quad():
    total = lambda p: integrate.quad(lambda x, c: np.exp(-c * x * p[1]), p[0], np.inf, args=(p[2],))[0]  # noqa: E731
    assert_gradient(total, [0.3, 1.2, 0.8])
    nested = lambda k: integrate.quad(lambda x: np.sin(k * x), 0.0, k)[0]  # noqa: E731
    assert te.grad(nested)(1.3) == pytest.approx(2 * np.sin(1.69) - (1 - np.cos(1.69)) / 1.69, rel=1e-10)
    assert_second_order(lambda p: nested(p[0]), [1.3])
    value, error = te.vjp(lambda k: integrate.quad(lambda x: k * x, 0.0, 1.0), 2.0)[0]
    assert value == pytest.approx(1.0)
    assert error < 1e-10
    weighted = te.grad(lambda k: integrate.quad(lambda x: k * x, 0.0, 1.0, weight="cos", wvar=1.0)[0])(1.0)
    assert weighted == pytest.approx(np.sin(1.0) + np.cos(1.0) - 1.0, rel=1e-12)
    with pytest.raises(UnsupportedError, match="complex_func"):
        te.grad(lambda k: integrate.quad(lambda x: k * x, 0.0, 1.0, complex_func=True)[0].real)(1.0)


@pytest.mark.parametrize("points", [2, 3, 4, 7, 8])
def test_rules_for_samples(points):
    y, x = RNG.standard_normal((3, points)), np.cumsum(0.2 + RNG.random(points))
    for name in ("trapezoid", "simpson", "cumulative_trapezoid"):
        ours, theirs = getattr(integrate, name), getattr(scipy.integrate, name)
        np.testing.assert_allclose(ours(y, x=x), theirs(y, x=x))
        np.testing.assert_allclose(ours(y.T, dx=0.3, axis=0), theirs(y.T, dx=0.3, axis=0))
        np.testing.assert_allclose(ours(y, x=np.stack([x, 2 * x, 3 * x])), theirs(y, x=np.stack([x, 2 * x, 3 * x])))
        assert_gradient(lambda y, f=ours: np.sum(np.sin(f(y, x=x))), y)
        assert_gradient(lambda x, f=ours: np.sum(np.sin(f(y, x=x))), x)
    np.testing.assert_allclose(
        integrate.cumulative_trapezoid(y, initial=0), scipy.integrate.cumulative_trapezoid(y, initial=0)
    )


@pytest.mark.parametrize("make", [list, np.array, tnp.array], ids=["list", "objects", "traced"])
def test_traced_numbers_in_a_list_or_in_an_array_of_objects_are_an_array(make):
    """Plain numpy makes an array of objects of them."""

    def program(x):
        turned = linalg.solve(np.array([[2.0, 1.0], [0.5, 3.0]]), make([x, x * x]))
        moved = integrate.solve_ivp(lambda t, y: -x * y, (0.0, 1.0), make([x, 1.0]), rtol=1e-10, atol=1e-12).y[:, -1]
        return np.sum(turned * moved) + linalg.det(make([[x, 1.0], [0.5, 2.0]]))

    assert_gradient(lambda p: program(p[0]), [1.3], rtol=1e-6)


def falling(t, y, g):
    return [y[1], -g + 0.0 * y[0]]


def ground(t, y, g):
    return y[0]


def top(t, y, g):
    return y[1]


ground.terminal, ground.direction = True, -1


def thrown(np, p):
    """The end of a throw from a height ``p[0]`` with a speed ``p[1]`` under gravity ``p[2]``, in closed form."""
    root = np.sqrt(p[1] ** 2 + 2.0 * p[2] * p[0])
    end = (p[1] + root) / p[2]
    grid = [0.0, 0.2, 0.45]
    heights = [p[0] + p[1] * t - 0.5 * p[2] * t * t for t in grid]
    return {
        "time": end,
        "speed": -root,
        "event": end,
        "top": p[1] / p[2],
        "height at the top": p[0] + 0.5 * p[1] ** 2 / p[2],
        "grid": sum((k + 1.0) * h for k, h in enumerate(heights)),
        "halfway": p[0] + 0.5 * p[1] * end - 0.125 * p[2] * end**2,
    }


def solved(name, p, method, others):
    """The same by solving the equation until the ball falls to the ground."""
    events = {"ground": [ground], "both": [top, ground], "twice": [ground, ground, top]}[others]
    times = [0.0, 0.2, 0.45, 3.0, 4.0] if name == "grid" else None
    found = integrate.solve_ivp(
        falling, (0.0, 5.0), tnp.array([p[0], p[1]]), method, times, name == "halfway", events, args=(p[2],), **TIGHT
    )
    assert found.status == 1
    of = events.index
    return {
        "time": lambda: found.t[-1],
        "speed": lambda: found.y[1, -1],
        "event": lambda: found.t_events[of(ground)][0],
        "top": lambda: found.t_events[of(top)][0],
        "height at the top": lambda: found.y_events[of(top)][0][0],
        "grid": lambda: np.sum(found.y[0] * np.arange(1.0, 4.0)),
        "halfway": lambda: found.sol(found.t_events[of(ground)][0] * 0.5)[0],
    }[name]()


@pytest.mark.parametrize("method", ["RK45", "LSODA"])
@pytest.mark.parametrize(
    ("name", "others"),
    [(n, o) for o in ("ground", "both", "twice") for n in thrown(np, np.ones(3)) if o != "ground" or "top" not in n],
)
def test_a_solution_that_a_terminal_event_ends(name, method, others):
    p = np.array([1.5, 2.0, 9.81])
    value, found = te.value_and_grad(lambda p: solved(name, p, method, others))(p)
    exact = [thrown(np, p + 1e-30j * e)[name] for e in np.eye(3)]
    np.testing.assert_allclose(value, exact[0].real, rtol=1e-7)
    np.testing.assert_allclose(found, np.imag(exact) * 1e30, rtol=1e-6, atol=1e-9)
