"""Python's values as the leaves that a lowered program takes, and back; for tests."""

from tapeengine.chad.backends.leaves import Values
from tapeengine.chad.derivative_types import cotangent
from tapeengine.chad.lowering.patterns import array_types, leaf_types, stored
from tapeengine.chad.types import Array, Named, Product, Sum, is_discrete


class Leaves(Values):
    """How values of types lie in leaves; `types` says what named types stand for."""

    def __init__(self, types, dense=True):
        super().__init__(types, dense)

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
                        for _ in leaf_types(stored(cotangent(t)), self.dense) if not is_discrete(t) else []:
                            next(leaves)
                return found
            case Array(element):
                if stored(cotangent(of)) == Product(()):
                    return {}
                columns = [next(leaves) for _ in array_types(stored(cotangent(of)), self.dense)]
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
