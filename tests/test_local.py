"""`te.primitive`: rules given by name; a missing rule is the transpose of the other."""

import ctypes
import functools
import importlib
import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tapeengine as te
from tapeengine.errors import PrimitiveError, UnsupportedError
from tapeengine.primitive import Primitive, Sample, uniform
from tapeengine.primitive.builders import linear, scale
from tapeengine.primitive.local import LocalPrimitive, primitive
from tapeengine.testing import check_primitive, check_vjp, report_primitive

SAMPLES = (
    Sample((1.5, -0.5)),
    Sample((0.25, 2.0), {"power": 3}),
    Sample((uniform((2, 3), 0.5, 2.0), uniform((2, 3)))),
)


def made(**options: Any) -> LocalPrimitive:
    @primitive(static=("power",), samples=SAMPLES, doc="x**power * y", **options)
    def product(x: Any, y: Any, power: int = 2) -> Any:
        return x**power * y

    return product


VJP = {
    "x": lambda ct, x, y, power: scale(ct, power * x ** (power - 1) * y),
    "y": lambda ct, x, power: scale(ct, x**power),
}
JVP = {
    "x": lambda t, x, y, power: scale(t, power * x ** (power - 1) * y),
    "y": lambda t, x, power: scale(t, x**power),
}


def test_a_function_is_callable_as_it_was() -> None:
    product = made()
    assert product(3.0, 2.0) == 18.0
    assert product(3.0, y=2.0, power=1) == 6.0
    assert product.record.name == "test_local.product"
    assert product.record.static_names == ("power",)
    assert made(name="family.other").record.name == "family.other"


def test_both_rules_given() -> None:
    check_primitive(made().def_vjp(**VJP).def_jvp(**JVP).record)


def test_the_other_rule_follows_by_transposing() -> None:
    for product in (made().def_vjp(**VJP), made().def_jvp(**JVP), made().def_vjp(x=VJP["x"]).def_jvp(y=JVP["y"])):
        check_primitive(product.record)


def test_a_wrong_rule_is_wrong_both_ways() -> None:
    """The derived rule is the transpose of the given one, so only differences can detect an error."""
    product = made().def_vjp(**{**VJP, "y": lambda ct, x: scale(ct, x)})
    report = report_primitive(product.record)
    assert report.failed == {"differences"}
    assert {failure.argument for failure in report.failures} == {"y"}


def test_an_argument_that_is_declared_discrete() -> None:
    product = made().def_vjp(x=VJP["x"], y=None)
    assert [rule is None for rule in product.record.vjp_rules] == [False, True]
    check_primitive(product.record)


WAYS: dict[str, Callable[[Callable[[Any], Any], Any], Any]] = {
    "grad": lambda f, x: te.grad(lambda x: total(f(x)))(x),
    "jvp": lambda f, x: te.jvp(f, (x,), (x,))[1],
    "grad of grad": lambda f, x: te.grad(lambda x: total(te.grad(lambda x: total(f(x)))(x)))(x),
    "jvp of grad": lambda f, x: te.jvp(te.grad(lambda x: total(f(x))), (x,), (x,))[1],
    "hvp": lambda f, x: te.hvp(lambda x: total(f(x)), (x,), (x,)),
    "jacfwd": lambda f, x: te.jacfwd(f)(x),
    "hessian": lambda f, x: te.hessian(lambda x: total(f(x)))(x),
}
MAKERS: dict[str, Callable[..., Any]] = {
    "def_vjp": lambda f, rules: primitive(f).def_vjp(**rules),
    "def_jvp": lambda f, rules: primitive(f).def_jvp(**rules),
    "record": lambda f, rules: Primitive("mine.f", f, rules, rules),
    "linear": lambda f, rules: linear("mine.f", f, rules, jvp={x: r for x, r in rules.items() if r}),
}


def total(x: Any) -> Any:
    return np.sum(x)


@pytest.mark.parametrize("x", [2.0, np.array([2.0, 3.0]), np.float32(2.0)], ids=["number", "array", "narrow"])
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("missing", ["x", "y", "z"])
@pytest.mark.parametrize("maker", MAKERS)
def test_a_traced_argument_without_a_rule_is_refused_by_its_name(maker: str, missing: str, way: str, x: Any) -> None:
    def f(x: Any, y: Any, z: Any) -> Any:
        return x + y + z

    place = "xyz".index(missing)
    rules = {name: lambda first: first for name in "xyz" if name != missing}

    def program(of: Any) -> Callable[[Any], Any]:
        return lambda v: of(*[v if k == place else 1.5 * v for k in range(3)])

    forgotten, declared = MAKERS[maker](f, rules), MAKERS[maker](f, {**rules, missing: None})
    with pytest.raises(UnsupportedError, match=rf"f has no derivative for its argument '{missing}': it has no rule"):
        WAYS[way](program(forgotten), x)
    given = [1.5] * 3
    given[place] = 0.0
    np.testing.assert_allclose(WAYS[way](program(declared), x), WAYS[way](lambda v: sum(c * v for c in given), x))
    plain = [1.0, 2.0, 3.0]
    value, slope = te.value_and_grad(lambda v: forgotten(*[plain[k] if k == place else v for k in range(3)]))(4.0)
    assert (value, slope) == (8.0 + plain[place], 2.0)


def powers() -> LocalPrimitive:
    """The product of any number of powers."""

    @primitive(variadic=True, samples=(Sample((1.5, -0.5, 2.0)), Sample((uniform((2, 3)),), {"power": 3})))
    def product(*xs: Any, power: int = 2) -> Any:
        return functools.reduce(lambda a, b: a * b, [x**power for x in xs])

    return product


def power_rule(first: Any, index: int, xs: Any, power: int) -> Any:
    others = [x**power for k, x in enumerate(xs) if k != index]
    return scale(first, functools.reduce(lambda a, b: a * b, others, power * xs[index] ** (power - 1)))


@pytest.mark.parametrize("kinds", [("def_vjp",), ("def_jvp",), ("def_vjp", "def_jvp"), ("def_jvp", "def_vjp")])
def test_any_number_of_arguments_has_one_rule_of_one_kind_or_both(kinds: tuple[str, ...]) -> None:
    product = powers()
    for kind in kinds:
        getattr(product, kind)(xs=power_rule)
    check_primitive(product.record)
    for call in (lambda x: product(x, 2.0, x), lambda x: product([x, 2.0, x])):  # 4 x**4
        assert (te.grad(call)(3.0), te.jvp(call, (3.0,), (2.0,))) == (432.0, (324.0, 864.0))
        assert te.hessian(call)(3.0) == 432.0
    np.testing.assert_allclose(te.jacobian(lambda x: product(x, x))(np.arange(3.0)), np.diag(4.0 * np.arange(3.0) ** 3))


def test_errors_name_the_operation() -> None:
    with pytest.raises(PrimitiveError, match=r"test_local\.product: vjp has a rule for 'z'"):
        made().def_vjp(z=VJP["x"])
    with pytest.raises(PrimitiveError, match="asks for 'w'"):
        made().def_jvp(x=lambda t, w: t)
    with pytest.raises(PrimitiveError, match=r"name='mine\.f'"):
        primitive(lambda x: x)
    with pytest.raises(PrimitiveError, match=r"name='mine\.f'"):
        primitive(functools.partial(lambda x, y: x * y, 2.0))
    with pytest.raises(PrimitiveError, match=r"family\.operation"):
        primitive(lambda x: x, name="f")


@pytest.mark.parametrize("wrong", [{"z": VJP["x"]}, {"x": lambda ct, w: ct}, {"x": VJP["x"], "y": lambda ct, w: ct}])
def test_a_refused_rule_leaves_the_others_as_they_were(wrong: dict[str, Any]) -> None:
    product = made().def_vjp(x=VJP["x"])
    for give in (product.def_vjp, product.def_jvp):
        with pytest.raises(PrimitiveError):
            give(**wrong)
    assert [rule is None for rule in product.record.vjp_rules] == [False, True]
    check_primitive(product.def_vjp(**VJP).record)


def test_an_operation_without_rules_is_refused_in_a_trace() -> None:
    class Traced:
        @staticmethod
        def __tapeengine_trace__(primitive: Any, args: Any, static: Any) -> Any:
            raise AssertionError("must not be recorded")

    assert made()(np.float64(2.0), 1.0) == 4.0
    with pytest.raises(UnsupportedError, match=r"give them with product\.def_vjp\(x=\.\.\.\)"):
        made()(Traced(), 1.0)


@pytest.mark.parametrize("which", ["vjp", "jvp"])
def test_in_programs_to_second_order(which: str) -> None:
    product = made().def_vjp(**VJP) if which == "vjp" else made().def_jvp(**JVP)
    check_vjp(lambda x, y: product(product(x, y), x) * y, 1.25, -0.5)
    check_vjp(lambda x, y: product(x * y, y), np.array([0.5, 1.5]), np.array([2.0, -1.0]))
    third = te.grad(te.grad(te.grad(lambda x: product(x, 2.0, 3))))
    assert third(0.7) == pytest.approx(12.0, rel=1e-14)
    assert te.jvp(lambda x: product(x, 2.0), (3.0,), (1.0,)) == (18.0, 12.0)


def test_the_decorator_keeps_its_name_beside_the_module_of_the_same_name() -> None:
    assert te.primitive is primitive
    assert importlib.import_module("tapeengine.primitive").Primitive is te.Primitive


WRITES: dict[str, Any] = {
    "in place": lambda x: x.__imul__(2.0),
    "an element": lambda x: x.__setitem__((0,) * x.ndim, 5.0),
    "out": lambda x: np.exp(x, out=x),
    "a view": lambda x: x.T.__iadd__(1.0),
    "sorted": lambda x: x.sort(),
    "foreign code": lambda x: ctypes.memset(x.ctypes.data, 0, 8),
}


@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize("n", [3, 3000])
@pytest.mark.parametrize("inside", [False, True])
def test_a_function_that_writes_into_what_it_is_given_is_refused(write: str, n: int, inside: bool) -> None:
    @primitive
    def written(x: Any, y: Any) -> Any:
        WRITES[write](y)
        return x * np.sum(y)

    @primitive
    def copied(x: Any, y: Any) -> Any:
        y = y.copy()
        WRITES[write](y)
        return x * np.sum(y)

    for operation in (written, copied):
        operation.def_vjp(x=lambda ct, y: np.sum(ct) * np.sum(y), y=lambda ct, x, y: ct * x * np.ones(y.shape))
    y = np.random.default_rng(1).normal(size=(n, 4))

    def gradient(operation: Any) -> Any:
        first = te.grad(lambda x, y: operation(x, y * 1.0), (0, 1))
        return te.grad(lambda y: first(2.0, y)[0])(y) if inside else first(2.0, y)

    gradient(copied)
    with pytest.raises(te.errors.DroppedDerivativeError, match="written"):
        gradient(written)


@pytest.mark.parametrize("write", [name for name in WRITES if name != "foreign code"])
@pytest.mark.parametrize("call", [2, 3, 6])
@pytest.mark.parametrize("whole", [False, True])
def test_a_write_in_any_call_is_refused_and_in_none_allowed(write: str, call: int, whole: bool) -> None:
    calls = itertools.count(1)

    @primitive
    def written(x: Any, y: Any) -> Any:
        memory = np.frombuffer(memoryview(y).cast("B").toreadonly() if not whole else needs_writable(y))
        if next(calls) >= call:
            WRITES[write](y)
        return x * np.sum(memory)

    written.def_vjp(x=lambda ct, y: np.sum(ct) * np.sum(y), y=lambda ct, x, y: ct * x * np.ones(y.shape))
    y = np.random.default_rng(1).normal(size=(3, 4))
    gradient = te.grad(lambda x, y: written(x, y * 1.0), (0, 1))
    for _ in range(call - 1):
        np.testing.assert_allclose(gradient(2.0, y)[0], y.sum(), rtol=1e-13)
    with pytest.raises(te.errors.DroppedDerivativeError, match="written"):
        gradient(2.0, y)


def needs_writable(y: Any) -> Any:
    """Behaves like compiled code that requests writable memory."""
    if not y.flags.writeable:
        raise ValueError("buffer source array is read-only")
    return memoryview(y).cast("B")


@pytest.mark.parametrize(
    ("read", "is_writeable"),
    [(lambda y: y, [True, False, False, False]), (needs_writable, [True, False, True, True, True])],
    ids=["any memory", "writable memory"],
)
def test_a_function_runs_on_copies_only_where_it_must(read: Any, is_writeable: list[bool]) -> None:
    """The first call compares copies; a function that refuses a read-only view is not given another one."""
    given = []

    @primitive
    def total_of(y: Any) -> Any:
        given.append(y.flags.writeable)
        return np.sum(np.frombuffer(read(y)))

    total_of.def_vjp(y=lambda ct, y: ct * np.ones(y.shape))
    for k in range(4):
        np.testing.assert_array_equal(te.grad(lambda y: total_of(y * 2.0))(np.arange(3.0) + k), np.full(3, 2.0))
    assert given == is_writeable


HOLDERS: dict[str, Callable[[Any], Any]] = {
    "list": lambda v: [v, 2.0],
    "tuple": lambda v: (2.0, v),
    "dict": lambda v: {"a": 2.0, "b": v},
    "list in a tuple": lambda v: ([2.0, v],),
    "tuple in a dict": lambda v: {"a": (v, 2.0)},
}
RULES_BESIDE: dict[str, dict[str, Any]] = {"its own": {"y": lambda first: first}, "none": {"y": None}, "another's": {}}


def leaves_of(value: Any) -> list[Any]:
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else None
    return [value] if parts is None else [leaf for part in parts for leaf in leaves_of(part)]


@pytest.mark.parametrize("rules", RULES_BESIDE)
@pytest.mark.parametrize("kind", ["def_vjp", "def_jvp"])
@pytest.mark.parametrize("holder", HOLDERS)
def test_a_container_of_traced_values_is_refused_by_what_has_rules(holder: str, kind: str, rules: str) -> None:
    """A rule is for numbers and arrays: it would not be called, and a declaration would not count."""

    def f(x: Any, y: Any) -> Any:
        return x * sum(leaves_of(y))

    hold, without = HOLDERS[holder], primitive(f)
    operation = getattr(primitive(f), kind)(x=lambda first, y: first * sum(leaves_of(y)), **RULES_BESIDE[rules])
    assert operation(3.0, hold(1.5)) == 10.5
    assert te.value_and_grad(lambda x: operation(x, hold(1.5)))(3.0) == (10.5, 3.5)
    assert te.value_and_grad(lambda v: without(3.0, hold(v)))(1.5) == (10.5, 3.0)
    for way in WAYS.values():
        with pytest.raises(UnsupportedError, match=rf"f: y is a {holder.split()[-1]} with traced values"):
            way(lambda v: operation(3.0, hold(v)), 1.5)
        with pytest.raises((UnsupportedError, te.errors.DroppedDerivativeError)):
            way(lambda v: operation(v, hold(v)), 1.5)


@pytest.mark.parametrize("result", [lambda y: y, lambda y: y[::-1], lambda y: (y[::-1], [y.T])])
def test_a_result_that_is_a_view_of_what_is_given_can_be_written_to(result: Any) -> None:
    operation = primitive(lambda y: result(y), name="local.same")
    operation.def_vjp(y=lambda ct, y: np.zeros(y.shape))
    y = np.ones((2, 3))
    for _ in range(3):
        assert te.grad(lambda y: np.sum(first(operation(y * 1.0)).__imul__(2.0) * 0.0 + y))(y).tolist() == y.tolist()


def first(x: Any) -> Any:
    return first(x[0]) if isinstance(x, tuple | list) else x


STRUCTURES: dict[str, Callable[[Any, Any], Any]] = {
    "tuple": lambda a, b: (a, b),
    "list": lambda a, b: [a, b],
    "dict": lambda a, b: {"a": a, "b": b},
    "dict in a tuple": lambda a, b: ({"a": a}, b),
    "tuple in a dict": lambda a, b: {"a": (a,), "b": b},
}
MISFITS: dict[str, Callable[[Any, Any], Any]] = {
    "other keys": lambda a, b: {"a": a, "c": b},
    "too few": lambda a, b: (a,),
    "too many": lambda a, b: [a, b, b],
    "no structure": lambda a, b: a,
}


@pytest.mark.parametrize("given", [*STRUCTURES, *MISFITS])
@pytest.mark.parametrize("value", STRUCTURES)
def test_a_rule_returns_the_structure_of_the_value_or_is_refused(value: str, given: str) -> None:
    make, give = STRUCTURES[value], (STRUCTURES | MISFITS)[given]
    operation = primitive(lambda x: make(x * 2.0, x * x), name="local.pair")
    operation.def_jvp(x=lambda t, x: give(2.0 * t, 2.0 * x * t))

    def summed(x: Any) -> Any:
        first, second = leaves_of(operation(x))
        return first * 3.0 + second

    if given == value or {given, value} == {"tuple", "list"}:
        assert te.jvp(summed, (1.5,), (1.0,)) == (11.25, 9.0)
        assert te.grad(summed)(1.5) == 9.0
        assert te.hessian(summed)(1.5) == 2.0
        return
    for way in (lambda: te.jvp(summed, (1.5,), (1.0,)), lambda: te.grad(summed)(1.5)):
        with pytest.raises(te.errors.CotangentError, match=r"the jvp rule of local\.pair for 'x' returned"):
            way()


def test_a_primitive_is_named_and_described_as_its_function() -> None:
    def area(x: Any) -> Any:
        """Give the area of a square."""
        return x * x

    made = primitive(area)
    assert (made.__name__, made.__doc__, made.__module__, made.__wrapped__) == (
        *("area", "Give the area of a square.", __name__),
        area,
    )
