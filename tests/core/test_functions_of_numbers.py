"""Every builtin and every function of `math` and `cmath`, ours and Python's, with traced numbers of every class.

The result has the class and the bits of the plain program's. Only a function of Python's that reads the number in C,
and a complex number where a real one is expected, may be refused.
"""

from __future__ import annotations

import builtins
import cmath
import inspect
import math
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from number_kinds import NUMBERS

import tapeengine as te
from tapeengine.errors import TapeEngineError

CALLS: tuple[Callable[..., Any], ...] = (
    *(lambda f, x: f(x), lambda f, x: f(x, 2), lambda f, x: f(x, 0.4), lambda f, x: f(0.4, x), lambda f, x: f(x, x)),
    *(lambda f, x: f(x, x, 2.0), lambda f, x: f([x, 2.0]), lambda f, x: f([x, 2.0], [0.5, x]), lambda f, x: f(x - 4)),
)
SCALED = {
    **NUMBERS,
    "no axes": (lambda x: x, np.array(1.3)),
    "complex without axes": (lambda x: x[()], np.array(1.3 + 0.4j)),
}
#: Builtins with effects, and those whose results show an object rather than its value.
LEFT_OUT = set(
    "breakpoint copyright credits license exit quit help input eval exec compile open id dir vars print".split()
)
LEFT_OUT |= set("type object classmethod staticmethod property super memoryview iter enumerate map filter zip".split())
LEFT_OUT |= set("reversed __import__ __build_class__ hash set frozenset aiter anext slice callable isinstance".split())
LEFT_OUT |= {"bytes", "bytearray"}  # the memory of a number, which is refused in `tests/duals/test_standard_library.py`


def functions(module: Any) -> dict[str, Callable[..., Any]]:
    """The functions of a module of numbers."""
    found = {name: f for name, f in vars(module).items() if callable(f) and name not in LEFT_OUT}
    return {n: f for n, f in found.items() if n[0] != "_" and not (inspect.isclass(f) and issubclass(f, BaseException))}


def outcome(compute: Callable[[], Any]) -> Any:
    """The class and the text of a result; ``"refused"``; or the error."""
    try:
        value = compute()
    except TapeEngineError:
        return "refused"
    except Exception as error:
        return ("raised", type(error))
    return shown(value)


def shown(value: Any) -> Any:
    if isinstance(value, (tuple, list)):
        return type(value), [shown(part) for part in value]
    return repr(value) if isinstance(value, te.Array) else repr(te.value(value))


def calls(name: str, module: Any) -> Iterator[tuple[str, Callable[[Any], Any]]]:
    """Each function with each form of arguments, as programs of a primal of one kind."""
    number = SCALED[name][0]
    for function, f in functions(module).items():
        for i, call in enumerate(CALLS):
            yield f"{function} {i}", lambda x, f=f, call=call: call(f, number(x))


def may_refuse(module: Any, kind: str) -> bool:
    return module in (math, cmath, builtins) or "complex" in kind


@pytest.mark.parametrize("kind", SCALED)
@pytest.mark.parametrize("module", [builtins, math, cmath, te.math, te.cmath], ids=lambda m: m.__name__)
def test_value_and_class_are_those_of_the_plain_call(module: Any, kind: str) -> None:
    primal, wrong, same = SCALED[kind][1], {}, 0
    for name, program in calls(kind, module):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            expected, found = outcome(lambda: program(primal)), []  # noqa: B023
            te.vjp(lambda x: [found.append(outcome(lambda: program(x))), 0.0][1], primal)  # noqa: B023
        same += found == [expected] and expected[0] != "raised"
        refused = found == ["refused"] or ("complex" in kind and found == [("raised", TypeError)])
        if found != [expected] and not (refused and (may_refuse(module, kind) or expected[0] == "raised")):
            wrong[name] = (expected, found[0])
    assert wrong == {}
    assert same >= {builtins: 5, math: 1, cmath: 0, te.math: 0 if "complex" in kind else 20, te.cmath: 20}[module]


#: What only looks at a value is never refused.
DISCRETE = {
    "floor": math.floor,
    "ceil": math.ceil,
    "round": round,
    "int": int,
    "bool": bool,
    "digits": lambda x: round(x, 1),
}


@pytest.mark.parametrize("kind", SCALED)
@pytest.mark.parametrize("name", DISCRETE)
def test_discrete_functions_are_not_refused(name: str, kind: str) -> None:
    number, primal = SCALED[kind]
    found = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = outcome(lambda: DISCRETE[name](number(primal)))
        te.vjp(lambda x: [found.append(outcome(lambda: DISCRETE[name](number(x)))), 0.0][1], primal)
    assert found == [expected]


#: Numbers that are computed from their primal.
DERIVED = (
    "absolute, numpy.absolute, of math, part of cmath, size of cmath, part of numpy, part of a sum, real part".split(
        ", "
    )
)


@pytest.mark.parametrize("kind", [kind for kind in SCALED if kind not in DERIVED])
def test_derivatives_of_cmath(kind: str) -> None:
    """Each function has the derivative of the same function of a number of Python."""
    number, primal = SCALED[kind]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        twin = complex(number(primal)) if np.iscomplexobj(primal) else float(number(primal))
    for name in "exp log sqrt sin cos tan sinh cosh tanh asin acos atan asinh acosh atanh log10 phase".split():
        function = getattr(te.cmath, name)
        part = lambda z, function=function: (w := function(z)).real * 2.0 + w.imag  # noqa: E731
        if name == "acos" or name == "asin" or name == "acosh" or name == "atanh":
            part = lambda z, function=function: (w := function(z * 0.3 + 0.2j)).real + w.imag  # noqa: E731
        found = np.sum(np.asarray(te.grad(lambda x, part=part: part(number(x)))(primal)))
        expected = te.grad(part)(twin)
        assert complex(found) == pytest.approx(complex(expected), rel=1e-5), name
