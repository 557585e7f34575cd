"""Tuples and dicts whose items are mostly parts of another one: their derivatives, and the growth of these."""

import random

import numpy as np
import pytest
from chad.written_functions import defined

import tapeengine as te
from tapeengine.chad.language.traverse import children


def item(draw, width):
    """A part of the tuple, or an expression of parts."""
    part = f"t[{draw.randrange(width)}]"
    if draw.random() < 0.7:
        return part
    return draw.choice([f"{part} * t[{draw.randrange(width)}]", f"{part} - 0.3", "x", "1.5", f"0.5 * {part} + x"])


@pytest.mark.parametrize("seed", range(12))
def test_random_steps_from_tuple_to_tuple(seed):
    """Against complex steps through the plain function."""
    draw = random.Random(seed)
    width = draw.randrange(3, 8)
    lines = ["def f(x: float) -> float:", f"    t = ({', '.join(f'x + {k}.25' for k in range(width))})"]
    for _ in range(6):
        wider = draw.randrange(3, 8)
        lines.append(f"    t = ({', '.join(item(draw, width) for _ in range(wider))})")
        width = wider
    lines.append(f"    return {' + '.join(f'{k}.5 * t[{k}]' for k in range(width))}")
    f = defined("\n".join(lines) + "\n")
    wanted = f(0.4 + 1e-200j).imag / 1e-200
    for backend in (None, "machine"):
        program = te.program(f, backend=backend)
        value, back = te.vjp(program, 0.4)
        assert value == f(0.4)
        np.testing.assert_allclose(back(1.0)[0], wanted, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(te.hessian(program)(0.4), te.hessian(f)(0.4), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("is_changed", [False, True])
def test_derivatives_of_dicts_that_are_made_key_by_key_grow_with_their_number(is_changed):
    """Twice as many keys are twice as many terms: no key makes the terms of another one again."""

    def size(count):
        lines = ["def f(x: float) -> float:", "    d = {}", *(f"    d['k{i}'] = x * x + {i}.5" for i in range(count))]
        lines += [f"    d['k{i}'] = d['k{i}'] * x" for i in range(count) if is_changed]
        lines.append(f"    return {' + '.join(f'''d['k{i}']''' for i in range(count))}")
        f = defined("\n".join(lines) + "\n")
        program = te.program(f)
        value, back = te.vjp(program, 0.7)
        assert value == f(0.7)
        np.testing.assert_allclose(back(1.0)[0], f(0.7 + 1e-200j).imag / 1e-200, rtol=1e-12)
        definitions = program.executable.reverse_terms.definitions.values()
        return sum(1 + len(getattr(t, "items", ())) for d in definitions for t in terms_in(d.body))

    assert size(48) < 2.2 * size(24)


def terms_in(term):
    """A term and all terms in it."""
    pending = [term]
    while pending:
        one = pending.pop()
        yield one
        pending += [inner for inner, _ in children(one)]
