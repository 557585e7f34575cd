"""Functions that numba compiles to machine code keep their text in lifted modules; the rest of these is lifted."""

from __future__ import annotations

from typing import Any

import pytest

import tapeengine as te

COMPILERS = """
seen = []

def to_machine_code(function):
    seen.append(function.__code__)
    return function

def guvectorize(*signature):
    return to_machine_code

def cfunc(first, *more):
    return to_machine_code(first) if callable(first) else to_machine_code

stencil = cfunc
"""
USER = """
import {module} as nb
from {module} import {name}

@{decorator}
def compiled(a, out):
    for i in range(len(a)):
        out[i] = 2 * a[i].__class__(a[i])
        out[i] += a.copy()[i]

def f(x):
    s = [1.0, 2.0]
    s[0] = x
    return s[0] * x
"""
DECORATORS = {
    **{f"{name}()": name for name in ("guvectorize", "cfunc", "stencil")},
    **{f"nb.{name}()": name for name in ("guvectorize", "stencil")},
    "cfunc": "cfunc",
}


@pytest.mark.parametrize(("decorator", "name"), DECORATORS.items(), ids=list(DECORATORS))
def test_the_compiler_gets_the_text_as_it_is(decorator: str, name: str, package: Any) -> None:
    module, user = f"machine_{abs(hash(decorator))}", f"user_{abs(hash(decorator))}"
    given = decorator.replace("()", '("float64(float64)")')
    package({module: COMPILERS, user: USER.format(module=module, name=name, decorator=given)})
    compilers, plain = __import__(module), __import__(user)
    lifted = te.lift(user)
    assert te.grad(lifted.f)(3.0) == 6.0
    assert lifted.f(3.0) == plain.f(3.0)
    (code,) = lifted.nb.seen  # the compiler is lifted as well, and has its own list
    assert code.co_code == compilers.seen[0].co_code
    assert not any(name.startswith(".") for name in (*code.co_names, *code.co_varnames))
