"""The package's public names: the content of `import tapeengine as te`, with signatures, docstrings and a version."""

import base64
import doctest
import hashlib
import importlib
import inspect
import io
import json
import math
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from importlib import metadata
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import tapeengine as te
import tapeengine.math
import tapeengine.numpy
import tapeengine.testing

ROOT = Path(__file__).resolve().parent.parent
MODULES = [te, tapeengine.math, tapeengine.testing]
MADE_BY_TRANSFORMS = (te.Array, te.Dual)  # nobody calls these classes
PUBLIC = [(module, name) for module in MODULES for name in module.__all__ if callable(getattr(module, name))]


def test_the_version_is_that_of_the_distribution() -> None:
    assert te.__version__ == metadata.version("tapeengine")


def test_dir_shows_public_names_and_nothing_else() -> None:
    shown = set(dir(te))
    assert set(te.__all__) <= shown
    assert all(isinstance(getattr(te, name), ModuleType) for name in shown - set(te.__all__))
    assert sorted(dir(te.plugins)) == sorted(te.plugins.__all__)


def test_dir_is_the_same_before_and_after_names_are_used() -> None:
    code = "import tapeengine as te; before = dir(te); te.grad, te.Program, te.math; assert dir(te) == before"
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("module, name", PUBLIC, ids=[f"{module.__name__}.{name}" for module, name in PUBLIC])
def test_a_public_name_has_a_signature_and_a_docstring(module: ModuleType, name: str) -> None:
    function = getattr(module, name)
    assert inspect.getdoc(function)
    if function not in MADE_BY_TRANSFORMS and not (isinstance(function, type) and issubclass(function, BaseException)):
        inspect.signature(function)


@pytest.mark.parametrize("name", sorted(set(te.__all__) - {"ProgramError", "Vec", "hookimpl"}))
def test_a_public_name_has_an_example(name: str) -> None:
    found = getattr(te, name)
    assert not callable(found) or ">>> " in (inspect.getdoc(found) or "")


ROOMS = ["errors", "math", "plugins", "plugins.hookspecs", "plugins.kernels", "primitive", "primitive.builders"]
ROOMS += ["sparse.monoids", "testing", "chad"]


def public_of(room: str) -> dict[str, Any]:
    """The public functions and classes of a module, and the methods of these classes, by name."""
    module = importlib.import_module(f"tapeengine.{room}") if room else te
    names = getattr(module, "__all__", [name for name in vars(module) if name[0] != "_"])
    found = {name: getattr(module, name) for name in names if callable(getattr(module, name))}
    for name, cls in [each for each in found.items() if isinstance(each[1], type)]:
        found |= {f"{name}.{key}": value for key, value in vars(cls).items() if key[0] != "_"}
    return {name: value for name, value in found.items() if ">>> " in (inspect.getdoc(value) or "")}


@pytest.mark.parametrize("room", ["", *ROOMS])
def test_an_example_runs_in_a_new_session(room: str) -> None:
    """Who pastes an example of `help(...)` has none of the module's names: it imports what it uses."""
    runner, failed = doctest.DocTestRunner(verbose=False), {}
    for name, value in public_of(room).items():
        example = doctest.DocTestParser().get_doctest(inspect.getdoc(value), {}, name, None, 0)
        said: list[str] = []
        if runner.run(example, out=said.append).failed:
            failed[name] = said[-1][-300:]
    assert failed == {}


@pytest.mark.parametrize("name", ["sin", "log", "isclose", "fsum", "hypot", "atan2"])
def test_a_function_of_math_has_the_parameters_of_pythons(name: str) -> None:
    def kinds(function: Any) -> list[Any]:
        return [(p.kind, p.default) for p in inspect.signature(function).parameters.values()]

    try:
        wanted = kinds(getattr(math, name))
    except ValueError:
        pytest.skip(f"math.{name} has no signature in this Python")
    assert kinds(getattr(tapeengine.math, name)) == wanted


def test_headers_compile_under_the_rules_of_msvc() -> None:
    """Without `restrict`, with the library of C11, and, where there is clang, with MSVC's extensions of C."""
    compiler = shutil.which("clang") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("neither clang nor gcc is installed")
    flags = "-x c -std=c99 -fms-extensions -Drestrict=NOT_IN_MSVC -fsyntax-only -w".split()
    flags.append("-D_ISOC11_SOURCE")  # timespec_get, which MSVC's library has
    flags += ["-fms-compatibility"] * ("clang" in compiler)
    headers = sorted((ROOT / "tapeengine" / "_core").rglob("*.h"))
    flags += [f"-I{folder}" for folder in (sysconfig.get_paths()["include"], *{path.parent for path in headers})]
    done = subprocess.run([compiler, *flags, *map(str, headers)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_a_wheel_is_small() -> None:
    """The packages, zipped as in a wheel; most of it is extension modules without debug information."""
    core = Path(te.__file__).parent
    if sysconfig.get_config_var("EXT_SUFFIX") is None or "check" in str(core):
        pytest.skip("not a release build")
    packages = {"tapeengine": core, "tapeengine_primitives": ROOT / "primitives" / "core"}
    kinds = {".so", ".pyd", ".py", ".pyi", ".typed", ".template"}
    record = [(ROOT / "README.md").read_text()]  # which the metadata contain
    with zipfile.ZipFile(wheel := io.BytesIO(), "w", zipfile.ZIP_DEFLATED) as written:
        for package, folder in packages.items():
            for path in sorted(
                path for path in folder.rglob("*") if path.suffix in kinds or path.name == "functions.h"
            ):
                name, data = f"{package}/{path.relative_to(folder)}", path.read_bytes()
                written.writestr(name, data)
                record.append(f"{name},sha256={base64.urlsafe_b64encode(hashlib.sha256(data).digest())!r},{len(data)}")
        written.writestr("RECORD", "\n".join(record))
    assert len(wheel.getvalue()) < 2_500_000


TYPED = """
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

import tapeengine as te
import tapeengine.math as tm


@dataclass
class Spring:
    stiffness: float
    rest: float


def energy(spring: Spring, x: float) -> float:
    return 0.5 * spring.stiffness * (x - spring.rest) ** 2 + tm.exp(-x)


def loss(w: NDArray[np.float64]) -> float:
    return float(np.sum(w**2)) if w.size == 0 else tm.sqrt(sum(w * w))


engine = te.Engine()
value, backpropagator = engine.vjp(energy, Spring(2.0, 1.0), 3.0)
spring, slope = backpropagator(1.0)
gradient = te.grad(loss)(np.ones(3))
total, slopes = te.value_and_grad(energy, argnums=(0, 1))(Spring(2.0, 1.0), 3.0)
matrix = te.jacobian(lambda w: w * w)(np.ones(3))
product = te.hvp(loss, (np.ones(3),), (np.ones(3),))
tangent = te.jvp(energy, (Spring(2.0, 1.0), 3.0), (Spring(0.0, 0.0), 1.0))
staged = te.stage(loss)
lines = te.tape(energy, Spring(2.0, 1.0), 3.0).by_line


@te.custom_vjp
def clipped(x: float) -> float:
    return x * x


clipped.defvjp(lambda x: (x * x, x), lambda x, ct: (min(2.0 * x * ct, 1.0),))
"""


def written(folder: Path) -> list[str]:
    """The README's examples and a typed program of a user, as files."""
    examples = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    for k, text in enumerate([*examples, TYPED]):
        (folder / f"example{k}.py").write_text(text)
    return sorted(map(str, folder.glob("example*.py")))


@pytest.mark.parametrize("checker", ["mypy", "pyright"])
def test_the_examples_of_the_readme_and_a_typed_program_are_typed(checker: str, tmp_path: Path) -> None:
    pytest.importorskip(checker, reason=f"{checker} is not installed")
    options = "--strict --follow-imports=silent --cache-dir".split()
    files = written(tmp_path)  # pyright reads no settings if files are named, and takes those of the folder
    command = [checker, *options, str(ROOT / ".mypy_cache"), *files] if checker == "mypy" else [checker]
    settings = {"extraPaths": [str(ROOT)], "reportPossiblyUnboundVariable": False}  # a name that a loop assigns
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(settings))
    surroundings = {**os.environ, "MYPYPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-m", *command], capture_output=True, text=True, cwd=tmp_path, env=surroundings
    )
    assert done.returncode == 0, done.stdout + done.stderr
