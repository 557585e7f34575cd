"""Draws with traced parameters: numpy's values, classes, errors and streams, and derivatives of the same draws."""

from collections.abc import Callable
from typing import Any

import numpy
import pytest

import tapeengine as te
import tapeengine.numpy as np
from tapeengine.errors import DroppedDerivativeError, UnsupportedError

#: Parameters of the distributions.
DISTRIBUTIONS: dict[str, tuple[float, ...]] = {
    **dict.fromkeys(["gumbel", "laplace", "logistic", "lognormal", "normal"], (0.7, 1.3)),
    **dict.fromkeys(["exponential", "rayleigh"], (1.3,)),
    **dict.fromkeys(["pareto", "power", "weibull"], (3.1,)),
    "uniform": (0.7, 1.9),
    "gamma": (2.5, 1.3),
}

KINDS: dict[str, Callable[[float], Any]] = {
    "float": float,
    "numpy's": numpy.float64,
    "array": lambda p: p * numpy.linspace(1, 1.5, 50),
    "column": lambda p: p * numpy.linspace(1, 1.5, 3)[:, None],
    "without axes": numpy.array,
    "list": lambda p: [p, p + 0.1],
    "single": numpy.float32,
    "singles": lambda p: numpy.full(3, p, numpy.float32),
}

SIZES = [None, (), (3, 50), (2, 3, 1), (3, 2)]

PLACES = [(name, k) for name, values in DISTRIBUTIONS.items() for k in range(len(values)) if (name, k) != ("gamma", 0)]


def by_generator(np: Any, name: str, args: Any, options: Any) -> tuple[Any, int]:
    random = np.random.default_rng(3)
    return getattr(random, name)(*args, **options), random.integers(10**6)


def by_global_generator(np: Any, name: str, args: Any, options: Any) -> tuple[Any, int]:
    numpy.random.seed(3)
    numpy.random.normal()  # leaves a second normal number in the state
    return getattr(np.random, name)(*args, **options), numpy.random.randint(10**6)


def by_random_state(np: Any, name: str, args: Any, options: Any) -> tuple[Any, int]:
    random = np.random.RandomState(3)
    random.normal()
    return getattr(random, name)(*args, **options), random.randint(10**6)


def outcome(run: Callable[[], Any]) -> Any:
    try:
        return run()
    except ValueError as error:
        return str(error)


@pytest.mark.parametrize("program", [by_generator, by_global_generator, by_random_state])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("name", "place"), PLACES)
def test_draws_are_numpys(program: Callable[..., Any], name: str, place: int, kind: str) -> None:
    primal = KINDS[kind](DISTRIBUTIONS[name][place])

    def at(np: Any, x: Any, size: Any) -> Any:
        args = [x if k == place else value for k, value in enumerate(DISTRIBUTIONS[name])]
        return program(np, name, args, {} if size is None else {"size": size})

    def weighed(np: Any, x: Any, size: Any, weights: Any) -> Any:
        return np.sum(weights * at(np, x, size)[0])

    for size in SIZES:
        expected = outcome(lambda size=size: at(numpy, primal, size))
        found = outcome(lambda size=size: te.vjp(lambda x: at(np, x, size), primal)[0])
        if type(expected) is str:
            assert found == expected
            continue
        assert type(found[0]) is type(expected[0]) and found[1] == expected[1]
        numpy.testing.assert_array_equal(found[0], expected[0], strict=True)
        if kind in ("single", "singles"):
            continue
        weights = numpy.cos(numpy.arange(numpy.size(found[0]))).reshape(numpy.shape(found[0]))
        slope = te.grad(lambda x, size=size, weights=weights: weighed(np, x, size, weights))(primal)
        ends = [weighed(numpy, numpy.asarray(primal) + step, size, weights) for step in (1e-5, -1e-5)]
        assert numpy.sum(slope) == pytest.approx((ends[0] - ends[1]) / 2e-5, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize(("name", "place"), PLACES)
@pytest.mark.parametrize("wrong", [-1.0, 0.0, numpy.nan, numpy.inf])
def test_parameters_at_the_ends_of_their_range(name: str, place: int, wrong: float) -> None:
    args = list(DISTRIBUTIONS[name])

    def at(np: Any, x: Any) -> Any:
        return by_generator(np, name, [*args[:place], x, *args[place + 1 :]], {})[0]

    def run(f: Callable[[], Any]) -> Any:
        try:
            return f()
        except (ValueError, OverflowError) as error:
            return repr(error)

    numpy.testing.assert_equal(run(lambda: te.vjp(lambda x: at(np, x), wrong)[0]), run(lambda: at(numpy, wrong)))


def test_keywords_second_derivatives_and_later_runs() -> None:
    def program(x: Any) -> Any:
        random = np.random.default_rng(2)
        return random.lognormal(sigma=x[1], mean=x[0])

    z = numpy.random.default_rng(2).standard_normal()
    y = numpy.exp(0.1 + 0.2 * z)
    for f in (program, te.checkpoint(program)):
        numpy.testing.assert_allclose(te.hessian(f)(numpy.array([0.1, 0.2])), y * numpy.array([[1, z], [z, z * z]]))


@pytest.mark.parametrize("size", [None, 3, (2, 3)])
def test_means_of_several_numbers(size: Any) -> None:
    covariance = numpy.array([[2.0, 0.5], [0.5, 1.0]])

    def program(np: Any, mean: Any) -> Any:
        return np.random.default_rng(1).multivariate_normal(mean, covariance, size, method="cholesky")

    expected = program(numpy, [1.0, 2.0])
    found, back = te.vjp(lambda mean: program(np, mean), [1.0, 2.0])
    numpy.testing.assert_array_equal(found, expected)
    numpy.testing.assert_allclose(back(expected)[0], expected.reshape(-1, 2).sum(0))


#: Constants that a program makes of numbers, also in arrays that could hold traced ones.
COVARIANCES: dict[str, Callable[[Any], Any]] = {
    "plain": lambda np: numpy.eye(2),
    "eye": lambda np: np.eye(2),
    "sums": lambda np: 2.0 * np.eye(2) + np.ones((2, 2)),
    "written": lambda np: written(np),
    "lists": lambda np: [[1.0, 0.5], [0.5, 1.0]],
    "of draws": lambda np: np.cov(np.random.default_rng(0).normal(size=(2, 5))),
}


def written(np: Any) -> Any:
    """A matrix whose elements are written."""
    made = np.zeros((2, 2))
    made[0, 0], made[1, 1] = 2.0, 1.0
    return made


@pytest.mark.parametrize("lifted", [False, True])
@pytest.mark.parametrize("name", COVARIANCES)
def test_covariances_that_a_program_makes_are_constants(name: str, lifted: bool) -> None:
    def program(mean: Any, np: Any = np) -> Any:
        return np.random.default_rng(3).multivariate_normal(mean, COVARIANCES[name](np))

    value, tangent = te.jvp(te.lift(program) if lifted else program, (numpy.ones(2),), (numpy.array([1.0, 3.0]),))
    numpy.testing.assert_array_equal(value, program(numpy.ones(2), numpy))
    numpy.testing.assert_array_equal(tangent, [1.0, 3.0])


REFUSED: dict[str, tuple[Callable[[Any, Any], Any], str]] = {
    "a shape": (lambda np, x: np.random.default_rng(0).gamma(x, 1.0), "no derivative by this parameter"),
    "degrees of freedom": (lambda np, x: np.random.default_rng(0).chisquare(x), "no derivative by this parameter"),
    "by numpy": (lambda _, x: numpy.random.default_rng(0).normal(x), "use the generators of tapeengine.numpy.random"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_texts_say_which_generator_helps(name: str) -> None:
    program, text = REFUSED[name]
    with pytest.raises(DroppedDerivativeError, match=text):
        te.grad(lambda x: program(np, x))(2.0)


@pytest.mark.parametrize("options", [{}, {"method": "cholesky"}], ids=str)
def test_a_traced_covariance_is_refused(options: Any) -> None:
    with pytest.raises(UnsupportedError, match="cholesky"):
        te.grad(lambda c: np.sum(np.random.default_rng(0).multivariate_normal(np.zeros(2), c, **options)))(np.eye(2))
