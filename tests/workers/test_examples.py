"""The examples on workers: correct, and equal bits on threads, processes and dask."""

import importlib
import importlib.util
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import far_programs as far
import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
SIZES = {"logistic_regression": (400,), "ode_ensemble": (3, 40), "monte_carlo_greeks": (4, 2000)}
ERRORS = {
    "logistic_regression": ("largest error of a weight", 0.2),
    "ode_ensemble": ("largest error of a rate", 0.01),
    "monte_carlo_greeks": ("their largest error, relative", 0.05),
}


@pytest.fixture(scope="module", autouse=True)
def _importable() -> Iterator[None]:
    """Importable on the workers as well, which get this path."""
    sys.path.append(str(EXAMPLES))
    yield
    sys.path.remove(str(EXAMPLES))


@pytest.fixture(scope="module", params=["processes", "dask"])
def engine(request: Any, _importable: None) -> Iterator[Any]:
    if request.param == "dask" and importlib.util.find_spec("distributed") is None:
        pytest.skip("dask: distributed is not installed (pip install 'tapeengine[dask]')")
    with far.started(request.param) as executor:
        yield executor


@pytest.fixture(scope="module")
def near(_importable: None) -> dict[str, Any]:
    with ThreadPoolExecutor(2) as executor:
        return {name: importlib.import_module(name).main(executor, *sizes) for name, sizes in SIZES.items()}


@pytest.mark.parametrize("name", list(SIZES))
def test_an_example_finds_what_it_looks_for(near: dict[str, Any], name: str) -> None:
    what, limit = ERRORS[name]
    assert near[name][what] < limit


@pytest.mark.parametrize("name", list(SIZES))
def test_an_example_gives_the_same_bits_elsewhere(near: dict[str, Any], engine: Any, name: str) -> None:
    assert importlib.import_module(name).main(engine, *SIZES[name]) == near[name]


def test_one_argument_chooses_the_engine(near: dict[str, Any]) -> None:
    command = [sys.executable, str(EXAMPLES / "monte_carlo_greeks.py"), "processes", "4", "2000"]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.stdout.splitlines() == [f"{k}: {v}" for k, v in near["monte_carlo_greeks"].items()], run.stderr
