"""Transforms pass arguments as a call does: by position only where the function takes them there, by name elsewhere."""

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from chad.written_functions import run_in

import tapeengine as te

#: The parameters of functions, and what these compute.
SIGNATURES = (
    "a, *, d",
    "a, *, d=3.0",
    "a, /, b",
    "a, b=2.0, *, d, e=0.5",
    "a, /, b=2.0, *, d=3.0",
    "a, /, b, c=1.5, *, d, e=0.5",
)
VALUES = {"a": 1.1, "b": 0.7, "c": 1.3, "d": 1.9, "e": 0.3}
STEP = 1e-30


def made(signature: str, annotated: bool) -> Callable[..., Any]:
    """Write a function of a signature: a product of powers, whose derivatives are known."""
    names = [part.split("=")[0].strip() for part in signature.split(",") if part.strip() not in "*/"]
    for name in names if annotated else ():
        signature = signature.replace(name, f"{name}: float", 1) if name != "a" else f"a: float{signature[1:]}"
    body = " * ".join(f"{name} ** {k + 2}" for k, name in enumerate(names))
    scope: dict[str, Any] = {"__name__": __name__}
    run_in(scope, f"def f({signature}){' -> float' * annotated}:\n    return {body}\n")
    return scope["f"]  # type: ignore[no-any-return]


def calls(signature: str) -> Iterator[tuple[tuple[float, ...], dict[str, float]]]:
    """Go through numbers of arguments by position, with names for some of the others."""
    names = [name for name in VALUES if name in signature]
    for count in range(1, len(names) + 2):
        args = tuple([*VALUES.values()][:count])
        for more in range(3):
            for named in itertools.combinations(names, more):
                yield args, {name: VALUES[name] + 0.1 for name in named}


def by_complex_step(f: Callable[..., Any], args: tuple[float, ...], named: dict[str, float]) -> list[float]:
    """Give the derivatives of the plain function."""
    return [
        f(*(complex(x, STEP * (i == k)) for i, x in enumerate(args)), **named).imag / STEP for k in range(len(args))
    ]


def second(f: Callable[..., Any], args: tuple[float, ...], named: dict[str, float]) -> list[float]:
    """Give the derivatives of the first partial by differences of complex steps."""
    found = []
    for k in range(len(args)):
        ends = [tuple(x + s * 1e-5 * (i == k) for i, x in enumerate(args)) for s in (1, -1)]
        found.append((by_complex_step(f, ends[0], named)[0] - by_complex_step(f, ends[1], named)[0]) / 2e-5)
    return found


def ones(args: tuple[float, ...]) -> tuple[float, ...]:
    return (1.0,) + (0.0,) * (len(args) - 1)


#: Transforms of a call with names: what they give, and the same from the value, the partials and the second ones.
BY_CALL: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "vjp": (lambda f, a, k: (lambda v, b: (v, *b(1.0)))(*te.vjp(f, *a, **k)), lambda v, d, h: (v, *d)),
    "grad": (lambda f, a, k: te.grad(f)(*a, **k), lambda v, d, h: d[0]),
    "grad in all": (lambda f, a, k: te.grad(f, tuple(range(len(a))))(*a, **k), lambda v, d, h: d),
    "value_and_grad": (lambda f, a, k: te.value_and_grad(f)(*a, **k), lambda v, d, h: (v, d[0])),
    "jacobian": (lambda f, a, k: te.jacobian(f)(*a, **k), lambda v, d, h: d[0]),
    "jacfwd": (lambda f, a, k: te.jacfwd(f)(*a, **k), lambda v, d, h: d[0]),
    "jacrev": (lambda f, a, k: te.jacrev(f)(*a, **k), lambda v, d, h: d[0]),
    "hessian": (lambda f, a, k: te.hessian(f)(*a, **k), lambda v, d, h: h[0]),
    "checkpoint": (lambda f, a, k: te.grad(lambda x: te.checkpoint(f)(x, *a[1:], **k))(a[0]), lambda v, d, h: d[0]),
    "called": (lambda f, a, k: te.grad(lambda x: f(x, *a[1:], **k))(a[0]), lambda v, d, h: d[0]),
    "call alone": (lambda f, a, k: f(*a, **k), lambda v, d, h: v),
    "stage": (lambda f, a, k: te.grad(te.stage(f))(*a, **k), lambda v, d, h: d[0]),
    "value": (lambda f, a, k: f.value(*a, **k) if hasattr(f, "value") else f(*a, **k), lambda v, d, h: v),
}
#: The same for transforms that take no names.
BY_POSITION: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "jvp": (lambda f, a: te.jvp(f, a, ones(a)), lambda v, d, h: (v, d[0])),
    "linearize": (
        lambda f, a: te.linearize(f, *a)[1](a[0] if len(a) == 1 else a),
        lambda v, d, h: sum(x * y for x, y in zip(VALUES.values(), d, strict=False)),
    ),
    "hvp": (lambda f, a: te.hvp(f, a, ones(a)), lambda v, d, h: h[0] if len(h) == 1 else h),
    "vhp": (lambda f, a: te.vhp(f, a, ones(a)), lambda v, d, h: h[0] if len(h) == 1 else h),
}


def agree(run: Callable[[], Any], plain: Callable[..., Any], wanted: Callable[..., Any], args: Any, named: Any) -> None:
    """Compare a transform with the plain function, which raises an error or has derivatives."""
    try:
        value = plain(*args, **named)
    except TypeError as error:
        with pytest.raises(TypeError) as raised:
            run()
        if "missing" not in str(error):
            assert str(raised.value) == str(error)
        return
    first = by_complex_step(plain, args, named)
    expected = wanted(value, first, second(plain, args, named))
    np.testing.assert_allclose(run(), expected, rtol=1e-7, err_msg=f"{args} {named}")


@pytest.mark.parametrize("annotated", [False, True], ids=["plain", "annotated"])
@pytest.mark.parametrize("signature", SIGNATURES)
@pytest.mark.parametrize("transform", [*BY_CALL, *BY_POSITION])
def test_transforms_pass_arguments_as_python_does(transform: str, signature: str, annotated: bool) -> None:
    plain = made(signature, annotated)
    typed = te.program(plain)
    for _ in range(2):  # the second time by compiled code
        for args, named in calls(signature):
            if transform in BY_CALL:
                run, wanted = BY_CALL[transform]
                agree(lambda: run(typed, args, named), plain, wanted, args, named)  # noqa: B023
            elif not named:
                run, wanted = BY_POSITION[transform]
                agree(lambda: run(typed, args), plain, wanted, args, {})  # noqa: B023
