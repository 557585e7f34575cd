"""Values of terms as the leaves that a lowered program takes, and back; for tests."""

import numpy as np

from asv_bench.term_values import TermValues
from tapeengine.chad.backends.convert import linear, width
from tapeengine.chad.intermediate import analysis
from tapeengine.chad.intermediate.operations import REAL
from tapeengine.chad.language.types import Array, Named, Product, Sum, is_discrete
from tapeengine.chad.lowering.patterns import leaf_types


class Leaves(TermValues):
    """How values of types lie in leaves; `types` says what named types stand for."""

    def __init__(self, types, dense=True):
        super().__init__(types)
        self.dense = dense

    def flat(self, of, value, path=""):
        """The leaves of a value; those of arrays of several axes are numpy's, if all rows are of one size."""
        if isinstance(of, Named) and self.dense:
            return Leaves(self.types, False).flat(of, value, path)
        return self.arrays(super().flat(of, value, path), of)

    def cotangent(self, of, d, value, path=""):
        """The leaves of a sparse cotangent of a value."""
        if isinstance(of, Named) and self.dense:
            return Leaves(self.types, False).cotangent(of, d, value, path)
        return self.arrays(super().cotangent(of, d, value, path), linear(of))

    def arrays(self, leaves, of):
        """Leaves as arrays, where they are of several axes."""
        if not self.dense or not isinstance(of, Array):
            return leaves
        ranked = zip(leaves, leaf_types(of, True), strict=True)
        return [self.ranked(x, t) if getattr(t, "rank", 0) > 1 else x for x, t in ranked]

    def ranked(self, column, of):
        """An array of several axes."""
        kind = float if of.element == REAL else int
        return np.array(column, dtype=kind) if len(column) else np.zeros((0,) * of.rank)

    def cotangent_like(self, of, d, value, leaves):
        """The leaves of a sparse cotangent of a value that has these leaves, in their shapes.

        A reverse pass reads the sizes of rows from cotangents; values of terms without rows do not contain them.
        """
        each = zip(leaves, leaf_types(of, self.dense), strict=True)
        likes = [x for x, t in each if analysis.linear(t) is not None]
        found = zip(self.cotangent(of, d, value), likes, strict=True)
        return [np.zeros(x.shape) if isinstance(y, np.ndarray) and not y.size else y for y, x in found]

    def nonzero(self, of, leaves, value, path=()):
        """The entries of a cotangent that are not zero, by their paths."""
        match of:
            case Product(items):
                return {
                    k: x
                    for i, (t, v) in enumerate(zip(items, value, strict=True))
                    for k, x in self.nonzero(t, leaves, v, (*path, i)).items()
                }
            case Sum(options):
                found = {}
                for k, t in enumerate(options):
                    if k == value.option:
                        found = self.nonzero(t, leaves, value.payload, path)
                    else:
                        for _ in range(width(linear(t))):
                            next(leaves)
                return found
            case Array(element):
                columns = [next(leaves) for _ in range(width(linear(element)))]
                if any(c is None for c in columns):
                    assert all(c is None for c in columns)
                    return {}
                assert all(len(c) == len(value) for c in columns)
                return {
                    k: x
                    for i, v in enumerate(value)
                    for k, x in self.nonzero(element, iter([c[i] for c in columns]), v, (*path, i)).items()
                }
            case Named(name):
                box = next(leaves)
                if box is None:
                    return {}
                assert box[0] == value.option
                inner = Leaves(self.types, False)
                return inner.nonzero(self.types[name].options[box[0]], iter(box[1:]), value.payload, path)
        if is_discrete(of):
            return {}
        x = float(next(leaves))
        return {path: x} if x != 0 else {}
