"""A sparse matrix whose rows and columns are the numbers in structures."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

Side = list[tuple[str, int, int]]


class SparseBlocks:
    """A sparse matrix divided into blocks, with the paths of the leaves as labels.

    Parameters
    ----------
    matrix : scipy.sparse.csr_array
    rows, columns : callable
        They return for each leaf its path, its first row or column and its number of them.

    Attributes
    ----------
    matrix : scipy.sparse.csr_array
        The whole matrix.
    rows, columns : dict of str to slice
        Keyed by the paths of the leaves; a bare number or array has the path ``""``. Computed at the first use.

    Examples
    --------
    >>> import numpy as np, tapeengine as te
    >>> found = te.sparse_jacobian(lambda p: {"sum": p["a"] + p["b"], "b": p["b"]})({"a": np.ones(2), "b": np.ones(2)})
    >>> found
    SparseBlocks(['sum'], ['b'] by ['a'], ['b']; 4 x 4 with 6 entries)
    >>> found["['b']", "['b']"].toarray()
    array([[1., 0.],
           [0., 1.]])
    """

    def __init__(self, matrix: Any, rows: Callable[[], Side], columns: Callable[[], Side]) -> None:
        self.matrix = matrix
        self._sides = rows, columns

    def __getstate__(self) -> dict[str, Any]:
        return {"matrix": self.matrix, "rows": self.rows, "columns": self.columns}

    @cached_property
    def rows(self) -> dict[str, slice]:
        """The rows of each leaf of the result."""
        return {path: slice(start, start + count) for path, start, count in self._sides[0]()}

    @cached_property
    def columns(self) -> dict[str, slice]:
        """The columns of each leaf of the arguments."""
        return {path: slice(start, start + count) for path, start, count in self._sides[1]()}

    def __getitem__(self, paths: tuple[str, str]) -> Any:
        """Return the block for two leaves, given by their paths in the result and in the arguments."""
        row, column = paths
        return self.matrix[self.rows[row], self.columns[column]]

    def __repr__(self) -> str:
        rows, columns = ", ".join(self.rows), ", ".join(self.columns)
        extent = " x ".join(map(str, self.matrix.shape))
        return f"SparseBlocks({rows} by {columns}; {extent} with {self.matrix.nnz} entries)"
