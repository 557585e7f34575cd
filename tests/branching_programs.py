"""Random programs that branch, count, index and loop depending on values, and catch exceptions."""

import math
from typing import Any

from hypothesis import strategies as st

import tapeengine as te

Expression = tuple[Any, ...]

NUMBER = st.floats(-3, 3).map(lambda x: round(x, 2))
LEAF = st.one_of(st.tuples(st.just("x"), st.integers(0, 2)), st.tuples(st.just("number"), NUMBER))


def deeper(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.one_of(
        st.tuples(st.sampled_from(["+", "-", "*", "/", "max", "atan2"]), inner, inner),
        st.tuples(st.sampled_from(["sin", "exp", "abs", "neg"]), inner),
        st.tuples(st.just("if"), st.sampled_from(["<", "<=", "==", "bool"]), inner, inner, inner, inner),
        st.tuples(st.just("loop"), st.sampled_from([int, math.floor, round]), inner, inner),
        st.tuples(st.just("while"), inner, inner),
        st.tuples(st.just("try"), inner, inner),
        st.tuples(st.just("list"), inner, inner, inner),
    )


EXPRESSION = st.recursive(LEAF, deeper, max_leaves=14)


def is_taken(how: str, a: Any, b: Any) -> bool:
    return bool({"<": lambda: a < b, "<=": lambda: a <= b, "==": lambda: a == b, "bool": lambda: a}[how]())


def evaluated(e: Expression, xs: Any) -> Any:
    """The value of a random program, which branches, counts and indexes depending on values, and catches exceptions."""
    kind, *parts = e
    if kind == "x":
        return xs[parts[0]]
    if kind == "number":
        return parts[0]
    if kind == "if":
        how, a, b, yes, no = parts
        return evaluated(yes if is_taken(how, evaluated(a, xs), evaluated(b, xs)) else no, xs)
    if kind == "loop":
        total = evaluated(parts[2], xs)
        for k in range(min(abs(parts[0](evaluated(parts[1], xs))), 4)):
            total = total * 0.5 + k
        return total
    if kind == "while":
        y, steps = evaluated(parts[0], xs), 0
        while abs(y) > 0.5 and steps < 5:
            y, steps = y * 0.4 + 0.01, steps + 1
        return y * evaluated(parts[1], xs)
    if kind == "try":
        try:
            return evaluated(parts[0], xs)
        except (ZeroDivisionError, OverflowError, ValueError):
            return evaluated(parts[1], xs)
    if kind == "list":
        return [evaluated(part, xs) for part in parts[:2]][int(evaluated(parts[2], xs)) % 2]
    a = evaluated(parts[0], xs)
    if len(parts) == 1:
        return {"sin": te.math.sin, "exp": te.math.exp, "abs": abs, "neg": lambda y: -y}[kind](a)
    b = evaluated(parts[1], xs)
    operations = {"+": lambda: a + b, "-": lambda: a - b, "*": lambda: a * b, "/": lambda: a / b}
    return operations.get(kind, lambda: max(a, b) if kind == "max" else te.math.atan2(a, b))()
