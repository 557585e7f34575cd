"""Measures lifting, as ratios: of imports, of plain calls, of gradients, and of complex numbers over their parts.

    python asv_bench/lift.py

Every ratio is that of the smallest processor times of alternating runs, so that other programs disturb it little. The
limits are those of docs/lift.md.
"""

import cmath
import colorsys
import importlib
import math
import statistics
import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parents[1]))

import tapeengine as te
import tapeengine.cmath as tcm
import tapeengine.math as tm
from asv_bench.measure import ratio

MODULE = '''
class Point{k}:
    def __init__(self, x, y):
        self.x, self.y = x, y

    def norm(self):
        return math.hypot(self.x, self.y)


def area_{k}(a, b, c=1.0):
    """The area of a triangle of three sides."""
    s = (a + b + c) / 2
    if not isinstance(s, float):
        raise TypeError(s)
    values = [float(s - side) for side in (a, b, c)]
    values[0] = values[0] * values[1]
    values[0] *= values[2]
    return math.sqrt(s * values[0]) + Point{k}(a, b).norm()
'''


# -- programs ---------------------------------------------------------------------------------------------------------
def loop(x: Any) -> Any:
    """A loop of scalar code."""
    total = x
    for k in range(300):
        total = total * math.sin(x) + math.exp(-abs(total)) / (k + 1.0)
    return total


def loop_traced(x: Any) -> Any:
    """The same loop with functions of this package."""
    total = x
    for k in range(300):
        total = total * tm.sin(x) + tm.exp(-abs(total)) / (k + 1.0)
    return total


def listed(x: Any) -> Any:
    """A program that checks types, fills a list and adds into it."""
    found = [0.0] * 100
    for k in range(100):
        if isinstance(x, float):
            found[k] = float(x) * k
        found[k // 2] += math.sqrt(found[k] + 1.0)
    return sum(found)


def complex_program(x: Any, cm: Any) -> Any:
    """Complex arithmetic."""
    z = x + 1j * x
    for _ in range(100):
        z = z * z / (1.0 + abs(z)) + cm.exp(-z)
    return z.real


def parts_program(x: Any) -> Any:
    """The same computation on real parts, by hand."""
    a, b = x, x
    for _ in range(100):
        size, e = 1.0 + tm.hypot(a, b), tm.exp(-a)
        a, b = (a * a - b * b) / size + e * tm.cos(b), 2.0 * a * b / size - e * tm.sin(b)
    return a


# -- measuring --------------------------------------------------------------------------------------------------------
def imports(lines: int = 20_000) -> float:
    """Lifting a package relative to importing it, both from cached bytecode."""
    with tempfile.TemporaryDirectory() as folder:
        package = Path(folder) / "lifted_benchmark"
        package.mkdir()
        body = "".join(MODULE.format(k=k) for k in range(20))
        count = math.ceil(lines / (body.count("\n") + 1))
        for k in range(count):
            (package / f"part{k}.py").write_text("import math\n" + body)
        names = "\n".join(f"from lifted_benchmark import part{k}" for k in range(count))
        (package / "__init__.py").write_text(names)
        sys.path.insert(0, folder)
        keep, sys.dont_write_bytecode = sys.dont_write_bytecode, False
        try:

            def forget() -> None:
                for name in [name for name in sys.modules if "lifted_benchmark" in name]:
                    del sys.modules[name]

            def lift() -> None:
                forget()
                te.lift("lifted_benchmark")

            def plain() -> None:
                forget()
                importlib.import_module("lifted_benchmark")

            return ratio(lift, plain, 7)
        finally:
            sys.dont_write_bytecode = keep
            sys.path.remove(folder)
            forget()


def of_functions(plain: Any, *args: Any) -> float:
    """A lifted function relative to the plain one on floats; the results must be equal to the bit."""
    lifted = te.lift(plain)
    assert lifted(*args) == plain(*args)
    return ratio(partial(lifted, *args), partial(plain, *args))


def main() -> None:
    """Print a line for each figure."""
    angles = [0.1 * k for k in range(60)]
    gradient, unlifted = te.grad(te.lift(loop)), te.grad(loop_traced)
    assert gradient(0.7) == unlifted(0.7)
    whole = te.lift(complex_program)
    lines = {
        "lifting 20,000 lines / importing them (1.3)": imports(),
        "plain floats, scalar loop (1.3)": of_functions(loop, 0.7),
        "plain floats, lists and types (1.3)": of_functions(listed, 0.7),
        "plain floats, colorsys (1.3)": of_functions(colorsys.rgb_to_hls, 0.2, 0.5, 0.7),
        "plain floats, statistics (1.3)": of_functions(statistics.variance, angles),
        "gradient of lifted code / of unlifted duals (1.05)": ratio(partial(gradient, 0.7), partial(unlifted, 0.7)),
        "complex scalars / real parts by hand, gradient (3)": ratio(
            partial(te.grad(lambda x: complex_program(x, tcm)), 0.7), partial(te.grad(parts_program), 0.7)
        ),
        "complex scalars, lifted / plain Python on floats (1.3)": ratio(
            partial(whole, 0.7, cmath), partial(complex_program, 0.7, cmath)
        ),
    }
    for name, value in lines.items():
        print(f"{name}: {value:.3f}")


if __name__ == "__main__":
    main()
