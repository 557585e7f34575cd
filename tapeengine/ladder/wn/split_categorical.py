"""Split passes on the categorical language (WN section 6.1).

    revf$c : S -> (T, X)        revr$c : (X, dT) -> dS        X is the output of the forward pass for the reverse pass
    revf$(c1; c2) s = let (r, x1) = revf$c1 s in let (t, x2) = revf$c2 r in (t, (x1, x2))
    revr$(c1; c2) ((x1, x2), dt) = revr$c1 (x1, revr$c2 (x2, dt))

    c               X                          revr$c (X, dt)
    K(k)            ()                         0
    P[i1, ..., im]  the width of s             the dt's at i1, ..., im, and 0 elsewhere
    F(op)           the partials               each times dt
    (c1, ..., cn)   (X1, ..., Xn)              the sum of all revr$ci (Xi, dti)
    IF(c1, c2, c3)  which one, and its X       that of the branch
    L(c1, c2)       (X1, X2)                   let (ds, dr) = revr$c2 (X2, dt) in ds + revr$c1 (X1, dr)
    B(c1, c2)       X for each element         the sum of all ds, where (ds, _) = revr$c2 (Xi, dt[i])

A P makes a tuple as wide as its context. Pruned contexts contain only the variables that are used.
"""

from __future__ import annotations

from typing import Any

from . import categorical as C
from . import primitives, vectors


class Split:
    """The two passes.

    Attributes
    ----------
    cells : int
        Components of tuples that the reverse pass made for P.
    computed : int
        Functions that were computed.
    visited : int
        Constructors that the reverse pass visited.
    """

    def __init__(self) -> None:
        self.cells = self.computed = self.visited = 0

    def forward(self, c: C.Categorical, s: Any) -> tuple[Any, Any]:
        """``revf$c s``."""
        match c:
            case C.Constant(constant):
                return constant, ()
            case C.Pick(index):
                return s[index], len(s)
            case C.Prune(indices):
                return tuple(s[i] for i in indices), len(s)
            case C.Function(name):
                self.computed += 1
                return primitives.forward(name, s)
            case C.Sequence(first, second):
                r, x1 = self.forward(first, s)
                t, x2 = self.forward(second, r)
                return t, (x1, x2)
            case C.Pair(parts):
                both = [self.forward(part, s) for part in parts]
                return tuple(t for t, _ in both), tuple(x for _, x in both)
            case C.Choose(condition, then, orelse):
                chosen = then if self.forward(condition, s)[0] else orelse
                t, x = self.forward(chosen, s)
                return t, (chosen, x)
            case C.With(bound, body):
                r, x1 = self.forward(bound, s)
                t, x2 = self.forward(body, (*s, r))
                return t, (x1, x2)
            case C.Build(size, body):
                both = [self.forward(body, (*s, i)) for i in range(self.forward(size, s)[0])]
                return tuple(t for t, _ in both), tuple(x for _, x in both)
        raise ValueError(f"{c} is not in the categorical language")

    def reverse(self, c: C.Categorical, x: Any, dt: Any) -> Any:
        """``revr$c (x, dt)``; a zero gives only zeros."""
        self.visited += 1
        if dt is None:
            return None
        match c:
            case C.Pick(index):
                return self.spread(x, {index: dt})
            case C.Prune(indices):
                return self.spread(x, dict(zip(indices, dt, strict=True)))
            case C.Function(name):
                return primitives.reverse(name, x, dt)
            case C.Sequence(first, second):
                return self.reverse(first, x[0], self.reverse(second, x[1], dt))
            case C.Pair(parts):
                return vectors.total(self.reverse(part, x[k], dt[k]) for k, part in enumerate(parts))
            case C.Choose():
                return self.reverse(x[0], x[1], dt)
            case C.With(bound, body):
                whole = self.reverse(body, x[1], dt)
                return None if whole is None else vectors.add(whole[:-1], self.reverse(bound, x[0], whole[-1]))
            case C.Build(_, body):
                wholes = [self.reverse(body, x[k], dt[k]) for k in range(len(x))]
                return vectors.total(whole and whole[:-1] for whole in wholes)
        return None

    def spread(self, width: int, parts: dict[int, Any]) -> tuple[Any, ...]:
        """A tuple with the given components, and zeros elsewhere."""
        self.cells += width
        return tuple(parts.get(k) for k in range(width))
