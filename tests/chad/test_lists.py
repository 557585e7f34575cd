"""Operators on lists mean what they mean in Python, however a list is made: joining, repeating, or a refusal."""

import itertools

import numpy as np
import pytest
from chad.test_expressions import numbers

import tapeengine as te
from tapeengine.chad import ProgramError
from tapeengine.errors import StructureError

HEAD = """\
def made(x, n):
    return [x * k for k in range(n)]


def program(xs: list[float], a: float, n: int):
    def local(v):
        return [v * x for x in xs]
    short = lambda v: [v, a, xs[0]]
    zs = [a * x for x in xs]
    rows = [[x, a] for x in xs]
"""
MAKERS = [
    "[x * 2.0 for x in xs]",
    "list(xs)",
    "[a, 2.0 * a, xs[0]]",
    "sorted(zs)",
    "zs[1:] + [a]",
    "zs * n",
    "(zs if a > 0 else [0.0, a])",
    "rows[1]",
    "local(a)",
    "made(a, 3)",
    "(lambda v: [v, a, xs[0]])(a)",
    "short(a)",
    "list(reversed(zs))",
    "[x for row in rows for x in row]",
]
OPERATIONS = [
    "ys + zs", "zs + ys", "ys * 2", "n * ys", "ys * 2.0", "a * ys", "-ys", "ys - zs", "ys / 2.0", "ys ** 2", "ys @ zs",
    "1.0 if ys == zs else a", "1.0 if ys < zs else a", "abs(ys)", "ys.T", "ys.sum()", "ys[np.array(ys) > 0.0]",
    "np.array(ys) * 2.0", "np.array(ys) + ys", "np.sin(ys) * ys", "sum(ys + ys)", "(ys + [a])[-1]", "len(ys * n)",
]  # fmt: skip
STATEMENTS = ["ys += zs\n    return ys", "ys *= 2\n    return ys", "ys -= zs\n    return ys", "ys *= a\n    return ys"]
CASES = list(itertools.product(MAKERS, [f"return {o}" for o in OPERATIONS] + STATEMENTS))
PRIMALS = ([0.5, -1.5, 2.0], 0.75, 2)


def function(tmp_path, text):
    """The function of a text, which is in a file, as programs are read."""
    path = tmp_path / "module.py"
    path.write_text(text)
    namespace = {"np": np, "__name__": "module"}
    exec(compile(text, str(path), "exec"), namespace)
    return namespace["program"]


@pytest.mark.parametrize(("maker", "use"), CASES)
def test_a_list_is_a_list(tmp_path, maker, use):
    plain = function(tmp_path, f"{HEAD}    ys = {maker}\n    {use}\n")
    try:
        value, expected = plain(*PRIMALS), te.vjp(plain, *PRIMALS)
    except (TypeError, AttributeError, ValueError) as error:
        assert not isinstance(error, ValueError) or "broadcast" in str(error)
        expected = None
    try:
        found, back = te.vjp(te.program(plain), *PRIMALS)
    except ProgramError as error:
        is_limit = " < " in use or "==" in use or "changed in place" in str(error)  # no comparison, no other name
        assert expected is None or is_limit
        return
    except (TypeError, AttributeError, ValueError):
        assert expected is None
        return
    assert expected is not None
    assert numbers(found) == pytest.approx(numbers(value), rel=1e-14)
    if isinstance(value, float | list | np.ndarray):
        ct = 1.0 if isinstance(value, float) else np.linspace(1.0, 2.0, len(value))
        wanted = expected[1](ct.tolist() if isinstance(value, list) else ct)
        np.testing.assert_allclose(numbers(back(ct)[:2]), numbers(wanted[:2]), rtol=1e-12)


def test_a_list_that_is_made_beside_an_argument_that_may_be_one():
    @te.program
    def added(xs: te.Vec) -> te.Vec:
        return [2.0 * x for x in xs] + xs

    x = np.array([1.0, 2.0])
    assert te.vjp(added, x)[0].tolist() == (added.python(x)).tolist() == [3.0, 6.0]
    with pytest.raises(StructureError, match="xs is a list"):
        te.vjp(added, [1.0, 2.0])
