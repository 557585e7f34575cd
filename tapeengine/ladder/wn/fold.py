r"""The derivative of a fold as one linear map (WN section 8, Fig. 12 to 15).

    fold (\t. e) acc v : a                                       t : (a, b), v : Vec b
    N_s[fold (\t. e) acc v] = lmFold (\t. e) (\t. e') acc v . (1_s x (N[acc] x N[v]))
                              e' : (s, (a, b)) -o a is N[e], with dx . (1 >< 0) for each dx, and 0 >< 1 for dt
    lmFold (\t. e) (\t. e') acc v : (s, (a, Vec b)) -o a

    lmFold f f' acc v @ (ds, (dacc, dv)) = FFold: (0, acc, dacc) to (i + 1, f t, f' t @ (ds, (dacc, dv[i])))
                              where t = (acc, v[i]), up to i = n
    dr @R lmFold f f' acc v = RFold, from the last element down: with the t = (acc, v[i]) of the forward direction and
                              (f_ds, (f_dacc, f_db)) = r_dacc @R f' t, to (r_ds + f_ds, r_dv + deltaVec i f_db, f_dacc)

RFold adds a one-hot vector for each element, so its cost is quadratic in their number.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import vectors
from .application import apply, reverse
from .linear_maps import Computed, LinearMap, Visit


class FoldMap(Computed):
    """``lmFold f slope acc v``."""

    f: Callable[[Any], Any]
    slope: Callable[[Any], LinearMap]
    acc: Any
    v: tuple[Any, ...]

    def apply(self, x: Any) -> Any:
        """FFold."""
        ds, rest = vectors.pair(x)
        acc, (dacc, dv) = self.acc, vectors.pair(rest)
        for i, b in enumerate(self.v):
            dacc = apply(self.slope((acc, b)), (ds, (dacc, vectors.component(dv, i))))
            acc = self.f((acc, b))
        return dacc

    def reverse(self, r: Any, visit: Visit) -> Any:
        """RFold; a list replaces the stack of its recursion."""
        acc, ts = self.acc, []
        for b in self.v:
            ts.append((acc, b))
            acc = self.f((acc, b))
        ds, dv, dacc = None, None, r
        for i in range(len(ts) - 1, -1, -1):
            f_ds, rest = vectors.pair(reverse(dacc, self.slope(ts[i]), visit))
            dacc, f_db = vectors.pair(rest)
            visit(len(ts))
            delta = tuple(f_db if k == i else None for k in range(len(ts)))
            ds, dv = vectors.add(ds, f_ds), vectors.add(dv, delta)
        return ds, (dacc, dv)
