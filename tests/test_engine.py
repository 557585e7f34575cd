"""The engine's contract: vjp, grad, value_and_grad, and the errors that a user meets."""

import functools
import itertools
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import tapeengine as te
from tapeengine.errors import CotangentError, ResultError, StructureError, TapeEngineError


@pytest.fixture
def engine() -> te.Engine:
    return te.Engine()


class Pair(NamedTuple):
    first: Any
    second: Any


@dataclass
class Model:
    weight: Any
    bias: Any

    def predict(self, x: Any) -> Any:
        return self.weight * x + self.bias


def test_value_and_backpropagator(engine: te.Engine) -> None:
    value, backpropagator = engine.vjp(lambda x, y: x * y + x, 3.0, 4.0)
    assert value == 15.0
    assert backpropagator(1.0) == (5.0, 3.0)
    assert backpropagator(2.0) == (10.0, 6.0)
    assert backpropagator(0.0) == (0.0, 0.0)


def test_module_level_functions_use_an_engine_of_their_own() -> None:
    assert te.vjp(lambda x: x * x, 3.0)[1](1.0) == (6.0,)
    assert te.grad(lambda x: x * x)(3.0) == 6.0
    assert te.value_and_grad(lambda x: x * x)(3.0) == (9.0, 6.0)


def test_any_callable_is_a_program(engine: te.Engine) -> None:
    class Callable:
        def __call__(self, x: Any) -> Any:
            return x * 3.0

        def method(self, x: Any) -> Any:
            return x * 4.0

        @staticmethod
        def static(x: Any) -> Any:
            return x * 5.0

    thing = Callable()
    assert engine.grad(thing)(1.0) == 3.0
    assert engine.grad(thing.method)(1.0) == 4.0
    assert engine.grad(Callable.static)(1.0) == 5.0
    assert engine.grad(functools.partial(lambda a, x: a * x, 6.0))(1.0) == 6.0
    assert engine.grad(abs)(-2.0) == -1.0


def test_models_are_primals(engine: te.Engine) -> None:
    def loss(model: Model, points: Any) -> Any:
        return sum((model.predict(x) - y) ** 2 for x, y in points)

    points = [(1.0, 3.0), (2.0, 5.0)]
    gradient = engine.grad(loss)(Model(1.0, 0.0), points)
    assert gradient == Model(2 * (-2.0 * 1 - 3.0 * 2), 2 * (-2.0 - 3.0))


def test_argnums(engine: te.Engine) -> None:
    f = lambda x, y, z: x * y * y * z  # noqa: E731
    assert engine.grad(f)(2.0, 3.0, 5.0) == 45.0
    assert engine.grad(f, argnums=1)(2.0, 3.0, 5.0) == 60.0
    assert engine.grad(f, argnums=-1)(2.0, 3.0, 5.0) == 18.0
    assert engine.grad(f, argnums=(0, 2))(2.0, 3.0, 5.0) == (45.0, 18.0)
    assert engine.grad(f, argnums=(2, 0))(2.0, 3.0, 5.0) == (18.0, 45.0)
    assert engine.grad(f, argnums=[1])(2.0, 3.0, 5.0) == (60.0,)
    assert engine.value_and_grad(f, (1,))(2.0, 3.0, 5.0) == (90.0, (60.0,))


def test_arguments_that_are_not_chosen_are_plain(engine: te.Engine) -> None:
    seen: list[Any] = []

    def f(x: Any, y: Any) -> Any:
        seen.append(type(y))
        return x * y

    engine.grad(f)(2.0, 3.0)
    assert seen == [float]


@pytest.mark.parametrize("argnums", [np.int64(2), range(1, 3), np.array([0, 2]), iter([2, "k"])])
def test_argnums_of_other_integers_and_iterables(engine: te.Engine, argnums: Any) -> None:
    def f(x: float, y: float, z: float, k: float = 1.0) -> float:
        return x * y * z * k

    parts = {0: 15.0, 1: 10.0, 2: 6.0, "k": 30.0}
    chosen = argnums if isinstance(argnums, np.int64) else list(argnums)
    expected = parts[int(argnums)] if isinstance(argnums, np.int64) else tuple(parts[item] for item in chosen)
    given = iter(chosen) if hasattr(argnums, "__next__") else argnums
    assert engine.grad(f, argnums=given)(2.0, 3.0, 5.0, k=1.0) == expected


@pytest.mark.parametrize("argnums", [(0, 0), (0, -2), ("k", "k"), (1, 0, -1)])
@pytest.mark.parametrize("transform", ["grad", "value_and_grad", "jacobian", "jacfwd", "jacrev", "hessian"])
def test_an_argument_is_chosen_once(engine: te.Engine, transform: str, argnums: Any) -> None:
    for program in (lambda x, y, k=1.0: x * y * k, te.program(lambda x, y, k=1.0: x * y * k)):
        with pytest.raises(StructureError, match="twice"):
            getattr(engine, transform)(program, argnums=argnums)(2.0, 3.0, k=1.0)


@pytest.mark.parametrize("argnums", [None, 1.0, True, (1.0,), (False,)])
def test_argnums_of_another_kind_are_named(engine: te.Engine, argnums: Any) -> None:
    with pytest.raises(StructureError, match="argnums holds positions"):
        engine.grad(lambda x: x, argnums=argnums)(1.0)


def test_argnums_that_do_not_fit_are_named(engine: te.Engine) -> None:
    with pytest.raises((TapeEngineError, IndexError), match="3"):
        engine.grad(lambda x: x, argnums=3)(1.0)


def test_keyword_arguments_are_handed_on(engine: te.Engine) -> None:
    def f(x: Any, *, power: int = 1, scale: float = 1.0) -> Any:
        assert type(scale) is float
        return scale * x**power

    assert engine.grad(f)(3.0, power=2, scale=0.5) == 3.0
    assert engine.value_and_grad(f)(3.0, power=3) == (27.0, 27.0)
    assert engine.vjp(f, 3.0, power=2)[1](1.0) == (6.0,)


def test_has_aux(engine: te.Engine) -> None:
    def f(x: Any) -> Any:
        y = x * x
        return y * 2.0, {"squared": y, "name": "aux", "n": 3}

    gradient, aux = engine.grad(f, has_aux=True)(3.0)
    assert gradient == 12.0
    assert aux == {"squared": 9.0, "name": "aux", "n": 3}
    assert type(aux["squared"]) is float
    (value, aux), gradient = engine.value_and_grad(f, has_aux=True)(3.0)
    assert (value, gradient, aux["squared"]) == (18.0, 12.0, 9.0)


def test_aux_of_a_nested_derivative_keeps_its_derivative(engine: te.Engine) -> None:
    def outer(x: Any) -> Any:
        gradient, aux = engine.grad(lambda y: (y * y * x, y * x), has_aux=True)(x)
        return gradient + aux

    # gradient = 2 x**2, aux = x**2
    assert engine.grad(outer)(5.0) == 30.0


@pytest.mark.parametrize("wrong", [2, "a"], ids=repr)
def test_has_aux_wants_a_pair(engine: te.Engine, wrong: Any) -> None:
    with pytest.raises((ResultError, TypeError), match=r"aux|pair|unpack"):
        engine.grad(lambda x: x, has_aux=True)(1.0)


def test_numpy_scalars_in_float64_out(engine: te.Engine) -> None:
    value, gradient = engine.value_and_grad(lambda x: x * 2.0)(np.float64(1.5))
    assert (value, gradient) == (3.0, 2.0)
    assert isinstance(gradient, np.float64)


RESULTS = [
    (lambda x: (x, x), "tuple"),
    (lambda x: [x], "list"),
    (lambda x: {"a": x}, "dict"),
    (lambda x: None, "None"),
    (lambda x: "text", "str"),
    (lambda x: Pair(x, x), "a tuple of 2"),
    (lambda x: Model(x, x), "Model"),
    (lambda x: 3, "int"),
    (lambda x: x > 0, "bool"),
]


@pytest.mark.parametrize(("program", "name"), RESULTS, ids=[name for _, name in RESULTS])
def test_a_result_that_is_no_scalar_is_refused_by_grad(engine: te.Engine, program: Any, name: str) -> None:
    with pytest.raises(ResultError, match=f"one real number.*{name}"):
        engine.grad(program)(1.0)


def test_a_constant_result_has_a_zero_gradient(engine: te.Engine) -> None:
    assert engine.value_and_grad(lambda x: 4.0)({"a": 1.0}) == (4.0, {"a": 0.0})


def test_discrete_primals_have_no_cotangent(engine: te.Engine) -> None:
    assert engine.vjp(lambda x, n, flag: x**n if flag else x, 3.0, 2, True)[1](1.0) == (6.0, None, None)


MISFITS: list[tuple[Any, Any, str]] = [
    ({"loss": (1.0, [2.0])}, {"loss": (1.0, ["a"])}, r"cotangent\['loss'\]\[1\]\[0\] must be a number, not str"),
    ({"loss": 1.0}, {"lost": 1.0}, r"cotangent must be a dict with the keys \['loss'\]"),
    ({"loss": 1.0}, 1.0, r"cotangent must be a dict with the keys \['loss'\], not float"),
    ((1.0, 2.0), (1.0,), "cotangent must be a tuple of 2, not a tuple of 1"),
    ([1.0, [2.0]], [1.0, 2.0], r"cotangent\[1\] must be a list of 1, not float"),
    (1.0, (1.0,), "cotangent must be a number, not a tuple of 1"),
    (1.0, None, "cotangent must be a number, not NoneType"),
    (1.0, np.ones(2), r"cotangent must be a number, not an array of shape \(2,\) and dtype float64"),
    (1.0, 1j, "cotangent must be a number, not complex"),
    (1.0, 10**400, "cotangent must be a number, not an integer too large for a float"),
    ([1.0, 2.0], [1.0, -(10**400)], "not an integer too large for a float"),
    (Pair(1.0, 2.0), (1.0, 2.0), "cotangent must be a Pair, not a tuple of 2"),
    (Model(1.0, 2.0), Model(1.0, "b"), r"cotangent\.bias must be a number, not str"),
    (3, 2.0, "cotangent must be None"),
    ([1.0, "a"], [1.0, 2.0], r"cotangent\[1\] must be None"),
]


@pytest.mark.parametrize(("result", "cotangent", "message"), MISFITS, ids=[message for _, _, message in MISFITS])
def test_a_cotangent_that_does_not_fit_is_refused(engine: te.Engine, result: Any, cotangent: Any, message: str) -> None:
    _, backpropagator = engine.vjp(lambda x: result, 1.0)
    with pytest.raises(CotangentError, match=message):
        backpropagator(cotangent)
    backpropagator(result)  # the result's own structure always fits


def test_a_refused_cotangent_leaves_the_backpropagator_as_it_was(engine: te.Engine) -> None:
    _, backpropagator = engine.vjp(lambda x: [x * 2.0, x * 3.0], 1.0)
    with pytest.raises(CotangentError):
        backpropagator([1.0, "a"])
    assert backpropagator([1.0, 1.0]) == (5.0,)


def test_every_error_has_the_one_base_class() -> None:
    from tapeengine import errors

    classes = [getattr(errors, name) for name in errors.__all__]
    assert all(issubclass(cls, (TapeEngineError, Warning)) and cls.__doc__ for cls in classes)


def test_an_unsupported_primal_is_named(engine: te.Engine) -> None:
    with pytest.raises(StructureError, match=r"primals\[1\]\['w'\]\[2\]"):
        engine.vjp(lambda x, y: x, 1.0, {"w": [1.0, 2.0, object()]})


def test_the_engine_works_on_after_errors(engine: te.Engine) -> None:
    for program in (lambda x: object(), lambda x: 1 / 0, lambda x: float(x), lambda x: x + "a"):
        with pytest.raises((TapeEngineError, ArithmeticError, TypeError)):
            engine.vjp(program, 1.0)
        assert engine.grad(lambda x: x * x)(3.0) == 6.0


def test_value_drops_the_derivative_on_purpose(engine: te.Engine) -> None:
    assert engine.grad(lambda x: x * te.value(x))(3.0) == 3.0
    assert te.value(2.5) == 2.5


def test_scipy_minimize_takes_value_and_grad(engine: te.Engine) -> None:
    optimize = pytest.importorskip("scipy.optimize")

    def rosenbrock(xs: Any) -> Any:
        return sum(100.0 * (b - a * a) ** 2 + (1.0 - a) ** 2 for a, b in itertools.pairwise(xs))

    def on_lists(x: Any) -> Any:
        value, gradient = engine.value_and_grad(rosenbrock)(x.tolist())
        return value, np.array(gradient)

    fit = optimize.minimize(on_lists, np.zeros(4), jac=True, method="BFGS")
    assert fit.x == pytest.approx(np.ones(4), abs=1e-5)


def test_two_engines_nest(engine: te.Engine) -> None:
    other = te.Engine()
    assert engine.grad(lambda x: x * other.grad(lambda y: x + y)(2.0))(1.0) == 1.0
    assert other.grad(engine.grad(lambda x: x**3))(2.0) == 12.0


def test_submodules_are_found_when_they_are_asked_for(tmp_path: Path) -> None:
    script = "import tapeengine as te; print(te.math.sin(0.0), te.numpy.zeros(1)[0], te.errors.TapeEngineError)"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert run.stdout.split() == ["0.0", "0.0", "<class", "'tapeengine.errors.TapeEngineError'>"]
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        te.nothing  # noqa: B018


@pytest.mark.parametrize("dtype", [np.float16, [("a", float)], object], ids=["half", "record", "object"])
def test_an_array_of_another_dtype_is_refused_by_its_dtype(engine: te.Engine, dtype: Any) -> None:
    with pytest.raises(StructureError, match=r"^primals\[0\]\[1\] has the dtype .*Convert it with astype$"):
        engine.vjp(lambda xs: xs[0], [1.0, np.empty(2, dtype)])
