"""The output of ``new-plugin``: built, installed and run in a new virtual environment."""

import os
import shutil
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest

from tapeengine.__main__ import main

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of a new environment with a new plugin installed; the plugin lies two folders above it.

    What the template depends on is lent by the environment that runs the tests, so that nothing is downloaded.
    """
    folder = tmp_path_factory.mktemp("template")
    venv.create(folder / "env", with_pip=False)
    python = folder / "env" / "bin" / "python"
    where = [sys.executable, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]
    site = Path(run([str(python), *where[1:]], folder).strip())
    lent = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
    lines = [f"import site; site.addsitedir({folder!r})" for folder in sorted(lent)]
    (site / "lent.pth").write_text("\n".join([str(ROOT), *lines]))
    source = folder / "source"
    assert main(["new-plugin", "thin-film", "--folder", str(source)]) == 0
    options = ["--quiet", "--no-index", "--no-deps", "--no-build-isolation"]
    run([str(python), "-m", "pip", "install", *options, str(source)], folder)
    return python


def run(command: list[str], folder: Path) -> str:
    """Run a command and return its output; if it fails, show its errors."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "TAPEENGINE"))}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.slow
def test_it_is_installed_with_its_kernel(python: Path, tmp_path: Path) -> None:
    kernel = "e.pseudo_huber.__self__.primitive.kernel"
    code = f"import tapeengine_thin_film as e; k = {kernel}; print(e.__file__, k.arity, k.value > 0)"
    path, arity, positive = run([str(python), "-c", code], tmp_path).split()
    assert Path(path).is_relative_to(python.parents[1])
    assert (arity, positive) == ("1", "True")


@pytest.mark.slow
def test_the_engine_finds_it(python: Path, tmp_path: Path) -> None:
    rows = run([str(python), "-m", "tapeengine", "plugins", "--names"], tmp_path).splitlines()
    [row] = [row for row in rows if row.startswith("thin_film ")]
    assert row.split() == ["thin_film", "tapeengine-thin-film", "0.1.0", "primitives", "1", "ok"]
    assert any("thin_film.pseudo_huber" in row and "sqrt(1 + x**2)" in row for row in rows)


@pytest.mark.slow
def test_its_own_tests_pass(python: Path, tmp_path: Path) -> None:
    source = python.parents[2] / "source"
    folder = shutil.copytree(source / "tests", tmp_path / "tests")
    shutil.copy(source / "pyproject.toml", tmp_path)
    output = run([str(python), "-m", "pytest", "-v", "-p", "no:cacheprovider", str(folder)], tmp_path)
    assert "test_contract[thin_film.pseudo_huber] PASSED" in output
    assert "test_in_a_program PASSED" in output
