"""Recordings in files and in C: the same bits, and altered files are not run."""

import ctypes
import math
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from branching_programs import EXPRESSION, evaluated
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import tapeengine as te
from tapeengine.errors import StagingError
from tapeengine.staged import keeping

XS = [[0.5, -1.0, 2.0], [-0.5, 1.5, 0.25], [2.5, 0.1, -3.0], [0.0, -0.0, 1.0]]


def program(xs: Any) -> Any:
    x, y, z = xs
    total = te.math.sin(x) * y - z / (1.0 + y * y) + te.math.sqrt(x * x + 0.09) ** 1.5
    for _ in range(int(abs(z))):
        total = te.math.maximum(total * 0.5, te.math.atan2(x, z)) + te.math.exp(-y * y)
    return [total if x > 0.25 else te.math.log1p(x * x) * y, total * z, 1.25]


def recorded(f: Callable[..., Any], points: list[list[float]]) -> Any:
    staged = te.stage(f)
    for xs in points:
        staged(xs)
    return staged


def test_a_loaded_program_is_the_saved_one(tmp_path: Path) -> None:
    recorded(program, XS).save(tmp_path / "p.staged")
    loaded = te.load_staged(tmp_path / "p.staged")
    for xs in XS:
        value, back = te.vjp(loaded, xs)
        wanted, wanted_back = te.vjp(program, xs)
        assert repr(value) == repr(wanted)
        assert repr(back([1.0, -2.0, 0.5])) == repr(wanted_back([1.0, -2.0, 0.5]))
        assert repr(te.jacobian(loaded)(xs)) == repr(te.jacobian(program)(xs))
    assert repr(loaded.batch([np.array(c) for c in zip(*XS, strict=True)])[0].tolist()) == repr(
        [program(xs)[0] for xs in XS]
    )
    assert loaded.__name__ == "program"
    assert b"lambda" not in (tmp_path / "p.staged").read_bytes()


def test_what_no_recording_fits(tmp_path: Path) -> None:
    recorded(program, XS[:1]).save(tmp_path / "p.staged")
    loaded = te.load_staged(tmp_path / "p.staged")
    for argument in ([0.5, -1.0, 9.0], (0.5, -1.0, 2.0), [1.0]):
        with pytest.raises(StagingError, match="holds no recording of program"):
            loaded(argument)
    assert repr(loaded(XS[0])) == repr(program(XS[0]))
    own = te.load_staged(tmp_path / "p.staged", program)
    assert repr(own([0.5, -1.0, 9.0])) == repr(program([0.5, -1.0, 9.0]))


@pytest.mark.parametrize(
    "made", [te.grad, te.hessian, lambda f: te.jvp(f, (XS[0],), (XS[1],))], ids=["grad", "hessian", "jvp"]
)
def test_a_loaded_program_within_another_one(made: Any, tmp_path: Path) -> None:
    recorded(program, XS[:1]).save(tmp_path / "p.staged")
    loaded = te.load_staged(tmp_path / "p.staged")

    def found(f: Any) -> Any:
        derivative = made(lambda xs: f(xs)[0] * xs[0] + f(xs)[1])
        return repr(derivative(XS[0]) if callable(derivative) else derivative)

    assert found(loaded) == found(program)


def test_discrete_leaves_are_kept(tmp_path: Path) -> None:
    staged = te.stage(lambda d, n, t: {"a": d["x"] * n, "b": [None, t, True, (d["y"], 2.5)], "n": n, "z": math.nan})
    arguments = {"x": 1.5, "y": -0.0}, 12345678901234567890, "text"
    wanted = repr(staged(*arguments))
    staged.save(tmp_path / "p.staged")
    assert repr(te.load_staged(tmp_path / "p.staged")(*arguments)) == wanted


def altered(content: bytes, k: int, by: int) -> bytes:
    return content[:k] + bytes([content[k] ^ by]) + content[k + 1 :]


def test_altered_truncated_and_newer_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "p.staged"
    recorded(program, XS).save(path)
    content = path.read_bytes()
    for k in range(0, len(content), 7):
        for wrong in (altered(content, k, 1), content[:k]):
            path.write_bytes(wrong)
            with pytest.raises(StagingError):
                te.load_staged(path)
    path.write_bytes(content.replace(b"program 4\n", b"program 5\n", 1))
    with pytest.raises(StagingError, match="has the format 5, and this is 4"):
        te.load_staged(path)


def test_a_file_of_other_opcodes_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its instructions are numbers of rows of the opcode table, which may have other rows by now."""
    path = tmp_path / "p.staged"
    recorded(program, XS).save(path)
    monkeypatch.setattr(keeping, "OPCODES", keeping.OPCODES + " versine")
    with pytest.raises(StagingError, match="those of another version"):
        te.load_staged(path)


@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(0, 10**6), st.integers(1, 255), st.integers(0, 10**6), st.integers(1, 255))
def test_a_file_with_a_digest_of_its_own_is_checked(tmp_path: Path, a: int, b: int, c: int, d: int) -> None:
    """An attacker can also compute the digest of an altered file: its content may be wrong, but must not be unsafe."""
    path = tmp_path / "p.staged"
    if not path.exists():
        recorded(program, XS).save(path)
    content = path.read_bytes()
    head = content.index(b"\n") + 1
    rest = content[head + 32 :]
    rest = altered(altered(rest, a % len(rest), b), c % len(rest), d)
    forged = tmp_path / "forged.staged"
    forged.write_bytes(content[:head] + blake2b(rest, digest_size=32).digest() + rest)
    try:
        loaded = te.load_staged(forged)
        for xs in XS:
            te.vjp(loaded, xs)
            loaded.batch([np.array([x, x]) for x in xs])
    except (te.errors.TapeEngineError, ValueError, TypeError, UnicodeError):
        pass


def altered_numbers(value: Any) -> Iterator[Any]:
    """Copies of a value, each with one of its integers, or the length of one of its sequences, altered."""
    if type(value) is int:
        yield from {value - 1, value + 1, 0, 2**31, 2**32 - 1} - {value}
    elif isinstance(value, (list, tuple)):
        made = getattr(value, "_make", type(value))
        for k, item in enumerate(value):
            yield from (made([*value[:k], other, *value[k + 1 :]]) for other in altered_numbers(item))
        if value and made is type(value):
            yield value[:-1]
            yield value + value[-1:]
    elif type(value) is dict:
        for key, item in value.items():
            yield from ({**value, key: other} for other in altered_numbers(item))


def test_plans_with_one_altered_number_are_refused_or_safe(tmp_path: Path) -> None:
    """Counts and places of a plan depend on each other, which a random change of bytes rarely meets."""

    def nested(x: dict[str, Any], n: int, y: float) -> Any:
        total = x["a"][0] * x["b"] if y > x["a"][1] else y * x["b"]
        return {"total": total, "parts": [total + 1.0, x["a"][0], None], "n": n, "two": (1.5, total)}

    calls = [({"a": [1.0, 2.0], "b": 3.0}, 2, y) for y in (1.0, 4.0)]
    path, forged = tmp_path / "p.staged", tmp_path / "forged.staged"
    staged = te.stage(nested)
    for args in calls:
        staged(*args)
    staged.save(path)
    content = path.read_bytes()
    head = content.index(b"\n") + 1
    for data in altered_numbers(keeping.decoded(content[head + 32 :])):
        rest = keeping.encoded(data)
        forged.write_bytes(content[:head] + blake2b(rest, digest_size=32).digest() + rest)
        with suppress(te.errors.TapeEngineError, ValueError, TypeError):
            loaded = te.load_staged(forged)
            for args in calls:
                value, back = te.vjp(loaded, *args)
                back(value)


def test_what_cannot_be_saved_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StagingError, match="has no recording"):
        te.stage(program).save(tmp_path / "p")
    staged = te.stage(lambda x, r: x * len(r))
    staged(2.0, range(3))
    with pytest.raises(StagingError, match="cannot be saved: it takes, returns or uses a range"):
        staged.save(tmp_path / "p")


# -- C -----------------------------------------------------------------------------------------------------------------
COMPILER = shutil.which("gcc") or shutil.which("cc") or shutil.which("clang")


class InC:
    """The functions of a staged program's C source, compiled."""

    def __init__(self, staged: Any, folder: Path, outputs: int) -> None:
        text = staged.to_c("f")
        (folder / "f.c").write_text(text)
        flags = ["-O2", "-ffp-contract=off", "-shared", "-fPIC", "-Wall", "-Werror", "-Wno-unused"]
        subprocess.run([COMPILER, *flags, "f.c", "-o", "f.so", "-lm"], cwd=folder, check=True)  # type: ignore[list-item]
        self.library = ctypes.CDLL(str(folder / "f.so"))
        self.work = np.zeros(int(text.split("`work` has ")[1].split()[0]))
        self.outputs = outputs

    def __call__(self, xs: list[float], dy: list[float]) -> Any:
        x, cotangent = np.array(xs), np.array(dy)
        y, dx = np.zeros(self.outputs), np.zeros(len(xs))
        pointers = [a.ctypes.data_as(ctypes.c_void_p) for a in (x, cotangent, y, dx, self.work)]
        other = np.zeros_like(y)
        status = self.library.f_gradient(*pointers)
        again = self.library.f_value(pointers[0], other.ctypes.data_as(ctypes.c_void_p), pointers[4])
        assert (status, y.tobytes()) == (again, other.tobytes())
        return None if status else (y.tolist(), dx.tolist())


@pytest.mark.skipif(COMPILER is None, reason="there is no C compiler")
def test_c_has_the_bits_of_the_program(tmp_path: Path) -> None:
    in_c = InC(recorded(program, XS), tmp_path, 3)
    dy = [1.0, -2.0, 0.5]
    for xs in [*XS, [0.3, 2.0, -2.5], [-4.0, 0.7, 1.5]]:
        value, back = te.vjp(program, xs)
        assert repr(in_c(xs, dy)) == repr((value, back(dy)[0]))
    assert in_c([0.5, -1.0, 9.0], dy) is None
    assert in_c([0.5, -1.0, math.nan], dy) is None


#: What a program can look at in a number, each with a number that takes another path.
LOOKS: dict[str, tuple[Callable[[Any], Any], float]] = {
    "trunc": (int, 9.0),
    "floor": (te.math.floor, 9.0),
    "ceil": (te.math.ceil, 9.0),
    "round": (round, 9.0),
    "value": (lambda x: {0.75: 2, 0.5: 3}[te.value(x)], 0.5),
    "finite": (te.math.isfinite, math.inf),
    "infinite": (te.math.isinf, math.inf),
    "nan": (te.math.isnan, math.nan),
    "less": (lambda x: x < 2.0, 9.0),
    "at least": (lambda x: x >= 2.0, 9.0),
    "equal": (lambda x: x == 0.75, 9.0),
    "unequal": (lambda x: x != 0.5, 0.5),
}


@pytest.mark.skipif(COMPILER is None, reason="there is no C compiler")
def test_each_look_is_a_check_in_c(tmp_path: Path) -> None:
    def looks(xs: Any) -> Any:
        return [x * (1 + int(look(x))) for x, (look, _) in zip(xs, LOOKS.values(), strict=True)]

    point, ones = [0.75] * len(LOOKS), [1.0] * len(LOOKS)
    in_c = InC(recorded(looks, [point]), tmp_path, len(LOOKS))
    assert in_c(point, ones) == (looks(point), [1.0 + int(look(0.75)) for look, _ in LOOKS.values()])
    for k, (_, other) in enumerate(LOOKS.values()):
        assert in_c([*point[:k], other, *point[k + 1 :]], ones) is None


@pytest.mark.slow
@pytest.mark.skipif(COMPILER is None, reason="there is no C compiler")
@pytest.mark.filterwarnings("ignore::tapeengine.errors.StagingWarning")
@settings(max_examples=12, deadline=None)
@given(EXPRESSION)
def test_random_branching_programs_in_c(tmp_path_factory: pytest.TempPathFactory, expression: Any) -> None:
    def f(xs: Any) -> Any:
        return evaluated(expression, xs) * xs[0]

    try:
        wanted = [te.value_and_grad(f)(xs) for xs in XS]
        in_c = InC(recorded(f, XS), tmp_path_factory.mktemp("c"), 1)
    except (ArithmeticError, ValueError, StagingError):
        return
    for xs, (value, gradient) in zip(XS, wanted, strict=True):
        found = in_c(xs, [1.0])
        assert found is None or repr(found) == repr(([value], gradient))


@pytest.mark.skipif(COMPILER is None, reason="there is no C compiler")
@pytest.mark.parametrize(
    "look",
    [
        lambda x, y: x * round(x),
        lambda x, y: x * int(y) + y * round(x),
        lambda x, y: x * math.floor(x * y) if x > y else y * round(y),
        lambda x, y: (x + 1) * round(x + 1) * int(x * y),
    ],
)
def test_c_has_all_recorded_outcomes_of_what_a_program_looks_at(look: Any, tmp_path: Path) -> None:
    staged = te.stage(lambda x: look(*x))
    points = [[float(a), float(b)] for a in range(1, 5) for b in range(1, 4)]
    expected = [te.value_and_grad(staged)(x) for x in points]
    in_c = InC(staged, tmp_path, 1)
    for x, (value, gradient) in zip(points, expected, strict=True):
        assert in_c(x, [1.0]) == ([value], gradient)


def test_names_and_forms_in_c() -> None:
    staged = te.stage(lambda x: x * 2.0)
    staged(1.0)
    with pytest.raises(StagingError, match="cannot name a function in C"):
        staged.to_c()
    forms = te.stage(lambda x: x[0] * 2.0)
    forms([1.0]), forms((1.0,))
    with pytest.raises(StagingError, match="2 forms of arguments"):
        forms.to_c("f")


def test_a_program_that_is_passed_sees_what_it_captures_now(tmp_path: Path) -> None:
    rate = [2.0]

    def growth(x: float) -> float:
        return x * rate[0] if x > rate[0] else x / rate[0]

    recorded(growth, [3.0, 1.0]).save(tmp_path / "growth")
    for change in (2.0, 7.0, 0.5):
        rate[0] = change
        loaded = te.load_staged(tmp_path / "growth", growth)
        for later in (change, change + 1.0):
            rate[0] = later
            for x in (3.0, 1.0, 8.0):
                assert te.value_and_grad(loaded)(x) == te.value_and_grad(growth)(x)


@pytest.mark.parametrize("name", ["eigvals", "eig", "roots"])
def test_results_of_another_dtype_are_another_path(name: str, tmp_path: Path) -> None:
    """The eigenvalues of one matrix are real, those of another one complex."""
    of = {"eigvals": np.linalg.eigvals, "eig": lambda a: np.linalg.eig(a)[0], "roots": np.roots}[name]
    real, rotation = (
        (np.array([1.0, -3.0, 2.0]), np.array([1.0, 0.0, 2.0]))
        if name == "roots"
        else (np.diag([1.0, 2.0]), np.array([[0.0, 1.0], [-1.0, 0.0]]))
    )

    def moduli(a: Any) -> Any:
        return np.sum(np.abs(of(a)) ** 2)

    recorded(moduli, [real]).save(tmp_path / "moduli")
    loaded = te.load_staged(tmp_path / "moduli")
    assert te.value_and_grad(loaded)(real)[0] == moduli(real)
    with pytest.raises(StagingError, match="holds no recording"):
        te.value_and_grad(loaded)(rotation)


def test_numbers_of_another_class_are_no_recorded_arguments(tmp_path: Path) -> None:
    for number, other in ((2.0, np.float64(2.0)), (np.float64(2.0), 2.0)):
        recorded(lambda x: x * 3.0, [number]).save(tmp_path / "triple")
        loaded = te.load_staged(tmp_path / "triple")
        assert type(loaded(number)) is type(te.vjp(loaded, number)[0]) is type(number)
        with pytest.raises(StagingError, match="holds no recording"):
            loaded(other)
        with pytest.raises(StagingError, match="holds no recording"):
            te.vjp(loaded, other)
