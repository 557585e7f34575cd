"""Printed derivatives are readable, and run when they are pasted."""

import re

import chad.examples_language
import chad.examples_syntax  # noqa: F401  (registers its programs)
import numpy as np
import pytest
from chad.examples import EXAMPLES
from chad.lowering.leaves import Leaves
from chad.lowering.test_random_programs import pasted

import tapeengine as te
import tapeengine.numpy as tnp
from asv_bench.term_values import arguments
from tapeengine.chad.intermediate.operations import REAL
from tapeengine.chad.intermediate.statements import ArrayOf
from tapeengine.chad.intermediate.text import compiled
from tapeengine.errors import UnsupportedError


@pytest.mark.parametrize("name", sorted(EXAMPLES))
def test_every_example(name):
    """What is printed gives the bits of what is run, in both directions."""
    program, args = EXAMPLES[name]
    executable = program.executable
    for form, kind in (("reverse", "reverse_form"), ("forward", "tangent_form")):
        try:
            text = program.derivative(form)
        except UnsupportedError:
            return
        names = {}
        exec(text, names)
        assert set(re.findall(r"^def (\w+)", text, re.MULTILINE)) <= set(names)
        assert not re.search(r"_\d+_\d+", text), "a name with two numbers"
        running = compiled(getattr(executable, kind).program, primitives=executable.primitives)
        leaves_of = Leaves(executable.closed.types, dense=executable.lowered is not None)
        params, inside = executable.definition.params, arguments(executable, args)
        leaves = [x for q, v in zip(params, inside, strict=True) for x in leaves_of.flat(q.of, v)]
        if form == "reverse":
            *values, kept = names["forward"](*leaves)
            *wanted, wanted_kept = running["forward"](*leaves)
            np.testing.assert_equal(values, wanted)
            cts = [1.0 if isinstance(v, float) else v for v, r in zip(values, types_of(executable), strict=True) if r]
            np.testing.assert_equal(names["reverse"](kept, *cts), running["reverse"](wanted_kept, *cts))


def types_of(executable):
    """Whether each leaf of the value is real."""
    forward = executable.reverse_form.program.functions["forward"]
    of = [x.type.element if isinstance(x.type, ArrayOf) else x.type for x in forward.results]
    return [t == REAL or isinstance(t, ArrayOf) for t in of]


@te.program
def loss(w: te.Vec, xs: te.Array[te.Vec], ys: te.Vec) -> float:
    def predict(x: te.Vec) -> float:
        return sum(w[j] * x[j] for j in range(len(w)))

    return sum((predict(xs[i]) - ys[i]) ** 2 for i in range(len(xs)))


def test_the_first_program_of_the_docs():
    names = pasted(loss.executable.reverse_form.program)
    w, xs, ys = [0.5, -1.0], np.array([[1.0, 2.0], [3.0, 4.0], [0.5, 0.25]]), [1.0, 0.0, 2.0]
    value, kept = names["forward"](w, xs, ys)
    expected, back = te.vjp(loss, w, xs, ys)
    assert value == expected
    for found, wanted in zip(names["reverse"](kept, 1.0), back(1.0), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-14)


@te.program
def solved(a: te.Array[te.Vec], b: te.Vec, s: float) -> float:
    return np.linalg.solve(a, b)[0] * s + np.sign(s) * tnp.maximum(s, 0.25)


def test_primitives_are_named_where_they_come_from():
    text = solved.derivative("reverse")
    assert 'named("' in text
    names = {}
    exec(text, names)
    a, b = np.array([[2.0, 0.5], [0.25, 1.0]]), [1.0, -1.0]
    value, kept = names["forward"](a, b, 0.5)
    expected, back = te.vjp(solved, a, np.array(b), 0.5)
    assert value == pytest.approx(expected, rel=1e-15)
    for found, wanted in zip(names["reverse"](kept, 1.0), back(1.0), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-14)


@te.program
def precedence(x: float, y: float, n: int) -> float:
    k = (n - (2 - n)) // (n + 1) * (n % 3) - -n
    return (x - (y - x)) / (x / (y * x)) * -(x + y) % (y - -x) + float(2 ** (n**k)) * (x if not (n < k) else y)


def test_operators_bind_as_they_did():
    names = {}
    exec(precedence.derivative("reverse"), names)
    for args in ((0.5, 0.75, 2), (1.5, -0.25, 1)):
        assert names["forward"](*args)[0] == precedence.function(*args)
