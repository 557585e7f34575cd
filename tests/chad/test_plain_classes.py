"""What a plain class cannot be in a program is refused, and says why."""

from typing import ClassVar

import pytest
from chad.everyday_classes import Body
from chad.written_functions import function_of

import tapeengine as te
from tapeengine.chad.backends.tiers import is_installed
from tapeengine.errors import StructureError, TapeEngineError


class Half:
    def __init__(self, x):
        self.x = x
        if x > 0.0:
            self.y = x


class Whole:
    def __init__(self, x):
        self.x = x
        self.reset()

    def reset(self):
        self.x = 0.0


class Guarded:
    def __init__(self, x):
        self.x = x

    def __setattr__(self, name, value):
        object.__setattr__(self, name, 2.0 * value)


class Computed:
    def __init__(self, x):
        self.x = x

    def __getattr__(self, name):
        return 1.0


class Default:
    x = 1.0

    def __init__(self, x):
        self.x = x


class Any:
    def __init__(self, *xs):
        self.xs = xs


class Derived(Body):
    def __init__(self, x):
        super().__init__(x, x)


class Counted:
    made: ClassVar = []

    def __new__(cls, x):
        cls.made.append(x)
        return object.__new__(cls)

    def __init__(self, x):
        self.x = x


CLASSES = (Half, Whole, Guarded, Computed, Default, Any, Derived, Counted)


@pytest.mark.parametrize("cls", CLASSES)
def test_a_program_with_a_class_that_does_more_runs_on_dual_numbers(cls):
    f = function_of("x", [f"return C(x).{'xs[0]' if cls is Any else 'x'} * x"], C=cls)
    assert te.value_and_grad(te.program(f))(1.5) == te.value_and_grad(f)(1.5)


ALIASED = """
a = Body(x, 1.0)|b = a|b.x = 2.0|return a.x * x
bodies = [Body(x, 1.0)]|b = bodies[0]|bodies = [b, b]|b.x = 3.0|return bodies[1].x * x
a = Body(x, 1.0)|b = a.twin()|b.x = 3.0|return a.x
a = Body(x, 1.0)|b = (a, 1.0)|a.x = 3.0|return b[0].x * x
ys = [x, x]|a = Body(ys, 1.0)|ys[0] = 3.0|return a.x[0] * x
return Body(x, 1.0) == Body(x, 1.0)
return [Body(x, 1.0)]
a = Body(x, 1.0)|a.y = 3.0|return a.y * x
return Body(x).x
""".strip().splitlines()


@pytest.mark.filterwarnings("ignore:.*runs without native code")
@pytest.mark.parametrize("text", ALIASED)
def test_another_name_of_an_object_has_pythons_meaning_or_is_refused(text):
    f = function_of("x", text.split("|"), Body=Body)
    for backend in (None, "machine", *(("native",) if is_installed() else ())):
        try:
            found = te.vjp(te.program(f, backend=backend), 1.5)
        except (TapeEngineError, TypeError):
            continue
        assert found[0] == f(1.5)


def test_no_object_of_a_plain_class_is_a_result():
    for backend in (None, "machine", *(("native",) if is_installed() else ())):
        program = te.program(function_of("x", ["return Body(x, 1.0)"], Body=Body), backend=backend)
        with pytest.raises(StructureError, match="an object of Body as a result"):
            te.vjp(program, 1.5)
