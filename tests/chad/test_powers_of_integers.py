"""A power of integers with a negative exponent is a float in Python: a program has its value, or is refused."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest

import tapeengine as te
from tapeengine.errors import TapeEngineError

FORMS = [
    *("2**n", "[2**n]", "x * 2**n", "x * [2**n, 1][0]", "sum([2**n, 1])", "[2**k for k in range(n, 1)]", "(3**n, x)"),
    *("max(2**n, 1)", "2**n + 1", "-(2**n)", "[n, 2**n][-1]", "x if 2**n > 1 else 2 * x", "abs(n)**n", "[x, 2**n]"),
]


@pytest.fixture(scope="module")
def programs(tmp_path_factory: Any) -> Any:
    """A module with a program for each form; programs are read from their source."""
    path = Path(tmp_path_factory.mktemp("programs")) / "powers_of_integers.py"
    path.write_text("\n\n".join(f"def f{k}(x, n):\n    return {text}\n" for k, text in enumerate(FORMS)))
    spec = importlib.util.spec_from_file_location("powers_of_integers", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.filterwarnings("ignore:.*runs without native code")
@pytest.mark.parametrize("backend", ["machine", "native"])
@pytest.mark.parametrize("n", [3, -2])
@pytest.mark.parametrize("k", range(len(FORMS)), ids=FORMS)
def test_powers_of_integers(programs: Any, k: int, n: int, backend: str) -> None:
    program = getattr(programs, f"f{k}")
    try:
        found = te.vjp(te.program(program, backend=backend), 1.5, n)[0]
    except TapeEngineError:
        assert n < 0
        return
    assert found == program(1.5, n)
