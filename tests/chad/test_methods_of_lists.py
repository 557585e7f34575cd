"""What lists alone have: on arrays it is refused, or raises what Python raises; parts of lists are deleted."""

import random

import numpy as np
import pytest
from chad.written_functions import function_of, refused
from outcomes import unless_refused

import tapeengine
from tapeengine.errors import TapeEngineError

ENGINE = tapeengine.Engine()
MAKERS = ("np.array(xs)", "np.zeros(3)", "xs * 2.0", "np.sin(xs)", "xs.copy()", "list(xs)", "[x for x in xs]", "xs[:]")
CHANGES = """
a.append(xs[0])
a.extend([xs[0]])
a.insert(0, xs[0])
b = a.pop()
a.pop(0)
del a[0]
del a[1:2]
del a[1:1]
del a[-1], a[:1]
a.sort()
a.reverse()
a.clear()
a.remove(0.5)
a += [1.0]
b = a.index(0.5)
b = a.count(0.5)
""".strip().splitlines()


@pytest.mark.parametrize("backend", [None, "machine", "native"])
@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("maker", MAKERS)
def test_arrays_have_no_methods_of_lists(maker, change, backend):
    f = function_of("xs", [f"a = {maker}", change, "return sum(a) * 1.0"])
    program = tapeengine.program(f, backend=backend)
    for xs in ([0.5, 0.7, 1.1], np.array([0.5, 0.7, 1.1])):
        found = unless_refused(ENGINE.value_and_grad(program), xs.copy())
        plain = unless_refused(f, xs.copy())
        if isinstance(found, tuple):
            assert not isinstance(plain, type)
            assert found[0] == pytest.approx(plain, rel=1e-14)
        else:
            assert found in (None, plain)


def place(rng):
    return rng.choice(("", rng.randrange(-5, 6), "len(a) // 2", "n", "n - 1"))


def deletion(rng, name):
    return f"{name}[{place(rng)}:{place(rng)}]"


@pytest.mark.parametrize("seed", range(40))
def test_deleted_parts_of_lists(seed):
    rng = random.Random(seed)
    lines = ["a = [x * x for x in xs]", "b = [(x, 2.0 * x) for x in xs]", "n = 2"]
    for _ in range(3):
        targets = ", ".join(deletion(rng, rng.choice("ab")) for _ in range(rng.choice((1, 2))))
        lines += rng.choice(([f"del {targets}"], ["if xs[0] > 1.0:", f"    del {targets}"]))
        lines += rng.choice(([], ["for k in range(2):", "    a.append(xs[k])", "    del a[k:k + 1]"]))
        lines += rng.choice(([], ["a.append(xs[1])", "b.append((xs[0], xs[1]))"]))
    f = function_of("xs", [*lines, "return sum(a) + sum(u * v for u, v in b) + 0.0 * xs[0]"])
    xs = [rng.uniform(0.5, 1.5) for _ in range(5)]

    def moved(k, h):
        return f([x + h * (i == k) for i, x in enumerate(xs)])

    for backend in ("machine", "native"):
        value, slope = ENGINE.value_and_grad(tapeengine.program(f, backend=backend))(xs)
        assert value == pytest.approx(f(xs), rel=1e-13)
        assert slope == pytest.approx([(moved(k, 1e-6) - moved(k, -1e-6)) / 2e-6 for k in range(5)], abs=1e-6)


@pytest.mark.parametrize(
    "lines",
    [
        ["a = [x for x in xs]", "b = a", "del a[:1]", "return b[0]"],
        ["a = [x for x in xs]", "for x in a:", "    del a[:1]", "return sum(a)"],
        ["ys = [xs]", "del xs[1:]", "return sum(ys[0])"],
        ["a = [x for x in xs]", "del a[::2]", "return sum(a)"],
        ["a = [[x, x * x] for x in xs]", "r = a[0]", "del a[:1]", "r[0] = 3.0", "return a[0][0]"],
    ],
)
def test_deletions_that_others_see_are_refused(lines):
    with pytest.raises(TapeEngineError):
        refused(tapeengine.program(function_of("xs", lines)), [0.5, 0.7, 1.1])
