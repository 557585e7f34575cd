"""Functions of random recursive types, drawn: the machine, by the text of the form, gives the bits of native code."""

import dataclasses
import math
import os
import random
import sys
import types

import numpy as np
import pytest
from chad.written_functions import function_of, run_in

import tapeengine as te
from tapeengine.chad.backends.tiers import is_installed

pytestmark = pytest.mark.skipif(not is_installed(), reason="native code needs llvmlite")
SEEDS = range(300 if os.environ.get("TAPEENGINE_NIGHTLY") else 20)
#: The type of each kind of field; T is the recursive type itself.
KINDS = {"x": "float", "n": "int", "v": "te.Vec", "t": "T", "pair": "tuple[float, float]", "ts": "list[T]"}
FUNCTIONS = [
    "math.sin({})",
    "math.tanh({})",
    "math.exp(-math.tanh({}))",
    "({}) * ({})",
    "({}) + ({})",
    "({}) - 0.5 * ({})",
]
FUNCTIONS += ["({}) / (1.5 + math.cos({}))", "({} if {} > 0.1 else 0.3 * a)", "(1.0 / (2.0 + math.sin({})))"]


class Drawn:
    """A recursive type, a function of it, and values, all from a seed."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        count = self.random.randint(2, 4)
        self.fields = [self.fields_of(["x", "n", "v", "pair"], 1)]  # one without parts of the type itself
        self.fields += [self.fields_of([*KINDS, "t", "t", "x"], 2) for _ in range(count - 1)]
        names = [f"C{k}" for k in range(count)]
        lines = ["from __future__ import annotations"]
        for name, fields in zip(names, self.fields, strict=True):
            lines += ["@dataclass", f"class {name}:", *(f"    {f}: {KINDS[f.rstrip('0123456789')]}" for f in fields)]
        lines += [f"T = {' | '.join(names)}", "def f(t: T, a: float, w: te.Vec) -> float:"]
        for name, fields in zip(names, self.fields, strict=True):
            lines += [f"    if isinstance(t, {name}):", *(f"        {line}" for line in self.branch(fields))]
        lines += ["    return a"]
        self.text = "\n".join(lines) + "\n"
        module = sys.modules[f"drawn{seed}"] = types.ModuleType(f"drawn{seed}")  # where dataclasses look
        self.scope = module.__dict__
        self.scope |= {"te": te, "math": math, "dataclass": dataclasses.dataclass}
        run_in(self.scope, self.text)
        self.f = self.scope["f"]
        self.classes = [self.scope[name] for name in names]

    def fields_of(self, kinds, least):
        return [f"{self.random.choice(kinds)}{k}" for k in range(self.random.randint(least, 4))]

    def branch(self, fields):
        """Return the lines for one class: each part of the type itself is visited once."""
        numbers, lines = ["a", "w[0]", "w[1]", "w[2]"], []
        for f in fields:
            place, kind = f"t.{f}", f.rstrip("0123456789")
            if kind in "xn":
                numbers += [place, place]
            elif kind == "pair":
                numbers += [f"{place}[0]", f"{place}[1]"]
            elif kind == "v":
                lines.append(f"s{f} = sum([q * {self.number(numbers)} + q for q in {place}])")
                numbers.append(f"s{f}")
            elif kind == "ts":
                lines += [f"s{f} = 0.1", f"for part in {place}:", f"    s{f} = s{f} * w[0] + f(part, a * s{f}, w)"]
                numbers.append(f"s{f}")
            else:
                lines.append(f"y{f} = f({place}, {self.number(numbers)}, w)")
                numbers += [f"y{f}", f"y{f}"]
        lines.append(f"h = {self.number(numbers, 2)}")
        numbers += ["h", "h"]
        return [*lines, f"return {self.number(numbers, 3)}"]

    def number(self, numbers, depth=1):
        """Return an expression."""
        if depth == 0:
            return self.random.choice(numbers)
        form = self.random.choice(FUNCTIONS)
        return form.format(*(self.number(numbers, depth - 1) for _ in range(form.count("{}"))))

    def value(self, depth):
        """Return a value of the type."""
        k = 0 if depth == 0 else self.random.randrange(len(self.classes))
        return self.classes[k](*(self.part(f.rstrip("0123456789"), depth) for f in self.fields[k]))

    def part(self, kind, depth):
        x = self.random.uniform
        match kind:
            case "x":
                return x(-1.0, 1.0)
            case "n":
                return self.random.randint(-2, 3)
            case "pair":
                return x(-1.0, 1.0), x(-1.0, 1.0)
            case "v":
                return np.array([x(-1.0, 1.0) for _ in range(self.random.randint(0, 4))])
            case "ts":
                return [self.value(depth - 1) for _ in range(self.random.randint(0, 2))]
        return self.value(depth - 1)


def shown(x):
    """Return a cotangent with the bits of its numbers and the types of its parts."""
    if dataclasses.is_dataclass(x):
        return type(x).__name__, [shown(getattr(x, f.name)) for f in dataclasses.fields(x)]
    if isinstance(x, tuple | list):
        return type(x).__name__, [shown(y) for y in x]
    return x if x is None else (type(x).__name__, np.asarray(x).tobytes())


@pytest.mark.parametrize("seed", SEEDS)
def test_the_back_ends_give_the_same_bits_for_recursive_data(seed):
    drawn = Drawn(seed)
    machine, native = (te.program(drawn.f, backend=b) for b in ("machine", "native"))
    for depth in (0, 2, 4):
        args = drawn.value(depth), drawn.random.uniform(-1.0, 1.0), np.random.default_rng(seed).uniform(-1.0, 1.0, 3)
        (value, back), (other, again) = (te.vjp(p, *args) for p in (machine, native))
        assert value == other == drawn.f(*args), drawn.text
        assert shown(back(1.0)) == shown(again(1.0)) == shown(back(1.0)), drawn.text
        assert shown(back(-0.7)) == shown(again(-0.7)), drawn.text
        w = args[2]
        ahead = [drawn.f(*args[:2], w + s * 1e-6 * w) for s in (1, -1)]
        assert math.isclose((ahead[0] - ahead[1]) / 2e-6, back(1.0)[2] @ w, rel_tol=1e-5, abs_tol=1e-7)


@pytest.mark.parametrize(("sizes", "form"), [((3, 3), np.array), ((3, 3), list), ((3, 1, 2), list), ((1,), list)])
@pytest.mark.parametrize(
    "number",
    [
        *("sum([sum([v * a for v in r]) for r in m])", "np.sum(np.exp(m[0] * a))", "m[0] @ m[0] * a"),
        *("np.sum(m[0] ** 2.5) + a", "np.max(m[0]) * a + m[-1][0]", "math.log(a * a + len(m)) * m[n % len(m)][0]"),
    ],
)
def test_the_back_ends_give_the_same_bits_for_rows_of_recursive_functions(number, sizes, form):
    lines = [f"s = {number}", "return a * s if n == 0 else f(m, math.sin(s) + a * 0.5, n - 1) * a + s * s"]
    f = function_of("m: te.Array[te.Vec], a: float, n: int", lines, math=math, te=te)
    m = form([np.random.default_rng(k).uniform(0.1, 1.0, n) for k, n in enumerate(sizes)])
    machine, native = (te.vjp(te.program(f, backend=b), m, 0.7, 3) for b in ("machine", "native"))
    assert machine[0] == native[0] and shown(machine[1](1.0)) == shown(native[1](1.0))
    assert math.isclose(machine[0], f(m, 0.7, 3), rel_tol=1e-12)
