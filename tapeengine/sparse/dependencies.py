"""The inputs on which each output of a program depends."""

from __future__ import annotations

from bisect import bisect_right
from typing import Any

import numpy as np

Side = list[tuple[str, int, int]]


class Dependencies:
    """The result of `te.dependencies`.

    Attributes
    ----------
    starts, inputs : numpy.ndarray of int64
        Output k depends on the inputs with the numbers ``inputs[starts[k]:starts[k + 1]]``, in ascending order.
    rows, columns : list of (path, first number, count)
        The leaves of the result and of the primals.
    dense : dict of str to int
        Operations without a pattern, and their number of calls: each of their results counts as dependent on all of
        their arguments.

    Examples
    --------
    >>> import numpy as np, tapeengine as te
    >>> found = te.dependencies(lambda x: x[1:] * x[:-1], np.ones(4))
    >>> found.of(0), found.matrix.nnz, found.dense
    ([0, 1], 6, {})
    >>> te.dependencies(lambda p: [p["a"] * p["b"], p["b"]], {"a": 1.0, "b": 2.0}).named()
    {'[0]': ["['a']", "['b']"], '[1]': ["['b']"]}
    """

    def __init__(self, starts: Any, inputs: Any, rows: Side, columns: Side, dense: dict[str, int]) -> None:
        self.starts, self.inputs = starts, inputs
        self.rows, self.columns, self.dense = rows, columns, dense

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of outputs and inputs."""
        return len(self.starts) - 1, sum(count for _, _, count in self.columns)

    @property
    def matrix(self) -> Any:
        """The pattern as a `scipy.sparse.csr_array` of bool."""
        import scipy.sparse

        return scipy.sparse.csr_array((np.ones(self.inputs.size, bool), self.inputs, self.starts), shape=self.shape)

    def of(self, output: int) -> list[int]:
        """Return the numbers of the inputs on which one output depends."""
        return self.inputs[self.starts[output] : self.starts[output + 1]].tolist()  # type: ignore[no-any-return]

    def named(self) -> dict[str, list[str]]:
        """Return for each leaf of the result, by path, the paths of the leaves on which it depends."""
        firsts = [start for _, start, _ in self.columns]
        found = {}
        for path, start, count in self.rows:
            inputs = np.unique(self.inputs[self.starts[start] : self.starts[start + count]])
            found[path] = sorted({self.columns[bisect_right(firsts, int(k)) - 1][0] for k in inputs})
        return found

    def __repr__(self) -> str:
        undeclared = f", dense through {', '.join(self.dense)}" if self.dense else ""
        return f"Dependencies({self.shape[0]} x {self.shape[1]}, {self.inputs.size} entries{undeclared})"
