"""Traced numbers written into copies of plain arrays: in lifted code and through `tapeengine.numpy`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from chad.written_functions import defined

import tapeengine as te
import tapeengine.numpy as tnp
from tapeengine.errors import DroppedDerivativeError, UnsupportedError

HEAD = "import copy, math\nimport numpy as np\nS = np.arange(1.0, 7.0)\nM = S.reshape(2, 3) + 0.5\n"
SUM = "    return float(np.sum(a * a * np.arange(1.0, 7.0)))\n"

#: Bodies of `f(x)` that write into an array without other references; `SUM` is appended to those without a return.
WRITTEN: dict[str, str] = {
    "copy": "a = S.copy()\n    a[1] = x",
    "copy that is used before": "a = S.copy()\n    b = a * x\n    a[1] = b[2]",
    "copy that is passed on": "def fill(b): b[2] = x\n    a = S.copy()\n    fill(a)",
    "copy that a closure writes": "a = S.copy()\n    def g(i): a[i] = x * i\n    g(2)\n    g(3)",
    "copy with views": "m = M.copy()\n    row = m[1]\n    row[0] = x\n    a = m.ravel()",
    "astype": "a = np.arange(6).astype(float)\n    a[-1] = math.sin(x)",
    "flatten": "a = M.flatten()\n    a[::2] = x",
    "copy.copy": "a = copy.copy(S)\n    a[2:4] = [x, 1.0]",
    "copy.deepcopy": "a = copy.deepcopy(S)\n    a[S > 3] = x * x",
    "expression": "a = 2 * S\n    a[1] = x",
    "expression that is used by another name": "a = 2 * S\n    b = a + 1\n    a[1] = x * b[0]",
    "ufunc": "a = np.sin(S)\n    a[1] = x",
    "linspace": "a = np.linspace(0.0, 1.0, 6)\n    a[1] = x",
    "logspace and geomspace": "a = np.logspace(0.0, 1.0, 6) + 0\n    a[1] = x\n    b = np.geomspace(1, 2, 6)\n"
    "    b[0] = a[1]\n    "
    "a = a * b",
    "added": "a = 2 * S\n    a[1] += x * a[0]",
    "added to a slice": "a = 2 * S\n    a[1:3] *= x",
    "added to a row": "m = 2 * M\n    m[1] += x\n    a = m.ravel()",
    "multiplied by a traced array": "a = 2 * S\n    a[1:3] *= S[1:3] * x",
    "loop": "a = 0 * S\n    for i in range(1, 6):\n        a[i] = a[i - 1] * x + i",
    "list": "a = 2 * S\n    a[:] = [5.0, a[0] * x, *S[2:]]",
    "list on two places": "a = 2 * S\n    a[:2] = [5.0, x]\n    a[2:4] = a[0], x",
    "called value": "n = []\n    def g():\n        n.append(1)\n        return x * len(n)\n    a = 2 * S\n    "
    "a[1] = g()",
    "called index": "n = []\n    def g():\n        n.append(1)\n        return len(n)\n    a = 2 * S\n    "
    "a[g()] = x\n    a[g():] = x",
    "called index of a matrix": "n = []\n    def g():\n        n.append(1)\n        return len(n)\n    m = 2 * M\n    "
    "m[g() - 1, g():] = x\n    a = m.ravel()",
    "swap": "a = 2 * S\n    a[0], a[1] = x * a[1], a[0]",
    "swap of traced ones": "a = 2 * S\n    a[3] = x\n    a[3], a[4] = a[4], a[3]",
    "several targets": "a = 2 * S\n    b = a[0] = c = x * x\n    a[1] = b + c",
    "starred": "a = 2 * S\n    (a[0], *b), a[1] = (x, 2.0, 3.0), x\n    a[2] = b[0]",
    "nested tuple": "a = 2 * S\n    (a[0], (i, a[1])) = x, (2, x * x)\n    a[i] = x",
    "attribute": "class P: pass\n    p = P()\n    p.u = 2 * S\n    p.u[1] = x\n    p.u[2] += x\n    a = p.u",
    "whole array": "a = 2 * S\n    a *= x\n    a -= math.sin(x) * S",
    "whole array of an attribute": "class P: pass\n    p = P()\n    p.u = 2 * S\n    p.u *= math.sin(x)\n    a = p.u",
    "added call": "n = []\n    def g():\n        n.append(1)\n        return len(n)\n    a = 2 * S\n"
    "    a[g()] += x * g()\n    a[1:][g()] *= x",
    "added call that writes": "a = 2 * S\n    def g():\n        a[0] = 7.0\n        return x\n    a[0] += g()",
    "branch and exception": "a = 2 * S\n    try:\n        a[1] = x\n        a[9] = x\n    except IndexError:\n    "
    "    a[2] = x",
    "parameter": "def g(b):\n        b[1] = x\n        return b\n    a = g(2 * S)",
    "conditional": "a = 2 * S\n    if x > 0:\n        a[1] = x\n    else:\n        a[2] = x",
    "generator": "a = 2 * S\n    def g(b):\n        for i in range(3):\n            b[i] = x * i\n    "
    "        yield i\n        yield b\n    *_, a = g(2 * S)",
    "added call that binds the name": "a = 2 * S\n    def g():\n        nonlocal a\n"
    "        a = a * 0.5\n        return x * a\n"
    "    a += g()",
    "call that binds the number": "y = x * 1.0\n    def g(t):\n        nonlocal y\n"
    "        y = y * 0.5 + t\n        return y * t\n"
    "    y -= g(2.0)\n    a = S * y",
    "call that sets the attribute": "class P: pass\n    p = P()\n    p.v = x\n    def g():\n"
    "        p.v = 3.0\n        return 2.0\n"
    "    p.v *= g()\n    a = S * p.v",
    "call that keeps the attribute": "class P: pass\n    p = P()\n    p.v = 2 * S\n    def g():\n"
    "        return x\n    p.v += g()\n"
    "    p.v += math.sin(x)\n    a = p.v",
    "expression that binds the name": "y = 3.0\n    y += (y := x) * 2.0\n    y += y * (y := 2.0)\n    a = S * y",
    "starred index": "a = 2 * S.reshape(2, 3)\n    i = (1,)\n    a[(*i, 1)] = x\n    a[*i, 0] = x * 2\n"
    "    a[(*iter(i), 2)] += x\n    k = iter((0, 2))\n    a[(*k,)] = x\n    a = a.ravel()",
    "lists stay lists": "l = [1.0] * 6\n    l[1] = x\n    l[2] += x\n    l[3], l[4] = l[4], x\n    k = l.copy()\n    "
    "k[0] = x\n    a = np.array(k) + np.array(l)",
    "dicts stay dicts": "d = {'a': 1.0}.copy()\n    d['b'] = x\n    d['a'] += x\n    a = S * d['a'] * d['b']",
}
for _index in ("0", "1, 2", ":, 1", ":, :2", "[1, 0]", "0, [2, 0]", "M > 2", "..., None"):
    _calls = f"m = 2 * M\n    def g():\n        m[0, 0] = 7.0\n        return math.sin(x)\n    m[{_index}]"
    WRITTEN[f"called value, added to {_index}"] = f"{_calls} += g()\n    a = m.ravel()"
    WRITTEN[f"called value, multiplied by {_index}"] = f"{_calls} *= g() + np.exp(x * M)[{_index}]\n    a = m.ravel()"
#: Bodies that would make a traced number visible through other references.
SHARED: dict[str, str] = {
    "global": "S[1] = x\n    a = S",
    "view of a global": "a = S[::1]\n    a[0] = x",
    "sum in place": "b = 2 * S\n    a = b\n    a += x",
    "two names": "a = 2 * S\n    b = a\n    a[1] = x",
    "view held": "a = 2 * S\n    b = a[1:]\n    a[1] = x",
    "list of arrays": "b = [2 * S]\n    a = b[0]\n    a[1] = x",
    "argument": "def g(b): b[1] = x\n    a = 2 * S\n    g(a)",
    "view held, and a called value": "a = 2 * S\n    b = a[1:]\n    a[1:] += math.sin(x)",
    "read-only": "a = 2 * S\n    a.flags.writeable = False\n    a[1] = x",
}


def program(body: str) -> str:
    return f"{HEAD}def f(x):\n    {body}\n{SUM}"


def of_module(body: str, package: Any) -> tuple[Any, Any]:
    import importlib

    package({"stores_module": program(body)})
    return importlib.import_module("stores_module").f, te.lift("stores_module").f


def of_namespace(body: str, package: Any) -> tuple[Any, Any]:
    f = defined(program(body), __name__="__main__")
    return f, te.lift(f)


@pytest.fixture(autouse=True)
def forgotten() -> Any:
    yield
    import sys

    for name in [name for name in sys.modules if name.endswith("stores_module")]:
        del sys.modules[name]


@pytest.mark.parametrize("way", [of_module, of_namespace])
@pytest.mark.parametrize("name", WRITTEN)
def test_an_array_that_the_program_made(name: str, way: Callable[..., Any], package: Any) -> None:
    plain, lifted = way(WRITTEN[name], package)
    assert lifted(0.7) == plain(0.7)
    value, slope = te.value_and_grad(lifted)(0.7)
    assert value == pytest.approx(plain(0.7), rel=1e-14)
    assert slope == pytest.approx((plain(0.7 + 1e-6) - plain(0.7 - 1e-6)) / 2e-6, rel=1e-7, abs=1e-8)
    assert lifted(0.7) == plain(0.7)


@pytest.mark.parametrize("way", [of_module, of_namespace])
@pytest.mark.parametrize("name", SHARED)
def test_an_array_that_others_see(name: str, way: Callable[..., Any], package: Any) -> None:
    """The array does not change, and the error says what to write."""
    _, lifted = way(SHARED[name], package)
    with pytest.raises(
        (DroppedDerivativeError, UnsupportedError, ValueError), match=r"np\.copy\(a\)|read-only|tapeengine\.numpy"
    ):
        te.grad(lifted)(0.7)
    if name != "read-only":
        assert lifted(0.7) == way(SHARED[name], package)[0](0.7)


def test_what_a_function_sees_of_its_names(package: Any) -> None:
    package({"stores_module": "def f(x, i):\n    a = {}\n    a[i()], a[2] = 1, 2\n    return sorted(locals())"})
    assert te.lift("stores_module").f(1.0, lambda: 0) == ["a", "i", "x"]


def test_lines_of_errors(package: Any) -> None:
    package({"stores_module": "def f(a, i):\n\n    a[\n        i()\n    ] = 1\n"})
    import traceback

    import stores_module  # type: ignore[import-not-found]

    found = []
    for f in (stores_module.f, te.lift("stores_module").f):
        with pytest.raises(ZeroDivisionError) as caught:
            f({}, lambda: 1 // 0)
        last = [frame for frame in traceback.extract_tb(caught.value.__traceback__) if frame.name == "f"][-1]
        found.append((last.lineno, last.colno, last.line))
    assert found[0] == found[1]


@pytest.mark.parametrize(
    "made", [tnp.copy, tnp.array, lambda s: tnp.linspace(0.0, 3.0, 4), lambda s: tnp.array(s).copy()]
)
def test_through_numpy_that_is_traced(made: Any) -> None:
    def f(x: Any) -> Any:
        a = made(np.arange(4.0))
        a[1] = x
        return tnp.sum(a * a)

    assert te.grad(f)(3.0) == 6.0


def test_elsewhere_the_error_says_what_to_write() -> None:
    def f(x: Any) -> Any:
        a = np.arange(4.0).copy()
        a[1] = x
        return np.sum(a * a)

    with pytest.raises(DroppedDerivativeError, match=r"np\.copy\(a\)"):
        te.grad(f)(3.0)
