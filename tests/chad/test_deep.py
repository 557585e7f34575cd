"""Data and types without an end: each kind runs in a process of its own, so that a crash is one failure.

The derivatives are known in closed form: each node adds the square of its number and half of what its children give.
"""

import subprocess
import sys

import pytest

HEAD = """
import collections, dataclasses, typing
import tapeengine as te
from dataclasses import dataclass
from typing import Callable, NamedTuple
from tapeengine.errors import TapeEngineError
"""

#: Declarations of a recursive type T, and how to make a node.
KINDS = {
    "a field": ("@dataclass\nclass T:\n    v: float\n    n: 'T | None'\n", "f(t.n)", "T(v, n)"),
    "a named tuple": ("class T(NamedTuple):\n    v: float\n    n: 'T | None'\n", "f(t.n)", "T(v, n)"),
    "a list": ("@dataclass\nclass T:\n    v: float\n    n: 'list[T | None]'\n", "sum(f(k) for k in t.n)", "T(v, [n])"),
    "a tuple": (
        "@dataclass\nclass T:\n    v: float\n    n: 'tuple[T | None, ...]'\n",
        "sum([f(k) for k in t.n])",
        "T(v, (n,))",
    ),
}

RUN = """
def f(t: T | None) -> float:
    if t is None:
        return 0.0
    return t.v * t.v + 0.5 * {inside}

plain = f
f = te.program(f, backend={backend!r})
for depth in (1, 40, 2_000, 20_000):
    t = None
    for _ in range(depth):
        v, n = 1.5, t
        t = {node}
    value = 2.25 * sum(0.5**k for k in range(depth))
    found, back = te.vjp(f, t)
    assert abs(found - value) < 1e-12 and back(1.0)[0].v == 3.0
    assert abs(te.jvp(f, (t,), (t,))[1] - 2.0 * value) < 1e-12
    if depth < 100:
        assert abs(f(t) - value) < 1e-12 and te.jvp(te.grad(f), (t,), (t,))[1].v == 3.0
print("done")
"""


def run(text: str) -> str:
    """Run Python; give what it prints."""
    done = subprocess.run([sys.executable, "-c", HEAD + text], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, f"{done.returncode}: {done.stderr[-600:]}"
    return done.stdout.strip()


@pytest.mark.parametrize("backend", [None, "native"])
@pytest.mark.parametrize("kind", KINDS)
def test_deep_data_have_their_derivatives(kind: str, backend: str | None, tmp_path) -> None:
    declaration, inside, node = KINDS[kind]
    program = tmp_path / "deep_data.py"
    program.write_text(HEAD + declaration + RUN.format(inside=inside, node=node, backend=backend))
    assert run(f"exec(compile(open({str(program)!r}).read(), {str(program)!r}, 'exec'))") == "done"


#: Types that contain themselves, with no union in the circle.
ENDLESS = {
    "a field": "@dataclass\nclass T:\n    v: float\n    n: 'T'\n",
    "a list": "@dataclass\nclass T:\n    v: float\n    n: 'list[T]'\n",
    "a tuple": "@dataclass\nclass T:\n    v: float\n    n: 'tuple[T, ...]'\n",
    "a pair": "@dataclass\nclass T:\n    v: float\n    n: 'tuple[float, T]'\n",
    "an array": "@dataclass\nclass T:\n    v: float\n    n: 'te.Array[T]'\n",
    "a function": "@dataclass\nclass T:\n    v: float\n    n: 'Callable[[T], float]'\n",
    "a named tuple": "class T(NamedTuple):\n    v: float\n    n: 'list[T]'\n",
    "a forward reference": "@dataclass\nclass T:\n    v: float\n    n: typing.List['T']\n",
    "two classes": "@dataclass\nclass T:\n    v: float\n    n: 'B'\n@dataclass\nclass B:\n    n: 'list[T]'\n",
    "a union beside it": "@dataclass\nclass T:\n    v: float\n    m: 'T | None'\n    n: 'list[T]'\n",
    "a name": "T = 'list[T]'\n",
}

#: Captured values that contain themselves or are deep, and what a program reads from them.
CAPTURED = {
    "a list": ("c = [1.5]\nc.append(c)\n", "c[0]"),
    "a dict": ("c = {'v': 1.5}\nc['c'] = c\n", "c['v']"),
    "a tuple": ("inner = []\nc = (1.5, inner)\ninner.append(c)\n", "c[0]"),
    "a record": ("@dataclass\nclass R:\n    v: float\n    n: object = None\nc = R(1.5)\nc.n = c\n", "c.v"),
    "a pair of records": (
        "@dataclass\nclass R:\n    v: float\n    n: object = None\nc = R(1.5)\nc.n = [R(2.0, c)]\n",
        "c.v",
    ),
    "a deep record": (
        "@dataclass\nclass R:\n    v: float\n    n: object = None\nc = None\n"
        "for _ in range(40_000):\n    c = R(1.5, c)\n",
        "c.v",
    ),
    "a deep list": ("c = [1.5]\nfor _ in range(40_000):\n    c = [1.5, c]\n", "c[0]"),
}

REFUSED = """
try:
    f = te.program({function})
    print("value", te.grad(f)({argument}))
except TapeEngineError as error:
    print(str(error).replace(chr(10), " "))
"""


def written(tmp_path, text: str) -> str:
    program = tmp_path / "endless.py"
    program.write_text(HEAD + text)
    return run(f"exec(compile(open({str(program)!r}).read(), {str(program)!r}, 'exec'))")


@pytest.mark.parametrize("kind", ENDLESS)
def test_types_without_an_end_are_refused(kind: str, tmp_path) -> None:
    text = ENDLESS[kind] + "def f(x: float, t: 'T') -> float:\n    return x\n"
    assert "contains itself" in written(tmp_path, text + REFUSED.format(function="f", argument="1.0, None"))


@pytest.mark.parametrize("kind", CAPTURED)
def test_captured_values_without_an_end_are_read_or_refused(kind: str, tmp_path) -> None:
    made, read = CAPTURED[kind]
    text = f"{made}def f(x: float) -> float:\n    return x * {read}\n"
    found = written(tmp_path, text + REFUSED.format(function="f", argument="1.0"))
    assert found == "value 1.5" or "contains itself, or has more than" in found


@pytest.mark.parametrize("backend", [None, "native"])
def test_a_long_chain_of_branches(backend: str | None, tmp_path) -> None:
    branches = "".join(f"    elif n == {k}:\n        return x * {k}.0\n" for k in range(1, 400))
    text = f"def f(x: float, n: int) -> float:\n    if n == 0:\n        return x\n{branches}    return 0.0 * x\n"
    assert written(tmp_path, f"{text}f = te.program(f, backend={backend!r})\nprint(te.grad(f)(1.0, 300))\n") == "300.0"


def test_recursion_without_an_end_is_an_error_of_python(tmp_path) -> None:
    text = "def f(x: float) -> float:\n    return 0.5 * sum([f(x * y) for y in [1.0]])\nf = te.program(f)\n"
    text += "try:\n    te.grad(f)(1.0)\nexcept RecursionError:\n    print('done')\n"
    assert written(tmp_path, text) == "done"
