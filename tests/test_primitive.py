"""The Primitive record: errors when it is built, calls, and the values that its rules keep."""

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tapeengine.errors import PrimitiveError, TapeEngineError, UnsupportedError
from tapeengine.primitive import NotDifferentiable, Primitive, Sample, uniform
from tapeengine.primitive.builders import not_differentiable, scale
from tapeengine.primitive.spaces import Space
from tapeengine.testing import check_primitive


class Recorded:
    """A traced value that shows with which arguments it is recorded."""

    @staticmethod
    def __tapeengine_trace__(primitive: Primitive, args: tuple[Any, ...], static: dict[str, Any]) -> Any:
        return primitive, args, static


def first(ct: Any) -> Any:
    return ct


def made(primal: Callable[..., Any], *args: str, **options: Any) -> Primitive:
    rules = dict.fromkeys(args or ("x",), first)
    return Primitive(options.pop("name", "test.made"), primal, rules, rules, **options)


def build(vjp: Any = None, jvp: Any = None, **options: Any) -> Callable[[], Primitive]:
    """Build f(x, y, axis=0) later, with rules for x."""
    options.setdefault("static", ("axis",))
    primal = options.pop("primal", lambda x, y, axis=0: x)
    name = options.pop("name", "test.f")
    return lambda: Primitive(
        name, primal, {"x": first} if vjp is None else vjp, {"x": first} if jvp is None else jvp, **options
    )


REFUSED = {
    "a name without a family": (build(name="f"), "family.operation"),
    "a name that is no name": (build(name="test.my f"), "family.operation"),
    "a primal that is not callable": (build(primal=3), "must be callable"),
    "an unknown static parameter": (build(static=("axes",)), "static names 'axes', but the primal takes x, y, axis"),
    "a static parameter before an argument": (build(static=("x",)), "must follow the arguments"),
    "a rule for an unknown argument": (build(vjp={"z": first}), "vjp has a rule for 'z', but the arguments are x, y"),
    "a rule for a static parameter": (build(vjp={"axis": first}), "vjp has a rule for the static parameter 'axis'"),
    "a vjp without a jvp": (build(vjp={"x": first, "y": first}), "'y' has a vjp rule and no jvp rule"),
    "a jvp without a vjp": (build(jvp={"x": first, "y": first}), "'y' has a jvp rule and no vjp rule"),
    "a rule that asks for the unknown": (
        build(vjp={"x": lambda ct, z: ct}),
        "the vjp rule for 'x' asks for 'z'; it may ask for out, out_space, axis, x, x_space, y, y_space",
    ),
    "a rule without a first parameter": (build(vjp={"x": lambda: 0.0}), "as its first parameter"),
    "a rule with star parameters": (build(vjp={"x": lambda ct, *rest: ct}), "as plain parameters"),
    "a rule with a required keyword": (build(vjp={"x": lambda ct, *, y: ct}), "as plain parameters"),
    "a rule that is not callable": (build(vjp={"x": 2.0}), "the vjp rule for 'x' must be callable, not float"),
    "double star parameters": (build(primal=lambda x, y, axis, **options: x), "parameters; name them"),
    "an undeclared star parameter": (build(primal=lambda *x, axis: x), "declare variadic=True|set variadic=True"),
    "a variadic primal that is not": (build(variadic=True), "primal\\(\\*xs"),
    "no arguments": (build(primal=lambda axis: axis, vjp={}, jvp={}), "no arguments"),
    "a reserved name": (build(primal=lambda x, out, axis=0: x), "no parameter may be named 'out'"),
    "a name that means a space": (build(primal=lambda x, x_space, axis=0: x), "no parameter may be named 'x_space'"),
    "a duplicate argument name": (build(args=("x", "x")), "'x' appears twice"),
    "a callable without a signature": (build(primal=np.add, static=()), "pass args="),
    "a builtin without a signature": (build(primal=max, static=()), "pass args="),
    "samples that are none": (build(samples=(3.0,)), "samples must be Sample records"),
    "a kernel that is none": (build(kernel=lambda x: x), "kernel must be made by"),
}


@pytest.mark.parametrize(("make", "message"), REFUSED.values(), ids=REFUSED)
def test_a_wrong_record_is_refused_when_built(make: Callable[[], Primitive], message: str) -> None:
    with pytest.raises(PrimitiveError, match=message):
        make()


def test_a_sample_takes_a_tuple() -> None:
    with pytest.raises(PrimitiveError, match="as in Sample"):
        Sample(np.ones(3))  # type: ignore[arg-type]


def test_a_record_is_frozen() -> None:
    primitive = made(lambda x: x)
    with pytest.raises(AttributeError, match="frozen"):
        primitive.name = "test.other"
    with pytest.raises(AttributeError, match="frozen"):
        del primitive.doc


def cube(x: Any) -> Any:
    return x**3


def cube_rule(first: Any, x: Any) -> Any:
    return scale(first, 3.0 * x**2)


def test_a_record_is_copied_as_itself_and_pickled_by_its_fields() -> None:
    primitive = Primitive(
        "test.cube", cube, {"x": cube_rule}, {"x": cube_rule}, samples=(Sample((uniform(3),)),), doc="x**3"
    )
    assert copy.copy(primitive) is primitive
    assert copy.deepcopy([primitive])[0] is primitive
    again = pickle.loads(pickle.dumps(primitive))
    assert (again.name, again.doc, again.args) == ("test.cube", "x**3", ("x",))
    assert again(2.0) == 8.0
    check_primitive(again)


def test_rules_keep_exactly_what_they_ask_for() -> None:
    def rule(ct: Any, out: Any, y_space: Any, axis: Any, x: Any, out_space: Any, width: int = 7) -> Any:
        return ct, out, y_space, axis, x, out_space, width

    primitive = made(lambda x, y, axis=0: x * y, "x", "y", static=("axis",))
    same = Primitive("test.g", primitive.primal, {"x": rule}, {"x": first}, static=("axis",))
    [kept, none] = same.vjp_rules
    assert none is None
    assert kept is not None
    assert kept.needs == (("out", None), ("space", 1), ("static", "axis"), ("arg", 0), ("out_space", None))
    y = np.ones((2, 3), np.float32)
    values = kept.keep((2.0, y), {"axis": 1}, 4.0, 0)
    assert values == (4.0, Space((2, 3), np.float32), 1, 2.0, Space(()))
    assert kept(1.0, values) == (1.0, *values, 7)


def test_a_default_that_binds_a_loop_variable_is_not_a_request() -> None:
    rules = [lambda ct, x, k=k: k * ct * x for k in range(3)]
    primitive = Primitive("test.f", lambda x: x, {"x": rules[2]}, {"x": rules[1]})
    [rule] = primitive.vjp_rules
    assert rule is not None
    assert rule.needs == (("arg", 0),)
    assert rule(1.0, (5.0,)) == 10.0


def test_a_variadic_rule_asks_for_its_index_and_for_all() -> None:
    def rule(ct: Any, index: int, xs: Any, xs_spaces: Any, axis: int) -> Any:
        return index, xs, xs_spaces, axis

    primitive = Primitive("test.f", lambda *xs, axis=0: xs, {"xs": rule}, {"xs": first}, variadic=True)
    assert primitive.args == ("xs",)
    [kept] = primitive.vjp_rules
    assert kept is not None
    assert kept(1.0, kept.keep((1.0, 2j), {"axis": 3}, None, 1)) == (1, (1.0, 2j), (Space(()), Space((), complex)), 3)


def test_plain_values_go_to_the_primal() -> None:
    primitive = made(lambda x, y=10.0, axis=0, *, scale=1.0: (x, y, axis, scale), "x", "y", static=("axis",))
    assert primitive.args == ("x", "y")
    assert primitive.static_names == ("axis", "scale")
    assert primitive(1.0) == (1.0, 10.0, 0, 1.0)
    assert primitive(1.0, 2.0, 3) == (1.0, 2.0, 3, 1.0)
    assert primitive(x=1.0, y=2.0, scale=4.0) == (1.0, 2.0, 0, 4.0)
    assert primitive(1.0, axis=5) == (1.0, 10.0, 5, 1.0)


def test_traced_values_are_recorded_with_all_arguments_and_statics() -> None:
    primitive = made(lambda x, y=10.0, axis=0, *, scale=1.0: x, "x", "y", static=("axis",))
    traced = Recorded()
    assert primitive(1.0, traced) == (primitive, (1.0, traced), {"axis": 0, "scale": 1.0})
    assert primitive(y=1.0, x=traced, scale=2.0) == (primitive, (traced, 1.0), {"axis": 0, "scale": 2.0})
    assert primitive(traced) == (primitive, (traced, 10.0), {"axis": 0, "scale": 1.0})
    assert primitive(traced, 1.0, 7)[2]["axis"] == 7


def test_a_variadic_primitive_looks_into_one_tuple_or_list() -> None:
    primitive = Primitive("test.f", lambda *xs, axis=0: xs, {"xs": first}, {"xs": first}, variadic=True)
    traced = Recorded()
    assert primitive(1.0, 2.0) == primitive([1.0, 2.0]) == (1.0, 2.0)
    assert primitive((1.0, traced), axis=1) == (primitive, (1.0, traced), {"axis": 1})
    assert primitive(traced) == (primitive, (traced,), {"axis": 0})


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda p: p(), "needs the argument 'x'"),
        (lambda p: p(1.0, 2.0, 3, 4), "takes x, y, axis, but 4 positional"),
        (lambda p: p(1.0, 2.0, 3, axis=4), "two values for 'axis'"),
        (lambda p: p(1.0, 2.0, x=4.0), "values for argument 'x'"),
        (lambda p: p(1.0, 2.0, scale=4.0), "scale"),
    ],
)
def test_a_call_that_does_not_fit_is_refused(call: Callable[[Primitive], Any], message: str) -> None:
    with pytest.raises(TypeError, match=message):
        call(made(lambda x, y=1.0, axis=0: x, "x", "y", static=("axis",)))


def test_an_operation_without_derivative_repeats_its_reason() -> None:
    primitive = not_differentiable("test.roots", lambda p: p, "roots have no order", samples=(Sample((1.0,)),))
    assert primitive(2.0) == 2.0
    with pytest.raises(
        UnsupportedError, match=r"test\.roots has no derivative for its argument 'p': roots have no order"
    ):
        primitive(Recorded())
    assert primitive.vjp_rules[0] is not None
    with pytest.raises(TapeEngineError, match="roots have no order"):
        primitive.vjp_rules[0](1.0, ())


def test_one_argument_may_be_refused_and_another_not() -> None:
    rules = {"x": NotDifferentiable("no"), "y": first}
    primitive = Primitive("test.f", lambda x, y: y, rules, rules)
    traced = Recorded()
    assert primitive(1.0, traced) == (primitive, (1.0, traced), {})
    with pytest.raises(UnsupportedError, match="argument 'x': no"):
        primitive(traced, 1.0)


def test_samples_may_be_built_late_and_drawn_by_functions() -> None:
    def drawn(generator: np.random.Generator) -> Sample:
        return Sample((generator.integers(5, 9, 3), [uniform(2, 7.0, 8.0), 1.0]))

    primitive = made(lambda x, y: x, "x", samples=lambda: [drawn, Sample((uniform((2, 2), dtype=complex), 1.0))])
    one, two = primitive.samples_drawn(3)
    assert (one.args[0] >= 5).all()
    assert (one.args[1][0] >= 7.0).all()
    assert two.args[0].dtype == complex
    assert np.array_equal(next(iter(primitive.samples_drawn(3))).args[0], one.args[0])
    assert not np.array_equal(next(iter(primitive.samples_drawn(4))).args[1][0], one.args[1][0])


def test_ufuncs_and_builtins_take_declared_names() -> None:
    assert Primitive("test.arctan2", np.arctan2, {}, {}, args=("y", "x"))(0.0, 1.0) == 0.0
    padded = Primitive("test.cumsum", np.cumsum, {"x": first}, {"x": first}, args=("x",), static=("axis",))
    assert padded(np.ones((2, 2)), axis=1).tolist() == [[1.0, 2.0], [1.0, 2.0]]
    assert padded(np.ones((2, 2)), 0).tolist() == [[1.0, 1.0], [2.0, 2.0]]
