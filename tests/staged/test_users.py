"""Programs as users write them: each scenario must come out the same with staged programs and with plain ones."""

import collections
import contextlib
import copy
import dataclasses
import functools
import heapq
import itertools
import math
import random
import threading
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
from leaves import bits

import tapeengine as te
import tapeengine.numpy as tnp

Stage = Callable[[Any], Any]
SCENARIOS: dict[str, Callable[[Stage], Any]] = {}


def scenario(f: Callable[[Stage], Any]) -> Callable[[Stage], Any]:
    SCENARIOS[f.__name__] = f
    return f


def tried(f: Callable[..., Any], *args: Any, **keywords: Any) -> Any:
    try:
        return f(*args, **keywords)
    except (Exception, KeyboardInterrupt) as error:
        return type(error).__name__, str(error)


# -- samplers, optimisers, control -------------------------------------------------------------------------------------
@scenario
def hamiltonian_monte_carlo(stage: Stage) -> Any:
    def energy(q: Any) -> Any:
        return sum(0.5 * a * a for a in q) + 0.1 * (q[0] * q[1]) ** 2 + (q[0] - 1.0 if q[0] > 1.0 else 0.0)

    gradient, draw, q, chain = te.value_and_grad(stage(energy)), random.Random(1), [0.3, -0.2], []
    for _ in range(40):
        p = [draw.gauss(0.0, 1.0) for _ in q]
        value, g = gradient(q)
        for _ in range(5):
            p = [a - 0.1 * b for a, b in zip(p, g, strict=True)]
            q = [a + 0.2 * b for a, b in zip(q, p, strict=True)]
            value, g = gradient(q)
        chain.append((value, list(q)))
    return chain


@scenario
def metropolis_with_numbers_drawn_inside(stage: Stage) -> Any:
    rng = np.random.default_rng(0)
    step = stage(lambda x: x + float(rng.normal()) * x)
    return [tried(te.value_and_grad(step), 1.0 + k) for k in range(6)]


@scenario
def numbers_drawn_on_one_path_only(stage: Stage) -> Any:
    draw = random.Random(3)
    program = stage(lambda x: x * draw.random() if x > 2.0 else x * x)
    return [tried(te.value_and_grad(program), x) for x in (1.0, 1.5, 3.0, 3.0, 1.0, 3.0)]


@scenario
def model_predictive_control(stage: Stage) -> Any:
    target = {"x": 1.0}

    def cost(controls: Any, state: Any) -> Any:
        x, v = state
        total = 0.0
        for u in controls:
            v = v + 0.1 * (u - 0.2 * v * abs(v))
            x = x + 0.1 * v
            total = total + (x - target["x"]) ** 2 + 0.01 * u * u
            if x > 2.0:
                total = total + 10.0 * (x - 2.0) ** 2
        return total

    gradient, controls, state, log = te.value_and_grad(stage(cost), 0), [0.0] * 6, (0.0, 0.0), []
    for t in range(12):
        if t == 6:
            target["x"] = 2.5
        for _ in range(3):
            value, g = gradient(controls, state)
            for k in range(6):
                controls[k] -= 2.0 * g[k]
            log.append((value, list(controls)))
        state = (state[0] + 0.1 * state[1], state[1] + 0.1 * controls[0])
        controls.append(controls.pop(0))
    return log


@scenario
def line_search(stage: Stage) -> Any:
    rosenbrock = stage(lambda x: (1.0 - x[0]) ** 2 + 100.0 * (x[1] - x[0] ** 2) ** 2)
    x, log = [-1.2, 1.0], []
    for _ in range(15):
        value, back = te.vjp(rosenbrock, x)
        (g,) = back(1.0)
        t = 1.0
        while rosenbrock([a - t * b for a, b in zip(x, g, strict=True)]) > value - 0.3 * t * sum(b * b for b in g):
            t *= 0.5
        x = [a - t * b for a, b in zip(x, g, strict=True)]
        log.append((value, g, t))
    return log


@scenario
def minimize(stage: Stage) -> Any:
    optimize = pytest.importorskip("scipy.optimize")

    def loss(x: Any) -> Any:
        return (np.abs(x[1:] - x[:-1] ** 2) ** 1.5).sum() + ((1.0 - x[:-1]) ** 2).sum()

    def plain(x: Any) -> Any:
        value, gradient = te.value_and_grad(staged)(x)
        return float(value), gradient

    staged = stage(loss)
    found = optimize.minimize(plain, np.array([-1.2, 1.0, 0.5]), jac=True, method="BFGS", options={"maxiter": 30})
    return found.x, found.fun, found.nfev


@scenario
def newton_with_second_derivatives(stage: Stage) -> Any:
    f = stage(lambda x: x[0] ** 4 + x[0] * x[1] + (1.0 + x[1]) ** 2)
    x, log = np.array([0.75, -1.25]), []
    for _ in range(5):
        g, h = te.grad(f)(x), te.hessian(f)(x)
        x = x - np.linalg.solve(h, g)
        log.append((x, te.hvp(f, (x,), (np.ones(2),))[0], te.jvp(f, (x,), (np.ones(2),))))
    return log


@scenario
def option_with_early_exercise(stage: Stage) -> Any:
    def price(spot: Any, noise: Any, n: int, kind: str) -> Any:
        best = 0.0
        for k in range(n):
            spot = spot * te.math.exp(0.01 + 0.1 * noise[k])
            gain = spot - 100.0 if kind == "call" else 100.0 - spot
            best = max(best, gain)
            if gain > 30.0:
                return gain * te.math.exp(-0.01 * k)
        return best

    draw, f = random.Random(0), stage(price)
    return [
        te.value_and_grad(f, 0)(100.0, [draw.gauss(0.0, 1.0) for _ in range(8)], 8 - k % 3, ["call", "put"][k % 2])
        for k in range(40)
    ]


@scenario
def adam_on_a_dictionary(stage: Stage) -> Any:
    def loss(params: Any, batch: Any) -> Any:
        hidden = np.tanh(batch["x"] @ params["w"] + params["b"])
        return ((hidden @ params["out"]["v"] - batch["y"]) ** 2).mean() + 0.01 * sum(
            (leaf**2).sum() for leaf in (params["w"], params["out"]["v"])
        )

    rng = np.random.default_rng(0)
    params = {"w": rng.normal(size=(3, 4)), "b": np.zeros(4), "out": {"v": rng.normal(size=4)}}
    gradient, log = te.value_and_grad(stage(loss), 0), []
    for _ in range(8):
        batch = {"x": rng.normal(size=(5, 3)), "y": rng.normal(size=5)}
        value, g = gradient(params, batch)
        for key in ("w", "b"):
            params[key] -= 0.1 * g[key]
        params["out"]["v"] -= 0.1 * g["out"]["v"]
        log.append((value, copy.deepcopy(g)))
    return log, params


@scenario
def a_smoother_that_writes_into_arrays(stage: Stage) -> Any:
    def smooth(x: Any, rounds: int) -> Any:
        x = x.copy()
        for _ in range(rounds):
            x[1:-1] = 0.5 * x[1:-1] + 0.25 * (x[:-2] + x[2:])
            x[0] = x[1]
            x[-1] *= 0.9
        return (x * np.arange(len(x))).sum(), x

    f = stage(smooth)
    results = []
    for k in range(6):
        x = np.sin(np.arange(6.0) + k)
        (value, y), back = te.vjp(f, x, 2 + k % 2)
        results.append((value, y, back((1.0, np.ones(6)))[0], x))
        y[...] = 0.0
    return results


# -- what a program captures -------------------------------------------------------------------------------------------
@scenario
def a_log_that_grows(stage: Stage) -> Any:
    log: list[Any] = []

    def program(x: Any) -> Any:
        log.append(te.value(x))
        return x * len(log)

    f = stage(program)
    return [te.value_and_grad(f)(1.0 + k) for k in range(5)], log


@scenario
def a_memo(stage: Stage) -> Any:
    memo: dict[int, float] = {}

    def power(x: Any, n: int) -> Any:
        if n not in memo:
            memo[n] = float(n) + len(memo)
        return x ** memo[n]

    f = stage(power)
    return [te.value_and_grad(f, 0)(1.5, n) for n in (1, 2, 1, 3, 2, 1, 4)], memo


@scenario
def a_cached_helper(stage: Stage) -> Any:
    calls = []

    @functools.lru_cache
    def weight(n: int) -> float:
        calls.append(n)
        return 1.0 / (1 + n)

    f = stage(lambda x, n: sum((weight(k) * x**k for k in range(n)), 0.0))
    return [te.value_and_grad(f, 0)(0.5, n) for n in (3, 3, 4, 2, 4)]


@scenario
def a_default_that_is_written(stage: Stage) -> Any:
    def program(x: Any, seen: list[float] = []) -> Any:  # noqa: B006
        seen.append(1.0)
        return x * len(seen)

    f = stage(program)
    return [te.value_and_grad(f)(2.0) for _ in range(4)]


@scenario
def an_iterator(stage: Stage) -> Any:
    numbers = iter([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    f = stage(lambda x: x * next(numbers))
    return [tried(te.value_and_grad(f), 2.0) for _ in range(8)]


@scenario
def a_counter(stage: Stage) -> Any:
    count = itertools.count(1)
    f = stage(lambda x: x * next(count))
    return [te.value_and_grad(f)(2.0) for _ in range(4)]


@scenario
def a_generator(stage: Stage) -> Any:
    def schedule() -> Any:
        rate = 1.0
        while True:
            yield rate
            rate *= 0.5

    rates = schedule()
    f = stage(lambda x: x * next(rates))
    return [te.value_and_grad(f)(2.0) for _ in range(4)]


@scenario
def a_queue(stage: Stage) -> Any:
    queue = collections.deque([1.0, 2.0, 3.0])

    def program(x: Any) -> Any:
        queue.rotate(1)
        return x * queue[0]

    f = stage(program)
    return [te.value_and_grad(f)(2.0) for _ in range(5)], queue


@scenario
def a_heap(stage: Stage) -> Any:
    def program(xs: Any) -> Any:
        heap = list(xs)
        heapq.heapify(heap)
        a = heapq.heappop(heap)
        b = heapq.heappop(heap)
        heapq.heappush(heap, a * b)
        return [heapq.heappop(heap) for _ in range(len(heap))]

    f, draw = stage(program), random.Random(0)
    results = []
    for _ in range(20):
        value, back = te.vjp(f, [draw.random() for _ in range(4)])
        results.append((value, back([1.0, 2.0, 3.0])))
    return results


@dataclasses.dataclass
class Settings:
    rate: float
    inner: Any = None
    names: tuple[str, ...] = ("a",)


@scenario
def settings_that_change(stage: Stage) -> Any:
    settings = Settings(1.0, Settings(2.0))
    f = stage(lambda x: x * settings.rate + x * x * settings.inner.rate * len(settings.names))
    results = []
    for change in (
        lambda: None,
        lambda: setattr(settings, "rate", 3.0),
        lambda: setattr(settings.inner, "rate", -1.0),
        lambda: setattr(settings, "inner", Settings(5.0)),
        lambda: setattr(settings, "names", ("a", "b")),
        lambda: setattr(settings, "inner", copy.copy(settings.inner)),
    ):
        change()
        results += [te.value_and_grad(f)(1.5), te.value_and_grad(f)(2.5)]
    return results


@scenario
def arrays_that_change(stage: Stage) -> Any:
    table = np.arange(6.0).reshape(2, 3)
    view, parts = table[1], [table[:, 0], {"t": table.T}]
    f = stage(lambda x: (x * view).sum() + parts[0][1] * x[0] + (parts[1]["t"] @ x[:2]).sum())
    results = []
    for k in range(6):
        if k % 2:
            table[k % 3 % 2, k % 3] += 1.0
        results.append(te.value_and_grad(f)(np.ones(3) * k))
    return results


@scenario
def a_loop_variable(stage: Stage) -> Any:
    programs = [stage(lambda x, k=k: x**k) for k in range(3)]
    late = []
    for k in range(3):
        late.append(stage(lambda x: x * k))  # noqa: B023
    return [[te.value_and_grad(p)(1.5) for p in (*programs, *late)] for _ in range(3)]


SCALE = 2.0
RUNS = 0


@scenario
def global_names(stage: Stage) -> Any:
    global SCALE, RUNS
    RUNS = 0

    def program(x: Any) -> Any:
        global RUNS
        RUNS += 1
        return x * SCALE * RUNS

    f, g, results = stage(program), stage(lambda x: x * SCALE), []
    for k in range(5):
        SCALE = 2.0 + k // 2
        results.append((te.value_and_grad(f)(1.5), te.value_and_grad(g)(1.5)))
    return results


@scenario
def a_partial_function(stage: Stage) -> Any:
    weights = np.array([1.0, 2.0])

    def program(w: Any, x: Any, *, power: float = 1.0) -> Any:
        return (w * x**power).sum()

    f = stage(functools.partial(program, weights, power=2.0))
    results = []
    for k in range(4):
        weights[0] = k // 2
        results.append(te.value_and_grad(f)(np.array([1.0, 3.0])))
    return results


class Model:
    power = 2.0

    def __init__(self, scale: float) -> None:
        self.scale = scale
        self.calls = 0

    def __call__(self, x: Any) -> Any:
        return self.scale * x**self.power

    def counted(self, x: Any) -> Any:
        self.calls += 1
        return x * self.calls

    @property
    def double(self) -> float:
        return 2.0 * self.scale

    @classmethod
    def of_class(cls, x: Any) -> Any:
        return x * cls.power

    @staticmethod
    def alone(x: Any) -> Any:
        return x * x

    def with_property(self, x: Any) -> Any:
        return x * self.double


@scenario
def methods(stage: Stage) -> Any:
    class Staged(Model):
        staged = stage(Model.with_property)

    models = [Model(1.0), Model(2.0)]
    results = []
    programs = [
        *(stage(p) for m in models for p in (m, m.counted, m.with_property)),
        *(stage(Model.of_class), stage(Model.alone), Staged(4.0).staged),
    ]
    for k in range(4):
        models[k % 2].scale += 1.0
        results.append([te.value_and_grad(p)(1.5) for p in programs])
    return results


# -- arguments and values ----------------------------------------------------------------------------------------------
@scenario
def arguments_of_changing_kinds(stage: Stage) -> Any:
    f = stage(lambda x, y=1.0: x * y + x)
    kinds = (1.0, np.float64(1.0), 1, True, -0.0, 0.0, math.nan, math.inf, np.float32(1.5), np.array(1.0), np.ones(2))
    return [
        (tried(lambda x, y: te.vjp(f, x, y)[0], x, y), tried(lambda x, y: te.vjp(f, x, y)[1](1.0), x, y))
        for x, y in itertools.product((*kinds, *kinds), (2.0, 3))
    ]


@scenario
def keyword_arguments(stage: Stage) -> Any:
    def program(x: Any, *rest: Any, scale: float = 1.0, table: Any = None, name: str = "a", **more: Any) -> Any:
        total = x * scale + sum(rest, 0.0) * x
        if table is not None:
            total = total + x * table[0]
        return total * (2.0 if name == "b" else 1.0) * more.get("last", 1.0)

    f, table = stage(program), [1.0, 2.0]
    results = []
    for k in range(3):
        table[0] = float(k // 2)
        for keywords in ({}, {"scale": 2.0}, {"table": table}, {"name": "b"}, {"last": 3.0}, {"table": np.ones(2)}):
            results.append([te.value_and_grad(f)(1.5, **keywords), te.vjp(f, 1.5, 2.0, **keywords)[1](1.0)])
    return results


class Point(NamedTuple):
    x: Any
    y: Any


@scenario
def values_of_many_kinds(stage: Stage) -> Any:
    programs: list[Any] = [
        lambda x: None,
        lambda x: 3,
        lambda x: ("name", x, True),
        lambda x: Point(x, x * x),
        lambda x: {"b": x, "a": [1.0, x], 3: ()},
        lambda x: [[], {}, (), x],
        lambda x: x,
        lambda x: [x, x],
        lambda x: collections.OrderedDict(z=x, a=2.0 * x),
        lambda x: np.array([x, 1.0]) if not te.is_traced(x) else tnp.array([x, 1.0]),
        lambda x: complex(1.0, 2.0) * x,
        lambda x: x > 1.0,
        lambda x: range(int(x)),
    ]
    return [[tried(lambda p=p, x=x: te.vjp(p, x)[0]) for x in (1.5, 2.5, 1.75)] for p in map(stage, programs)]


@scenario
def arguments_that_the_program_changes(stage: Stage) -> Any:
    def program(xs: Any, d: Any, a: Any) -> Any:
        xs.sort()
        last = xs.pop()
        d["new"] = last * d["old"]
        del d["old"]
        a += last
        a.sort()
        return last * d["new"] + a[0]

    f, results = stage(program), []
    for k in range(5):
        args = [3.0, 1.0 + k, 2.0], {"old": 2.0}, np.array([2.0, 1.0 * k])
        results.append((tried(te.value_and_grad(f, (0, 1, 2)), *args), args))
    return results


@scenario
def arguments_that_are_one_object(stage: Stage) -> Any:
    def program(xs: Any, ys: Any) -> Any:
        xs[0] = xs[0] * 3.0
        return xs[0] * ys[0] + ys[1]

    f, results = stage(program), []
    for k in range(4):
        xs, a = [1.0 + k, 2.0], np.array([1.0, 2.0, 3.0 + k])
        for args in ((xs, xs), (list(xs), xs), (a, a), (a[1:], a[:-1]), (a, a.copy())):
            results.append((tried(te.value_and_grad(f, (0, 1)), *args), copy.deepcopy(args)))
    return results


@scenario
def dictionaries_of_changing_order(stage: Stage) -> Any:
    f = stage(lambda d: sum((k + 1) * d[key] for k, key in enumerate(d)))
    cases = (
        {"a": 1.0, "b": 2.0},
        {"b": 1.0, "a": 2.0},
        {"a": 1.0},
        {"a": 1.0, "b": 2.0, "c": 3.0},
        {1: 1.0, 2.5: 2.0},
    )
    return [te.value_and_grad(f)(d) for d in (*cases, *cases)]


# -- errors ------------------------------------------------------------------------------------------------------------
class Infeasible(Exception):
    pass


@scenario
def programs_that_raise(stage: Stage) -> Any:
    def program(x: Any, table: Any) -> Any:
        if x > 3.0:
            raise Infeasible(f"{te.value(x):.1f} is too large")
        y = te.math.log(x) + te.math.sqrt(x + 1.0) / x
        return y * table[int(x * 2.0)]

    f = stage(program)
    points = (1.0, 0.0, -1.0, 3.5, 2.0, 2.5, 1.0, 0.0, 3.5, 1.5, -2.0)
    return [tried(te.value_and_grad(f, 0), x, [0.5, 1.0, 2.0, 3.0]) for x in (*points, *points)]


@scenario
def errors_that_are_handled(stage: Stage) -> Any:
    def program(x: Any) -> Any:
        total = x
        for k in range(3):
            with contextlib.suppress(ZeroDivisionError):
                total = total + 1.0 / (x - k)
            try:
                total = total + te.math.sqrt(x - 1.0)
            except ValueError as error:
                total = total * len(str(error))
            finally:
                total = total * 1.5
        return total

    f = stage(program)
    return [te.value_and_grad(f)(x) for x in (0.0, 1.0, 2.0, 2.5, 0.5, 0.0, 1.0, 2.0, 2.5)]


@scenario
def interrupts(stage: Stage) -> Any:
    stop = {"at": 2}

    def program(x: Any) -> Any:
        y = x * x
        if x > 2.0 and stop["at"]:
            raise KeyboardInterrupt
        return y * x

    f, results = stage(program), []
    for x in (1.0, 3.0, 1.5, 3.0, 1.0):
        results.append(tried(te.value_and_grad(f), x))
    stop["at"] = 0
    return results + [tried(te.value_and_grad(f), x) for x in (1.0, 3.0, 3.5, 1.0)]


@scenario
def a_cotangent_that_does_not_fit(stage: Stage) -> Any:
    f, results = stage(lambda x: [x, x * x]), []
    for _ in range(3):
        _, back = te.vjp(f, 2.0)
        results += [tried(back, c) for c in ([1.0, 1.0], 1.0, [1.0], [1.0, None], (1.0, 1.0), [np.ones(2), 1.0])]
    return results


# -- programs in programs ----------------------------------------------------------------------------------------------
@scenario
def staged_in_staged(stage: Stage) -> Any:
    inner = stage(lambda x, n: x**n if x > 1.0 else x * n)
    middle = stage(lambda x: inner(x, 2) + inner(x * 0.5, 3))
    outer = stage(lambda xs: [middle(x) * inner(x, 1) for x in xs])
    results = []
    for xs in ([0.5, 1.5], [2.5, 0.5], [1.0, 3.0], [0.5, 1.5]):
        value, back = te.vjp(outer, xs)
        results.append((value, back([1.0, 2.0]), te.jacobian(outer)(xs), te.hessian(lambda v: sum(outer(v)))(xs)))
    return results


@scenario
def derivatives_in_staged(stage: Stage) -> Any:
    def step(x: Any) -> Any:
        return x - te.grad(lambda y: (y * y - 2.0) ** 2)(x) * 0.05

    f = stage(lambda x: step(step(x)))
    return [te.value_and_grad(f)(x) for x in (1.0, 1.1, 1.2)]


@scenario
def checkpoints_and_forks_in_staged(stage: Stage) -> Any:
    def program(x: Any) -> Any:
        a = te.checkpoint(lambda y: y * y * y if y > 1.0 else y * 2.0)(x)
        b, c = te.fork(lambda: te.math.sin(a), lambda: x * x)
        return a * b + c

    f = stage(program)
    return [te.value_and_grad(f)(x) for x in (0.5, 1.5, 0.7, 1.2)]


@scenario
def staged_under_transforms(stage: Stage) -> Any:
    f = stage(lambda x: np.exp(x) * x[0] if x[1] > 0.0 else x * x)
    results = []
    for x in (np.array([1.0, 2.0]), np.array([1.0, -2.0]), np.array([0.5, 0.25])):
        results.append(
            (
                te.jacobian(f)(x) + 0.0,  # the sign of a zero depends on how many columns are swept at once
                te.jacfwd(f)(x) + 0.0,
                te.jvp(f, (x,), (x,)),
                te.linearize(f, x)[1](x),
                te.grad(lambda y: f(y).sum())(x),
                te.hessian(lambda y: f(y).sum())(x),
                te.vmap(f)(np.stack([x, -x])),
                te.checkpoint(f)(x),
            )
        )
    return results


@scenario
def captured_numbers_of_an_outer_trace(stage: Stage) -> Any:
    def outer(t: Any) -> Any:
        f = stage(lambda x: x * x * t)
        return te.grad(f)(3.0) + f(t) + te.grad(f)(t)

    return [te.value_and_grad(outer)(t) for t in (1.0, 2.0, 1.0)]


@scenario
def functions_of_python(stage: Stage) -> Any:
    def program(xs: Any) -> Any:
        pairs = sorted(itertools.pairwise(xs), key=lambda p: p[0] * p[1])
        a = functools.reduce(lambda p, q: p * q, xs)
        b = sum(x for x in xs if x > 0.5) + min(xs) * max(xs, key=abs)
        c = math.prod([p + q for p, q in pairs]) + sum(map(abs, xs))
        d = [x for x, _ in itertools.groupby(sorted(xs), key=lambda x: int(x * 3.0))]
        return a + b * c + len(d) * xs[0] + (round(xs[0]) if any(x > 1.0 for x in xs) else divmod(xs[0], 1.0)[1])

    f, draw = stage(program), random.Random(5)
    return [te.value_and_grad(f)([draw.uniform(-1.0, 1.5) for _ in range(4)]) for _ in range(30)]


@scenario
def a_recursion(stage: Stage) -> Any:
    def tree(node: Any) -> Any:
        return node["v"] * (1.0 + sum(map(tree, node.get("c", ()))))

    f = stage(tree)
    leaf: Any = {"v": 2.0}
    trees: list[Any] = [leaf, {"v": 1.5, "c": [leaf, {"v": 3.0, "c": [leaf]}]}, {"v": 1.0, "c": []}]
    return [te.value_and_grad(f)(copy.deepcopy(t)) for t in (*trees, *trees)]


@scenario
def arrays_and_decisions(stage: Stage) -> Any:
    def program(a: Any, k: int) -> Any:
        b = np.cumsum(a) * a[::-1]
        c = np.where(b > 0.3, b, -0.5 * b)
        if c.max() > 1.0:
            c = c / c.max()
        i = int(np.argmax(c))
        c = np.concatenate([c[i:], c[:i]])
        return c[k] * np.linalg.norm(a) + c[a > 0.2].sum() + np.sort(c)[-1]

    f, rng = stage(program), np.random.default_rng(0)
    return [tried(te.value_and_grad(f, 0), rng.normal(size=4) * 0.7, k % 2) for k in range(24)]


@scenario
def printed_values(stage: Stage) -> Any:
    lines: list[str] = []
    f = stage(lambda x: x * len(f"{te.value(x):.3g}"))
    g = stage(lambda x: lines.append(str(x > 1.0)) or x)  # type: ignore[func-returns-value]
    return [(te.value_and_grad(f)(x), te.value_and_grad(g)(x)) for x in (1.0, 1.25, 10.0, 1.0, 1.25)], lines


@scenario
def copies_of_a_staged_program(stage: Stage) -> Any:
    scale = [2.0]
    f = stage(lambda x: x * scale[0])
    results = [te.value_and_grad(f)(1.5), te.value_and_grad(f)(2.5)]
    for g in (copy.copy(f), copy.deepcopy(f)):
        results += [te.value_and_grad(g)(1.5), te.value_and_grad(g)(2.5)]
    scale[0] = 3.0
    return [*results, te.value_and_grad(f)(1.5)]


@scenario
def threads_of_one_program(stage: Stage) -> Any:
    f = stage(lambda x, n: sum((x**k if x > 0.5 else x * k for k in range(n)), 0.0))
    found: dict[int, Any] = {}

    def work(seed: int) -> None:
        draw = random.Random(seed)
        found[seed] = [te.value_and_grad(f, 0)(draw.random(), draw.randrange(1, 5)) for _ in range(60)]

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return [found[seed] for seed in range(4)]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", SCENARIOS)
def test_a_staged_program_does_what_the_plain_one_does(name: str) -> None:
    random.seed(0)
    wanted = bits(SCENARIOS[name](lambda program: program))
    random.seed(0)
    assert bits(SCENARIOS[name](te.stage)) == wanted
