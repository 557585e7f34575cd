"""Random expression DAGs: straight-line programs in which each step uses any earlier values, drawn by hypothesis."""

from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

UNARY = ("sin", "cos", "tanh", "atan", "expit", "softplus", "relu", "fabs", "erf", "asinh")
BINARY = ("add", "sub", "mul", "div", "maximum", "hypot", "logaddexp", "atan2", "where")
CONSTANT = ("plus", "times", "minus_from", "divided_into", "power")


@dataclass(frozen=True)
class Step:
    """One step: an operation on earlier values, or on one of them and a constant."""

    op: str
    left: int
    right: int
    constant: float


def apply(m: Any, step: Step, a: Any, b: Any) -> Any:
    """The value of one step."""
    c = step.constant
    match step.op:
        case "add":
            return a + b
        case "sub":
            return a - b
        case "mul":
            return a * b
        case "div":
            return a / (1.0 + b * b)
        case "where":
            return a * b if a > b else a - b
        case "plus":
            return a + c
        case "times":
            return c * a
        case "minus_from":
            return c - a
        case "divided_into":
            return c / (a * a + 0.5)
        case "power":
            return (a * a + 0.5) ** c
    return getattr(m, step.op)(a, b) if step.op in BINARY else getattr(m, step.op)(a)


@dataclass(frozen=True)
class RandomProgram:
    """A program with some inputs; its results are the last few values."""

    inputs: tuple[float, ...]
    steps: tuple[Step, ...]
    results: int

    def __call__(self, m: Any, *xs: Any) -> list[Any]:
        values = list(xs)
        for step in self.steps:
            values.append(apply(m, step, values[step.left % len(values)], values[step.right % len(values)]))
        return values[-self.results :]

    def is_regular(self) -> bool:
        """Whether no step is close to a kink or a branch cut, or beyond the accuracy of differences."""
        import forward_mode

        values: list[float] = list(self.inputs)
        for step in self.steps:
            a, b = values[step.left % len(values)], values[step.right % len(values)]
            kinks = {"relu": abs(a), "fabs": abs(a), "maximum": abs(a - b), "where": abs(a - b)}
            kinks |= {"hypot": abs(a) + abs(b), "atan2": abs(a) + max(b, 0.0)}
            if kinks.get(step.op, 1.0) < 0.05:
                return False
            values.append(apply(forward_mode, step, a, b))
            if not abs(values[-1]) < 1e3:
                return False
        return True


floats = st.floats(-3.0, 3.0).map(lambda x: round(x, 3))
steps = st.builds(Step, st.sampled_from(UNARY + BINARY + CONSTANT), st.integers(0, 50), st.integers(0, 50), floats)
programs = st.builds(
    RandomProgram,
    st.lists(floats, min_size=1, max_size=4).map(tuple),
    st.lists(steps, min_size=1, max_size=30).map(tuple),
    st.integers(1, 3),
)
