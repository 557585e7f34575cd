"""Every transform of a `te.program` uses the program's own derivative: its Python function is never called."""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

import tapeengine as te
import tapeengine.math as tm
import tapeengine.numpy as tnp
from tapeengine._core.programs.replay import Checks
from tapeengine.chad.program import Program

RANDOM = np.random.default_rng(0)


class State(NamedTuple):
    position: float
    count: int
    velocity: float


def loss(w: te.Vec, xs: te.Array[te.Vec], ys: te.Vec, n: int = 2) -> float:
    def predict(x: te.Vec) -> float:
        return tm.tanh(sum(w[j] * x[j] for j in range(len(w))))

    total = 0.0
    for i in range(len(xs)):
        if i > 1:
            total = total * 1.5
        total += (predict(xs[i]) - ys[i]) ** n
    return total


def waves(w: te.Vec, x: float) -> te.Vec:
    return [x * tm.sin(v) * w[0] for v in w]


def step(s: State, k: float) -> State:
    return State(s.position + 0.1 * s.velocity, s.count + 1, s.velocity - 0.1 * k * tm.sin(s.position))


def root(x: float, a: float) -> float:
    y = 1.0
    while abs(y * y - a * x) > 1e-12:
        y = 0.5 * (y + a * x / y)
    return y * x


def with_rest(w: te.Vec, x: float) -> tuple[float, te.Vec]:
    return sum(v * v for v in w) * x * x, w


W, XS, YS = RANDOM.normal(size=3), RANDOM.normal(size=(5, 3)), RANDOM.normal(size=5)
DW, DXS, DYS = RANDOM.normal(size=3), RANDOM.normal(size=(5, 3)), RANDOM.normal(size=5)
LOSS, D_LOSS = (W, XS, YS, 2), (DW, DXS, DYS, None)
STATE = State(0.4, 1, -0.3)


#: For each transform the program, and the call for the program and for its plain function.
TRANSFORMS: dict[str, tuple[Callable[..., Any], Callable[[Any], Any]]] = {
    "grad": (loss, lambda f: te.grad(f)(*LOSS)),
    "grad of two arguments": (loss, lambda f: te.grad(f, (0, 2))(*LOSS)),
    "grad of the last but one": (loss, lambda f: te.grad(f, -2)(*LOSS)),
    "grad by name": (loss, lambda f: te.grad(f, "xs")(W, xs=XS, ys=YS)),
    "grad with aux": (with_rest, lambda f: te.grad(f, has_aux=True)(W, 2.0)),
    "jacobian with aux": (with_rest, lambda f: te.jacobian(f, has_aux=True)(W, 2.0)),
    "value_and_grad": (loss, lambda f: te.value_and_grad(f, 1)(*LOSS)),
    "jacobian": (waves, lambda f: te.jacobian(f)(W, 2.0)),
    "jacobian by two": (waves, lambda f: te.jacobian(f, (0, 1))(W, 2.0)),
    "jacobian of a record": (step, lambda f: te.jacobian(f, (0, 1))(STATE, 2.0)),
    "jacfwd": (waves, lambda f: te.jacfwd(f)(W, 2.0)),
    "jacrev": (waves, lambda f: te.jacrev(f)(W, 2.0)),
    "hessian": (loss, lambda f: te.hessian(f)(*LOSS)),
    "hessian by two": (loss, lambda f: te.hessian(f, (0, 2))(*LOSS)),
    "hessian of a vector": (waves, lambda f: te.hessian(f)(W, 2.0)),
    "hessian of a loop": (root, lambda f: te.hessian(f, (0, 1))(1.5, 2.0)),
    "hvp": (loss, lambda f: te.hvp(f, LOSS, D_LOSS)),
    "vhp": (loss, lambda f: te.vhp(f, LOSS, D_LOSS)),
    "linearize": (waves, lambda f: te.linearize(f, W, 2.0)[1](DW, 1.0)),
    "linearize, transposed": (waves, lambda f: te.linearize(f, W, 2.0)[1].T(list(DW))),
    "linearize, as a matrix": (waves, lambda f: te.linearize(f, W, 2.0)[1].matrix()),
    "a gradient of a gradient": (loss, lambda f: te.grad(lambda w: tnp.sum(te.grad(f)(w, XS, YS, 2) * DW))(W)),
    "a gradient of a jvp": (root, lambda f: te.grad(lambda x: te.jvp(f, (x, 2.0), (1.0, 0.5))[1])(1.5)),
    "a jvp of a gradient": (root, lambda f: te.jvp(te.grad(f), (1.5, 2.0), (1.0, 0.5))),
    "a part of a program": (loss, lambda f: te.grad(lambda w: f(w * w, XS, YS, 2) * w[0])(W)),
    "a part of a Hessian": (loss, lambda f: te.hessian(lambda w: f(w * w, XS, YS, 2) * w[0])(W)),
    "steps of a record": (step, lambda f: te.grad(lambda k: f(f(STATE, k), k * k).velocity)(2.0)),
    "checkpoint": (loss, lambda f: te.grad(lambda w: te.checkpoint(f)(w * w, XS, YS, 2) * w[0])(W)),
    "fork_map": (waves, lambda f: te.grad(lambda w: sum(map(sum, te.fork_map(lambda t: f(w * t, t), [1.0, 2.0]))))(W)),
    "tape": (loss, lambda f: te.tape(f, *LOSS).value),
}


def leaves(value: Any) -> list[Any]:
    if value is None or isinstance(value, int):
        return []
    if isinstance(value, (tuple, list)):
        return [leaf for part in value for leaf in leaves(part)]
    return [np.ravel(np.asarray(value, float))]


def counted(function: Callable[..., Any]) -> tuple[Program, list[int]]:
    """A program, and a list that grows with each call of its Python function."""
    program, calls = te.program(function), []

    def run(*args: Any) -> Any:
        calls.append(1)
        return function(*args)

    program._python = run, Checks()
    return program, calls


@pytest.mark.parametrize("name", TRANSFORMS)
def test_python_is_never_called(name: str) -> None:
    function, transform = TRANSFORMS[name]
    program, calls = counted(function)
    found = transform(program)
    assert calls == []
    expected = transform(function)
    a, b = np.concatenate(leaves(found)), np.concatenate(leaves(expected))
    np.testing.assert_allclose(a, b, rtol=1e-11, atol=1e-12)


def test_third_derivatives() -> None:
    @te.program
    def cube(x: float) -> float:
        return x * x * x * tm.exp(x)

    def third(x: float) -> float:
        return math.exp(x) * (x**3 + 9 * x**2 + 18 * x + 6)

    assert te.grad(te.grad(te.grad(cube)))(0.7) == pytest.approx(third(0.7), rel=1e-12)
    assert te.grad(te.hessian(cube))(0.7) == pytest.approx(third(0.7), rel=1e-12)


def test_what_has_no_second_derivative_of_its_own_runs_on_dual_numbers() -> None:
    @te.program
    def through_a_primitive(m: te.Array[te.Vec], x: float) -> float:
        return np.linalg.det(m) * x * x

    m = np.array([[2.0, 0.5], [1.0, 3.0]])
    assert te.hessian(through_a_primitive, 1)(m, 2.0) == pytest.approx(11.0)
    np.testing.assert_allclose(te.grad(lambda m: through_a_primitive(m, 2.0))(m), te.grad(through_a_primitive)(m, 2.0))


def through_det(x: te.Vec) -> float:
    return np.linalg.det(np.outer(x, x) + np.eye(len(x))) * x[0]


def through_sorting(x: te.Vec) -> float:
    return sum(v * v * v for v in sorted(x)[1:])


def within_recursion(x: te.Vec) -> float:
    def halved(y: float, n: int) -> float:
        return y * x[0] if n == 0 else halved(y * y * 0.5, n - 1) + x[1]

    return halved(x[2], 2)


AROUND = {
    "called": lambda f: lambda x: f(x),
    "checkpointed": te.checkpoint,
    "within a checkpoint": lambda f: te.checkpoint(lambda x: f(x)),
    "iterated": lambda f: lambda x: te.iterate(lambda s: s + f(x), 2, 0.0),
    "forked": lambda f: lambda x: te.fork_map(f, [x, x * x])[1],
    "staged": te.stage,
    "mapped": lambda f: lambda x: te.vmap(f)(tnp.stack([x, x * x])).sum(),
}
ORDERS = {
    "hessian": te.hessian,
    "jacfwd of grad": lambda f: te.jacfwd(te.grad(f)),
    "jacrev of grad": lambda f: te.jacrev(te.grad(f)),
    "grad of jvp": lambda f: te.grad(lambda x: te.jvp(f, (x,), (W,))[1]),
    "jvp of jvp": lambda f: lambda x: te.jvp(lambda x: te.jvp(f, (x,), (W,))[1], (x,), (DW,))[1],
    "map of grad": lambda f: lambda x: te.linearize(te.grad(f), x)[1].matrix(),
    "grad of hvp": lambda f: te.grad(lambda x: te.hvp(f, (x,), (W,)).sum()),
}


@pytest.mark.parametrize("f", [through_det, through_sorting, within_recursion])
@pytest.mark.parametrize("around", AROUND)
@pytest.mark.parametrize("order", ORDERS)
def test_higher_derivatives_of_programs_within_transforms_are_those_of_the_plain_function(
    f: Callable[..., Any], around: str, order: str
) -> None:
    made, plain = AROUND[around](te.program(f)), AROUND[around](f)
    np.testing.assert_allclose(ORDERS[order](made)(W), ORDERS[order](plain)(W), rtol=1e-11, atol=1e-14)


@pytest.mark.parametrize("argnums", [1, -1, (0, 1), (-2, -1), (0, -1), (1, -2)])
def test_places_of_staged_programs_may_be_counted_from_the_end(argnums: Any) -> None:
    def program(x: Any, y: Any) -> Any:
        return x * x * y

    staged = te.stage(program)
    for _ in range(2):
        assert te.grad(staged, argnums)(3.0, 2.0) == te.grad(program, argnums)(3.0, 2.0)
    positive = tuple(k % 2 for k in argnums) if isinstance(argnums, tuple) else argnums % 2
    assert te.grad(staged, positive)(3.0, 2.0) == te.grad(program, positive)(3.0, 2.0)
    assert staged.stats().recordings == 1


@te.program
def monomial(x: float, y: float, n: int) -> float:
    return x * x * y * y


@te.program
def cubes(xs: list[float]) -> float:
    return sum(x * x * x for x in xs)


#: Programs with arguments of which some are integers that are given for floats.
GIVEN = [
    (monomial, (1.0, 2.0, 3), 0),
    (monomial, (1.0, 2, 3), 0),
    (monomial, (1.0, 2, 3), (0, 1)),
    (monomial, (1, 2.0, 3), (0, 1)),
    (cubes, ([1.0, 2.0],), 0),
    (cubes, ([1.0, 2],), 0),
    (cubes, ([1, 2.0, 3],), 0),
]
OVER = {
    "staged": te.stage,
    "called": lambda program: lambda *args: program(*args),
    "checkpointed": te.checkpoint,
}


@pytest.mark.parametrize("transform", ["grad", "jacobian", "jacfwd", "jacrev", "hessian"])
@pytest.mark.parametrize("over", OVER)
@pytest.mark.filterwarnings("ignore::tapeengine.errors.StagingWarning")
def test_integers_given_for_floats_have_no_derivative_as_in_plain_functions(over: str, transform: str) -> None:
    of = getattr(te, transform)
    for program, args, argnums in GIVEN:
        assert of(OVER[over](program), argnums)(*args) == of(program.python, argnums)(*args)
        if transform != "grad":  # which treats an integer as the float that a program takes
            assert of(program, argnums)(*args) == of(program.python, argnums)(*args)


def root_at_zero(x: te.Vec) -> float:
    return np.log1p(np.sum(np.sqrt(x) * x[2] ** 0.5)) + x[0] ** 3


def power_at_zero(x: te.Vec) -> float:
    return np.sum(np.sqrt(x) * 0.0) ** 1.5 + x[0] ** 3


@pytest.mark.parametrize("f", [root_at_zero, power_at_zero])
def test_second_derivatives_that_are_not_finite_are_those_of_the_plain_function(f: Callable[..., Any]) -> None:
    x = np.array([1.0, 0.0, 0.25])
    with np.errstate(all="ignore"):
        expected = te.hessian(f)(x)
        assert not np.isfinite(expected).all()
        np.testing.assert_array_equal(te.hessian(te.program(f))(x), expected)
        for along in np.eye(3):
            np.testing.assert_array_equal(te.hvp(te.program(f), (x,), (along,)), te.hvp(f, (x,), (along,)))


def through_products(x: te.Vec) -> float:
    return np.sum(np.outer(x, np.sin(x)) @ x) * np.linalg.norm(x)


PRODUCTS = te.program(through_products)
LONG, D_LONG = RANDOM.normal(size=30), RANDOM.normal(size=30)
TASKS: dict[str, Callable[[Any], Any]] = {
    "call": PRODUCTS,
    "jvp": lambda x: te.jvp(PRODUCTS, (x,), (D_LONG,))[1],
    "jvp of a call": lambda x: te.jvp(lambda x: PRODUCTS(x) * x[0], (x,), (D_LONG,))[1],
    "grad": lambda x: te.grad(PRODUCTS)(x) @ D_LONG,
    "linearize": lambda x: te.linearize(PRODUCTS, x)[1](D_LONG),
    "jvp of a fork": lambda x: te.jvp(lambda x: te.fork_map(PRODUCTS, [x, 2.0 * x])[1], (x,), (D_LONG,))[1],
    "jvp of an iteration": lambda x: te.jvp(lambda x: te.iterate(lambda s: s + PRODUCTS(x), 2, 0.0), (x,), (D_LONG,))[
        1
    ],
}


def within_traces(count: int, run: Callable[[], Any]) -> Any:
    """What a run gives while so many traces are open on which it does not depend."""
    found: list[Any] = []

    def around(count: int, z: float) -> float:
        if count == 0:
            found.append(run())
            return z
        return te.vjp(lambda z: around(count - 1, z), 1.0)[0] * z

    around(count, 1.0)
    return found[0]


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("transform", [te.grad, te.value_and_grad, te.jacfwd, te.hessian])
def test_bits_do_not_depend_on_open_traces_of_others(task: str, transform: Callable[..., Any]) -> None:
    def bits() -> list[bytes]:
        return [np.asarray(leaf).tobytes() for leaf in leaves(transform(TASKS[task])(LONG))]

    assert all(within_traces(count, bits) == bits() for count in range(1, 6))


@pytest.mark.parametrize("task", TASKS)
def test_tasks_on_threads_have_the_same_bits_in_each_run(task: str) -> None:
    def bits() -> bytes:
        return te.grad(lambda x: sum(te.fork_map(lambda k: TASKS[task](x * k), np.arange(1.0, 9.0))))(LONG).tobytes()

    assert len({bits() for _ in range(4)}) == 1


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("around", AROUND)
@pytest.mark.parametrize("seed", range(3))
def test_later_runs_of_derivatives_of_programs_give_what_the_first_gave(task: str, around: str, seed: int) -> None:
    x = np.random.default_rng(seed).normal(size=30)
    found, directly = (te.grad(AROUND[name](TASKS[task]))(x) for name in (around, "called"))
    if around in ("forked", "mapped"):
        assert np.isfinite(found).all()
    else:
        np.testing.assert_allclose(found, directly * (2.0 if around == "iterated" else 1.0), rtol=1e-10)
