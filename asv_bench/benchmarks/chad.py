"""The CHAD frontend: derivatives of typed programs, their transformation, their size, and the theorem's steps."""

from functools import lru_cache, partial

from asv_bench import called, derivatives, limits, typed_cases
from asv_bench.measure import ratio
from asv_bench.targets import chad as targets
from asv_bench.typed_cases import CASES, SCALARS

Figures = limits.figures(targets.TARGETS)

NAMES = list(CASES)

reverse = derivatives.preparation(lambda name: typed_cases.reverse(CASES[name], CASES[name].size))
forward = derivatives.preparation(lambda name: typed_cases.forward(CASES[name], CASES[name].small))
counts = lru_cache(maxsize=1)(lambda name: typed_cases.counts(CASES[name]))
theorem = lru_cache(maxsize=1)(lambda name: typed_cases.theorem(*SCALARS[name]))


class Derivatives(derivatives.Timed):
    """Value with cotangents, and value with tangent on small inputs."""

    params = (NAMES,)
    param_names = ("program",)

    def time_vjp(self, name: str) -> None:
        reverse(name)()

    def time_jvp_small(self, name: str) -> None:
        forward(name)()

    def peakmem_vjp(self, name: str) -> None:
        reverse(name)()

    def track_ratio(self, name: str) -> float:
        case = CASES[name]
        return ratio(reverse(name), partial(case.base, *case.inputs(case.size)))

    track_ratio.unit = "x by hand"  # type: ignore[attr-defined]


class Transformation(derivatives.Timed):
    """From the Python function to the text of its derivative."""

    params = (NAMES,)
    param_names = ("program",)

    def time_parse(self, name: str) -> None:
        typed_cases.parsed(CASES[name])

    def time_transform(self, name: str) -> None:
        typed_cases.transformed(CASES[name])

    def time_generate(self, name: str) -> None:
        typed_cases.generated_text(CASES[name])

    def peakmem_generate(self, name: str) -> None:
        typed_cases.generated_text(CASES[name])

    def track_lines(self, name: str) -> int:
        return int(counts(name)["lines"])

    def track_terms(self, name: str) -> int:
        return int(counts(name)["derivative_terms"])

    def track_terms_over_program(self, name: str) -> float:
        return float(counts(name)["derivative_terms"] / counts(name)["terms"])

    def track_steps_over_program(self, name: str) -> float:
        return float(counts(name)["derivative_steps"] / counts(name)["steps"])


class Theorem:
    """EC section 6: the steps of a gradient divided by the theorem's bound; must be below 1."""

    params = (list(SCALARS),)
    param_names = ("program",)

    def track_gradient_steps(self, name: str) -> int:
        return int(theorem(name)["gradient_steps"])

    def track_steps_over_bound(self, name: str) -> float:
        return float(theorem(name)["gradient_steps"] / theorem(name)["bound"])


class Called:
    """Derivatives of functions that call programs, over those on dual numbers."""

    params = (list(called.TRANSFORMS), list(called.CASES))
    param_names = ("transform", "program")

    def track_ratio(self, transform: str, name: str) -> float:
        return called.over_duals(transform, name)

    track_ratio.unit = "x dual numbers"  # type: ignore[attr-defined]
