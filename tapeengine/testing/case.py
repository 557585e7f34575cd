"""A primitive at one sample: its value, its rules on plain values, and its names in messages."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..primitive import Primitive, Rule, Sample
from ..primitive.spaces import space_of
from .derivative import Derivative, copied


class Case:
    """A primitive, one drawn sample, and the value of the primitive there.

    Every call gets new copies of the arguments and of the value. So a rule that writes into them is found by the check
    for this, and does not affect other checks.
    """

    def __init__(self, primitive: Primitive, position: int, sample: Sample, seed: int) -> None:
        self.primitive = primitive
        self.sample = sample
        self.where = f"sample {position}, seed {seed}"
        self.args, static = primitive.bind(sample.args, sample.static)
        self.static = {**primitive.static_defaults, **static}
        with np.errstate(all="ignore"):
            self.out = self.value(copied(self.args))
        self.out_space = space_of(self.out)

    def value(self, args: Any) -> Any:
        """The primal's value."""
        return self.primitive.primal(*args, **self.static)

    def rule_index(self, position: int) -> int:
        """The index of an argument's rules; a variadic primitive has one rule for all arguments."""
        return 0 if self.primitive.variadic else position

    def differentiated(self) -> Iterator[int]:
        """The positions of the arguments that have rules and continuous values."""
        for position, arg in enumerate(self.args):
            index = self.rule_index(position)
            refused = self.primitive.refusals is not None and self.primitive.refusals[index] is not None
            if self.primitive.vjp_rules[index] is not None and not refused and not space_of(arg).is_discrete:
                yield position

    def name(self, position: int) -> str:
        """The name of an argument."""
        return f"{self.primitive.args[0]}[{position}]" if self.primitive.variadic else self.primitive.args[position]

    def apply(self, rule: Rule | None, first: Any, position: int, guard: Callable[[Any], Any] = copied) -> Any:
        """Apply a rule to a tangent or cotangent, with copies, made by `guard`, of the values that it keeps."""
        assert rule is not None
        kept = rule.keep(guard(self.args), self.static, guard(self.out), position)
        with np.errstate(all="ignore"):
            return rule(first, kept)

    def derivative(self, position: int, guard: Callable[[Any], Any] = copied) -> Derivative:
        """The derivative for one argument, with the others constant; rules get their values through `guard`."""
        index = self.rule_index(position)
        vjp, jvp = self.primitive.vjp_rules[index], self.primitive.jvp_rules[index]
        return Derivative(
            argument=self.name(position),
            point=self.args[position],
            space=space_of(self.args[position]),
            out_space=self.out_space,
            evaluate=lambda moved: self.value((*self.args[:position], moved, *self.args[position + 1 :])),
            jvp=lambda t: self.apply(jvp, t, position, guard),
            vjp=lambda ct: self.apply(vjp, ct, position, guard),
            rtol=self.sample.rtol,
        )
