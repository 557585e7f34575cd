"""Random programs in which scopes share names, and local functions change variables, arguments and defaults.

Each drawn program gives what Python gives, with its type, exception and derivative (by differences), also where the
language lacks something.
"""

import dataclasses
import math
import os
import random

import numpy as np
import pytest
from chad.written_functions import defined, function_of

import tapeengine
from tapeengine import chad as te

ENGINE = tapeengine.Engine()
COUNT = 4000 if os.environ.get("TAPEENGINE_NIGHTLY") == "1" else 200
BLOCK = 20


@dataclasses.dataclass
class Pair:
    """A record that functions change."""

    p: float
    q: float


#: For each kind of object: how it is made, read and changed in place.
KINDS = {
    "number": (["1.0", "x", "2.0 * x"], ["{n}"], []),
    "list": (
        ["[1.0, x]", "[x, 2.0]", "[0.5] * 2"],
        ["{n}[0]", "{n}[-1]", "sum({n})", "float(len({n}))"],
        ["{n}[0] = {e}", "{n}[1] += {e}", "{n}.append({e})", "{n}.reverse()", "{n}[0] *= x"],
    ),
    "array": (
        ["np.array([1.0, 2.0]) * x", "np.ones(2)"],
        ["{n}[0]", "{n}.sum()", "{n}[1]"],
        ["{n}[0] = {e}", "{n}[1] += {e}", "{n}[:] = {n} * {e}"],
    ),
    "count": (["2"], ["{n}"], []),
    "record": (["Pair(1.0, x)", "Pair(x, 2.0)"], ["{n}.p", "{n}.q * {n}.p"], ["{n}.p = {e}", "{n}.q += {e}"]),
    "dict": (['{{"p": 1.0, "q": x}}'], ['{n}["p"]', '{n}["q"] * {n}["p"]'], ['{n}["p"] = {e}', '{n}["q"] += {e}']),
}
NAMES = ["s", "u", "v", "t"]
REBOUND = ["{n} = {n} + {e}", "{n} += {e}", "{n} = {e}", "{n} *= {e}"]


class Drawn:
    """Draws the text of one program."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.kind = self.one_of([k for k in KINDS if k not in ("number", "count")])
        self.functions = []  # names, the kinds and names of parameters, and whether the last one has a default
        self.count = 0

    def one_of(self, items):
        return self.random.choice(list(items))

    def new(self):
        self.count += 1
        return f"r{self.count}"

    def read(self, scope):
        name = self.one_of(scope)
        return self.one_of(KINDS[scope[name]][1]).format(n=name)

    def small(self, scope):
        """An expression without calls of local functions."""
        return self.one_of(
            ["x", "0.5", "x * 0.5", self.read(scope), f"0.5 * {self.read(scope)}", f"({self.read(scope)} + x)"]
        )

    def call(self, scope, name=None):
        """A call of a local function, with arguments from the scope."""
        name, kinds, names, has_default = name or self.one_of(self.functions)
        given = []
        for k, kind in enumerate(kinds):
            if has_default and k == len(kinds) - 1 and self.random.random() < 0.6:
                break
            same = [n for n in scope if scope[n] == kind]
            if kind == "count":
                value = "n - 1" if name not in [f[0] for f in self.functions] else "2"
            elif kind == "number":
                value = self.small(scope)
            elif same and self.random.random() < 0.6:
                value = self.one_of(same)
            else:
                value = self.one_of(KINDS[kind][0]).format(n="", e="x")
            given.append((names[k], value))
        if given and self.random.random() < 0.03:
            return f"{name}(**{{{', '.join(f'{n!r}: {v}' for n, v in given)}}})"
        at = self.random.randint(0, len(given)) if self.random.random() < 0.4 else len(given)
        return f"{name}({', '.join([*(v for _, v in given[:at]), *(f'{n}={v}' for n, v in given[at:])])})"

    def value(self, scope):
        """An expression with a call in one of its places."""
        call, small = self.call(scope), self.small(scope)
        other = f"put({self.one_of(scope)}, {small})" if self.random.random() < 0.3 else self.call(scope)
        number = self.one_of([n for n in scope if scope[n] == "number"] or ["z"])
        return self.one_of(
            [call] * 20
            + [
                f"{call} + {small}",
                f"{small} + {call}",
                f"{call} * {other}",
                f"{call} + {other}",
                other,
                f"0.5 * {call}",
                f"math.sin({call})",
                f"max({call}, {small})",
                f"sum([{call}, {small}])",
                f"({number} := {small}) + {call}",
                f"{call} + ({number} := {small})",
                f"({call} if {small} > 1.0 else {small})",
                f"sum(map(lambda k: k * {small}, [1.0, x])) + {call}",
                f"sum({small} * k for k in [1.0, x]) - {call}",
                f"float({call} > {small})",
            ]
        )

    def change(self, scope, outer=()):
        """A statement that changes something, and the names that it rebinds."""
        name = self.one_of(scope)
        ways = KINDS[scope[name]][2]
        e = self.call(scope) if self.functions and self.random.random() < 0.25 else self.small(scope)
        if not ways:
            return self.one_of(REBOUND).format(n=name, e=e), [name]
        return self.one_of(ways).format(n=name, e=e), []

    def statement(self, scope, is_main):
        """Statements, and the names that they rebind."""
        if not self.functions or self.random.random() < 0.35:
            text, rebound = self.change(scope)
            return [text], rebound
        numbers = [n for n in scope if scope[n] == "number"]
        name = self.one_of(numbers) if numbers and self.random.random() < 0.6 else self.new()
        body, rebound = self.change(scope)
        made = self.new()
        found = self.one_of(
            [
                ([f"{name} = {self.value(scope)}"], [name]),
                ([f"{name} = {self.value(scope)}"], [name]),
                ([self.call(scope)], []),
                ([f"{made} = {self.value(scope)}", f"{name} = {made} * 0.5"], [name]),
                ([f"for {made} in range(2):", f"    {self.call(scope)}", f"    {body}"], rebound),
                ([f"if {self.value(scope)} > 1.0:", f"    {body}"], rebound),
                ([f"assert {self.value(scope)} < 1e6"], []),
                (
                    [
                        f"{made} = 0",
                        f"while {self.value(scope)} < 3.0:",
                        f"    {made} += 1",
                        f"    if {made} > 2: break",
                    ],
                    [],
                ),
                ([f"{name} = 0.0", f"for {made} in [{self.call(scope)}, x]:", f"    {name} += {made}"], [name]),
                (
                    [
                        f"{made} = lambda k, w={self.one_of(scope)}: k * {self.small(scope)}",
                        body,
                        f"{name} = {made}(x)",
                    ],
                    [name, *rebound],
                ),
            ]
        )
        if numbers and self.random.random() < 0.25:
            found = [f"{self.one_of(numbers)} {self.one_of(['+=', '*=', '-='])} {self.value(scope)}"], []
            found = found[0], [found[0][0].split()[0]]
        if is_main and self.random.random() < 0.15:
            other = self.one_of([n for n in scope if scope[n] != "number"] or scope)
            text = f"w{self.count} = {other}"
            scope[f"w{self.count}"] = scope[other]
            found = [text, *found[0]], found[1]
        return found

    def function(self, scope, depth=0):
        """A local function; its parameters, variables and loops may have names of variables around it."""
        self.count += 1
        name = f"f{self.count}"
        kinds = [self.one_of(["number", self.kind]) for _ in range(self.random.randint(0, 2))]
        names = self.random.sample(NAMES, len(kinds))
        has_default = bool(kinds) and self.random.random() < 0.3
        texts = list(names)
        if has_default:
            same = [n for n in scope if scope[n] == kinds[-1]]
            default = (
                self.one_of(same)
                if same and self.random.random() < 0.6
                else self.one_of(KINDS[kinds[-1]][0]).format(n="", e="x")
            )
            texts[-1] = f"{texts[-1]}={default}"
        inner = {**scope, **dict(zip(names, kinds, strict=True))}
        lines, own, rebound = [], set(names), []
        if self.random.random() < 0.4:  # a variable of its own, with a name that may be one around it
            local, kind = self.one_of([n for n in NAMES if n not in names]), self.one_of(["number", self.kind])
            lines.append(f"{local} = {self.one_of(KINDS[kind][0]).format(n='', e='x')}")
            inner[local] = kind
            own.add(local)
        for _ in range(self.random.randint(1, 3)):
            before = set(inner)
            found, names_ = self.statement(inner, False)
            lines += found
            rebound += [n for n in names_ if n in before]
        if self.random.random() < 0.25:  # so may the variable of a loop
            local = self.one_of([n for n in NAMES if n not in own] or ["k"])
            step = self.statement({**inner, local: "number"}, False)
            rebound += [n for n in step[1] if n in inner]
            lines += [f"for {local} in [x, 2.0]:", *(f"    {line}" for line in step[0])]
            own.add(local)
            inner[local] = "number"
        walrus = [part.split(" :=")[0] for line in lines for part in line.split("(")[1:] if " :=" in part]
        outer = sorted({n for n in (*rebound, *walrus) if n in scope and n not in own})
        for _ in range(self.random.random() < 0.2 and depth < 2):  # a function inside, that only this one calls
            known = list(self.functions)
            lines += self.function(dict(inner), depth + 1)
            found, names_ = self.statement(inner, False)
            lines += found
            rebound += [n for n in names_ if n in inner]
            self.functions = known
        if self.random.random() < 0.15:  # a function that calls itself
            texts, names, kinds = ["n", *texts], ["n", *names], ["count", *kinds]
            self.functions.append((name, kinds, names, has_default))
            again = self.call(inner, self.functions.pop())
            lines = ["if n < 1:", f"    return {self.small(inner)}", *lines, f"{self.new()} = {again}"]
        lines.append(
            f"return {self.value(inner) if self.functions and self.random.random() < 0.3 else self.small(inner)}"
        )
        walrus = [part.split(" :=")[0] for part in lines[-1].split("(")[1:] if " :=" in part]
        outer = sorted({*outer, *(n for n in walrus if n in scope and n not in own)})
        lines = [f"nonlocal {', '.join(outer)}"] * bool(outer) + lines
        self.functions.append((name, kinds, names, has_default))
        return [f"def {name}({', '.join(texts)}):", *(f"    {line}" for line in lines)]

    def program(self):
        scope = {n: self.one_of(["number", self.kind]) for n in self.random.sample(NAMES, self.random.randint(2, 3))}
        lines = [f"{n} = {self.one_of(KINDS[kind][0]).format(n='', e='x')}" for n, kind in scope.items()]
        for _ in range(self.random.randint(2, 3)):
            lines += self.function(dict(scope))
        outer = list(scope)
        results = []
        for _ in range(self.random.randint(2, 4)):
            if self.random.random() < 0.4:
                results.append(self.new())
                lines.append(f"{results[-1]} = {self.value(scope)}")
            else:
                lines += self.statement(scope, True)[0]
        return [*lines, f"return {', '.join([*results, *outer])}, x"]


def put_list(v, s):
    v[0] = s + v[-1]
    return v[-1]


def put_record(s, v):
    s.p = v * s.q
    return s.p


def put_dict(u, v):
    u["p"] = v * u["q"]
    return u["p"]


PUT = {"list": put_list, "array": put_list, "record": put_record, "dict": put_dict}


def outcome(function, *args):
    """What a call gives: a value, or the class of its error."""
    try:
        return function(*args), None
    except Exception as error:
        return None, error


def parts(value):
    """The classes of a value, and its numbers."""
    if isinstance(value, Pair):
        return [Pair, *parts(value.p), *parts(value.q)]
    if isinstance(value, dict):
        return [dict, *value, *(x for part in value.values() for x in parts(part))]
    if isinstance(value, list | tuple):
        return [type(value), len(value), *(x for part in value for x in parts(part))]
    if isinstance(value, np.ndarray):
        return [np.ndarray, value.shape, *value.tolist()]
    return [float(value) if isinstance(value, float) else value]


def numbers(value):
    return [x for x in parts(value) if isinstance(x, float)]


def ones(value):
    """A cotangent of ones."""
    if isinstance(value, Pair):
        return Pair(1.0, 1.0)
    if isinstance(value, dict):
        return dict.fromkeys(value, 1.0)
    if isinstance(value, list | tuple):
        return type(value)(map(ones, value))
    if isinstance(value, np.ndarray):
        return np.ones_like(value)
    return 1.0


def check(seed):
    """Compare one program; tell whether the language has it."""
    drawn = Drawn(seed)
    lines = drawn.program()
    function = function_of("x", lines, Pair=Pair, math=math, put=PUT[drawn.kind])
    text, x = "\n".join(lines), 1.37
    wanted, error = outcome(function, x)
    program = te.program(function, backend="machine")
    found, raised = outcome(ENGINE.vjp, program, x)
    is_read = program.for_values((x,)).is_read
    assert type(raised) is type(error), (seed, text, error, raised)
    if error is not None:
        return is_read
    value, back = found
    assert len(parts(value)) == len(parts(wanted)), (seed, text, wanted, value)
    for a, b in zip(parts(wanted), parts(value), strict=True):
        is_number = isinstance(a, float) and isinstance(b, float)
        is_same = math.isclose(a, b, rel_tol=1e-12) or (math.isnan(a) and math.isnan(b)) if is_number else a == b
        assert is_same, (seed, text, wanted, value)
    h = 1e-6
    sides = [sum(numbers(function(x + d))) for d in (-h, 0.0, h)]
    left, right = (sides[1] - sides[0]) / h, (sides[2] - sides[1]) / h
    if abs(left - right) < 1e-3 * (1.0 + abs(left)):
        (found,) = back(ones(value))
        assert found == pytest.approx((left + right) / 2.0, rel=1e-4, abs=1e-5), (seed, text)
    return is_read


@pytest.mark.parametrize("first", range(0, COUNT, BLOCK))
def test_programs_with_shared_names(first):
    for seed in range(first, first + BLOCK):
        check(seed)


def test_the_language_has_a_good_part_of_them():
    assert sum(check(seed) for seed in range(10_000, 10_060)) > 9


#: Statements that read a name of the module, or of Python, before the function gives the same name a value.
READ_BEFORE = {
    "added": ["{n} += x"],
    "assigned from itself": ["{n} = x if {n} is None else {n}"],
    "read first": ["y = {n} * x", "{n} = y"],
    "on one path": ["if x > 100.0:", "    {n} = 1.0", "x = x * {n}"],
    "in a function": ["def g():", "    return {n} * x", "y = g()", "{n} = y"],
    "in a comprehension": ["y = [{n} * x for k in range(2)]", "{n} = 1.0"],
    "in a branch": ["y = {n} * x if x > 0.0 else x", "{n} = 1.0"],
    "in a loop": ["for k in range(2):", "    x = x * {n}", "    {n} = 1.0"],
    "before finally": ["try:", "    {n} = {n} * x", "finally:", "    x = 2.0 * x"],
}


@pytest.mark.parametrize("name", ["scale", "abs"])
@pytest.mark.parametrize("lines", READ_BEFORE.values(), ids=READ_BEFORE)
def test_a_variable_that_has_the_name_of_one_outside(lines, name):
    function = function_of("x", [line.format(n=name) for line in [*lines, "return x"]], scale=2.0)
    _, wanted = outcome(function, 1.5)
    assert isinstance(wanted, NameError)
    program = te.program(function)
    for found in (outcome(ENGINE.vjp, program, 1.5), outcome(ENGINE.jvp, program, (1.5,), (1.0,))):
        assert type(found[1]) is type(wanted)


@pytest.mark.parametrize("count", [2, 3])
def test_functions_of_one_name_from_several_namespaces(count):
    """Each keeps its own text; the program's own name is one of them."""
    own = [defined(f"def step(x: float) -> float:\n    return x * x * {k + 2}.0 + {k}.0", "step") for k in range(count)]
    names = {f"step{k}": f for k, f in enumerate(own)}
    calls = " * ".join(f"step{k}(x + {k}.5)" for k in range(count))
    f = defined(f"def step(x: float) -> float:\n    return {calls}", "step", **names)
    value, slope = tapeengine.value_and_grad(te.program(f))(0.5)
    assert value == f(0.5)
    assert slope == pytest.approx(f(0.5 + 1e-30j).imag * 1e30, rel=1e-14)
