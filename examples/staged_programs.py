"""Programs that are recorded once and evaluated many times: a fit, a sampler, an option with a barrier, a controller.

    python examples/staged_programs.py

Each says what staging gained: the time of the same work with the program as it is, over that with the staged one.
"""

import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import tapeengine as te


def timed(run: Callable[..., Any], *args: Any) -> tuple[Any, float]:
    """A result, and the seconds of CPU time that it took."""
    start = time.process_time()
    found = run(*args)
    return found, time.process_time() - start


def gain(what: str, run: Callable[[Any], Any], program: Callable[..., Any]) -> Any:
    """Do the same work with a program and with the staged one; the result must be the same to the last bit."""
    plain, seconds = timed(run, program)
    found, fewer = timed(run, te.stage(program))
    assert repr(plain) == repr(found)
    print(f"{what}: {seconds / fewer:.1f} times faster")
    return found


# -- a fit with scipy.optimize.minimize --------------------------------------------------------------------------------
def decay(parameters: Any, times: list[float], data: list[float]) -> Any:
    """The squared distance of two decaying exponentials from data."""
    a, b, p, q = parameters
    total = 0.0
    for t, y in zip(times, data):
        total = total + (a * te.math.exp(-p * t) + b * te.math.exp(-q * t) - y) ** 2
    return total


def fit(program: Callable[..., Any]) -> list[float]:
    """The parameters that scipy finds, by BFGS with exact gradients."""
    from scipy.optimize import minimize

    times = [0.05 * k for k in range(120)]
    data = [2.0 * math.exp(-0.7 * t) + math.exp(-3.0 * t) for t in times]
    value_and_grad = te.value_and_grad(program)

    def objective(x: Any) -> Any:
        value, gradient = value_and_grad(x.tolist(), times, data)
        return value, np.array(gradient)

    found: list[float] = minimize(objective, [1.0, 0.5, 0.5, 2.0], jac=True, method="BFGS").x.tolist()
    return found


# -- Hamiltonian Monte Carlo -------------------------------------------------------------------------------------------
def density(x: Any) -> Any:
    """The negative logarithm of Neal's funnel in five dimensions, but for a constant."""
    v, rest = x[0], x[1:]
    return v * v / 18.0 + 0.5 * len(rest) * v + 0.5 * te.math.exp(-v) * sum(y * y for y in rest)


def sample(program: Callable[..., Any], samples: int = 300, steps: int = 20, size: float = 0.1) -> list[float]:
    """The mean of samples that are drawn by leapfrog steps."""
    rng = np.random.default_rng(0)
    value_and_grad = te.value_and_grad(program)
    x = [0.0, 1.0, -1.0, 0.5, -0.5]
    energy, slope = value_and_grad(x)
    total = np.zeros(5)
    for _ in range(samples):
        y, force, momentum = list(x), slope, rng.normal(size=5).tolist()
        before = energy + 0.5 * sum(p * p for p in momentum)
        for _ in range(steps):
            momentum = [p - 0.5 * size * f for p, f in zip(momentum, force)]
            y = [a + size * p for a, p in zip(y, momentum)]
            now, force = value_and_grad(y)
            momentum = [p - 0.5 * size * f for p, f in zip(momentum, force)]
        if rng.random() < math.exp(min(0.0, before - now - 0.5 * sum(p * p for p in momentum))):
            x, energy, slope = y, now, force
        total += x
    mean: list[float] = (total / samples).tolist()
    return mean


# -- an option whose worth depends on the path -------------------------------------------------------------------------
BARRIER, STRIKE, STEPS, PATHS = 70.0, 100.0, 8, 100_000


def paths(market: Any, noise: Any) -> tuple[Any, Any]:
    """Discounted payoffs on one path: of a European option, and of one that ends below a barrier."""
    spot, volatility, rate = market
    step = 1.0 / STEPS
    drift, scale = (rate - 0.5 * volatility * volatility) * step, volatility * math.sqrt(step)
    price, alive = spot, True
    for z in noise:
        price = price * te.math.exp(drift + scale * z)
        alive = alive and price > BARRIER
    worth = (price - STRIKE) * te.math.exp(-rate) if price > STRIKE else price * 0.0
    return worth, worth if alive else price * 0.0


def normal(x: Any) -> Any:
    """The distribution function of the normal distribution."""
    return 0.5 * te.math.erfc(-x / math.sqrt(2.0))


def formula(market: Any) -> Any:
    """Black and Scholes' price of the European option."""
    spot, volatility, rate = market
    d = (te.math.log(spot / STRIKE) + rate) / volatility + 0.5 * volatility
    return spot * normal(d) - STRIKE * te.math.exp(-rate) * normal(d - volatility)


def greeks() -> None:
    """All Greeks of both options on 10^5 paths, in lanes; those of the European one against the formula."""
    market = (105.0, 0.25, 0.03)
    noise = list(np.random.default_rng(1).normal(size=(STEPS, PATHS // 2)))
    noise = [np.concatenate([z, -z]) for z in noise]
    mapped = te.vmap(te.stage(paths), (None, 0))
    ((european, knock_out), back), seconds = timed(te.vjp, mapped, market, noise)
    each, nothing = np.full(PATHS, 1.0 / PATHS), np.zeros(PATHS)
    found, of_barrier = back((each, nothing))[0], back((nothing, each))[0]
    price, exact = te.value_and_grad(formula)(market)
    some = 500
    rows = np.array(noise).T[:some].tolist()
    _, alone = timed(lambda: [te.vjp(paths, market, row)[1]((1.0, 0.0)) for row in rows])
    _, again = timed(back, (each, nothing))
    print(f"option: {european.mean():.3f} (formula {price:.3f}), with a barrier {knock_out.mean():.3f}")
    for name, a, b, c in zip(("delta", "vega", "rho"), found, exact, of_barrier):
        print(f"    {name}: {a:.3f} (formula {b:.3f}), with a barrier {c:.3f}")
        assert abs(a - b) < 0.02 * abs(b)
    print(f"option: {alone / some * PATHS / (seconds + again):.0f} times faster than one path after the other")


# -- model-predictive control ------------------------------------------------------------------------------------------
def cost(controls: Any, angle: Any, speed: Any) -> Any:
    """What it costs to swing a pendulum up, by semi-implicit steps."""
    total = 0.0
    for u in controls:
        speed = speed + 0.1 * (9.81 * te.math.sin(angle) + u - 0.1 * speed)
        angle = angle + 0.1 * speed
        total = total + angle * angle + 0.1 * speed * speed + 0.001 * u * u
    return total


def control(program: Callable[..., Any], moments: int = 20, iterations: int = 25) -> tuple[float, float]:
    """Where the pendulum is after a controller has looked 15 steps ahead at each moment, by gradient descent."""
    gradient = te.grad(program)
    angle, speed = 0.8, 0.0
    controls = [0.0] * 15
    for _ in range(moments):
        for _ in range(iterations):
            slope = gradient(controls, angle, speed)
            length = max(1.0, math.sqrt(sum(s * s for s in slope)))
            controls = [u - 2.0 * s / length for u, s in zip(controls, slope)]
        speed = speed + 0.1 * (9.81 * math.sin(angle) + controls[0] - 0.1 * speed)
        angle = angle + 0.1 * speed
        controls = [*controls[1:], 0.0]
    return angle, speed


def main() -> None:
    """Run all four."""
    print("fit:", [round(x, 4) for x in gain("fit", fit, decay)])
    print("mean of the funnel:", [round(x, 2) for x in gain("sampler", sample, density)])
    greeks()
    print("pendulum:", [round(x, 3) for x in gain("controller", control, cost)])


if __name__ == "__main__":
    main()
