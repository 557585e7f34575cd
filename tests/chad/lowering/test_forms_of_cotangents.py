"""Cotangents of arrays in all forms (dense, of one element, scattered, sums, zero) are collected, added and summed."""

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tapeengine.chad.intermediate.text import compiled
from tapeengine.chad.language.target import (
    Collect,
    LDense,
    LIndex,
    LScale,
    LScatter,
    LSingle,
    LTotal,
    LTuple,
    Plus,
    Zero,
)
from tapeengine.chad.language.terms import Build, Definition, Elements, Index, Module, Op, Size, Term, Var, lit
from tapeengine.chad.language.types import FLOAT, INT, Array, LArray, LProduct, LReal
from tapeengine.chad.lowering.passes import lower_value

REAL, PAIR = LReal(), LProduct((LReal(), LReal()))
v, xs, i = Var("v", REAL), Var("xs", Array(FLOAT)), Var("i", INT)
V, XS = 0.75, np.array([1.0, -2.0, 0.5, 3.0])


def number(factor: Term) -> Term:
    return LScale(v, factor)


def pair(factor: Term) -> Term:
    return LTuple((LScale(v, factor), LScale(v, Op("mul", (factor, factor)))))


def at(k: Any) -> Term:
    return Index(xs, lit(k) if isinstance(k, int) else k)


def row(factor: Term) -> Term:
    return LDense(Elements(pair(factor).items, REAL))  # type: ignore[attr-defined]


Element = Callable[[Term], Term]


def dense(of: Element) -> Term:
    return LDense(Build(Size(xs), i, of(at(i))))


def chosen(of: Element) -> Term:
    """Two elements at the index 2, one at 0."""
    indices = Elements(tuple(map(lit, (2, 0, 2))), INT)
    return LScatter(indices, LDense(Build(Size(indices), i, of(at(i)))))


#: Forms of a cotangent of `xs`, and the factors of `v` in its elements.
FORMS: dict[str, tuple[Callable[[Element], Term], list[list[float]]]] = {
    "zero": (lambda of: Zero(LArray(of(lit(1.0)).type)), [[], [], [], []]),
    "dense": (dense, [[x] for x in XS.tolist()]),
    "listed": (
        lambda of: LDense(Elements(tuple(of(at(k)) for k in (3, 2, 1, 0)), of(lit(1.0)).type)),
        [[x] for x in XS[::-1].tolist()],
    ),
    "single": (lambda of: LSingle(lit(1), of(at(3))), [[], [3.0], [], []]),
    "scattered": (chosen, [[-2.0], [], [1.0, 0.5], []]),
    "two elements": (
        lambda of: Plus(LSingle(lit(0), of(at(1))), LSingle(lit(0), of(at(2)))),
        [[-2.0, 0.5], [], [], []],
    ),
    "an element of an array": (
        lambda of: Plus(dense(of), LSingle(lit(3), of(at(0)))),
        [[1.0], [-2.0], [0.5], [3.0, 1.0]],
    ),
}
#: The forms whose elements can be read.
DENSE = ("dense", "listed", "an element of an array")


def expected(form: str, of: Element) -> Any:
    """The elements in numpy's numbers; those of pairs in two columns."""
    powers = (1,) if of is number else (1, 2)
    return np.array([[V * sum(f**n for f in factors) for n in powers] for factors in FORMS[form][1]])


def outputs(term: Term) -> list[Any]:
    module = Module("f", {"f": Definition("f", (v, xs), term.type, term)})
    lowered = lower_value(module)
    return list(compiled(lowered.program)["f"](V, XS.tolist()))


@pytest.mark.parametrize("of", [number, pair])
@pytest.mark.parametrize(("a", "b"), list(itertools.product(FORMS, FORMS)))
def test_sums_of_two_forms(a: str, b: str, of: Element) -> None:
    both = Plus(FORMS[a][0](of), FORMS[b][0](of))
    wanted = expected(a, of) + expected(b, of)
    np.testing.assert_allclose(np.transpose(outputs(Collect(both, Size(xs)))), wanted)
    np.testing.assert_allclose(outputs(LTotal(both)), wanted.sum(axis=0))
    if not {a, b}.isdisjoint(DENSE):
        found = [outputs(LIndex(both, lit(k))) for k in range(len(XS))]
        np.testing.assert_allclose(found, wanted)


@pytest.mark.parametrize(("a", "b"), list(itertools.product(DENSE, FORMS)))
def test_sums_of_two_forms_with_rows(a: str, b: str) -> None:
    both = Plus(FORMS[a][0](row), FORMS[b][0](row))
    wanted = expected(a, row) + expected(b, row)
    np.testing.assert_allclose(outputs(Collect(both, Size(xs)))[0], wanted)
    np.testing.assert_allclose(outputs(LTotal(both))[0], wanted.sum(axis=0))
    np.testing.assert_allclose([outputs(LIndex(both, lit(k)))[0] for k in range(len(XS))], wanted)
