"""Checks the block form of a rule: on tangents along a new first axis it must equal the rule on each of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..primitive import Rule
from ..primitive.spaces import Space, space_of
from .case import Case
from .checks import ROUNDINGS

_COLUMNS = 4  # tangents in a block, one of them zero; no sample has this length along all its axes


def block_messages(case: Case, position: int, generator: np.random.Generator) -> Iterator[str]:
    """Compare the block form of an argument's jvp rule, if there is one, with the rule on each tangent."""
    rule = case.primitive.jvp_rules[case.rule_index(position)]
    space, out = space_of(case.args[position]), case.out_space
    if rule is None or rule.block is None:
        return
    if not isinstance(space, Space) or not isinstance(out, Space):
        yield "the rule has a block form, which needs arrays or numbers, but the argument or the value is a structure"
        return
    tangents = [space.random(generator) for _ in range(_COLUMNS - 1)] + [space.zeros()]
    expected = np.stack([case.apply(rule, t, position) for t in tangents])
    with np.errstate(all="ignore"):
        found = _applied(case, rule, np.stack(tangents), position)
    yield from _differences(found, expected)


def _applied(case: Case, rule: Rule, block: Any, position: int) -> Any:
    kept = rule.keep(case.args, case.static, case.out, position)
    assert rule.block is not None
    if not case.primitive.variadic:
        return rule.block(block, *kept)
    spaces = [space_of(arg) for arg in case.args]
    zeros = [np.zeros((_COLUMNS, *space.shape), space.dtype) for space in spaces if isinstance(space, Space)]
    return rule.block([*zeros[:position], block, *zeros[position + 1 :]], *kept[1:])


def _differences(found: Any, expected: Any) -> Iterator[str]:
    if not isinstance(found, np.ndarray) or found.shape != expected.shape:
        yield f"the block form must give an array of shape {expected.shape}, not {_kind(found)}"
        return
    if np.any((found[-1] != 0) & (expected[-1] == 0)):
        yield "the block form does not send a tangent of zero to zero"
    scale = np.abs(expected).max(initial=0.0, where=np.isfinite(expected))
    tolerance = ROUNDINGS * np.finfo(expected.dtype).eps * max(scale, 1e-300)
    if not np.allclose(found, expected, rtol=0.0, atol=tolerance, equal_nan=True):
        error = np.abs(found - expected).max(initial=0.0)
        yield f"the block form differs from the rule on single tangents by {error:.3g} of {scale:.3g}"


def _kind(found: Any) -> str:
    return f"one of shape {found.shape}" if isinstance(found, np.ndarray) else f"a {type(found).__name__}"
