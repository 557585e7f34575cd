"""Products with sparse matrices whose entries may be traced; the positions of entries are constant."""

import copy
from typing import Any

import numpy
import scipy

from tapeengine.primitive import Primitive, Sample, patterns, uniform
from tapeengine.primitive.builders import bilinear, unbroadcast


class Pattern:
    """The positions of the entries of a sparse matrix, which never change.

    Parameters
    ----------
    rows, columns : array of int
        The row and the column of every entry; entries at equal positions are added.
    shape : (int, int)
    is_matrix : bool
        Whether ``*`` means the matrix product, as for SciPy's sparse matrices, or the elementwise product.
    order : str
        The format of SciPy's that has the entries in this order; empty for results whose order is not SciPy's.
    """

    def __init__(
        self, rows: Any, columns: Any, shape: tuple[int, int], is_matrix: bool = False, order: str = "coo"
    ) -> None:
        self.is_matrix, self.order = is_matrix, order
        # SciPy makes integers of the positions, and refuses those outside the shape.
        made = scipy.sparse.coo_array((numpy.zeros(numpy.shape(rows)), (rows, columns)), shape=shape)
        self.rows, self.columns = made.coords
        self.shape = (int(shape[0]), int(shape[1]))
        self._order = numpy.lexsort((self.columns, self.rows))
        self._indices = self.columns[self._order].astype(numpy.int32)
        counts = numpy.bincount(self.rows, minlength=self.shape[0])
        self._starts = numpy.concatenate([[0], numpy.cumsum(counts)]).astype(numpy.int32)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Pattern) or (self.shape, self.is_matrix) != (other.shape, other.is_matrix):
            return False
        return numpy.array_equal(self.rows, other.rows) and numpy.array_equal(self.columns, other.columns)

    def __hash__(self) -> int:
        return hash((self.shape, self.size))

    @property
    def size(self) -> int:
        """The number of entries."""
        return len(self.rows)

    def matrix(self, data: Any) -> Any:
        """Build the compressed sparse row array with the given entries."""
        return scipy.sparse.csr_array((data[self._order], self._indices, self._starts), shape=self.shape)

    def of_scipy(self, data: Any) -> Any:
        """Build SciPy's array or matrix in coordinate format."""
        made = scipy.sparse.coo_matrix if self.is_matrix else scipy.sparse.coo_array
        return made((data, (self.rows, self.columns)), shape=self.shape)

    def marked(self, order: str, is_matrix: bool | None = None) -> "Pattern":
        """Return the pattern for another order, or for another meaning of ``*``."""
        made = copy.copy(self)
        made.order, made.is_matrix = order, self.is_matrix if is_matrix is None else is_matrix
        return made

    def transposed(self) -> "Pattern":
        """Return the pattern of the transpose."""
        order = {"csr": "csc", "csc": "csr"}.get(self.order, self.order)
        return Pattern(self.columns, self.rows, (self.shape[1], self.shape[0]), self.is_matrix, order)


def _times_primal(data: Any, x: Any, *, pattern: Pattern, transposed: bool = False) -> Any:
    matrix = pattern.matrix(data)
    return (matrix.T if transposed else matrix) @ x


def _sampled_primal(left: Any, right: Any, *, pattern: Pattern) -> Any:
    products = left[pattern.rows] * right[pattern.columns]
    return products if products.ndim == 1 else products.sum(axis=1)


def _times_vjp_data(ct: Any, x: Any, pattern: Pattern, transposed: bool, data_space: Any) -> Any:
    left, right = (x, ct) if transposed else (ct, x)
    return unbroadcast(SAMPLED(left, right, pattern=pattern), data_space)


def _times_vjp_x(ct: Any, data: Any, pattern: Pattern, transposed: bool, x_space: Any) -> Any:
    return unbroadcast(TIMES(data, ct, pattern=pattern, transposed=not transposed), x_space)


def example() -> Pattern:
    """A pattern for samples: three rows, four columns, with two entries at one position."""
    return Pattern([0, 0, 1, 2, 2, 2], [1, 3, 0, 2, 2, 3], (3, 4))


def _times_pattern(call: patterns.Call) -> Any:
    """Each element of the product depends on the entries of its row, and on what stands in x in their columns."""
    places = call.static["pattern"]
    rows, columns = places.rows, places.columns
    if call.static.get("transposed", False):
        rows, columns = columns, rows
    width = numpy.prod(call.shape[1:], dtype=int)
    groups = rows[:, None] * width + numpy.arange(width)
    parts = [sets[:, None] if k == 0 else sets[columns].reshape(len(rows), width) for k, sets in call.sets.items()]
    grouped = [call.grouped(numpy.broadcast_to(sets, groups.shape), groups, call.shape[0] * width) for sets in parts]
    return (grouped[0] if len(grouped) == 1 else call.union(*grouped)).reshape(call.shape)


def _sampled_pattern(call: patterns.Call) -> Any:
    """Each entry depends on a row of either argument."""
    places = call.static["pattern"]
    at = {0: places.rows, 1: places.columns}
    found = [sets[at[k]] for k, sets in call.sets.items()]
    found = [call.over(sets, (1,))[:, 0] if sets.ndim == 2 else sets for sets in found]
    return found[0] if len(found) == 1 else call.union(*found)


TIMES: Primitive = bilinear(
    "scipy.sparse.matmul",
    _times_primal,
    {"data": _times_vjp_data, "x": _times_vjp_x},
    samples=lambda: (
        Sample((uniform((6,)), uniform((4,))), {"pattern": example()}),
        Sample((uniform((6,)), uniform((3, 2))), {"pattern": example(), "transposed": True}),
    ),
    pattern=_times_pattern,
    doc="A x; dx = A^T ct, and of the entries: ct[row] x[column]",
)
SAMPLED: Primitive = bilinear(
    "scipy.sparse.sampled_product",
    _sampled_primal,
    {
        "left": lambda ct, right, pattern, left_space: unbroadcast(TIMES(ct, right, pattern=pattern), left_space),
        "right": lambda ct, left, pattern, right_space: unbroadcast(
            TIMES(ct, left, pattern=pattern, transposed=True), right_space
        ),
    },
    samples=lambda: (
        Sample((uniform((3,)), uniform((4,))), {"pattern": example()}),
        Sample((uniform((3, 2)), uniform((4, 2))), {"pattern": example()}),
    ),
    pattern=_sampled_pattern,
    doc="the entries of left right^T at the places of a pattern",
)
