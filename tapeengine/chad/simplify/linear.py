"""Rules for sums, conditionals, linear operations and arrays of cotangents."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping
from types import MappingProxyType

from tapeengine.chad.primitives import evaluate_op
from tapeengine.chad.simplify.table1 import Rule
from tapeengine.chad.target import (
    Collect,
    LApply,
    LCast,
    LDense,
    LIndex,
    LInject,
    LLambda,
    LProj,
    LScale,
    LScatter,
    LSingle,
    LTotal,
    LTuple,
    Plus,
    Zero,
)
from tapeengine.chad.terms import (
    Apply,
    Build,
    Case,
    If,
    Index,
    Inject,
    Let,
    Literal,
    Op,
    Replicate,
    Size,
    Term,
    Tuple,
    Var,
)
from tapeengine.chad.traverse import substitute
from tapeengine.chad.types import FLOAT, Linear


# case inj_k a of {inj_i x_i -> e_i}  ~>  let x_k = a in e_k
def case_inject(term: Term) -> Term | None:
    """A case on a known option."""
    match term:
        case Case(Inject(k, a, _), branches):
            return Let(branches[k].var, a, branches[k].body)
    return None


# if true then a else b  ~>  a        if false then a else b  ~>  b
def if_literal(term: Term) -> Term | None:
    """A conditional on a known bool."""
    match term:
        case If(Literal(value), a, b):
            return a if value else b
    return None


# op(literals)  ~>  literal
def constant_fold(term: Term) -> Term | None:
    """An operation on literals whose result is an ordinary number."""
    match term:
        case Op(op, args, of) if args and all(isinstance(a, Literal) for a in args):
            try:
                value = evaluate_op(op, [a.value for a in args])  # type: ignore[attr-defined]
            except (ArithmeticError, ValueError):
                return None
            if of == FLOAT and not abs(value) < 1e300:
                return None
            return Literal(value, of)
    return None


# d/da a**n  ~>  n * a**(n - 1)   (n a number other than 0)
def power_partial(term: Term) -> Term | None:
    """The partial of a power with a known exponent."""
    match term:
        case Op("powda", (a, Literal(n))) if n != 0:
            return Op("mul", (Literal(n, FLOAT), a if n == 2 else Op("pow", (a, Literal(n - 1.0, FLOAT)))))
    return None


# lproj_i zero  ~>  zero
def proj_zero(term: Term) -> Term | None:
    """A component of zero."""
    match term:
        case LProj(Zero(), _) | LCast(_, Zero(), _):
            assert isinstance(term.type, Linear)
            return Zero(term.type)
    return None


# lcast_k (linj_k a)  ~>  a
def cast_inject(term: Term) -> Term | None:
    """A cast back from an injection."""
    match term:
        case LCast(k, LInject(i, a, _), _) if i == k:
            return a
    return None


# <zero, ..., zero>  ~>  zero
def tuple_zero(term: Term) -> Term | None:
    """A linear tuple of zeros."""
    match term:
        case LTuple(items) if items and all(isinstance(item, Zero) for item in items):
            assert isinstance(term.type, Linear)
            return Zero(term.type)
        case LSingle(_, Zero()) | LInject(_, Zero(), _) | LScatter(_, Zero()):
            assert isinstance(term.type, Linear)
            return Zero(term.type)
    return None


# (let x = a in d) * r  ~>  let x = a in d * r, and for other linear operations likewise
def linear_let(term: Term) -> Term | None:
    """Move a let out of the linear argument of an operation."""
    match term:
        case LScale() | LTotal() | LIndex() | LCast() | LInject() | Collect() if isinstance(term.term, Let):
            inner = term.term
            return Let(inner.var, inner.bound, dataclasses.replace(term, term=inner.body))
        case Apply(Let(x, a, f), args):
            return Let(x, a, Apply(f, args))
    return None


# <..., let x = a in t, ...>  ~>  let x = a in <..., t, ...>
def tuple_let(term: Term) -> Term | None:
    """Move a let out of a tuple."""
    if isinstance(term, Tuple | LTuple):
        for i, item in enumerate(term.items):
            if isinstance(item, Let):
                items = (*term.items[:i], item.body, *term.items[i + 1 :])
                return Let(item.var, item.bound, dataclasses.replace(term, items=items))
    return None


# (d * r) * s stays; sum (BArray a)  needs its elements; collect (BArray a) n  ~>  a
def collect_dense(term: Term) -> Term | None:
    """A collect of a whole array. (Both sizes are those of one primal.)"""
    match term:
        case Collect(LDense(array), _):
            return array
        case Collect(Zero(), n):
            assert isinstance(term.term.type, Linear)
            return Replicate(n, Zero(term.type.element))  # type: ignore[attr-defined]
    return None


# index (build n (i. t)) k  ~>  let i = k in t        index (replicate n t) k  ~>  t   (k is not negative)
def index_build(term: Term, counting: Collection[str] = ()) -> Term | None:
    """An element of a build or replicate that is not bound to a variable.

    A negative index counts from the end, so the index must be a number or one of `counting`, the indices of loops.
    """
    match term:
        case Index(Build(_, i, body), (Var() | Literal()) as k) if is_count(k, counting):
            return Let(i, k, body)
        case Index(Replicate(_, body), (Var() | Literal()) as k) if is_count(k, counting):
            return body
    return None


def is_count(k: Var | Literal, counting: Collection[str]) -> bool:
    """Tell whether an index is known not to be negative."""
    return k.value >= 0 if isinstance(k, Literal) else k.name in counting


# size (build n (i. t))  ~>  n        size (replicate n t)  ~>  n
def size_build(term: Term) -> Term | None:
    """The size of a build whose size is a variable or number."""
    match term:
        case Size(Build((Var() | Literal()) as n, _, _) | Replicate((Var() | Literal()) as n, _)):
            return n
    return None


# plus (map (i. a) n) (map (j. b) n)  ~>  map (i. plus a b[i/j]) n   (n a variable or number)
def plus_dense(term: Term) -> Term | None:
    """The sum of two arrays that are built over the same indices."""
    match term:
        case Plus(LDense(Build((Var() | Literal()) as n, i, a)), LDense(Build(m, j, b))) if n == m:
            return LDense(Build(n, i, Plus(a, substitute(b, {j.name: i}))))
    return None


# (\\x. d) a  ~>  let x = a in d        zero a  ~>  zero        (tangents of functions)
def tangent_apply(term: Term) -> Term | None:
    """The tangent of a function at an argument."""
    match term:
        case LApply(LLambda(params, body), args):
            for param, arg in reversed(list(zip(params, args, strict=True))):
                body = Let(param, arg, body)
            return body
        case LApply(Zero()):
            assert isinstance(term.type, Linear)
            return Zero(term.type)
    return None


RULES: Mapping[type[Term], tuple[Rule, ...]] = MappingProxyType(
    {
        Plus: (plus_dense,),
        LApply: (tangent_apply,),
        Case: (case_inject,),
        If: (if_literal,),
        Op: (constant_fold, power_partial),
        LProj: (proj_zero,),
        LCast: (cast_inject, proj_zero, linear_let),
        Tuple: (tuple_let,),
        LTuple: (tuple_zero, tuple_let),
        LSingle: (tuple_zero,),
        LInject: (tuple_zero, linear_let),
        LScatter: (tuple_zero,),
        LScale: (linear_let,),
        LTotal: (linear_let,),
        LIndex: (linear_let,),
        Collect: (collect_dense, linear_let),
        Apply: (linear_let,),
        Index: (index_build,),
        Size: (size_build,),
    }
)
