"""Printed derivatives have the names and the lines of the source."""

import inspect
import linecache
import re
from dataclasses import dataclass

import chad.examples_language
import chad.examples_syntax  # noqa: F401  (registers its programs)
import pytest
from chad.examples import EXAMPLES

import tapeengine as te
import tapeengine.math as math
from tapeengine.errors import UnsupportedError


@te.program
def figure_1b(x1: float, x2: float, x3: float, x4: float) -> float:
    y = x1 * x4 + 2.0 * x2
    w = y * x3 + x4
    return math.sin(w)


@te.program
def kalman(mean: float, variance: float, noise: float, data: te.Vec) -> float:
    loglik = 0.0
    for z in data:
        gain = variance / (variance + noise)
        innovation = z - mean
        loglik -= innovation * innovation / (variance + noise)
        mean = mean + gain * innovation
        variance = (1.0 - gain) * variance
    return loglik


@te.program
def newton(a: float) -> float:
    guess = 1.0
    while abs(guess * guess - a) > 1e-9:
        guess = 0.5 * (guess + a / guess)
    return guess


@te.program
def pendulum(angle: float, speed: float, steps: int) -> float:
    energy = 0.0
    for step in range(steps):
        force = -9.81 * math.sin(angle) * step
        speed = speed + 0.01 * force
        angle = angle + 0.01 * speed
        if speed > 1.0:
            friction = 0.1 * speed
            speed = speed - friction
        energy = energy + speed * speed
    return energy


@dataclass(frozen=True)
class Body:
    place: float
    speed: float


@te.program
def records(body: Body, bodies: te.Array[Body], count: int) -> float:
    for _ in range(count):
        body = Body(body.place + 0.1 * body.speed, body.speed - math.sin(body.place))
    total = 0.0
    for other in bodies:
        total += body.place * other.speed
    return total


PROGRAMS = [figure_1b, kalman, newton, pendulum, records]
FORMS = ["reverse", "forward"]
#: What the passes make besides: numbers without a name, sizes, indices, frames, cotangents of these.
OTHERS = {"t", "d", "n", "i", "k", "kept", "steps", "taken"}


def names_in(text):
    """The names that a text binds, without the numbers that tell them apart."""
    found = re.findall(r"^ *\(?((?:\w+, )*\w+)\)? \+?= ", text, re.MULTILINE)
    found += re.findall(r"def \w+\((.*)\):", text) + re.findall(r"for \(?(.*?),?\)? in", text)
    return {re.sub(r"_\d+$", "", name) for names in found for name in names.split(", ")}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_names_are_those_of_the_source(program, form):
    source = inspect.getsource(program.function)
    own = set(re.findall(r"[A-Za-z_]\w*", source)) | {
        f"{r}_{f}" for r in ("body", "bodies", "other") for f in Body.__annotations__
    }
    assert names_in(program.derivative(form)) - OTHERS <= own | {f"d_{name}" for name in own}


def test_cotangents_have_the_names_of_their_variables():
    text = kalman.derivative("reverse")
    assert {"gain", "innovation", "mean", "variance", "loglik", "d_gain", "d_innovation", "d_data"} <= names_in(text)
    assert {"d_body_place", "d_bodies_speed"} <= names_in(records.derivative("reverse"))


def test_nothing_is_copied():
    for program in PROGRAMS:
        assert not re.search(r"^ *\w+ = (\w+)\n *return \(\1", program.derivative("reverse"), re.MULTILINE)
        assert not re.search(r" i_\d = i$", program.derivative("reverse"), re.MULTILINE)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", sorted(EXAMPLES))
def test_lines_are_those_that_bind_the_variable(name, form):
    check_lines(EXAMPLES[name][0], form)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_lines_of_programs(program, form):
    assert check_lines(program, form) >= 1


def squared(v: float) -> float:
    kept = v * v + 1.0
    return math.sin(kept) * kept


@te.program
def after_squared(x: float) -> float:
    first = math.exp(x)
    return squared(first) * first


def test_lines_of_a_function_that_stands_above_its_call():
    lines = [int(line) for line in re.findall(r"# line (\d+)", after_squared.derivative("reverse"))]
    assert lines[1] < lines[0]


def check_lines(program, form):
    """Compare each line that a text names with the text of that line; return how many there are."""
    file = program.function.__code__.co_filename
    try:
        text = program.derivative(form)
    except UnsupportedError:
        return 0
    found = re.findall(r"^ *([\w, ]+?)(?:\[.*\])* \+?= .*  # line (\d+)$", text, re.MULTILINE)
    for names, line in found:
        source = linecache.getline(file, int(line))
        words = set(re.findall(r"\w+", source))
        own = {re.sub(r"_\d+$", "", n) for n in re.findall(r"\w+", names)}
        own |= {n.removeprefix("d_") for n in own}
        assert any(n in words or n.rpartition("_")[0] in words or n.split("_")[0] in words for n in own), (own, source)
    return len(found)


@te.program
def walk(body: Body, steps: int) -> Body:
    if steps == 0:
        return body
    end = walk(Body(0.5 * body.place, body.speed), steps - 1)
    return Body(end.place * end.speed, end.speed + body.place)


def test_results_of_calls_have_the_names_of_their_fields():
    assert "end_place, end_speed, " in walk.derivative("reverse")
