"""What transforms make of a program is pickled: by the program's name if it decorates it, else as a call."""

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tapeengine as te

#: All that makes a function of a function; how the result is called.
MAKERS: dict[str, Callable[..., Any]] = {
    name: getattr(te, name)
    for name in dir(te)
    if name
    in "checkpoint custom_jvp custom_vjp grad hessian jacfwd jacobian jacrev lift primitive program sparse_hessian "
    "sparse_jacobian stage value_and_grad vmap".split()
}


def square(x: Any) -> Any:
    return x * x


DECORATED: dict[str, Any] = {}
for _name, _make in MAKERS.items():
    _scope: dict[str, Any] = {"__name__": __name__}
    exec(f"def decorated_{_name}(x):\n    return x * x", _scope)
    DECORATED[_name] = globals()[f"decorated_{_name}"] = _make(_scope[f"decorated_{_name}"])


class Owner:
    """Decorated methods."""

    factor = 3.0

    @te.checkpoint
    def checkpointed(self, x: Any) -> Any:
        return self.factor * x * x

    @te.stage
    def staged(self, x: Any) -> Any:
        return self.factor * x * x


def shown(value: Any) -> Any:
    return np.asarray(value.toarray() if hasattr(value, "toarray") else value)


def given(name: str) -> Any:
    return np.array([2.0]) if name in ("vmap", "sparse_jacobian") else 2.0


@pytest.mark.parametrize("name", MAKERS)
def test_a_decorated_function_is_pickled_by_its_name(name: str) -> None:
    made = DECORATED[name]
    assert pickle.loads(pickle.dumps(made)) is made
    assert copy.deepcopy(made) is copy.copy(made) is made


@pytest.mark.parametrize("name", MAKERS)
@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_what_is_made_of_a_named_function_is_pickled_as_a_call(name: str, protocol: int) -> None:
    made = MAKERS[name](square)
    again = pickle.loads(pickle.dumps(made, protocol))
    assert again is not made
    np.testing.assert_array_equal(shown(again(given(name))), shown(made(given(name))))


@pytest.mark.parametrize("outer", ["grad", "jacobian", "stage", "vmap", "checkpoint"])
@pytest.mark.parametrize("inner", MAKERS)
def test_what_is_made_of_a_decorated_function_is_pickled(outer: str, inner: str) -> None:
    made = MAKERS[outer](DECORATED[inner])
    again = pickle.loads(pickle.dumps(made))
    assert again.__wrapped__ is DECORATED[inner]


def test_decorated_methods_are_pickled_with_their_objects() -> None:
    for method in (Owner().checkpointed, Owner.checkpointed):
        again = pickle.loads(pickle.dumps(method))
        assert again(*([] if method is not Owner.checkpointed else [Owner()]), 2.0) == 12.0
    assert te.grad(pickle.loads(pickle.dumps(Owner().staged)))(2.0) == 12.0


def test_a_local_function_is_refused_by_pickle() -> None:
    with pytest.raises((AttributeError, pickle.PicklingError)):
        pickle.dumps(te.checkpoint(lambda x: x))


def test_blocks_of_a_sparse_matrix_are_data() -> None:
    blocks = te.sparse_jacobian(lambda p: {"s": p["a"] + p["b"], "b": p["b"]})({"a": np.ones(2), "b": np.ones(2)})
    for again in (pickle.loads(pickle.dumps(blocks)), copy.deepcopy(blocks)):
        assert repr(again) == repr(blocks)
        np.testing.assert_array_equal(again["['s']", "['a']"].toarray(), np.eye(2))


def test_checkpoints_bind_what_transformed_functions_capture() -> None:
    def program(s: Any) -> Any:
        box = {"s": s}
        gradient = te.grad(lambda x: x * x * box["s"])
        found = te.checkpoint(lambda x: gradient(x) * 2.0)(3.0)
        box["s"] = 0.0
        return found

    assert te.value_and_grad(program)(2.0) == (24.0, 12.0)
