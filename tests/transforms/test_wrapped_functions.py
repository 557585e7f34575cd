"""What a transform makes of a function is a function: it has its signature, binds as a method, pickles and copies."""

import copy
import gc
import inspect
import pickle
import weakref
from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np
import pytest

import tapeengine as te
from tapeengine.errors import ResultError, StructureError


def loss(x, k=2.0):
    """Return k times the sum of squares."""
    return (x * x).sum() * k


def weighted(self, x, k=2.0):
    """Return k times the weighted sum of squares."""
    return (self.w * x * x).sum() * k


@te.program
def decorated(x: float) -> float:
    return x * x


def chosen(name: str) -> Callable[[Callable[..., Any], int], Any]:
    return lambda f, at: getattr(te, name)(f, argnums=at)


def whole(name: str) -> Callable[[Callable[..., Any], int], Any]:
    return lambda f, at: getattr(te, name)(f)


CHOSEN = ("grad", "value_and_grad", "jacobian", "jacfwd", "jacrev", "hessian", "elementwise_grad")
SPARSE = ("sparse_jacobian", "sparse_hessian")
WHOLE = ("stage", "program", "checkpoint", "lift", "primitive", "custom_vjp", "custom_jvp")
WRAPPERS = {
    **{name: chosen(name) for name in CHOSEN + SPARSE},
    **{name: whole(name) for name in WHOLE},
    "vmap": lambda f, at: te.vmap(f, in_axes=(None,) * at + (0,)),
}
RUN_WITHOUT_RULES = set(WRAPPERS) - {"vmap"}  # an array of one axis has no lanes of arrays
X = np.array([1.0, 2.0, 3.0])


class Model:
    def __init__(self, w):
        self.w = w


def of_weight(w):
    def fixed(x, k=2.0):
        return (w * x * x).sum() * k

    return fixed


def leaves(value):
    return [leaf for part in value for leaf in leaves(part)] if isinstance(value, (tuple, list)) else [dense(value)]


def dense(value):
    return np.asarray(value.toarray() if hasattr(value, "toarray") else value)


def assert_same(found, expected):
    for a, b in zip(leaves(found), leaves(expected), strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("name", WRAPPERS)
def test_signature_and_names_are_the_functions(name):
    wrapped = WRAPPERS[name](loss, 0)
    assert inspect.signature(wrapped) == inspect.signature(loss)
    assert wrapped.__wrapped__ is loss
    assert wrapped.__name__.endswith("loss")
    assert wrapped.__module__ == __name__
    assert wrapped.__doc__


@pytest.mark.parametrize("name", sorted(RUN_WITHOUT_RULES - {"program"}))
def test_a_wrapped_method_binds_its_instance(name):
    class Wrapped(Model):
        method = WRAPPERS[name](weighted, 1)

    for w in (2.0, 3.0):
        model = Wrapped(w)
        expected = WRAPPERS[name](of_weight(w), 0)
        assert_same(model.method(X), expected(X))
        assert_same(model.method(X, k=3.0), expected(X, k=3.0))
        model.w = 5.0
        assert_same(model.method(X), WRAPPERS[name](of_weight(5.0), 0)(X))
    assert Wrapped.method is Wrapped.__dict__["method"]


def test_a_program_binds_its_instance():
    class Scaled:
        @te.program
        def square(self, x):
            return self * x * x

    assert not inspect.ismethod(Scaled.square)
    assert inspect.ismethod(Scaled().square)


def test_a_mapped_method_binds_its_instance():
    class Mapped(tuple):
        total = te.vmap(lambda self, x: x * self[0], in_axes=(None, 0))

    assert Mapped((2.0,)).total(X).tolist() == [2.0, 4.0, 6.0]


def test_staged_methods_are_replayed_for_each_instance():
    class Staged(Model):
        @te.stage
        def energy(self, x):
            return self.w * x * x

    models = [Staged(w) for w in (2.0, 3.0)]
    for model in models:
        assert [model.energy(x) for x in (1.0, 2.0, 3.0)] == [model.w * x * x for x in (1.0, 2.0, 3.0)]
        assert te.grad(model.energy)(2.0) == 4.0 * model.w
        assert model.energy.stats().replays > 0
    other = copy.copy(models[0])
    other.w = 7.0
    assert (other.energy(1.0), models[0].energy(1.0)) == (7.0, 2.0)


def test_staged_methods_keep_few_instances_alive():
    class Staged(Model):
        @te.stage
        def energy(self, x):
            return self.w * x * x

    seen = []
    for w in range(40):
        model = Staged(float(w))
        assert model.energy(2.0) == 4.0 * w
        seen.append(weakref.ref(model))
    del model
    gc.collect()
    assert sum(ref() is not None for ref in seen) <= 16


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda f: pickle.loads(pickle.dumps(f))])
@pytest.mark.parametrize("name", sorted(RUN_WITHOUT_RULES - {"checkpoint"}))
def test_wrapped_functions_pickle_and_copy(name, copied):
    wrapped = WRAPPERS[name](loss, 0)
    assert_same(copied(wrapped)(X), wrapped(X))


def test_a_decorated_program_pickles_by_its_name():
    assert pickle.loads(pickle.dumps(decorated)) is decorated
    assert copy.deepcopy({"loss": decorated})["loss"] is decorated


@pytest.mark.parametrize("name", sorted(set(WRAPPERS) - {"lift", "primitive", "program"}))
def test_the_value_of_a_function_is_refused(name: str) -> None:
    with pytest.raises(StructureError, match=r"takes a function, not 9\.0: write .*\(f\)\(x\), not .*\(f\(x\)\)"):
        getattr(te, name)(9.0)


@pytest.mark.parametrize("value", [9, True, np.int64(9), np.arange(3)])
def test_a_result_without_derivative_says_to_pass_floats(value: Any) -> None:
    with pytest.raises(ResultError, match=r"pass floats, such as 3\.0 for 3"):
        te.grad(lambda x: value)(3)


@pytest.mark.parametrize(
    "name", ["grad", "value_and_grad", "jacobian", "jacfwd", "jacrev", "hessian", "checkpoint", "vmap"]
)
def test_it_can_be_referred_to_weakly(name):
    made = getattr(te, name)(loss)
    known = weakref.WeakKeyDictionary({made: 1})
    assert known[made] == 1
    del made
    gc.collect()
    assert not known


def square(x: float) -> float:
    return 2.0 * x * x


def with_attributes(names: Any) -> Callable[..., Any]:
    """A copy of `square` that has attributes."""
    made = FunctionType(square.__code__, globals(), "square")
    made.__module__, made.__annotations__ = __name__, square.__annotations__
    vars(made).update(dict.fromkeys(names, "text"))
    return made


def with_rule(transform: Callable[..., Any], f: Callable[..., Any]) -> Any:
    made = transform(f)
    if transform is te.primitive:
        made.def_vjp(x=lambda ct, x: 4.0 * x * ct)
    elif transform is te.custom_vjp:
        made.defvjp(lambda x: (f(x), x), lambda x, ct: (4.0 * x * ct,))
    elif transform is te.custom_jvp:
        made.defjvp(lambda primals, tangents: (f(*primals), 4.0 * primals[0] * tangents[0]))
    return made


HOLDERS = (te.stage, te.program, te.checkpoint, te.lift, te.primitive, te.custom_vjp, te.custom_jvp, te.grad)


@pytest.mark.parametrize("transform", HOLDERS, ids=lambda f: f.__name__)
def test_attributes_of_a_function_replace_none_of_what_is_made_of_it(transform: Callable[..., Any]) -> None:
    made = with_rule(transform, square)
    value, gradient = te.value_and_grad(made)(1.5)
    own = {name for name in {*dir(made), *getattr(made, "__dict__", ())} if not name.startswith("__")}
    for names in [*([name] for name in sorted(own)), own]:
        again = with_rule(transform, with_attributes(names))
        assert te.value_and_grad(again)(1.5) == (value, gradient), names


@pytest.mark.parametrize("rule", [te.custom_vjp, te.custom_jvp])
@pytest.mark.parametrize("repeated", [te.checkpoint, lambda f: lambda x: te.iterate(lambda s: s + f(x), 2, 0.0)])
def test_a_rule_for_a_program_is_run_again(rule: Callable[..., Any], repeated: Callable[..., Any]) -> None:
    made, plain = with_rule(rule, te.program(square)), repeated(square)
    for transform in (te.grad, te.hessian):
        assert transform(repeated(made))(1.5) == transform(plain)(1.5)
