"""Reading a program takes time, and gives terms, of the order of its text: nothing is read or written out twice.

Each case is an expression in which its own text is nested, or a statement that is repeated. Work that doubles with each
level would grow by a factor of 16 from four levels to eight.
"""

import contextlib
import cProfile
import sys
from typing import Any

import pytest
from chad.written_functions import run_in

import tapeengine as te
from tapeengine.chad.language.errors import ProgramError
from tapeengine.chad.language.terms import Term
from tapeengine.chad.language.traverse import children
from tapeengine.chad.prepare import close

PREAMBLE = """
import dataclasses, functools, itertools, math
import numpy as np
@dataclasses.dataclass(frozen=True)
class V:
    x: float
    y: float
    def add(self, other):
        return V(self.x + other.x, self.y)
    def __add__(self, other):
        return V(self.x + other.x, self.y)
def one(a):
    return a * 1.1
def two(a, b=2.0):
    return a * b
def pair(a):
    return a * 1.1, a
def record(a):
    return V(a * 1.1, a)
"""
#: What stands before and after an expression of one number; names say what is tried.
NUMBERS = {
    "minus": ("-(", ")"),
    "plus": ("+(", ")"),
    "sum of parentheses": ("(x + ", ")"),
    "quotient": ("x / (1.0 + ", ")"),
    "floor": ("(", ") // 1 + x"),
    "power": ("x ** (0.1 * ", ")"),
    "abs": ("abs(", ")"),
    "float": ("float(", ")"),
    "max": ("max(x, ", ")"),
    "min with a key": ("min([x, ", "], key=lambda a: -a)"),
    "hypot": ("math.hypot(x, ", ")"),
    "fsum": ("math.fsum([x, ", "])"),
    "sum of a list": ("sum([x, ", "])"),
    "sum of a generator": ("sum(a for a in [x, ", "])"),
    "sum over a tuple": ("sum([a for a in (x, ", ")])"),
    "item of a list": ("[x, ", "][1]"),
    "item of a tuple": ("(x, ", ")[1]"),
    "item of a dict": ("{'a': ", "}['a']"),
    "dict comprehension": ("{k: v for k, v in {'a': ", "}.items()}['a']"),
    "zip": ("[a + b for a, b in zip([x, ", "], [x, 1.0])][1]"),
    "enumerate": ("[a * i for i, a in enumerate([x, ", "])][1]"),
    "conditional": ("(x if x > 1 else ", ")"),
    "test": ("(x * 2 if (", ") > 1 else x)"),
    "negated test": ("(x if not (x > ", ") else x * 2)"),
    "joined tests": ("(1.0 if (", ") > 0 and x > 0 else x)"),
    "membership": ("(x if x in [1.0, ", "] else 2 * x)"),
    "isinstance": ("(x if isinstance(x, float) else ", ")"),
    "any": ("(x if any([x > a for a in [x, ", "]]) else 2 * x)"),
    "call": ("one(", ")"),
    "call by name": ("two(b=x, a=", ")"),
    "default": ("two(", ")"),
    "stars": ("two(*(x, ", "))"),
    "stars of a call": ("two(*pair(", "))"),
    "dictionary of arguments": ("two(**{'a': x, 'b': ", "})"),
    "item of a result": ("pair(", ")[0]"),
    "field of a result": ("record(", ").x"),
    "field of a record": ("V(x, ", ").y"),
    "call of a conditional": ("one(x if x > 0 else ", ")"),
    "lambda": ("(lambda y: y * 1.1)(", ")"),
    "lambda around": ("(lambda y: y * ", " + x)(x)"),
    "partial": ("functools.partial(two, ", ")(x)"),
    "reduce": ("functools.reduce(lambda a, b: a * b, [x, ", "])"),
    "walrus": ("(y := ", " * 1.1)"),
    "chosen function": ("(one if x > 1 else (lambda a: a))(", ")"),
    "list of functions": ("[one, one][0](", ")"),
}
#: The same for lists of numbers, around ``[x, x]``.
LISTS = {
    "slice": ("(", ")[:]"),
    "computed slice": ("(", ")[len([x]) - 1:]"),
    "sum of lists": ("([x] + ", ")"),
    "repeated": ("(", " * 1)"),
    "comprehension": ("[a * 1.1 for a in ", "]"),
    "sorted": ("sorted(", ")"),
    "reversed": ("list(reversed(", "))"),
    "list of a tuple": ("list(tuple(", "))"),
    "map": ("list(map(lambda a: a * 1.1, ", "))"),
    "accumulate": ("list(itertools.accumulate(", "))"),
    "zip of lists": ("[a * b for a, b in zip(", "[0:], [1.0, x])]"),
    "enumerated": ("[a * i for i, a in enumerate(", ")]"),
    "star": ("list((*", "[:],))"),
}
#: The same for arrays, around ``np.array([x, x])``.
ARRAYS = {
    "where": ("np.where(x > 0, x, ", ")"),
    "maximum": ("np.maximum(x, ", ")"),
    "concatenate": ("np.concatenate([", "])"),
    "stack": ("np.stack([", "])[0]"),
    "sum over an axis": ("np.sum(", ", axis=0, keepdims=True)"),
    "method": ("", ".copy()"),
    "reshape": ("", ".reshape(2)"),
    "transpose": ("", ".T"),
    "astype": ("", ".astype(float)"),
    "product": ("np.dot(np.eye(2), ", ")"),
    "indices": ("", "[np.array([1, 0])]"),
    "mask": ("", "[np.array([True, True])]"),
    "slice of an array": ("", "[0:]"),
    "bound of a slice": ("np.array([x, x])[int(0.0 * (", ").sum()):]"),
    "end of a slice": ("np.array([x, x])[:int(0.0 * (", ").sum()) + 2]"),
}
#: Statements that are repeated, before ``return s * t``.
STATEMENTS = {
    "assignment": "s = s * 1.1 + t",
    "augmented": "s += s * t",
    "unpacking": "s, t = t * 1.1, s",
    "record": "v = V(s, t)\n    s = v.y * 1.1",
    "sum of records": "s = (V(s, t) + V(t, s)).x",
    "method of a record": "s = V(s, t).add(V(t, s)).x",
    "if": "if s > 1:\n        s = s * 0.5",
    "if and else": "if s > 1:\n        s = s * 0.5\n    else:\n        t = t * s",
    "return": "if s > 100:\n        return s * t\n    s = s * 1.01",
    "raise": "if s < -100:\n        raise ValueError('s is below')\n    s = s * 1.01",
    "for": "for i in range(2):\n        s = s * 1.1",
    "break": "for i in range(2):\n        s = s * 1.1\n        if s > 100:\n            break",
    "continue": "for i in range(2):\n        if s > 100:\n            continue\n        s = s * 1.1",
    "while": "while s < 1:\n        s = s + 1.0",
    "list": "a = [s, t]\n    a[0] = a[1] * 1.1\n    s = a[0]",
    "append": "a = [s]\n    a.append(t)\n    s = a.pop()",
    "swap": "a = [s, t]\n    a[0], a[1] = a[1], a[0]\n    s = a[0]",
    "grid": "g = [[s, t], [t, s]]\n    g[0][1] = g[1][0] * 1.1\n    s = g[0][1]",
    "array": "b = np.array([s, t])\n    b[0] = b[1] * 1.1\n    s = b[0]",
    "dict": "d = {'a': s}\n    d['b'] = d['a'] * t\n    s = d['b']",
    "function": "def h(a):\n        return a * t\n    s = h(s)",
    "lambda": "h = lambda a: a * t\n    s = h(s)",
    "comprehension": "s = sum([a * t for a in [s, t]])",
}


def repeated(statement: str) -> str:
    """A program that runs a statement several times."""
    return f"def f(x: float):\n    s, t = x, x + 1.0\n    {statement}\n    return s * t\n"


def nested(n: int, around: tuple[str, str], inner: str, whole: str) -> str:
    """A program that returns an expression nested n times."""
    return f"def f(x: float):\n    return {whole.format(around[0] * n + inner + around[1] * n)}\n"


CASES = {
    **{f"number, {k}": lambda n, a=a: nested(n, a, "x", "{}") for k, a in NUMBERS.items()},
    **{f"list, {k}": lambda n, a=a: nested(n, a, "[x, x]", "sum({})") for k, a in LISTS.items()},
    **{f"array, {k}": lambda n, a=a: nested(n, a, "np.array([x, x])", "np.sum({})") for k, a in ARRAYS.items()},
    **{f"statement, {k}": lambda n, a=a: repeated("\n    ".join([a] * n)) for k, a in STATEMENTS.items()},
}


def size(term: Term) -> int:
    """The number of terms in a term."""
    found, waiting = 0, [term]
    while waiting:
        found += 1
        waiting += [child for child, _ in children(waiting.pop())]
    return found


def defined(text: str) -> Any:
    """The function f of a program's text."""
    name = f"growth_{len(sys.modules)}"
    scope: dict[str, Any] = {"__name__": name}
    sys.modules[name] = type(sys)(name)  # in which dataclasses look for the names of annotations
    run_in(scope, PREAMBLE + text)
    return scope["f"]


def terms_of(text: str) -> tuple[int, int]:
    """The sizes of a program and of its reverse derivative."""
    of = te.program(defined(text)).executable
    module, reverse = ([size(d.body) for d in m.definitions.values()] for m in (of.module, of.reverse))
    return sum(module), sum(reverse)


def work(text: str) -> tuple[int, int]:
    """The calls that reading a program takes, and the size of its terms."""
    function, profile = defined(text), cProfile.Profile(builtins=False)
    module = profile.runcall(lambda: te.program(function).executable.module)
    calls = sum(entry.callcount for entry in profile.getstats())
    return calls, sum(size(d.body) for d in module.definitions.values())


@pytest.mark.parametrize("case", CASES)
def test_work_grows_with_the_text(case: str) -> None:
    work(CASES[case](1))  # what is found once: of the functions, of numpy
    few, small = work(CASES[case](4))
    many, large = work(CASES[case](8))
    assert many <= 5 * few
    assert large <= 5 * small


#: What a program does for each of n classes of a union, before ``return r * x``.
OF_CLASS = {
    "if": "    if isinstance(s, A{k}):\n        r = r * s.v + {k}.5\n",
    "elif": "    {el}if isinstance(s, A{k}):\n        r = r * s.v + {k}.5\n",
    "elif that returns": "    {el}if isinstance(s, A{k}):\n        return r * s.v + {k}.5\n",
    "return": "    if isinstance(s, A{k}):\n        return r * s.v + {k}.5\n",
    "return otherwise": "    if not isinstance(s, A{k}):\n        r = r * 1.5\n    else:\n        return r * s.v\n",
    "raise": "    if isinstance(s, A{k}) and x > 1{k}:\n        raise ValueError('x is above')\n",
    "expression": "    r = r * s.v if isinstance(s, A{k}) else r + x\n",
    "condition": "    if x > {k}.5 and isinstance(s, A{k}):\n        r = r * x\n",
    "loop": "    for i in range(2):\n        if isinstance(s, A{k}):\n            r = r * s.v\n",
    "two classes": "    {el}if isinstance(s, (A{k}, B)):\n        r = r * x\n",
    "another": "    if isinstance(s, A{k}):\n        r *= s.v\n    elif isinstance(t, A{k}):\n        r *= t.v\n",
}


def of_options(n: int, of_class: str) -> str:
    """A program that does something for each of the classes of a union."""
    fields = [f"@dataclasses.dataclass\nclass {name}:\n    v: float\n" for name in (*(f"A{k}" for k in range(n)), "B")]
    lines = [of_class.format(k=k, el="el" * (k > 0)) for k in range(n)]
    union = " | ".join((*(f"A{k}" for k in range(n)), "B"))
    return f"{''.join(fields)}U = {union}\ndef f(s: U, t: U, x: float):\n    r = x\n{''.join(lines)}    return r * x\n"


OF_UNIONS = {
    **{k: lambda n, a=a: of_options(n, a) for k, a in OF_CLASS.items()},
    "match": lambda n: of_options(n, "        case A{k}(v):\n            r = r * v\n").replace(
        "    r = x\n", "    r = x\n    match s:\n"
    ),
    "match that returns": lambda n: of_options(n, "        case A{k}(v):\n            return r * v\n").replace(
        "    r = x\n", "    r = x\n    match s:\n"
    ),
    "long expression": lambda n: (
        of_options(n, "r * s.v if isinstance(s, A{k}) else ")
        .replace("    r = x\n", "    r = x\n    r = ")
        .replace("    return", "x\n    return")
    ),
}


@pytest.mark.parametrize("case", OF_UNIONS)
def test_what_is_done_for_each_class_of_a_union_is_read_once(case: str) -> None:
    work(OF_UNIONS[case](3))
    few, small = work(OF_UNIONS[case](16))
    many, large = work(OF_UNIONS[case](32))
    assert many <= 2.6 * few
    assert large <= 2.4 * small


@pytest.mark.parametrize("case", OF_UNIONS)
@pytest.mark.parametrize("n", [2, 5, 9])
def test_what_is_done_for_each_class_of_a_union_is_what_python_does(case: str, n: int) -> None:
    f = defined(OF_UNIONS[case](n))
    typed = te.program(f)
    for k in range(n + 1):
        s, t = (f.__globals__[f"A{i}" if i < n else "B"] for i in (k, n - k))
        values = s(1.25), t(0.5), 1.75
        value, back = te.vjp(typed, *values)
        assert value == f(*values)
        ahead, behind = (f(s(1.25 + a), t(0.5), 1.75) for a in (1e-6, -1e-6))
        assert back(1.0)[0].v == pytest.approx((ahead - behind) / 2e-6, rel=1e-6, abs=1e-8)
        assert te.jvp(typed, values, (s(1.0), t(0.0), 0.0))[1] == pytest.approx(back(1.0)[0].v, rel=1e-12, abs=1e-12)
    assert typed.unread is None


def deep_ifs(n: int, before: str, last: str, after: str) -> str:
    """A program of ifs inside one another, each with statements before it and after it."""
    lines = [f"    {'    ' * k}{line.format(k=k)}" for k in range(n) for line in (before, "if x > {k}.5:") if line]
    lines.append(f"    {'    ' * n}{last}")
    for k in reversed(range(n) if after else ()):
        lines += [f"    {'    ' * k}{line}" for line in after.format(k=k).splitlines()]
    return "\n".join(["def f(x: float):", *lines, "    return x", ""])


DEEP = {
    "statements before": ("x = x * {k}.5", "x = x + 1", ""),
    "statements after": ("", "x = x + 1", "x = x * {k}.5"),
    "else": ("", "x = x + 1", "else:\n    x = x * {k}.5"),
    "return and else": ("", "return x * 2", "else:\n    x = x * {k}.5"),
}


@pytest.mark.parametrize("case", DEEP)
def test_ifs_inside_one_another_are_read_once(case: str) -> None:
    work(deep_ifs(2, *DEEP[case]))
    few, small = work(deep_ifs(16, *DEEP[case]))
    many, large = work(deep_ifs(32, *DEEP[case]))
    assert many <= 2.6 * few
    assert large <= 2.2 * small


LONG = {
    "sum": lambda n: "def f(x: float):\n    return " + " + ".join(f"x * {k}" for k in range(n)) + "\n",
    "difference": lambda n: "def f(x: float):\n    return " + " - ".join(f"x * {k}" for k in range(n)) + "\n",
    "product": lambda n: "def f(x: float):\n    return " + " * ".join(f"(x + {k})" for k in range(n)) + "\n",
    "list": lambda n: "def f(x: float):\n    return sum([" + ", ".join(f"x * {k}" for k in range(n)) + "])\n",
    "statements": lambda n: "def f(x: float):\n" + "".join(f"    x = x * {k}\n" for k in range(n)) + "    return x\n",
    "names": lambda n: (
        "def f(x0: float):\n" + "".join(f"    x{k + 1} = x{k} * {k}\n" for k in range(n)) + "    return x1\n"
    ),
    "keys": lambda n: (
        "def f(x: float):\n    d = {}\n" + "".join(f"    d[{k}] = x * {k}\n" for k in range(n)) + "    return d[0]\n"
    ),
    "functions": lambda n: (
        "def g0(y):\n    return y\n"
        + "".join(f"def g{k + 1}(y: float) -> float:\n    return g{k}(y) + 0.1\n" for k in range(n))
        + f"def f(x: float):\n    return g{n}(x)\n"
    ),
    "changes": lambda n: "def f(x: float):\n    y = [x]\n" + f"    y[0] = x * {n}\n" * n + "    return y[0]\n",
}


#: Lines of which each has variables of its own, or asks again for what is known of one: between ``s = x`` and
#: ``return s``.
LINES = {
    "lists": "    a{k} = [x, {k}.5]\n    s = s + a{k}[0]\n",
    "lists of calls": "    a{k} = [math.sin(y) for y in [x, s]]\n    s = s + a{k}[0]\n",
    "changed lists": "    a{k} = [x, {k}.5]\n    a{k}[1] = s\n    s = s + a{k}[1]\n",
    "lists that grow": "    a{k} = []\n    for i in range(3):\n        a{k}.append(i * s)\n    s = s + a{k}[0]\n",
    "copies of lists": "    a{k} = [x, s]\n    b{k} = a{k}[:]\n    b{k}[0] = s\n    s = s + a{k}[0]\n",
    "two names": "    a{k} = [s, x]\n    b{k} = a{k}\n    b{k}[0] = s * 2.0\n    s = s + b{k}[0]\n",
    "grids": "    a{k} = [[x, s], [s, x]]\n    a{k}[0][1] = x * {k}.5\n    s = s + a{k}[0][1]\n",
    "grids in loops": "    a{k} = [[0.0] * 3 for i in range(3)]\n"
    "    for i in range(3):\n        for j in range(3):\n            a{k}[i][j] = x * i + j\n    s = s + a{k}[0][1]\n",
    "arrays": "    a{k} = np.array([s, x])\n    a{k}[0] = s\n    s = s + a{k}[0] * a{k}[1]\n",
    "records": "    a{k} = V(s, x)\n    b{k} = a{k}.x * 2.0\n    s = s + b{k}\n",
    "calls of one function": "    s = two(s, x)\n",
}
LONG |= {k: lambda n, a=a: of_lines(n, a) for k, a in LINES.items()}
LONG |= {
    "elif": lambda n: of_lines(n, "    elif x < {k}.5:\n        s = x * {k}.5\n", ALTERNATIVE),
    **{
        f"parameters that are {k}": lambda n, line=line: of_lines(n, line).replace(
            "x: float", "x: float, " + ", ".join(f"a{k}: list[float]" for k in range(n))
        )
        for k, line in {
            "read": "    s = s + a{k}[0]\n",
            "changed": "    a{k}[0] = s\n    s = s + a{k}[1]\n",
            "rebound": "    a{k} = [s, x]\n    s = s + a{k}[1]\n",
        }.items()
    },
    "match": lambda n: of_lines(n, "        case {k}:\n            s = s * {k}.5\n", "    match int(x):\n"),
}


@pytest.mark.parametrize("case", LONG)
def test_work_is_linear_in_the_length_of_a_text(case: str) -> None:
    work(LONG[case](1))
    few, small = work(LONG[case](30))
    many, large = work(LONG[case](60))
    assert many <= 2.5 * few
    assert large <= 2.5 * small


#: Changes of the k-th field of a record.
CHANGES = {
    "assignment": "d.x{k} = d.x{k} * x",
    "augmented": "d.x{k} += x",
    "replace": "d = dataclasses.replace(d, x{k}=d.x{k} * x)",
    "branch": "if x > {k}:\n        d.x{k} *= x",
    "replace in a branch": "if x > {k}:\n        d = dataclasses.replace(d, x{k}=x)",
    "two branches": "if x > {k}:\n        d.x{k} *= x\n    else:\n        d.x0 = x",
    "loop": "for i in range(2):\n        d.x{k} *= x",
    "while": "while d.x{k} < 1:\n        d.x{k} += 1.0",
    "loop that is left": "for i in range(2):\n        d.x{k} *= x\n        if d.x{k} > 9:\n            break",
    "read": "x += d.x{k} * x",
}


def changes_of(n: int, change: str, indent: str) -> str:
    """A program that changes each of n fields of a record, in a block if the text is indented."""
    fields = "".join(f"    x{k}: float\n" for k in range(n))
    made = f"    d = D({', '.join(f'x * {k}' for k in range(n))})\n" + "    for j in range(3):\n" * bool(indent)
    body = "".join(f"    {change.format(k=k)}\n".replace("\n", f"\n{indent}") for k in range(n))
    result = "    return " + " + ".join(f"d.x{k}" for k in range(n))
    return f"@dataclasses.dataclass\nclass D:\n{fields}def f(x: float):\n{made}{indent}{body.rstrip()}\n{result}\n"


@pytest.mark.parametrize("indent", ["", "    "])
@pytest.mark.parametrize("change", CHANGES)
def test_changes_of_all_fields_of_a_record_are_linear_in_their_number(change: str, indent: str) -> None:
    (few, small), (many, large) = (terms_of(changes_of(n, CHANGES[change], indent)) for n in (20, 40))
    assert many <= 2.2 * few
    if not indent or "branch" not in change:  # a branch in a loop adds to one part of the cotangent of the loop's state
        assert large <= 2.2 * small


def test_the_type_of_a_record_is_not_looked_at_for_each_change(monkeypatch: pytest.MonkeyPatch) -> None:
    n, looked = 40, []
    fields = "".join(f"    x{k}: float\n" for k in range(n))
    body = "".join(f"    d.x{k} += x * d.x{(k + 1) % n}\n" for k in range(n))
    made = f"    d = D({', '.join('x' * n)})\n"
    look = close.has_functions
    monkeypatch.setattr(close, "has_functions", lambda of: looked.append(of) or look(of))
    work(f"@dataclasses.dataclass\nclass D:\n{fields}def f(x: float):\n{made}{body}    return d.x0\n")
    assert 1 <= len(looked) <= 6


def of_methods(n: int) -> str:
    """A program that calls a method for each of n fields of a record, which changes the field in a branch."""
    fields = "".join(f"    x{k}: float\n" for k in range(n))
    body = "        if d > {k}.5:\n            self.x{k} = self.x{k} * d + self.x{j}\n"
    methods = "".join(f"    def m{k}(self, d):\n{body.format(k=k, j=(k + 1) % n)}" for k in range(n))
    calls = "".join(f"    r.m{k}(x)\n" for k in range(n))
    made = f"    r = R({', '.join(['x'] * n)})\n"
    return f"@dataclasses.dataclass\nclass R:\n{fields}{methods}def f(x: float):\n{made}{calls}    return r.x0 * r.x1\n"


def of_keys(n: int) -> str:
    """A program that calls a function for each of n keys of a dict, which changes the value."""
    functions = "".join(f"def g{k}(d, x):\n    d['k{k}'] = d['k{k}'] * x + d['k{(k + 1) % n}']\n" for k in range(n))
    made = f"    d = {{{', '.join(f'{key!r}: x * 2.0' for key in (f'k{k}' for k in range(n)))}}}\n"
    calls = "".join(f"    g{k}(d, x)\n" for k in range(n))
    return f"{functions}def f(x: float):\n{made}{calls}    return d['k0'] + d['k{n - 1}']\n"


def of_lines(n: int, line: str, first: str = "") -> str:
    """A program with n lines, or groups of lines."""
    return f"def f(x: float):\n    s = x\n{first}" + "".join(line.format(k=k) for k in range(n)) + "    return s\n"


MOVING = "@dataclasses.dataclass\nclass M:\n    x: float\n\n"
BODIES, OF_BODIES = (
    "    ms = [M(x), M(2.0 * x)]\n",
    "    for m{k} in ms:\n        m{k}.x += s\n        s = s * 0.5 + m{k}.x\n",
)
LOOP, ALTERNATIVE = (
    "    v = [x * i for i in range({n} + 2)]\n    for i in range(2):\n",
    "    if x < -1:\n        s = 1.0\n",
)


def of_classes(n: int, join: str) -> str:
    """A program in which a variable may have one of n classes."""
    classes = "".join(f"@dataclasses.dataclass\nclass A{k}:\n    v: float\n" for k in range(n + 1))
    joins = "".join(join.format(k=k + 1) for k in range(n))
    return f"{classes}def f(x: float):\n    s = A0(x)\n{joins}    return s.v\n"


def of_closures(n: int) -> str:
    """A program of n functions, each of which is inside the one before."""
    heads = "".join(f"{'    ' * k}def g{k}(a{k}):\n" for k in range(n))
    calls = "".join(f"{'    ' * k}return g{k}(a{k - 1} * 1.5) + a0\n" for k in reversed(range(1, n)))
    return f"{heads}{'    ' * n}return a0 * a{n - 1}\n{calls}def f(x: float):\n    return g0(x)\n"


#: Programs of n parts of which all passes are compiled.
FIRST_CALLS = {
    "methods with a branch": of_methods,
    "functions that change a dict": of_keys,
    "classes that join": lambda n: of_classes(n, "    if x > {k}.5:\n        s = A{k}(x * {k})\n"),
    "classes with two ways": lambda n: of_classes(n, "    s = A{k}(x * 2) if x > {k}.5 else s\n"),
    "items of items": lambda n: of_lines(n, "    t = t, x\n", "    t = x\n").replace(
        "return s", "return t" + "[0]" * n
    ),
    "alternatives": lambda n: of_lines(n, "    elif x < {k}.5:\n        s = x * {k}.5\n", ALTERNATIVE),
    "returns": lambda n: of_lines(n, "    if s > 1{k}.5:\n        return s * {k}.5\n    s = s * 1.1 + x\n"),
    "local functions": lambda n: of_lines(n, "    def g{k}(a):\n        return a * s\n    s = g{k}(x)\n"),
    "functions in functions": of_closures,
    "loops over records that change": lambda n: MOVING + of_lines(n, OF_BODIES, BODIES),
    "reads in a loop": lambda n: of_lines(n, "        s += v[i + {k}] * s\n", LOOP.format(n=n)),
}


def first_call(text: str) -> int:
    """The calls that a program's first call takes, with both derivatives."""
    program, profile = te.program(defined(text)), cProfile.Profile(builtins=False)
    profile.runcall(lambda: (te.vjp(program, 2.3)[1](1.0), te.jvp(program, (2.3,), (1.0,))))
    return sum(entry.callcount for entry in profile.getstats())


@pytest.mark.parametrize("case", FIRST_CALLS)
def test_the_work_of_a_first_call_is_linear_in_the_length_of_a_text(case: str) -> None:
    first_call(FIRST_CALLS[case](2))
    few, many = (first_call(FIRST_CALLS[case](n)) for n in (6, 18))
    assert many <= 3.2 * few


#: Values that hold two of what they were before, one step after the other.
NESTS = {
    "a recursive function of records": "t = grown(t, x)",
    "records": "t = T(x, t, t)",
    "tuples": "t = (x, t, t)",
    "dicts": "t = {'v': x, 'l': t, 'r': t}",
    "lists": "t = [t, t]",
    "tuples in lists": "t = [(t, t)]",
    "records in tuples": "t = (T(x, None, None), t, t)",
}
OF_NESTS = """
@dataclasses.dataclass
class T:
    v: float
    l: "T | None"
    r: "T | None"

def grown(t: "T", x: float) -> "T":
    return T(t.v * x, None if t.l is None else grown(t.l, x + 1.0), None if t.r is None else grown(t.r, x))

def f(x: float) -> float:
    t = T(x, T(x, None, None), None)
    for _ in range(3):
        {line}
    return x
"""


@pytest.mark.parametrize("line", NESTS)
def test_what_is_known_of_a_value_that_grows_has_a_bound(line: str) -> None:
    """A value that holds itself twice has twice the parts in each round of an analysis."""
    function, profile = defined(OF_NESTS.format(line=NESTS[line])), cProfile.Profile(builtins=False)
    with contextlib.suppress(ProgramError):  # most of them have another type in each step
        profile.runcall(lambda: te.vjp(te.program(function), 2.3))
    assert sum(entry.callcount for entry in profile.getstats()) < 300_000
