"""Discrete parts of arguments and results, also containers of them, are None in derivatives of any order."""

import dataclasses
import enum
import functools
from typing import Any, NamedTuple

import numpy as np
import pytest
from chad.written_functions import function_of

import tapeengine as te
import tapeengine.numpy as tnp
from tapeengine.errors import CotangentError


@dataclasses.dataclass
class Sizes:
    rows: int
    columns: int


class Pair(NamedTuple):
    first: int
    second: int


NAMES = {"np": tnp, "Sizes": Sizes, "Pair": Pair}
#: Expressions of parts that have no derivative, in `n`, which is 2; what a function may read of such a part `k`.
PARTS = {
    "n": "k",
    "n > 1": "k",
    "None": "1.0",
    "()": "(1.0 + len(k))",
    "(n, 3)": "k[1]",
    "[n, 3]": "k[1]",
    "{'p': n, 'q': True}": "k['p']",
    "Sizes(n, 3)": "k.columns",
    "Pair(n, 3)": "k.second",
    "((n, 3), n)": "k[0][1]",
    "[(n, 3), (4, n)]": "k[1][0]",
    "([n], n)": "k[1]",
    "np.zeros((n, 3)).shape": "k[1]",
    "np.arange(n)": "k[1]",
    "(np.arange(n), n)": "k[0][1]",
}
#: Results that have such a part as ``#``.
RESULTS = ("y, #", "#, y", "dict(a=y, b=#)", "((y, (#, y)), y)", "#")
#: Arguments that have such a part, and what then stands for the part `k`.
ARGUMENTS = {"#": "given", "(0.5, #)": "given[1]", "{'b': #, 'a': 0.5}": "given['b']"}
#: Fields of records that have no derivative: their types, and values.
FIELDS: list[tuple[Any, tuple[Any, ...]]] = [
    (dict[str, float], ({}, {"a": 0.5})),
    (dict[str, int], ({}, {"a": 3})),
    (dict[str, list[float]], ({}, {"a": []}, {"a": [0.5]})),
    (tuple[dict[str, float], float], (({}, 0.5),)),
    (tuple[tuple[int, dict[str, bool]], float], (((3, {"a": True}), 0.5),)),
    (list[dict[str, float]], ([], [{}], [{"a": 0.5}])),
    (tuple[int, int], ((2, 3),)),
    (Sizes, (Sizes(2, 3),)),
    (int, (2,)),
]
#: How the continuous part is computed: by numbers, by loops, by an array that is filled, by whole arrays.
BODIES: dict[str, tuple[list[str], Any]] = {
    "numbers": (["y = x * x * x"], 0.7),
    "loop": (["y = x", "for i in range(2):", "    y = y * x * (i + 1.5)"], 0.7),
    "filled": (
        ["y = np.zeros(len(x))", "for i in range(len(x)):", "    y[i] = x[i] * x[i] * x[0]"],
        tnp.array([0.3, 0.7]),
    ),
    "whole": (["y = x * x"], np.linspace(0.1, 0.9, 200)),
}


def same(a: Any, b: Any) -> bool:
    """Whether two values have the same classes, and numbers that differ by rounding at most."""
    if isinstance(a, float) and isinstance(b, float):
        return bool(np.isclose(a, b, 1e-10))
    if type(a) is not type(b):
        return False
    if isinstance(a, dict):
        return list(a) == list(b) and all(map(same, a.values(), b.values()))
    if dataclasses.is_dataclass(a):
        return same(vars(a), vars(b))
    if isinstance(a, tuple | list):
        return len(a) == len(b) and all(map(same, a, b))
    return a is None if b is None else np.allclose(a, b, 1e-10)


def derivatives(f: Any, d: Any, x: Any, *rest: tuple[Any, Any]) -> dict[str, Any]:
    """The derivatives of a function in `x`, to the second order; `d` is a cotangent, `rest` are pairs with tangents."""
    t = np.ones(x.shape) if isinstance(x, np.ndarray) else 1.0
    others, tangents = [k for k, _ in rest], [dk for _, dk in rest]

    def along(x):
        return te.jvp(f, (x, *others), (t, *tangents))

    def back(x):
        return te.vjp(f, x, *others)[1](d)

    is_small = np.size(x) < 9
    return {
        "jacobian": is_small and te.jacobian(f)(x, *others),
        "hessian": is_small and te.hessian(f)(x, *others),
        "vjp": (te.vjp(f, x, *others)[0], back(x)),
        "jvp": along(x),
        "jvp of jvp": te.jvp(along, (x,), (t,)),
        "jvp of vjp": te.jvp(back, (x,), (t,)),
        "vjp of jvp": te.vjp(lambda x: along(x)[1], x)[1](d),
        "vjp of vjp": te.vjp(back, x)[1]((t, *tangents)),
    }


def agree(f: Any, x: Any, *others: Any) -> None:
    """Compare the derivatives of a program with those of the plain function."""
    rest = []
    for k in others:  # with the structure of its cotangent
        rest.append((k, te.vjp(lambda k: k, k)[1](te.jvp(lambda _, k=k: k, (1.0,), (1.0,))[1])[0]))
    t = np.ones(x.shape) if isinstance(x, np.ndarray) else 1.0
    d = te.jvp(f, (x, *others), (t, *(dk for _, dk in rest)))[1]
    expected, found = derivatives(f, d, x, *rest), derivatives(te.program(f), d, x, *rest)
    for name, each in expected.items():
        assert same(found[name], each), (name, found[name], each)


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("body", BODIES)
def test_results(body, part):
    lines, x = BODIES[body]
    for result in RESULTS if body in ("numbers", "filled") else RESULTS[:1]:
        agree(function_of("x", ["n = 2", *lines, "return " + result.replace("#", part)], **NAMES), x)


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("body", BODIES)
def test_arguments(body, part):
    lines, x = BODIES[body]
    for argument, read in list(ARGUMENTS.items())[: 3 if body in ("numbers", "filled") else 1]:
        given = eval(argument.replace("#", part), {**NAMES, "n": 2})
        first = [f"k = {read}", *lines, f"y = y * {PARTS[part]}"]
        more = [] if read == "given" else [f"y = y * given[{'0' if '[1]' in read else repr('a')}]"]
        agree(function_of("x, given", [*first, *more, "return y, given"], **NAMES), x, given)


def of_reals(part: Any) -> Any:
    """A discrete part with 0.5 for each number."""
    if isinstance(part, dict):
        return {k: of_reals(x) for k, x in part.items()}
    if dataclasses.is_dataclass(part):
        return dataclasses.replace(part, **{f.name: of_reals(getattr(part, f.name)) for f in dataclasses.fields(part)})
    if isinstance(part, tuple | list):
        made = map(of_reals, part)
        return type(part)(*made) if hasattr(part, "_fields") else type(part)(made)
    return 0.5 * np.ones(part.shape) if isinstance(part, np.ndarray) else 0.5


@pytest.mark.parametrize("part", sorted(PARTS.keys() - {"()"}))
@pytest.mark.parametrize("around", ["#", "(0.5, #)", "[0.5, (#, 0.5)]", "{'b': #, 'a': 0.5}"])
def test_tangents_and_cotangents_of_discrete_parts_are_refused(part, around):
    f = function_of("x, given", ["return x * x, given"])
    given = eval(around.replace("#", part), {**NAMES, "n": 2})
    reals = eval(around.replace("#", "k"), {"k": of_reals(eval(part, {**NAMES, "n": 2}))})
    for function in (f, te.program(f)):
        back = te.vjp(function, 1.5, given)[1]
        for refused in (
            lambda function=function: te.jvp(function, (1.5, given), (1.0, reals)),
            lambda back=back: back((1.0, reals)),
        ):
            with pytest.raises(CotangentError):
                refused()


@pytest.mark.parametrize("of", [of for of, _ in FIELDS], ids=str)
@pytest.mark.parametrize("frozen", [True, False])
def test_fields_of_records(of, frozen):
    holder = dataclasses.make_dataclass("Holder", [("k", of), ("x", float)], frozen=frozen)
    for result in ("y", "y, held", "held", "(held, y)"):
        f = function_of("x: float, held: Holder", ["y = x * x * held.x", f"return {result}"], Holder=holder)
        for k in {str(t): values for t, values in FIELDS}[str(of)]:
            agree(f, 0.7, holder(k, 0.5))


def test_a_sum_of_nothing_is_a_float_that_has_a_tangent():
    def sums(a, times):
        return [sum(np.exp(-0.5) * a * a for t in times if t < limit) for limit in times]

    program = te.program(sums)
    hessian = te.grad(te.grad(lambda a: sum(program(a, [0.5, 1.0]))))(0.1)
    assert hessian == pytest.approx(2 * np.exp(-0.5))


def test_a_program_that_no_derivative_has_read_repeats_in_nested_checkpoints():
    for nested in range(1, 4):
        again = program = te.program(function_of("x, y", ["return x * x * y"]))
        for _ in range(nested):
            again = te.checkpoint(again)
        assert te.grad(again)(0.5, 1.2) == 1.2
        assert not set(vars(again)) & set(vars(program)) - {"__wrapped__", *functools.WRAPPER_ASSIGNMENTS}


class Mode(enum.Enum):
    ONE = 1
    TWO = 2


def scaled(x, mode):
    return x * (2.0 if mode is Mode.ONE else 3.0)


@pytest.mark.parametrize("mode", Mode)
def test_a_member_of_an_enumeration_is_made_again_as_itself(mode):
    own = te.program(scaled).for_values((1.5, mode)).executable
    made = own.converter.restored(own.definition.params[1].of, iter(()), mode)
    assert made is mode
