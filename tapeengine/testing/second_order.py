"""Order 2 of a primitive: checks its rules as programs of their first parameter and the arguments."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..engine import Engine
from ..primitive import Rule, is_traced
from ..primitive.spaces import leaves, space_of
from .case import Case
from .programs import report_vjp


def untraced(engine: Engine, case: Case) -> str | None:
    """Name a kind of argument that cannot be traced through primitives here, so that order 2 cannot be checked."""
    for leaf in leaves(tuple(case.args[position] for position in case.differentiated())):
        if not space_of(leaf).is_discrete and not _traces(engine, leaf):
            return f"order 2 was not checked: this engine does not trace {type(leaf).__name__} through primitives"
    return None


def second_order_messages(engine: Engine, case: Case, position: int, seed: int) -> Iterator[str]:
    """Differentiate the rules of one argument with respect to their first parameter and all arguments."""
    derivative = case.derivative(position)
    index = case.rule_index(position)
    generator = np.random.default_rng((seed, position))
    for name, rule, space in (
        ("jvp", case.primitive.jvp_rules[index], derivative.space),
        ("vjp", case.primitive.vjp_rules[index], derivative.out_space),
    ):
        assert rule is not None
        inputs = (space.random(generator), *(case.args[at] for at in case.differentiated()))
        for failure in report_vjp(
            _rule_program(case, position, rule), *inputs, engine=engine, seed=seed, order=1
        ).failures:
            yield f"the derivative of the {name} rule fails the check {failure.check}: {failure.message}"


def _rule_program(case: Case, position: int, rule: Rule) -> Callable[..., Any]:
    """A rule as a function of its first parameter and the differentiated arguments."""
    places = list(case.differentiated())

    def program(first: Any, *values: Any) -> Any:
        args = list(case.args)
        for place, value in zip(places, values, strict=True):
            args[place] = value
        out = case.primitive(*args, **case.static) if _needs_out(rule) else None
        return rule(first, rule.keep(args, case.static, out, position))

    return program


def _needs_out(rule: Rule) -> bool:
    return any(kind in ("out", "out_space") for kind, _ in rule.needs)


def _traces(engine: Engine, leaf: Any) -> bool:
    seen = []
    try:
        engine.vjp(lambda x: seen.append(is_traced(x)), leaf)
    except Exception:  # an engine without arrays may refuse the leaf with any error
        return False
    return bool(seen[0])
