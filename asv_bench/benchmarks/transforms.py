"""The transforms: single directions, whole matrices, checkpoints, and the numbers of runs of programs and rules."""

from asv_bench import derivatives, limits, transformed
from asv_bench.measure import ratio
from asv_bench.targets import transforms

Figures = limits.figures(transforms.TARGETS)

along = derivatives.preparation(transformed.along)
jacobian_of = derivatives.preparation(transformed.jacobian_of)


class Along(derivatives.Timed):
    """A transform along one tangent or cotangent."""

    params = (list(transformed.ALONG), list(transformed.LINES))
    param_names = ("transform", "program")

    def time_transform(self, transform: str, name: str) -> None:
        along(transform, name)()

    def track_over_gradient(self, transform: str, name: str) -> float:
        return ratio(transformed.along(transform, name), transformed.along("vjp", name), sample=0.01)

    track_over_gradient.unit = "x gradient"  # type: ignore[attr-defined]

    def peakmem_transform(self, transform: str, name: str) -> None:
        along(transform, name)()


class Matrices(derivatives.Timed):
    """Whole Jacobians and Hessians."""

    params = (list(transformed.JACOBIANS),)
    param_names = ("matrix",)

    def time_matrix(self, name: str) -> None:
        jacobian_of(name)()

    def peakmem_matrix(self, name: str) -> None:
        jacobian_of(name)()


class Counts:
    """The number of runs of a program, and of calls of its rules."""

    params = (sorted(transformed.PROBED),)
    param_names = ("transform",)

    def track_runs(self, name: str) -> int:
        return transformed.probed(name)["runs"]

    def track_rule_calls(self, name: str) -> int:
        found = transformed.probed(name)
        return found["vjp"] + found["jvp"]
