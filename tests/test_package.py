"""The built package: the content of its distributions, its metadata, and the switch of build modes."""

import os
import re
import runpy
import subprocess
import sys
import tarfile
import tomllib
from importlib import metadata
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def run(*command: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *command],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **environment},
    )


def test_the_first_party_primitives_come_through_an_entry_point() -> None:
    assert PROJECT["entry-points"]["tapeengine"]["core"] == "tapeengine_primitives.plugin"
    assert "tapeengine" not in PROJECT.get("scripts", {})


def test_the_installed_metadata_is_that_of_the_source() -> None:
    try:
        installed = metadata.metadata("tapeengine")
    except metadata.PackageNotFoundError:
        pytest.skip("tapeengine is not installed, only imported from its source")
    assert installed["Version"] == PROJECT["version"]
    assert installed["Requires-Python"] == ">=3.11"
    assert {entry.name for entry in metadata.entry_points(group="tapeengine")} >= {"core"}


def test_run_time_dependencies_are_numpy_and_pluggy() -> None:
    assert sorted(name.split(">")[0] for name in PROJECT["dependencies"]) == ["numpy", "pluggy"]


def test_an_import_of_the_engine_imports_nothing_that_only_some_programs_need() -> None:
    names = "concurrent.futures", "logging", "asyncio", "llvmlite", "scipy", "pandas", "ast", "tapeengine.chad.parse"
    result = run("-c", f"import sys, tapeengine; print([name for name in {names!r} if name in sys.modules])")
    known = run("-c", f"import sys, numpy; print([name for name in {names!r} if name in sys.modules])")
    assert result.stdout == known.stdout, result.stderr


def test_an_unknown_build_mode_is_refused() -> None:
    result = run("setup.py", "--version", TAPEENGINE_BUILD="fast")
    assert result.returncode != 0
    assert "TAPEENGINE_BUILD=fast: write one of release, profile, tsan, check, trace" in result.stderr


def test_modules_compiled_without_vectorcall_have_no_functions_of_cython() -> None:
    """All modules share the class of lambdas and inner functions, which calls them by what these leave out."""
    listed = set(re.findall(r"\w+", (ROOT / "setup.py").read_text()))
    modules = [path for path in (ROOT / "tapeengine" / "_core").glob("*/*.pyx") if path.stem not in listed]
    included = [
        path.parent / name for path in modules for name in re.findall(r'^include "(.*)"', path.read_text(), re.M)
    ]
    sources = modules + included
    assert len(sources) > 5
    for path in sources:
        outer = ""
        for line in path.read_text().splitlines():
            outer = line if line[:1].strip() else outer
            inner = line.startswith(" ") and re.match(r"\s+(async )?def ", line) and " class " not in f" {outer}"
            has_lambda = re.search(r"\blambda\b", line) and not line.strip().startswith((">>>", "..."))
            assert not inner and not has_lambda, f"{path.stem}: {line}"


def test_the_source_distribution_is_complete(tmp_path: Path) -> None:
    """It holds the sources from which the core is generated and compiled, and no generated files."""
    result = run("-m", "build", "--sdist", "--no-isolation", "--outdir", str(tmp_path), str(ROOT))
    assert result.returncode == 0, result.stdout + result.stderr
    with tarfile.open(next(tmp_path.glob("*.tar.gz"))) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    core = ROOT / "tapeengine" / "_core"
    sources = [
        path for kind in ("*.py", "*.pyx", "*.pxd", "*.pyi", "*.pyi.in", "*.pxi", "*.h") for path in core.rglob(kind)
    ]
    generator = runpy.run_path(str(core / "tape" / "generate_ops.py"))
    generated = {f"tapeengine/_core/{name}" for name in generator["GENERATED"]}
    stubs = [path for path in core.rglob("*.pyi") if path.stem != "scalar"]
    generated |= {path.relative_to(ROOT).as_posix() for path in stubs}
    wanted = {path.relative_to(ROOT).as_posix() for path in sources} - generated
    assert wanted <= names
    assert {"LICENSE", "README.md", "Makefile", "setup.py", "tapeengine/py.typed", "examples/demo.py"} <= names
    assert [name for name in names if name.endswith((".so", ".c", ".pyc"))] == []
    assert generated & names == set()


def test_the_readmes_example_prints_what_it_says(capsys: pytest.CaptureFixture[str]) -> None:
    code = (ROOT / "README.md").read_text().partition("```python\n")[2].partition("```")[0]
    exec(compile(code, "README.md", "exec"), {})
    assert capsys.readouterr().out.strip() == code.strip().rpartition("# ")[2]


def test_compiled_modules_have_no_generators_lambdas_or_nested_functions() -> None:
    """Cython compiles a class of its own for them into each such module, 5 KB of the compressed wheel."""
    modules = [path for kind in EXTENSION_SUFFIXES for path in (ROOT / "tapeengine" / "_core").rglob(f"*{kind}")]
    assert modules
    classes = re.compile(rb"_cython_[\d_]+\.(generator|coroutine|cython_function_or_method)")
    assert [path.name for path in modules if classes.search(path.read_bytes())] == []
