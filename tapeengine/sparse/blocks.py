"""A sparse matrix whose rows and columns are the numbers of structures."""

from __future__ import annotations

from typing import Any

__all__ = ["SparseBlocks"]

Side = list[tuple[str, int, int]]


class SparseBlocks:
    """A sparse matrix in blocks, with the paths of the leaves as labels.

    Parameters
    ----------
    matrix : scipy.sparse.csr_array
    rows, columns : list of (str, int, int)
        The path of each leaf, its first row or column and how many it has.

    Attributes
    ----------
    matrix : scipy.sparse.csr_array
        All of it.
    rows, columns : dict of str to slice
        Which rows and columns belong to which leaf; a bare number or array has the path ``""``.

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

    def __init__(self, matrix: Any, rows: Side, columns: Side) -> None:
        self.matrix = matrix
        self.rows = {path: slice(start, start + count) for path, start, count in rows}
        self.columns = {path: slice(start, start + count) for path, start, count in columns}

    def __getitem__(self, paths: tuple[str, str]) -> Any:
        """Return the block of two leaves, by their paths in the result and in the arguments."""
        row, column = paths
        return self.matrix[self.rows[row], self.columns[column]]

    def __repr__(self) -> str:
        rows, columns = ", ".join(self.rows), ", ".join(self.columns)
        extent = " x ".join(map(str, self.matrix.shape))
        return f"SparseBlocks({rows} by {columns}; {extent} with {self.matrix.nnz} entries)"
