"""Random programs of numbers, arrays, lists, branches, writes and inner transforms: staged, they have the same bits."""

from __future__ import annotations

import copy
import math
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from leaves import bits

import tapeengine as te
import tapeengine.numpy as tnp

OF_ARRAYS = (
    "np.sin({a})", "-{a}", "{a} * {b}", "{a} + {b}", "{a} @ {b}", "{a} / (1 + {b} * {b})", "np.maximum({a}, {b})",
    "{a}.T", "np.where({a} < {b}, {a}, {b})", "{a}[::-1]", "np.sort({a}, axis=-1)", "np.cumsum({a}, axis=0)",
    "{a}[INDEX]",
    "np.clip({a}, -0.5, 0.5)", "np.roll({a}, 1)", "{a} * WEIGHTS", "{a} @ WEIGHTS", "tnp.array({a})", "{a} + DATA[0]",
    "{a}.astype(np.float32).astype(np.float64)", "np.einsum('ij,jk->ik', {a}, WEIGHTS)", "np.exp({a}[:1]) * {a}",
    "te.grad(lambda Q: np.sum(Q * Q * {s}))({a})", "te.iterate(lambda Q: np.tanh(Q @ WEIGHTS) * {s} + {a}, 3, {b})",
    "te.vjp(lambda Q: Q * {a}, {b})[1]({a})[0]", "te.grad(OF_ARRAY)({a})",
)  # fmt: skip
OF_NUMBERS = (
    "np.sum({a})", "{a}[0, 0]", "{a}[-1, 1]", "np.mean({a})", "np.max({a})", "{a}[0] @ {a}[1]", "np.linalg.norm({a})",
    "np.trace({a})", "np.median({a})", "{s} * {t}", "{s} - {t}", "te.math.sin({s})", "te.math.exp(-abs({s}))",
    "abs({s})", "max({s}, {t})", "{s} / (1.0 + {t} * {t})", "{s} * DATA[1]", "te.math.hypot({s}, {t})", "np.tanh({s})",
    "{s} ** 2", "math.floor({s}) * {t}", "int({s}) * {t} + {s}", "{s} // 0.5 * {t}",
    "te.grad(lambda q: q * q * {s} + te.math.sin(q))({t})",
    "te.grad(lambda q: q * q if q > 0.1 else -q)({s})", "te.checkpoint(lambda q: q * te.math.sin(q) * {s})({t})",
    "te.grad(OF_NUMBER)({s})", "te.grad(lambda q: OF_NUMBER(q) * q)({s})", "OF_ARRAY({a}) * {s}", "CUSTOM({s}) * {t}",
    "te.iterate(lambda q: q * 0.5 + te.math.sin(q * {s}) if q > 0.2 else q * q + {t} * 0.1, 4, {s})",
    "te.iterate(lambda st: (st[0] * {t} + 0.1, np.sin(st[1]) * st[0]), 2, ({s}, {a}))[1][0, 0]",
    "te.checkpoint(lambda Q: np.sum(Q * Q) if np.sum(Q) > 0.5 else np.sum(Q) * {s})({a})", "np.sum(CUSTOM({a}))",
    "sum(te.fork_map(lambda q: q * q * {t}, [{s}, {t}]))",
)  # fmt: skip
WRITES = (
    "C = tnp.zeros((3, 3)); C[1] = x; C[:, 0] += {a}[0]; y = y + np.sum(C * C)", "A[0, 1] = {s}", "A[0] *= 0.5",
    "B += A * 0.1", "V = A[:, 0]; V[:] = V * 0.5; y = y + A[1, 0]", "B[A > 0] = 0.25",
    "np.add.at(A, (INDEX, INDEX), {s})", "C = {a} * 1.0; V = C.T; V[0] = 7.0 * x; x = x + np.sum(C[:, 0] * C[0])",
    "L[0] = L[0] * {s}", "L.append({s}); x = x + L[-1]", "D['k'] = D['k'] * 2.0; y = y * D['k']",
)  # fmt: skip
DECISIONS = (
    "{s} > {t}", "{s} < 0.2", "int({s}) == 0", "np.sum({a}) > {s}", "np.any({a} > 1.0)", "np.argmax({a}) == 1",
    "{a}[0, 0] > {a}[1, 1]", "n > 1", "bool({s})", "len(L) > 2", "math.isfinite({s})", "np.allclose({a}, {b})",
    "np.argsort({a}[0])[0] == 0", "DATA[1] > 1.5", "np.count_nonzero({a} > 0.3) > 2",
)  # fmt: skip
RESULTS = (
    "{s}", "({s}, {a})", "[{s}, {t}]", "{{'v': {a}, 's': {s}, 'n': n}}", "({a}, {a}.T, {s})", "(x, y, A, B)",
    "x + y + np.sum(A * B)", "({s}, L)", "(x, np.argmax({a}))",
)  # fmt: skip


class Writer:
    """Writes the lines of a program, indented as Python's; names of a branch are forgotten at its end."""

    def __init__(self, rng: random.Random) -> None:
        self.rng, self.lines, self.arrays, self.numbers = rng, list[str](), ["A", "B"], ["x", "y"]

    def of(self, templates: tuple[str, ...]) -> str:
        names = (self.rng.choice(kind) for kind in (self.arrays, self.arrays, self.numbers, self.numbers))
        return self.rng.choice(templates).format(**dict(zip("abst", names, strict=True)))

    def statement(self, depth: int) -> None:
        kind, indent = self.rng.random(), "    " * depth
        if kind < 0.35:
            self.lines.append(f"{indent}a{len(self.lines)} = {self.of(OF_ARRAYS)}")
            self.arrays.append(f"a{len(self.lines) - 1}")
        elif kind < 0.7:
            self.lines.append(f"{indent}s{len(self.lines)} = {self.of(OF_NUMBERS)}")
            self.numbers.append(f"s{len(self.lines) - 1}")
        elif kind < 0.78 or depth > 3:
            self.lines.append(indent + self.of(WRITES))
        else:
            known = list(self.arrays), list(self.numbers)
            for line, end in ((f"if {self.of(DECISIONS)}:", "x = {s} * 1.5"), ("else:", "A = A * {s}")):
                self.lines.append(indent + line)
                self.statement(depth + 1)
                self.lines.append(f"{indent}    {self.of((end, 'y = y - {s}', 'x = x + np.sum({a})'))}")
                self.arrays, self.numbers = list(known[0]), list(known[1])

    def program(self) -> str:
        for _ in range(self.rng.randint(2, 8)):
            self.statement(1)
        return "\n".join(["def program(A, B, x, y, n, L, D):", *self.lines, f"    return {self.of(RESULTS)}"])


def custom() -> Any:
    f = te.custom_vjp(lambda q: q * q * 0.5)
    f.defvjp(lambda q: (q * q * 0.5, q), lambda kept, ct: (kept * ct,))
    return f


def space(seed: int) -> dict[str, Any]:
    return {
        "OF_NUMBER": te.stage(lambda q: q * q * q if q > 0.3 else te.math.sin(q)),
        "OF_ARRAY": te.stage(lambda Q: np.sum(Q * Q) if np.max(Q) > 0.5 else np.sum(np.sin(Q))),
        "WEIGHTS": np.random.default_rng(seed).normal(size=(3, 3)).round(1),
        "CUSTOM": custom(),
        "INDEX": np.array([1, 0, 0]),
        "DATA": [np.full((3, 3), 0.5), 2.0],
    } | {"np": np, "te": te, "tnp": tnp, "math": math}


def array(rng: random.Random) -> Any:
    found = np.random.default_rng(rng.randrange(10**9)).normal(size=(3, 3)).round(rng.choice([0, 2, 2]))
    kinds: list[Callable[[Any], Any]] = [
        *([lambda a: a] * 6), np.asfortranarray, lambda a: a.astype(np.float32), lambda a: a[::-1],
        lambda a: np.repeat(a, 2, 1)[:, ::2], lambda a: a.astype(int),
    ]  # fmt: skip
    return rng.choice(kinds)(found)


def number(rng: random.Random) -> Any:
    x = round(rng.uniform(-2.0, 2.0), 2)
    return rng.choice([x, x, x, x, np.float64(x), 0.0, -0.0, math.nan, int(x), np.float32(x)])


def arguments(rng: random.Random) -> list[Any]:
    A = array(rng)
    B = rng.choice([array, array, array, lambda _: A, lambda _: A.T])(rng)
    return [A, B, number(rng), number(rng), rng.choice([1, 2]), [number(rng), 0.5], {"k": number(rng)}]


def cotangent(value: Any, seed: int) -> Any:
    if isinstance(value, (list, tuple)):
        return type(value)(cotangent(item, seed + k) for k, item in enumerate(value))
    if isinstance(value, dict):
        return {key: cotangent(item, seed) for key, item in value.items()}
    if isinstance(value, (float, np.ndarray, np.floating)) and np.asarray(value).dtype.kind == "f":
        drawn = np.random.default_rng(seed).normal(size=np.shape(value)).round(1)
        return drawn.astype(value.dtype) if isinstance(value, np.ndarray) else type(value)(drawn)
    return None


def outcome(f: Callable[..., Any], args: list[Any], seed: int) -> Any:
    try:
        value, back = te.vjp(f, *copy.deepcopy(args))
        return bits(value), [bits(back(cotangent(value, seed + k))) for k in (0, 9)]
    except Exception as error:
        return type(error)


def calls(rng: random.Random) -> list[list[Any]]:
    """Arguments of a few forms, of which later ones have other numbers."""
    known, found = [arguments(rng) for _ in range(3)], list[list[Any]]()
    for _ in range(10):
        args = copy.deepcopy(rng.choice(known))
        if rng.random() < 0.6 and args[0].dtype == np.float64:
            args[0][...] = np.random.default_rng(rng.randrange(10**9)).normal(size=(3, 3)).round(2)
            args[2:4] = [type(x)(rng.uniform(-2.0, 2.0)) if isinstance(x, float) else x for x in args[2:4]]
        found.append(args)
    return found


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("first", range(0, 300, 20))
def test_random_mixed_programs(first: int) -> None:
    replays = 0
    for seed in range(first, first + 20):
        rng, names = random.Random(seed), space(seed)
        source = Writer(rng).program()
        exec(source, names)
        staged = te.stage(names["program"], paths=rng.choice([64, 2]), optimise=rng.choice([True, False]))
        for args in calls(rng):
            if rng.random() < 0.1:
                names["DATA"][1], names["WEIGHTS"][0, 0] = rng.choice([1.0, 2.0]), rng.random()
            assert outcome(staged, args, seed) == outcome(names["program"], args, seed), source
        replays += staged.stats().replays
    assert replays > 20
