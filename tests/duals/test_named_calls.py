"""The error of a dropped derivative names the expression in the program, whichever library's code used the value."""

from __future__ import annotations

import array
import cmath
import math
import re
from typing import Any

import numpy as np
import pytest

import tapeengine as te
from tapeengine.errors import DroppedDerivativeError

CALLS = (
    "np.ones(3).dot(x)",
    "np.array([0.0, 1.0]).searchsorted(x)",
    "np.asarray([x, x])",
    "np.vectorize(abs)(x)",
    "np.ndenumerate(x)",
    "np.polynomial.Polynomial(x)",
    "np.mean([x[0], x[1]])",
    "np.arange(x[0], x[1])",
    "np.float64(x[0])",
    "float(x[0])",
    "complex(x[0])",
    "pd.DataFrame({'a': x})",
    "pd.Series(np.arange(3.0)) * x",
    "pd.Series(np.arange(3.0)) * x[0]",
    "xr.DataArray(x).values",
)


@pytest.mark.parametrize("call", CALLS)
def test_the_programs_own_expression_is_named(call: str, tmp_path: Any) -> None:
    names: dict[str, Any] = {"np": np}
    if "pd." in call:
        names["pd"] = pytest.importorskip("pandas")
    if "xr." in call:
        names["xr"] = pytest.importorskip("xarray")
    file = tmp_path / "program.py"
    file.write_text(f"def program(x):\n    return {call}\n")
    exec(compile(file.read_text(), str(file), "exec"), names)
    with pytest.raises(DroppedDerivativeError) as caught:
        te.vjp(names["program"], np.array([0.3, 0.8, 1.2]))
    hint = r"Columns of pandas take no traced array: .* X\.to_numpy\(\) @ b\. " if "pd." in call else ""
    assert re.fullmatch(
        re.escape(call) + r" would turn a (traced array of shape \(3,\)|dual number \(.+?\)) into a plain (array|float"
        rf"|complex number) and lose its derivative \({re.escape(str(file))}:2 in program\)\. {hint}.*[Ll]ift .*",
        str(caught.value),
    )


WRITTEN_INSTEAD = {
    "math.sin(x)": "Import tapeengine.math in place of math",
    "cmath.sin(x)": "Import tapeengine.cmath in place of cmath",
    "sine(x)": "Import tapeengine.math in place of math",
    "float(x)": "Leave float() out",
    "np.mean([np.sin(x), x])": "Import tapeengine.numpy as np",
    "mean([np.sin(x), x])": "Import tapeengine.numpy as np",
    "array.array('d', [x])": "Import tapeengine.math for math, tapeengine.numpy for numpy",
    "np.random.normal(x, 1.0)": "Draw from a fixed distribution",
    "generator.normal(x, 1.0)": "Draw from a fixed distribution",
    "generator.permutation(x * np.ones(2))": "Draw indices: x[generator.permutation(len(x))]",
    "np.random.choice(x * np.ones(2))": "Draw indices: x[generator.permutation(len(x))]",
}


@pytest.mark.parametrize("call", WRITTEN_INSTEAD)
def test_the_error_says_what_to_write(call: str, tmp_path: Any) -> None:
    names: dict[str, Any] = {"np": np, "math": math, "cmath": cmath, "array": array, "sine": math.sin, "mean": np.mean}
    file = tmp_path / "program.py"
    file.write_text(f"def program(x):\n    return {call}\n")
    names["generator"] = np.random.default_rng(0)
    exec(compile(file.read_text(), str(file), "exec"), names)
    with pytest.raises(DroppedDerivativeError, match=re.escape(WRITTEN_INSTEAD[call])):
        te.vjp(names["program"], 0.3)
