"""A key that a dict does not have raises what Python raises, whatever is done with its value."""

import math
import re
from dataclasses import dataclass

import pytest
from chad.written_functions import function_of

import tapeengine


@dataclass
class Record:
    """A record with a method."""

    v: float

    def m(self):
        return self.v


def applied(f, v):
    return f(v)


def constant(v):
    return 1.0


NAMES = {"math": math, "Record": Record, "applied": applied, "constant": constant}
#: Dicts, and what is done with ``k``, the value of a key that they do not have.
DICTS = {
    "{'a': math.sin, 'b': math.cos}": """
k(x) | k(x) + 1.0 | x * k(x) | k(k(x)) | applied(k, x) | (lambda h: h(x))(k) | [k(v) for v in xs][0]
list(map(k, xs))[0] | constant(k)
""",
    "{'a': lambda v: v * v, 'b': lambda v: v}": "k(x) | applied(k, x) | sum(k(v) for v in xs)",
    "{'a': x, 'b': 2.0 * x}": """
k + x | k * k | -k | abs(k) | math.sin(k) | k > 0.5 | k if x > 0 else x | x if k > 0 else 1.0 | [k, x][1] | (k, x)[1]
max(k, x) | sum([k, x]) | np.sin(k) | constant(k) | float(k) | k ** 2 | xs[int(k)] | x + (k > 1) * 2 | not k | k and x
x and k | [k * v for v in xs][0] | np.array([k, x]).sum() | math.hypot(k, x) | k is None | k == x | -k < x < 3
round(k) | int(k) | isinstance(k, float) | x * 1.0 if k else x | {'q': k}['q']
""",
    "{'a': xs, 'b': [2.0, x]}": """
k[0] | k[-1] + x | sum(k) | len(k) | [v * x for v in k][0] | k + [x] | max(k) | sorted(k)[0] | x in k | k.index(x)
sum(a * b for a, b in zip(k, xs)) | sum(i * v for i, v in enumerate(k)) | k[0:1][0] | list(k)[0] | constant(k)
np.sum(k) | np.array(k).sum() | list(reversed(k))[0] | k.copy()[0] | k[int(x)] | any(v > 0 for v in k) | [*k, x][0]
min(*k) | (lambda a, b: a)(*k)
""",
    "{'a': np.array(xs), 'b': np.ones(2)}": """
k.sum() | k[0] | (k * x).sum() | k @ k | np.dot(k, k) | k.shape[0] | k.T[0] | np.sum(k) | k[None, :].sum() | k[1:].sum()
len(k) | (k > 0).sum() * x | np.where(k > 0, k, 0.0).sum() | k.reshape(1, -1).sum()
""",
    "{'a': (x, 1), 'b': (2.0, 3)}": "k[0] | k[0] * k[1] | (lambda a, b: a)(*k) | len(k) | constant(k) | k == (x, 1)",
    "{'a': Record(x), 'b': Record(2.0)}": "k.v | k.m() | k.v * k.m() | constant(k) | k.v + x",
    "{'a': {'p': x}, 'b': {'p': 2.0}}": "k['p'] | k.get('p') | k['p'] * x | sum(k.values()) | 'p' in k | k['q']",
    "{1: x, 2: 2.0 * x}": "k + x | abs(k) | math.sin(k) | k if x > 0 else x",
}
#: Statements, with ``r`` as the result.
STATEMENTS = """
a, b = k; r = x
k; r = x
a = k; r = x
for v in k: r = x
r = x; r += k
if k: r = 2.0 * x
while k: break; r = x
assert k; r = x
return k
return (x, k)[0]
r = [k for v in xs][0]
r = x if x > 9 else k
d.pop('z'); r = x
a = d.pop('z'); r = x
r = d.pop('z')
del d['z']; r = x
d['z'] += 1.0; r = x
d['z'].append(x); r = x
d['z'][0] = x; r = x
d['z'].v = x; r = x
""".strip().splitlines()
#: Defaults are computed also where the key is there; where it is missing, they are the value.
DEFAULTS = {
    "{'a': x}": """
x if d.get('z') is None else 2.0 | d.get('a', xs[9]) | d.pop('a', xs[9]) | d.get('z', xs[9]) | d.get('a', d['z'])
d.get('z', x) | d.pop('z', x) | d.pop('a', 3.0) | x if 'z' in d else 2.0 * x | d.get('z', d.get('y', x))
""",
    "{1: x, 2: 2.0}": "d.get(int(x), 3.0) | d.get(int(x), xs[9]) | d.get(7, x)",
    "{'a': math.sin}": "d.get('z', math.cos)(x) | d.get('a', lambda v: v)(x)",
    "{'a': [x]}": "sum(d.get('a', [])) | sum(d.get('z', []), x)",
    "{'a': {'b': x}}": "d.get('a', {}).get('b', 2.0) | d.get('z', {}).get('b', x)",
    "{'a': (x, 1)}": "d.get('a', (1.0, 2))[0] | d.get('z', (x, d['y']))[0]",
}
END = "return r * 1.0 if isinstance(r, float) else x"


def uses(text):
    return [use.strip() for line in text.split("\n") for use in line.split("|") if use.strip()]


def replaced(text, key):
    """The text with a key's value for the name k."""
    words = [key if word == "k" else word for word in re.split(r"\b", text)]
    return "".join(words)


def cases():
    for d, text in DICTS.items():
        keys = ("d[7]", "d[int(x) + 5]") if d.startswith("{1") else ("d['z']", "d[key]")
        for key in keys:
            yield from ((d, ["key = 'z'", f"r = {replaced(use, key)}", END]) for use in uses(text))
        yield from ((d, ["key = 'z'", *replaced(s, keys[0]).split("; "), "return r"]) for s in STATEMENTS)
    for d, text in DEFAULTS.items():
        yield from ((d, [f"r = {use}", "return r * 1.0"]) for use in uses(text))


def outcome(run, x, xs):
    try:
        value, backpropagator = run(x, xs)
    except (LookupError, TypeError, ValueError) as error:
        return type(error), str(error)
    return value, backpropagator(1.0)[0]


@pytest.mark.parametrize(("d", "lines"), list(cases()), ids=lambda x: x if isinstance(x, str) else " ".join(x))
def test_a_missing_key_raises_what_python_raises(d, lines):
    f = function_of("x, xs", [f"d = {d}", *lines], **NAMES)
    made = tapeengine.program(f)
    found, expected = (outcome(lambda *a, g=g: tapeengine.vjp(g, *a), 1.5, [1.5, 2.5]) for g in (made, made.python))
    assert found == expected
