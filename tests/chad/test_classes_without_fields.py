"""Objects of classes without a constructor of their own: activations, policies and other strategies."""

from abc import ABC, abstractmethod

import numpy as np
import pytest
from chad.written_functions import Cases, agrees_with_differences, refused

import tapeengine as te
from tapeengine.chad.language.errors import ProgramError

COMPILED, REFUSED = Cases(), Cases()


class Tanh:
    def __call__(self, x):
        return np.tanh(x)

    def slope(self, y):
        return 1 - y * y


class Linear:
    def __init__(self, w):
        self.w = w

    def __call__(self, x):
        return self.w * x


class Base(ABC):
    @abstractmethod
    def of(self, x): ...

    def twice(self, x):
        return self.of(self.of(x))


class Square(Base):
    def of(self, x):
        return x * x


class Scaled(Base):
    K = 0.5

    def of(self, x):
        return self.K * x


class Bare:
    def __init__(self):
        pass

    def of(self, x):
        return x**3


@COMPILED(0.7, 0.4)
def an_activation(x, y):
    act = Tanh()
    z = act(np.array([x, y]))
    return np.sum(z * act.slope(z))


@COMPILED(0.7, 0.4)
def layers(x, y):
    h = np.array([x, y])
    for layer in [Linear(np.array([x, 2.0])), Tanh(), Linear(np.ones(2) * y), Tanh()]:
        h = layer(h)
    return h[0] * h[1]


@COMPILED(0.7, 0.4)
def an_abstract_base(x, y):
    a, b = Square(), Scaled()
    return a.twice(x) * b.twice(y) + Bare().of(x)


@COMPILED(0.7, 0.4)
def one_of_several(x, y):
    s = y
    for each in (Square(), Scaled(), Bare()):
        s += x * each.of(s) if isinstance(each, Scaled) else each.of(s)
    chosen = Square() if x > y else Scaled()
    return chosen.of(s) * x


@REFUSED(0.7, 0.4)
def identity(x, y):
    a = Square()
    b = a
    return x * y if a is b else y


@REFUSED(0.7, 0.4)
def equality(x, y):
    return x * y if Square() == Square() else y


@REFUSED(0.7, 0.4)
def truth(x, y):
    return x * y if Square() else y


@pytest.mark.parametrize(("function", "args"), COMPILED, ids=lambda f: getattr(f, "__name__", ""))
def test_an_object_without_fields_is_a_record(function, args):
    program = te.program(function)
    refused(program, *args)
    agrees_with_differences(program, function, *args)


@pytest.mark.parametrize(("function", "args"), REFUSED, ids=lambda f: getattr(f, "__name__", ""))
def test_what_asks_which_object_it_is_runs_on_dual_numbers(function, args):
    program = te.program(function)
    with pytest.raises(ProgramError):
        refused(program, *args)
    agrees_with_differences(program, function, *args)


def made_here(w, x):
    return Tanh()(Linear(w)(x))


def by_position(w, x):
    parts = [Linear(w), Linear(2.0 * w)]
    return parts[1](parts[0](x))


def one_of_two(w, x):
    return (Linear(w) if x[0] > 0.0 else Linear(2.0 * w))(x)


@pytest.mark.parametrize("function", [made_here, by_position, one_of_two])
def test_what_an_object_gives_when_it_is_called_is_known_to_be_an_array(function, monkeypatch):
    """Otherwise each call runs the plain function to see whether it gives a list."""
    w, x = np.array([0.5, -1.5]), np.array([0.3, 0.9])
    program, calls = te.program(function), []
    te.vjp(program, w, x)
    monkeypatch.setattr(type(program), "_as_python", lambda *args: calls.append(args))
    value, back = te.vjp(program, w, x)
    assert calls == [] and type(value) is np.ndarray and value.tobytes() == function(w, x).tobytes()
    h = 1e-6
    for k in range(2):
        step = h * np.eye(2)[k]
        assert back(np.ones(2))[1][k] == pytest.approx(np.sum(function(w, x + step) - function(w, x - step)) / (2 * h))
