"""The intermediate form of a program with unions grows with its text, and not with its square."""

import sys
from typing import Any

import pytest
from chad.written_functions import run_in

import tapeengine as te
from tapeengine.chad.intermediate.analysis import walk


def of_classes(count: int) -> str:
    """The text of a program that asks for each class of a union in turn."""
    names = [f"C{i}" for i in range(count)]
    lines = ["import dataclasses"]
    for name in names:
        lines += ["@dataclasses.dataclass", f"class {name}:", "    a: float", "    b: float"]
    lines += [f"def f(u: {' | '.join(names)}, x: float) -> float:", "    r = 0.5 * x"]
    for i, name in enumerate(names):
        lines += [f"    if isinstance(u, {name}):", f"        r = r * u.a * x + u.b * {i}.0"]
    return "\n".join([*lines, "    return r * r", ""])


def of_match(count: int) -> str:
    """The text of a program that tells some classes of a union apart, and takes the others together."""
    lines = of_classes(count).splitlines()
    head = lines[: next(i for i, line in enumerate(lines) if line.startswith("def"))]
    names = " | ".join(f"C{i}" for i in range(count))
    body = ["match u:", "    case C0(a, b):", "        return a * x", "    case C1(a, b):", "        return a * b * x"]
    return "\n".join(
        [*head, f"def f(u: {names}, x: float) -> float:", *(f"    {s}" for s in body), "    return x * x", ""]
    )


def defined_by(text: str) -> dict[str, Any]:
    scope = {"__name__": __name__}
    run_in(scope, text)
    return scope


def statements(program: Any) -> int:
    """How many statements both passes of a program have."""
    lowered = program.executable.reverse_form
    return sum(1 for f in lowered.program.functions.values() for _ in walk(f.body))


@pytest.mark.parametrize("text", [of_classes, of_match])
def test_statements_grow_with_the_text(text: Any) -> None:
    counts = []
    for count in (4, 8, 16):
        counts.append(statements(te.program(defined_by(text(count))["f"])))
    assert counts[2] - counts[1] <= 2.2 * (counts[1] - counts[0]) + 8


@pytest.mark.parametrize("text", [of_classes, of_match])
@pytest.mark.parametrize("count", [2, 3, 6])
def test_each_class_has_its_own_branch(text: Any, count: int) -> None:
    scope = defined_by(text(count))
    typed = te.program(scope["f"])
    for i in range(count):
        u, h = scope[f"C{i}"](1.5, -0.25), 1e-6
        assert typed.unread is None and te.vjp(typed, u, 2.0)[0] == scope["f"](u, 2.0)
        found_u, found_x = te.grad(typed, (0, 1))(u, 2.0)
        expected = (scope["f"](u, 2.0 + h) - scope["f"](u, 2.0 - h)) / (2 * h)
        assert found_x == pytest.approx(expected, rel=1e-6)
        for name in ("a", "b"):
            moved = [type(u)(**{**vars(u), name: getattr(u, name) + d}) for d in (h, -h)]
            expected = (scope["f"](moved[0], 2.0) - scope["f"](moved[1], 2.0)) / (2 * h)
            assert getattr(found_u, name) == pytest.approx(expected, rel=1e-6, abs=1e-9)


#: First calls of a program of two numbers, and derivatives that dual numbers have no part in.
FIRST_CALLS = {
    "vjp": lambda p: te.vjp(p, 0.3, 0.4)[1](1.0),
    "jvp": lambda p: te.jvp(p, (0.3, 0.4), (1.0, 2.0)),
    "grad": lambda p: te.grad(p)(0.3, 0.4),
    "hvp": lambda p: te.hvp(p, (0.3, 0.4), (1.0, 2.0)),
    "hessian": lambda p: te.hessian(p)(0.3, 0.4),
    "value": lambda p: p.value(0.3, 0.4),
}


@pytest.mark.parametrize("annotated", [False, True])
@pytest.mark.parametrize("call", FIRST_CALLS)
def test_the_text_is_not_rewritten_for_dual_numbers(call: str, annotated: bool, monkeypatch: Any) -> None:
    types = ("x: float, y: float) -> float" if annotated else "x, y)") + ":"
    text = f"import math\ndef f({types}\n    a = [x, y]\n    a[0] += math.sin(y)\n    return a[0] * a[1]\n"
    made: list[Any] = []
    monkeypatch.setattr(sys.modules[te.Program.__module__], "watched_on_duals", made.append)
    FIRST_CALLS[call](te.program(defined_by(text)["f"]))
    assert made == []
