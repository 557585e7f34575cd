"""An argument of a function of the language that would be ignored is refused."""

import contextlib
import importlib
import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from chad.written_functions import defined

import tapeengine as te
from tapeengine.chad.parse.library.table import FUNCTIONS, METHODS, SPECIAL
from tapeengine.errors import TapeEngineError

X, XS, M, N = 0.25, np.array([0.25, 0.75]), np.array([[0.25, 0.5], [0.75, 1.0]]), 2
VALUES = (
    *("x", "xs", "n", "m", "[0, 1]", "(xs, xs)", "'i,i->i'"),
    *("lambda a, b: a + b", "lambda a: a * x", "lambda a: a > x", "[a > x for a in xs]", "float", "(a for a in xs)"),
    *("0", "1", "[[m, m]]", "[xs > x]", "[xs]"),
)
ITERATORS = ("map", "filter", "enumerate", "reversed", "zip", "np.ndindex", "np.ndenumerate")
MODULES = {"builtins": "", "math": "math.", "numpy": "np."}


def names() -> list[str]:
    """Give all functions of Python, math and numpy that the language knows, as a program writes them."""
    known = [*FUNCTIONS, *SPECIAL, "math.sin", "math.atan2", "numpy.exp", "numpy.hypot", "numpy.add"]
    found = []
    for name in dict.fromkeys(known):
        module, _, last = name.partition(".")
        if module in MODULES and callable(getattr(importlib.import_module(module), last, None)):
            found.append(MODULES[module] + last)
    return [*found, *(f"xs.{name}" for name in METHODS)]


def made(call: str) -> Callable[..., Any]:
    head = "def f(x: float, n: int, xs: te.Vec, m: te.Array[te.Vec]):\n"
    text = f"import math\nimport numpy as np\nimport tapeengine as te\n{head} return {call}\n"
    return defined(text)  # type: ignore[no-any-return]


def written(name: str, *args: str) -> str:
    """Write a call; the elements of an iterator are taken at once."""
    call = f"{name}({', '.join(args)})"
    return f"list({call})" if name in ITERATORS else call


def runs(call: str) -> bool:
    """Tell whether Python takes a call, which is found out sooner than whether the language does."""
    for xs in (XS, XS.tolist()):  # te.Vec is an array or a list
        with contextlib.suppress(Exception):
            eval(call, {"np": np, "math": math, "x": X, "n": N, "xs": xs, "m": M})
            return True
    return False


def accepted(call: str) -> bool:
    try:
        te.program(made(call))
    except TapeEngineError:
        return False
    return True


@pytest.mark.parametrize("name", names())
def test_one_argument_more(name: str) -> None:
    """Where the language takes one more argument, so does Python, and the value is the same."""
    choices = (c for k in range(4) for c in itertools.product(VALUES, repeat=k))
    call = next((c for c in choices if runs(written(name, *c)) and accepted(written(name, *c))), None)
    assert call is not None, f"no call of {name} is in the language"
    for surplus in ("x", "n", "xs"):
        longer = written(name, *call, surplus)
        if accepted(longer):
            program = te.program(made(longer))
            try:
                expected = list_of(program.function(X, N, XS, M))
            except Exception as error:
                with pytest.raises(type(error)):
                    te.vjp(program, X, N, XS, M)
                continue
            np.testing.assert_allclose(te.vjp(program, X, N, XS, M)[0], expected, rtol=1e-13)


def list_of(value: Any) -> Any:
    return list(value) if isinstance(value, map | filter | itertools.accumulate) else value


def of_two(x, y=2.0):
    return x * y


@pytest.mark.parametrize("transform", [te.grad, te.value_and_grad, te.jacobian, te.hessian])
@pytest.mark.parametrize(("args", "named"), [((1.0,), {"wrong": 2.0}), ((1.0, 2.0), {"y": 3.0})], ids=str)
def test_an_argument_by_a_name_that_is_none_or_taken_is_pythons_error(transform, args, named):
    with pytest.raises(TypeError) as plain:
        of_two(*args, **named)
    with pytest.raises(TypeError) as found:
        transform(te.program(of_two))(*args, **named)
    assert str(found.value) in str(plain.value)
