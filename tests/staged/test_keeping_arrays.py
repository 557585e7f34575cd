"""Recordings in files, of arrays and forks too: the bits of the program in another process, also in replays.

`TAPEENGINE_PROGRAMS=first:last` keeps the random programs of some seeds.
"""

from __future__ import annotations

import operator
import os
import pickle
import subprocess
import sys
import warnings
from collections.abc import Callable
from contextlib import suppress
from fractions import Fraction
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy
import numpy_calls
import pytest
from arrays.test_random_arrays import programs
from staged.test_array_programs import LOOKS, POINTS, bits, both, moved
from staged.test_keeping import altered, altered_numbers
from staged.test_unneeded import POINTS as NUMBERS
from staged.test_unneeded import random_program

import tapeengine as te
import tapeengine.numpy as np
from tapeengine.errors import StagingError
from tapeengine.plugins.hookspecs import hookimpl
from tapeengine.staged import keeping

FIRST, LAST = map(int, os.environ.get("TAPEENGINE_PROGRAMS", "0:150").split(":"))
Programs = dict[str, tuple[Callable[..., Any], list[tuple[Any, ...]]]]


def random_programs() -> Programs:
    found: Programs = {}
    for k, program in enumerate(programs(FIRST, LAST)):
        function = program.function()
        steps = ([numpy.zeros_like(t) for t in program.tangents], [0.1 * t for t in program.tangents], program.others)
        points = [tuple(program.primals(step)) for step in steps]
        found[str(k)] = (lambda *primals, function=function: function(np, lambda **live: None, *primals)), points
    return found


def called_functions() -> Programs:
    return {
        call.name: (
            lambda *primals, call=call: call.program(np, *primals),
            [call.primals, tuple(moved(primal) for primal in call.primals)],
        )
        for call in numpy_calls.calls()
    }


def looking_programs() -> Programs:
    return {name: (look, [(numpy.array(point),) for point in POINTS]) for name, look in LOOKS.items()}


def branches(x: Any, y: Any) -> Any:
    def one() -> Any:
        total = x
        for _ in range(5):
            total = total * y if total < 3.0 else te.math.sin(total)
        return total

    a, b = te.fork(one, lambda: [x + 1.0, y * x])
    return a * b[0] + b[1]


def mapped(xs: Any) -> Any:
    return te.math.fsum(te.fork_map(lambda x: x * x if x > 0.0 else -x, list(xs), chunksize=2))


def nested(x: float) -> Any:
    return te.fork(lambda: te.fork(lambda: x * x, lambda: te.math.exp(x))[1] * 2.0)[0] + x


FORKS: Programs = {
    "branches": (branches, [(0.5, 2.0), (1.5, 1.2), (2.0, -1.0)]),
    "nested": (nested, [(0.5,), (1.5,)]),
    "mapped": (mapped, [([0.5, 2.0, -1.0],), ([0.5, -2.0, 3.0],)]),
}


def inner(x: Any) -> Any:
    return te.grad(lambda z: np.sum(np.sin(z) * z) if z[0] > 0.0 else np.sum(z * z))(x) * x


CALLS: Programs = {
    name: (lambda x, y, function=function: function(x, y) * x, [(1.5, 2.5), (3.25, 0.75)])
    for name, function in {
        "gamma": lambda x, y: te.math.gamma(x) + te.math.lgamma(y),
        "hypot": lambda x, y: te.math.hypot(x, y, x * y),
        "log": lambda x, y: te.math.log(x, 3.0),
        "dist": lambda x, y: te.math.dist([x, y], [y, 1.0]),
        "fsum": lambda x, y: te.math.fsum([x, y, x / 3.0]),
        "sumprod": lambda x, y: te.math.sumprod([x, y], [y, y]),
        "fma": lambda x, y: te.math.fma(x, y, 1.0),
        "frexp": lambda x, y: te.math.frexp(x)[0],
        "round": lambda x, y: round(x / y, 2),
        "numpy": lambda x, y: numpy.exp(x) * numpy.arctan2(x, y),
    }.items()
}


def scalar_programs() -> Programs:
    points = [(xs,) for xs in NUMBERS]
    return {str(k): (random_program(k, checks=True), points) for k in range(60)}


CONSTANT = numpy.array([0.2, -0.4, 0.9])
#: Operations on numbers and arrays in either order, by operators and by numpy's functions.
OF_BOTH: list[Callable[[Any, Any], Any]] = [
    *(operator.mul, operator.add, operator.sub, numpy.multiply, numpy.add, numpy.subtract, numpy.maximum, numpy.hypot),
    lambda a, b: a / (b * b + 1.0),
    lambda a, b: numpy.divide(a, 1.0 + numpy.square(b)),
    lambda a, b: numpy.sum(a) * b,
    lambda a, b: numpy.dot(numpy.ones(3) * a, numpy.ones(3) * b),
]


def numbers_and_arrays() -> Programs:
    """Random programs whose cotangents of numbers are sums over arrays, in some order."""
    found: Programs = {}
    for seed in range(60):
        rng = numpy.random.default_rng(seed)
        steps = [(OF_BOTH[rng.integers(len(OF_BOTH))], *rng.integers(0, 4 + k, 2)) for k in range(8)]

        def program(u: Any, v: Any, p: Any, steps: Any = steps) -> Any:
            values = [u, v, p, CONSTANT]
            for step, i, j in steps:
                values.append(step(values[i], values[j]))
            return sum(numpy.sum(value * value) for value in values[-4:]) + u * v

        found[str(seed)] = program, [(rng.normal(), numpy.float64(rng.normal()), rng.normal(size=3)) for _ in range(4)]
    return found


SOURCES: dict[str, Callable[[], Programs]] = {
    "programs of numbers": scalar_programs,
    "random programs": random_programs,
    "numbers and arrays": numbers_and_arrays,
    "numpy's functions": called_functions,
    "what programs look at": looking_programs,
    "forks": lambda: FORKS,
    "calls of functions": lambda: CALLS,
    "inner derivatives": lambda: {"inner": (inner, [(numpy.array([s, 2.0]),) for s in (0.5, 1.5, -1.0)])},
}

CHILD = """
import pickle, sys, warnings
import numpy
import tapeengine as te
from staged.test_array_programs import both
from tapeengine.staged import keeping

warnings.simplefilter("ignore")
found = {}
with open(sys.argv[1], "rb") as file:
    cases = pickle.load(file)
with numpy.errstate(all="ignore"):
    for name, (path, points) in cases.items():
        loaded = te.load_staged(path)
        points = keeping.decoded(points)
        found[name] = [[both(loaded, point) for point in points] for _ in range(2)], loaded.stats().replays
with open(sys.argv[2], "wb") as file:
    pickle.dump(found, file)
"""


def in_another_process(cases: Any, folder: Path) -> Any:
    """The bits of saved programs at points, of the first calls and of later ones, and the numbers of replays."""
    (folder / "cases").write_bytes(pickle.dumps(cases))
    paths = os.pathsep.join(path for path in sys.path if path)
    subprocess.run(
        [sys.executable, "-c", CHILD, str(folder / "cases"), str(folder / "found")],
        check=True,
        env={**os.environ, "PYTHONPATH": paths},
    )
    return pickle.loads((folder / "found").read_bytes())


def saved(name: str, program: Callable[..., Any], points: list[Any], folder: Path) -> tuple[Any, Any]:
    """(path and points, expected bits) of a program that was recorded and saved; None if it is not replayed."""
    staged = te.stage(program)
    wanted = [both(program, point) for point in points]
    assert [both(staged, point) for point in points] == wanted
    given = [(point, bits) for point, bits in zip(points, wanted, strict=True) if not isinstance(bits, str)]
    if staged.refused is not None or not given:
        return None, None
    path = folder / f"{len(list(folder.iterdir()))}.staged"
    staged.save(path)
    in_file = keeping.encoded([point for point, _ in given])  # a pickle may change the strides of an array
    return (str(path), in_file), [bits for _, bits in given]


@pytest.mark.parametrize("source", SOURCES)
def test_a_program_has_its_bits_in_another_process(source: str, tmp_path: Path) -> None:
    wanted, cases, refused = {}, {}, []
    found = SOURCES[source]()
    with warnings.catch_warnings(), numpy.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for name, (program, points) in found.items():
            try:
                case, bits = saved(name, program, points, tmp_path)
            except StagingError as error:
                refused.append(f"{name}: {error}")
                continue
            if case is not None:
                cases[name], wanted[name] = case, bits
    assert not refused
    assert len(cases) >= 0.9 * len(found)
    for name, (runs, replays) in in_another_process(cases, tmp_path).items():
        assert runs == [wanted[name]] * 2, name
        assert replays >= len(wanted[name]), name


# -- what is refused ---------------------------------------------------------------------------------------------------
def example(x: Any, y: float) -> Any:
    a = np.sin(x) * y
    a[1] = y * y
    if a[0] > 0.0:
        a = a @ np.ones((3, 2))
    return np.sum(a * a) + te.math.gamma(y), te.fork(lambda: y * 2.0, lambda: [y, y * y])


EXAMPLES = [(numpy.array([s, 2.0, 3.0]), 1.5) for s in (1.0, -1.0)]


@pytest.fixture
def content(tmp_path: Path) -> bytes:
    """A file with two paths, operations on arrays, a call and a fork."""
    staged = te.stage(example)
    for point in EXAMPLES:
        staged(*point)
    staged.save(tmp_path / "e.staged")
    return (tmp_path / "e.staged").read_bytes()


def test_altered_and_truncated_files_of_arrays_are_refused(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "altered"
    for k in range(len(content)):
        for wrong in (altered(content, k, 1 + k % 255), content[:k]):
            path.write_bytes(wrong)
            with pytest.raises(StagingError):
                te.load_staged(path)


def forged(content: bytes, rest: bytes) -> bytes:
    """A file of other data, with their digest."""
    return content[: content.index(b"\n") + 1] + blake2b(rest, digest_size=32).digest() + rest


def run_all(content: bytes, path: Path) -> None:
    """Load and run a file, which may be refused by an error of ours; numbers may be wrong and unfit for a primitive."""
    path.write_bytes(content)
    with suppress(te.errors.TapeEngineError, ValueError, ArithmeticError):
        loaded = te.load_staged(path)
        for point in EXAMPLES:
            both(loaded, point)


@pytest.mark.filterwarnings("ignore")
def test_altered_numbers_of_array_operations_are_refused_or_safe(content: bytes, tmp_path: Path) -> None:
    """A file with a digest of its own: operations that do not fit each other are no access to foreign memory."""
    data = keeping.decoded(content[content.index(b"\n") + 33 :])
    for other in altered_numbers(data):
        run_all(forged(content, keeping.encoded(other)), tmp_path / "forged")


@pytest.mark.filterwarnings("ignore")
def test_altered_bytes_of_array_operations_are_refused_or_safe(content: bytes, tmp_path: Path) -> None:
    rest = content[content.index(b"\n") + 33 :]
    for k in range(len(rest)):
        run_all(forged(content, altered(rest, k, 1 + 37 * k % 255)), tmp_path / "forged")


def closed_over(factor: float) -> Any:
    @te.custom_vjp
    def scaled(x: float) -> float:
        return x * factor

    scaled.defvjp(lambda x: (x * factor, factor), lambda kept, dy: (kept * dy,))
    return scaled


def sine(x: Any) -> Any:
    return te.math.sin(x) * x


@te.primitive
def cosh(x: Any) -> Any:
    return numpy.cosh(x)


cosh.def_vjp(x=lambda ct, x: ct * numpy.sinh(x))


UNKEPT: dict[str, tuple[Callable[..., Any], Any]] = {
    "whose derivative is Python code": (lambda x: closed_over(2.0)(x) + x, 2.0),
    "it calls sine, whose derivative is Python code": (lambda x: te.checkpoint(sine)(x), 2.0),
    "takes or returns a Fraction|it takes, returns or uses a Fraction": (lambda x: (x, Fraction(1, 3)), 2.0),
    "which is no primitive of a plugin": (lambda x: cosh(x) * 2.0, numpy.ones(2)),
}


@pytest.mark.parametrize("reason", UNKEPT)
def test_what_cannot_be_kept_is_refused_by_its_name(reason: str, tmp_path: Path) -> None:
    program, x = UNKEPT[reason]
    staged = te.stage(program)
    staged(x), staged(x)
    assert staged.refused is None
    with pytest.raises(StagingError, match=reason):
        staged.save(tmp_path / "p")


def test_a_primitive_of_a_missing_plugin_is_named(tmp_path: Path) -> None:
    class Plugin:
        @hookimpl
        def tapeengine_primitives(self) -> tuple[Any, ...]:
            return (cosh.record,)

    engine = te.Engine(plugins=[Plugin()])
    staged = engine.stage(lambda x: cosh(x) * x)
    staged(numpy.ones(2)), staged.save(tmp_path / "p")
    assert both(engine.load_staged(tmp_path / "p"), (numpy.ones(2),)) == both(staged, (numpy.ones(2),))
    with pytest.raises(StagingError, match=r"needs the primitive .*cosh of plugin Plugin, which is not installed"):
        te.load_staged(tmp_path / "p")


def test_a_loaded_program_has_all_transforms_and_is_saved_again(content: bytes, tmp_path: Path) -> None:
    loaded, (x, y) = te.load_staged(tmp_path / "e.staged"), EXAMPLES[0]
    for transform in (te.grad, te.hessian, te.jacobian):
        wanted, found = (transform(lambda x, f=f: f(x, y)[0])(x) for f in (example, loaded))
        assert bits(found) == bits(wanted)
    for f in (lambda f: te.jvp(lambda x: f(x, y)[0], (x,), (x,)), lambda f: te.stage(lambda x: f(x, y)[0] * 2.0)(x)):
        assert bits(f(loaded)) == bits(f(example))
    loaded(x, y)
    loaded.save(tmp_path / "again")
    assert both(te.load_staged(tmp_path / "again"), (x, y)) == both(example, (x, y))


def test_a_program_that_is_passed_runs_where_no_recording_fits(tmp_path: Path, content: bytes) -> None:
    loaded = te.load_staged(tmp_path / "e.staged", example)
    for point in (*EXAMPLES, (numpy.ones((1, 3))[0], -0.5)):
        assert both(loaded, point) == both(example, point)
    with pytest.raises(StagingError, match="holds no recording of example"):
        te.load_staged(tmp_path / "e.staged")(numpy.ones(4), 1.5)
