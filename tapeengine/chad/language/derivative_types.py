"""The types of primals, tangents and cotangents of a type (CHAD 7.4 and 7.5; EC Fig. 2, section 7, appendix B)."""

from __future__ import annotations

from collections.abc import Callable

from .types import (
    Array,
    Copower,
    Float,
    Function,
    LArray,
    LFunction,
    Linear,
    LNamed,
    LProduct,
    LReal,
    LSum,
    LUnit,
    Named,
    Product,
    Sum,
    Type,
    has_functions,
    remembered,
    with_parts,
)


# D[R]2 = R   D[1]2 = 1   D[t * s]2 = D[t]2 * D[s]2   D[t + s]2 = D[t]2 + D[s]2   D[Array t]2 = Bag (Int * D[t]2)
# D[t -> s]2 = !D[t]1 (x) D[s]2
@remembered
def cotangent(type_: Type) -> Linear:
    """Give the type of cotangents of a type, D[type]2 of reverse mode."""
    if isinstance(type_, Function):
        return Copower(Product(tuple(map(reverse_primal, type_.params))), cotangent(type_.result))
    return _linear(type_, cotangent)


# D[t -> s]2 = D[t]1 -> D[s]2, otherwise as in reverse mode
@remembered
def tangent(type_: Type) -> Linear:
    """Give the type of tangents of a type, D[type]2 of forward mode."""
    if isinstance(type_, Function):
        return LFunction(tuple(map(forward_primal, type_.params)), tangent(type_.result))
    return _linear(type_, tangent)


def _linear(type_: Type, recurse: Callable[[Type], Linear]) -> Linear:
    match type_:
        case Float():
            return LReal()
        case Product(()):
            return LUnit()
        case Product(items):
            return LProduct(tuple(map(recurse, items)))
        case Sum(options):
            return LSum(tuple(map(recurse, options)))
        case Named(name):
            return LNamed(name)
        case Array(element):
            return LArray(recurse(element))
    return LUnit()


# D[t -> s]1 = D[t]1 -> D[s]1 * (D[s]2 -o D[t]2)
@remembered
def reverse_primal(type_: Type) -> Type:
    """Give the type of primals in reverse mode, D[type]1: the type itself if it contains no functions."""
    if not isinstance(type_, Function):
        return with_parts(type_, reverse_primal) if has_functions(type_) else type_
    back = Function((cotangent(type_.result),), LProduct(tuple(map(cotangent, type_.params))))
    return Function(tuple(map(reverse_primal, type_.params)), Product((reverse_primal(type_.result), back)))


# D[t -> s]1 = D[t]1 -> D[s]1 * (D[t]2 -o D[s]2)
@remembered
def forward_primal(type_: Type) -> Type:
    """Give the type of primals in forward mode, D[type]1."""
    if not isinstance(type_, Function):
        return with_parts(type_, forward_primal) if has_functions(type_) else type_
    ahead = Function((LProduct(tuple(map(tangent, type_.params))),), tangent(type_.result))
    return Function(tuple(map(forward_primal, type_.params)), Product((forward_primal(type_.result), ahead)))
