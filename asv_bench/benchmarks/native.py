"""Native code: gradients of realistic programs, and the cost of compiling them."""

from typing import Any

from asv_bench import derivatives
from asv_bench.programs.native import PROGRAMS, inputs
from tapeengine import chad, vjp
from tapeengine.chad.backends.tiers import is_installed


@derivatives.preparation
def prepared(name: str, backend: str) -> tuple[Any, Any]:
    """Return a program that has run once, and its arguments; asv does not time this."""
    if backend == "native" and not is_installed():
        raise NotImplementedError
    program, args = chad.program(PROGRAMS[name], backend=backend), inputs(name)
    vjp(program, *args)[1](1.0)
    return program, args


class Gradients(derivatives.Timed):
    """Value and gradient, compiled and without native code."""

    params = (list(PROGRAMS), ["native", "machine"])
    param_names = ("program", "backend")

    def time_gradient(self, name: str, backend: str) -> None:
        program, args = prepared(name, backend)
        vjp(program, *args)[1](1.0)


class First:
    """The first gradient: from the Python function to machine code."""

    params = (list(PROGRAMS),)
    param_names = ("program",)
    number, repeat, warmup_time = 1, 3, 0
    timer = derivatives.CLOCK

    def time_first_gradient(self, name: str) -> None:
        _, args = prepared(name, "native")
        vjp(chad.program(PROGRAMS[name], backend="native"), *args)[1](1.0)
