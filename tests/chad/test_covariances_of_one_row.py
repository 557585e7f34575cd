"""The covariance of one row is a number in numpy, so a program whose text says that it is a matrix is refused."""

from typing import Any

import numpy as np
import pytest

import tapeengine as te
from tapeengine.errors import StructureError


def covariance(x: Any) -> Any:
    return np.cov(np.atleast_2d(x))


def correlation(x: Any) -> Any:
    return np.corrcoef(x.reshape(-1, 3))


@pytest.mark.parametrize("program", [covariance, correlation])
def test_one_row_is_refused(program: Any) -> None:
    with pytest.raises(StructureError, match="float"):
        te.vjp(te.program(program), np.array([1.0, 2.0, 4.0]))
    rows = np.array([[1.0, 2.0, 4.0], [2.0, 1.0, 0.5]])
    np.testing.assert_allclose(te.vjp(te.program(program), rows)[0], program(rows), rtol=1e-14)
