r"""The meaning of linear maps: application in both directions, and transposes (WN Fig. 4 and 5).

(m1 . m2) @ x = m1 @ (m2 @ x)        (m1 + m2) @ x = m1 @ x + m2 @ x      0 @ x = 0    1 @ x = x    S(k) @ x = k * x
(m1 x m2) @ x = (m1 @ x, m2 @ x)     (m1 >< m2) @ (x1, x2) = m1 @ x1 + m2 @ x2
V(m) @ x = build(n, i. m[i] @ x)     H(m) @ x = sum_i m[i] @ x[i]
L(f) @ x = \i. f i @ x               L'(f) @ g = sum_i f i @ g i

(m1 . m2)' = m2' . m1'     (m1 + m2)' = m1' + m2'     0' = 0     1' = 1     S(k)' = S(k)
(m1 x m2)' = m1' >< m2'    (m1 >< m2)' = m1' x m2'    V(v)' = H(map ' v)    H(v)' = V(map ' v)
L(f)' = L'(\i. (f i)')     L'(f)' = L(\i. (f i)')

r @R m = m' @ r, with a rule for each constructor instead of making m'
"""

from __future__ import annotations

from typing import Any

from . import families, vectors
from . import linear_maps as lm


def ignore(count: int) -> None:
    """Count nothing."""


def apply(m: lm.LinearMap, x: Any) -> Any:
    """``m @ x``."""
    match m:
        case lm.One():
            return x
        case lm.Scale(factor):
            return vectors.scale(factor, x)
        case lm.Compose(after, before):
            return apply(after, apply(before, x))
        case lm.Add(one, other):
            return vectors.add(apply(one, x), apply(other, x))
        case lm.VCat(parts):
            return tuple(apply(part, x) for part in parts)
        case lm.HCat(parts):
            return vectors.total(apply(part, vectors.component(x, k)) for k, part in enumerate(parts))
        case lm.Lambda(maps):
            return maps.map(lambda part: apply(part, x))
        case lm.TLambda(maps):
            return None if x is None else families.total(maps, x, apply)
        case lm.Computed():
            return m.apply(x)
        case lm.Transpose(whole):
            return whole.reverse(x, ignore)
    return None


def reverse(r: Any, m: lm.LinearMap, visit: lm.Visit = ignore) -> Any:
    """``r @R m``; ``visit`` is called with the number of constructors visited."""
    visit(1)
    match m:
        case lm.One():
            return r
        case lm.Scale(factor):
            return vectors.scale(factor, r)
        case lm.Compose(after, before):
            return reverse(reverse(r, after, visit), before, visit)
        case lm.Add(one, other):
            return vectors.add(reverse(r, one, visit), reverse(r, other, visit))
        case lm.VCat(parts):
            pairs = enumerate(parts)
            return vectors.total(reverse(vectors.component(r, k), part, visit) for k, part in pairs)
        case lm.HCat(parts):
            return tuple(reverse(r, part, visit) for part in parts)
        case lm.Lambda(maps):
            return None if r is None else families.total(r, maps, lambda d, part: reverse(d, part, visit))
        case lm.TLambda(maps):
            return maps.map(lambda part: reverse(r, part, visit))
        case lm.Computed():
            return m.reverse(r, visit)
        case lm.Transpose(whole):
            return whole.apply(r)
    return None


def transpose(m: lm.LinearMap) -> lm.LinearMap:
    """``m'``."""
    match m:
        case lm.Compose(after, before):
            return lm.Compose(transpose(before), transpose(after))
        case lm.Add(one, other):
            return lm.Add(transpose(one), transpose(other))
        case lm.VCat(parts):
            return lm.HCat(tuple(map(transpose, parts)))
        case lm.HCat(parts):
            return lm.VCat(tuple(map(transpose, parts)))
        case lm.Lambda(maps):
            return lm.TLambda(maps.map(transpose))
        case lm.TLambda(maps):
            return lm.Lambda(maps.map(transpose))
        case lm.Computed():
            return lm.Transpose(m)
        case lm.Transpose(whole):
            return whole
    return m
