"""One array for a chain of operations on whole arrays: the same values and errors, and as few builds as can be."""

import math

import numpy as np
import pytest
from chad.written_functions import function_of

import tapeengine as te
from tapeengine.chad.language.terms import Build, Map
from tapeengine.chad.language.traverse import children
from tapeengine.chad.prepare.close import close
from tapeengine.chad.prepare.fusion import fused


def written(lines):
    """The function of lines, of vectors or lists x and y and a bool c."""
    return function_of("x, y, c", lines, math_log=math.log, fork_map=te.fork_map)


def arrays_made(function, *args):
    """The number of terms that make an array, in the fused program."""
    module = fused(close(te.program(function).for_values(args).module))
    pending, found = [d.body for d in module.definitions.values()], 0
    while pending:
        term = pending.pop()
        found += isinstance(term, Build | Map)
        pending += [child for child, _ in children(term)]
    return found


VECTORS = np.array([1.0, 2.0, 3.0]), np.array([0.5, -1.0, 2.0])

#: Programs of two vectors, and the number of arrays that they need.
CHAINS = [
    (["return x * y + 2.0 * x - y"], 1),
    (["t = x * y", "return t + x"], 1),
    (["t = x * y", "u = t + x", "return np.sin(u) * len(t)"], 1),
    (["return x[1:] - x[:-1]"], 1),
    (["t = x * y", "return t + t"], 2),
    (["t = x * y", "return [t[i] + t[0] for i in range(3)]"], 2),
    (["t = x * y", "return [t + a for a in x]"], 3),
    (["t = x * y", "return t + t * (x + y)"], 2),
    (["return [b + a for a, b in zip(x, fork_map(lambda b: b * b, y))]"], 2),
    (["t = fork_map(lambda a: a * a, x)", "return [b + 1.0 for b in t]"], 2),
]


@pytest.mark.parametrize(("lines", "count"), CHAINS, ids=lambda x: str(x))
def test_only_the_arrays_that_are_needed_are_made(lines, count):
    assert arrays_made(written(lines), *VECTORS, True) == count


#: Programs that raise although nothing reads what raises, or only a branch that is not taken.
RAISING = [
    ["t = [1.0 / (a - 2.0) for a in x]", "return [b for b in t] if c else y"],
    ["t = [1.0 / (a - 2.0) for a in x]", "u = [b * 2.0 for b in t]", "return y if u else x"],
    ["t = [math_log(a - 2.0) for a in x]", "return sum([b for b in t])"],
    ["t = [x[k + 1] for k in range(len(x))]", "return [a * b for a, b in zip(t, y)]"],
]


@pytest.mark.parametrize("lines", RAISING, ids=lambda x: x[0])
def test_what_is_not_needed_still_raises(lines):
    function = written(lines)
    args = [1.0, 2.0, 3.0], [0.5, -1.0, 2.0], False
    with pytest.raises(Exception) as plain:
        function(*args)
    with pytest.raises(type(plain.value)):
        te.vjp(te.program(function), *args)


def drawn_lines(drawn):
    """A random chain of operations on lists and arrays, named or nested."""
    names, lines = ["x", "y"], []
    for k in range(int(drawn.integers(2, 7))):
        a, b = drawn.choice(names, 2)
        i, j = f"i{k}", f"j{k}"
        lines.append(
            f"t{k} = "
            + str(
                drawn.choice(
                    [
                        f"{a} * {b} + 0.5",
                        f"np.sin({a})",
                        f"np.array([{i} * {j} for {i}, {j} in zip({a}, {b})])",
                        f"np.array([{i} - 0.25 for {i} in {a}])",
                        f"np.array([{a}[{i}] * {b}[-1] for {i} in range(len({a}))])",
                        f"np.where({a} > 0.0, {a}, {b})",
                        f"np.concatenate(({a}[1:], {b}[:1]))",
                        f"np.array([np.sum({a} * {i}) for {i} in {b}])",
                        f"{a}[::-1] if c else {b}",
                        f"np.cumsum({a}) / 3.0",
                    ]
                )
            )
        )
        names.append(f"t{k}")
    return [*lines, f"return {names[-1]} + {drawn.choice(names)}"]


@pytest.mark.parametrize("seed", range(120))
def test_a_random_chain(seed):
    drawn = np.random.default_rng(seed)
    lines = drawn_lines(drawn)
    function, args = written(lines), (drawn.normal(size=4), drawn.normal(size=4), bool(seed % 2))
    typed = te.program(function)
    value, backpropagator = te.vjp(typed, *args)
    np.testing.assert_allclose(value, function(*args), rtol=1e-13, atol=1e-14, err_msg="\n".join(lines))
    cotangent = drawn.normal(size=4)
    expected = te.vjp(typed.python, *args)[1](cotangent)
    for found, other in zip(backpropagator(cotangent)[:2], expected[:2], strict=True):
        np.testing.assert_allclose(found, other, rtol=1e-11, atol=1e-12, err_msg="\n".join(lines))
