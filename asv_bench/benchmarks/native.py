"""Native code: gradients of programs as users write them, and what compiling them costs."""

from asv_bench.programs.native import PROGRAMS, inputs
from tapeengine import chad, vjp
from tapeengine.chad.backends.tiers import is_installed


class Gradients:
    """Value and gradient, compiled, and by what runs without it."""

    params = (list(PROGRAMS), ["native", "machine"])
    param_names = ("program", "backend")

    def setup(self, name: str, backend: str) -> None:
        if backend == "native" and not is_installed():
            raise NotImplementedError
        self.program, self.args = chad.program(PROGRAMS[name], backend=backend), inputs(name)
        self.time_gradient(name, backend)

    def time_gradient(self, name: str, backend: str) -> None:
        vjp(self.program, *self.args)[1](1.0)


class First:
    """The first gradient: from the Python function to machine code."""

    params = (list(PROGRAMS),)
    param_names = ("program",)
    number, repeat, warmup_time = 1, 3, 0

    def setup(self, name: str) -> None:
        if not is_installed():
            raise NotImplementedError
        self.args = inputs(name)

    def time_first_gradient(self, name: str) -> None:
        vjp(chad.program(PROGRAMS[name], backend="native"), *self.args)[1](1.0)
