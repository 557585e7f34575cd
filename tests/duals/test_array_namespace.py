"""The namespace of a traced value is `tapeengine.numpy`, for code of the array API standard."""

from typing import Any

import numpy as np
import pytest

import tapeengine as te
import tapeengine.numpy as tnp

X = np.array([[1.5, 0.5], [0.25, 2.0]])
VALUES = {
    "array": lambda x: x,
    "view": lambda x: x[0],
    "element": lambda x: x[0, 0],
    "sum": lambda x: x.sum(),
    "complex": lambda x: x[0] * 1j,
    "complex element": lambda x: x[0, 0] * 1j,
    "float32": lambda x: x.astype(np.float32)[0, 0],
}


@pytest.mark.parametrize("name", VALUES)
def test_the_namespace(name: str) -> None:
    def program(x: Any) -> Any:
        y = VALUES[name](x)
        for version in (None, "2021.12", "2023.12"):
            xp = y.__array_namespace__(api_version=version)
            assert xp is (tnp if isinstance(x, te.Array) else np)
        with pytest.raises(ValueError, match="not supported"):
            y.__array_namespace__(api_version="1999")
        return xp.real(xp.sum(y * xp.conj(y)))

    value, gradient = te.value_and_grad(program)(X)
    assert value == program(X)
    assert gradient.any()


def test_numbers_of_python_have_none() -> None:
    assert te.grad(lambda x: x * (1.0 + hasattr(x, "__array_namespace__")))(2.0) == 1.0


@pytest.mark.skipif(np.lib.NumpyVersion(np.__version__) < "2.4.0", reason="numpy reads the attribute dtype only")
@pytest.mark.parametrize("made", [np.zeros, np.empty, tnp.zeros, tnp.ones, tnp.eye, tnp.arange, np.eye])
def test_values_in_place_of_dtypes(made: Any) -> None:
    """Numbers of numpy stand for their dtype; arrays and Python's floats raise numpy's error, by whatever function."""
    kinds = {**VALUES, "float": lambda x: x[0, 0].item()}

    def outcomes(x: Any) -> list[Any]:
        found = []
        for kind in kinds.values():
            for call in (lambda d: made(3, dtype=d), lambda d: x.astype(d), lambda d: x.sum(dtype=d)):
                try:
                    found.append(call(kind(x)).dtype)
                except TypeError as error:
                    found.append(str(error))
        return found

    seen: list[Any] = []
    te.vjp(lambda x: seen.extend(outcomes(x)) or x.sum(), X)
    with np.errstate(all="ignore"):
        assert seen == outcomes(X)
