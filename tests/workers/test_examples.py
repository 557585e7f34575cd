"""The examples on workers: correct, and equal bits on threads, processes and dask."""

import importlib
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from workers.conftest import EXAMPLES

SIZES = {"logistic_regression": (400,), "ode_ensemble": (3, 40), "monte_carlo_greeks": (4, 2000)}
ERRORS = {
    "logistic_regression": ("largest error of a weight", 0.2),
    "ode_ensemble": ("largest error of a rate", 0.01),
    "monte_carlo_greeks": ("their largest error, relative", 0.05),
}


@pytest.fixture(scope="module", params=["processes", "dask"])
def engine(request: Any, started: Callable[[str], Any]) -> Any:
    return started(request.param)


@pytest.fixture(scope="module")
def near(started: Callable[[str], Any]) -> dict[str, Any]:
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
