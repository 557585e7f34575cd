"""The directional derivative of a program as a program of the source language: ``(x, dx) -> (f(x), Df(x) dx)``.

Dual numbers on terms: a float becomes a pair of itself and its tangent, and every other constructor is unchanged. The
result is an ordinary program, which can be transformed again: its reverse derivative gives products with Hessians, its
directional derivative third derivatives, and so on.
"""

from __future__ import annotations

import functools
import operator
import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy

from ...errors import UnsupportedError
from ...primitive import is_traced
from ...recursion import deep
from ..language import terms as S
from ..language.kinds import TupleOf
from ..language.sugar import equals, is_extreme
from ..language.terms import NOUGHT, Definition, Let, Literal, Map, Module, Op, Proj, Term, Total, Tuple, Var, lets, lit
from ..language.traverse import Names, all_names, rebuild
from ..language.types import (
    BOOL,
    FLOAT,
    INT,
    Array,
    Float,
    Function,
    Named,
    Product,
    Sum,
    Type,
    is_discrete,
    records_in,
)
from ..language.values import check_discrete, field_of, record_of
from ..primitives import DISCRETE, partial

PAIR = Product((FLOAT, FLOAT))


@deep()
def directional(module: Module) -> Module:
    """Give the program of values and tangents.

    It raises `UnsupportedError` if the program takes or returns functions, members of sums or recursive data, or calls
    a registry primitive.
    """
    return Directional(module).whole()


def filled(of: Type, primal: Any, tangent: Any) -> Any:
    """Give a tangent of the primal's type: zeros for None, and discrete values themselves."""
    return filler(of)(primal, tangent)


@functools.lru_cache
def filler(of: Type) -> Callable[[Any, Any], Any]:
    """Give the function of primals and tangents that fills those of a type, so that elements do not ask it again."""
    if is_discrete(of):
        return filled_discrete
    match of:
        case Float():
            return lambda primal, tangent: 0.0 if tangent is None else as_number(primal, tangent)
        case Product(items, _, fields):
            return functools.partial(filled_parts, fields, list(map(filler, items)))
        case Array(element):
            return functools.partial(filled_array, filler(element))
    return lambda primal, tangent: tangent


#: The classes of numbers whose tangents have their class.
FLOATS = (float, numpy.float64)


def as_number(primal: Any, tangent: Any) -> Any:
    """Give the tangent of a number in the primal's class: numpy may make an array without axes of it."""
    own, of = type(primal), type(tangent)
    if own is of or own not in FLOATS:
        return tangent
    if of is int:
        return own(tangent) if tangent.bit_length() < sys.float_info.max_exp else tangent  # too large for a float
    is_number = of in FLOATS or (of is numpy.ndarray and tangent.dtype == float and tangent.ndim == 0)
    return own(tangent) if is_number else tangent


def filled_discrete(primal: Any, tangent: Any) -> Any:
    """Give a discrete value itself."""
    if tangent is not primal:
        check_discrete(tangent, "a tangent")
    return primal


def filled_parts(fields: Sequence[str], fill: Sequence[Callable[[Any, Any], Any]], primal: Any, tangent: Any) -> Any:
    """Fill a tuple or a record; a record to which nothing is added stays itself."""
    of_primal = [field_of(primal, f) for f in fields] if fields else primal
    given = [None] * len(fill) if tangent is None else tangent
    of_tangent = [field_of(given, f) for f in fields] if fields and tangent is not None else given
    parts = [f(x, t) for f, x, t in zip(fill, of_primal, of_tangent, strict=True)]
    if not fields:
        return tuple(parts)
    is_whole = type(tangent) is type(primal) and all(map(operator.is_, parts, of_tangent))
    return tangent if is_whole else record_of(type(primal), fields, parts)


def filled_array(fill: Callable[[Any, Any], Any], primal: Any, tangent: Any) -> Any:
    """Fill an array or a list."""
    if tangent is None and isinstance(primal, numpy.ndarray):
        return numpy.zeros(primal.shape)
    if (isinstance(tangent, numpy.ndarray) and tangent.dtype != object) or is_traced(tangent):
        return tangent
    rest = [None] * len(primal) if tangent is None else tangent
    return [fill(x, t) for x, t in zip(primal, rest, strict=True)]


def doubled(of: Type) -> Type:
    """Give the type of values with their tangents."""
    match of:
        case Float():
            return PAIR
        case Product(items) if items:
            return Product(tuple(map(doubled, items)))
        case Array(element):
            return Array(doubled(element))
        case Sum(options, name):
            return Sum(tuple(map(doubled, options)), name)
        case Function(params, result):
            return Function(tuple(map(doubled, params)), doubled(result))
        case Named(name):
            raise UnsupportedError(f"second derivatives of programs on recursive data ({name})")
    return of


class Directional:
    """Transforms one module."""

    def __init__(self, module: Module) -> None:
        self.module = module
        self.names = Names(n for d in module.definitions.values() for n in (d.name, *all_names(d.body)))
        for definition in module.definitions.values():
            for param in definition.params:
                self.names(param.name)

    def whole(self) -> Module:
        """Give the module whose main definition takes primals, then tangents."""
        main = self.module.definitions[self.module.main]
        definitions = {name: self.definition(d) for name, d in self.module.definitions.items()}
        tangents = tuple(Var(self.names(f"d_{p.name}"), p.of) for p in main.params)
        each = zip(main.params, tangents, strict=True)
        call = S.Call(main.name, tuple(self.paired(p.of, p, d) for p, d in each), doubled(main.result))
        result = Var(self.names("result"), call.type)
        body = Let(result, call, Tuple((self.part(main.result, result, 0), self.part(main.result, result, 1))))
        name = f"{main.name}_directional"
        kind = None if main.kind is None else TupleOf((main.kind, main.kind))
        definitions[name] = Definition(name, (*main.params, *tangents), body.type, body, kind)
        return Module(name, definitions, {}, self.module.by_numpy, self.module.copies)

    def definition(self, d: Definition) -> Definition:
        """Transform a definition."""
        params = tuple(Var(p.name, doubled(p.of)) for p in d.params)
        return Definition(d.name, params, doubled(d.result), self(d.body))

    def __call__(self, term: Term) -> Term:
        """Transform a term."""
        match term:
            case Var(name, of):
                return Var(name, doubled(of))
            case Literal(_, Float()):
                return Tuple((term, NOUGHT))
            case Op():
                return self.op(term)
            case Total(array, in_pairs=in_pairs) if term.type == FLOAT:
                pairs = Var(self.names("xs"), Array(PAIR))
                sums = tuple(Total(self.each(pairs, lambda x, i=i: Proj(x, i)), in_pairs=in_pairs) for i in range(2))
                return Let(pairs, self(array), Tuple(sums))
            case S.Fold(left, right, body, array) if is_extreme(term):
                pairs, values = Var(self.names("xs"), Array(PAIR)), Var(self.names("values"), Array(FLOAT))
                largest = Var(self.names("m"), FLOAT)
                mean = self.mean_at(pairs, values, largest)
                found = Let(largest, S.Fold(left, right, body, values), Tuple((largest, mean)))
                return Let(pairs, self(array), Let(values, self.each(pairs, lambda x: Proj(x, 0)), found))
            case S.Primitive(name):
                raise UnsupportedError(f"second derivatives of programs that call the primitive {name}")
            case Tuple(items):
                return Tuple(tuple(map(self, items)))
        return rebuild(term, lambda child, _: self(child), doubled)

    def op(self, term: Op) -> Term:
        """Transform a scalar operation: its value, and the sum of the partial derivatives times the tangents."""
        if term.op in DISCRETE:
            args = tuple(Proj(self(a), 0) if a.type == FLOAT else self(a) for a in term.args)
            number = Op(term.op, args, term.of)
            return Tuple((number, NOUGHT)) if term.of == FLOAT else number
        pairs = [Var(self.names("p"), PAIR) for _ in term.args]
        values = tuple(Proj(p, 0) for p in pairs)
        out = Var(self.names("v"), FLOAT)
        tangent: Term = NOUGHT
        for i, pair in enumerate(pairs):
            arg = term.args[i]
            is_constant = isinstance(arg, Literal) or (isinstance(arg, Op) and arg.op in DISCRETE)
            factor = None if is_constant else partial(term, i, values, out)
            if factor is not None:
                product = Op("mul", (factor, Proj(pair, 1)))
                tangent = product if tangent is NOUGHT else Op("add", (tangent, product))
        made = Let(out, Op(term.op, values), Tuple((out, tangent)))
        return lets(zip(pairs, map(self, term.args), strict=True), made)

    def mean_at(self, pairs: Term, values: Term, largest: Term) -> Term:
        """Give the mean of the tangents of all values that equal the largest one."""

        def share(x: Term) -> Term:
            return S.If(Op("eq", (Proj(x, 0), largest), BOOL), Proj(x, 1), NOUGHT)

        count = equals(values, largest, Var(self.names("i"), INT))
        return Op("mul", (Total(self.each(pairs, share)), Op("div", (lit(1.0), count))))

    def each(self, array: Term, f: object) -> Term:
        """Apply a function of terms to each element."""
        assert isinstance(array.type, Array)
        x = Var(self.names("x"), array.type.element)
        return Map((x,), f(x), (array,))  # type: ignore[operator]

    def paired(self, of: Type, value: Term, tangent: Term) -> Term:
        """Pair a value with its tangent, leaf by leaf; discrete leaves have no tangent."""
        if is_discrete(of):
            return value
        match of:
            case Float():
                return Tuple((value, tangent))
            case Product(items):
                each = enumerate(items)
                return Tuple(tuple(self.paired(t, Proj(value, i), Proj(tangent, i)) for i, t in each))
            case Array(element):
                x, dx = Var(self.names("x"), element), Var(self.names("dx"), element)
                return Map((x, dx), self.paired(element, x, dx), (value, tangent))
        raise UnsupportedError("second derivatives of programs on functions and members of unions")

    def part(self, of: Type, pairs: Term, which: int) -> Term:
        """Extract the values (0) or the tangents (1); a discrete leaf is its own tangent."""
        if is_discrete(of) and not records_in(of):
            return pairs
        match of:
            case Float():
                return Proj(pairs, which)
            case Product(items, name):
                parts = tuple(self.part(t, Proj(pairs, i), which) for i, t in enumerate(items))
                return Tuple(parts, of if name else None)
            case Array(element):
                return self.each(pairs, lambda x: self.part(element, x, which))
        raise UnsupportedError("second derivatives of programs that return functions and members of unions")
