"""What `derivative` prints is the derivative: each printed form of random programs gives what dual numbers do."""

import math
import os
import random
import re
from typing import Any

import pytest
from chad.examples import EXAMPLES
from chad.lowering.leaves import Leaves
from chad.lowering.test_random_programs import flat
from chad.source_programs import Source, draw, function_of
from chad.test_agreement import close_to
from chad.test_differential import direction

import tapeengine
from asv_bench.term_values import arguments, cotangent_in, cotangent_out, inward
from tapeengine import chad as te
from tapeengine.chad.language.errors import ProgramError
from tapeengine.chad.specification import Evaluator
from tapeengine.chad.specification.ladder import FORMS
from tapeengine.chad.specification.ladder import derivative as specification_of
from tapeengine.errors import TapeEngineError, UnsupportedError
from tapeengine.recursion import deep

ENGINE = tapeengine.Engine()
COUNT, CHUNK = (4000, 100) if os.environ.get("TAPEENGINE_NIGHTLY") == "1" else (120, 40)
POLES = (ArithmeticError, ValueError, LookupError)


def accumulated(executable: Any, source: Source, inside: list[Any], cotangent: Any) -> list[Any]:
    """The cotangents of ``"accumulate"``, the term that is printed."""
    with deep():
        _, back = Evaluator(executable.reverse, primitives=executable.primitives).run(executable.module.main, inside)
        whole = back(cotangent)
    params, types = executable.definition.params, executable.closed.types
    given = [None] * len(params) if whole is None else whole
    found = []
    for p, d, x, primal in zip(params, given, inside, source.primals, strict=True):
        counted = cotangent_out(executable, p.of, d, x, primal)  # indices may count from an array's end
        found.append(flat(p.of, cotangent_in(executable, p.of, counted, x, p.name), types))
    return found


def pasted(program: Any, inside: list[Any], cotangent: Any, value: Any) -> list[Any]:
    """The cotangents of ``"reverse"``, pasted into an empty file."""
    executable, names = program.executable, {}
    exec(program.derivative("reverse"), names)
    leaves_of = Leaves(executable.closed.types, executable.reverse_form.is_dense)
    params = executable.definition.params
    leaves = [x for p, v in zip(params, inside, strict=True) for x in leaves_of.flat(p.of, v)]
    *values, kept = names["forward"](*leaves)
    given = leaves_of.cotangent_like(executable.definition.result, cotangent, value, values)
    gave = iter(names["reverse"](kept, *given))
    return [leaves_of.nonzero(p.of, gave, v) for p, v in zip(params, inside, strict=True)]


def ahead(program: Any, inside: list[Any], tangents: list[Any], value: Any) -> Any:
    """The tangent of ``"forward"``, pasted into an empty file."""
    executable, names = program.executable, {}
    exec(program.derivative("forward"), names)
    form = executable.tangent_form
    leaves_of = Leaves(executable.closed.types, form.is_dense)
    params = executable.definition.params
    leaves = [x for p, v in zip(params, inside, strict=True) for x in leaves_of.flat(p.of, v)]
    each = zip(params, tangents, inside, strict=True)
    given = [x for p, d, v in each for x in leaves_of.cotangent(p.of, d, v)]
    found = iter(names[form.main](*leaves, *given))
    leaves_of.restored(executable.definition.result, found)
    return leaves_of.nonzero(executable.definition.result, found, value)


def is_ordinary(cotangents: list[dict[Any, float]]) -> bool:
    return all(math.isfinite(x) and abs(x) < 1e8 for d in cotangents for x in d.values())


#: Where a run may fail that the plain program goes on from: a handler, or a sum or digits that are not exact.
GOING_ON = ("try:", "fsum(", "round(")


def compare(source: Source) -> bool:
    """Compare all printed forms of a program with dual numbers; tell whether there was something to compare."""
    function = function_of(source)
    try:
        value, back = ENGINE.vjp(function, *source.primals)
    except Exception:  # whatever the program raises
        return False
    try:
        program = te.program(function)
        executable = program.executable
        result, params = executable.definition.result, executable.definition.params
        inside, reached = arguments(executable, source.primals), inward(executable, result, value)
    except (ProgramError, UnsupportedError, *POLES):
        return False
    types = executable.closed.types
    draws = random.Random(source.seed)
    cotangent = direction(value, random.Random(source.seed))
    each = list(zip(params, inside, strict=True))
    tangents = tuple(direction(x, draws) for x in source.primals)
    found = [cotangent_in(executable, p.of, d, x, "") for (p, x), d in zip(each, back(cotangent), strict=True)]
    wanted = [flat(p.of, d, types) for p, d in zip(params, found, strict=True)]
    given = cotangent_in(executable, result, cotangent, reached, "")
    moved = ENGINE.jvp(function, source.primals, tangents)[1]
    tangent = flat(result, cotangent_in(executable, result, moved, reached, ""), types)
    if not is_ordinary([*wanted, tangent]):
        return False
    moves = [cotangent_in(executable, p.of, t, x, "") for (p, x), t in zip(each, tangents, strict=True)]
    runs = {
        "accumulate": lambda: (accumulated(executable, source, inside, given), wanted),
        "reverse": lambda: (pasted(program, inside, given, reached), wanted),
        "forward": lambda: ([ahead(program, inside, moves, reached)], [tangent]),
    }
    for form, run in runs.items():
        try:
            got, expected = run()
        except (ArithmeticError, ValueError):  # the text has C's partials, which are infinite at poles
            continue
        except IndexError:  # a run that fails where the plain program goes on, and runs on dual numbers
            assert any(part in source.text for part in GOING_ON), source
            continue
        agrees = not is_ordinary(got) or all(map(close_to, got, expected))
        assert agrees, f"{form}: {got} and not {expected} for\n{source}\n{program.derivative(form)}"
    return True


@pytest.mark.parametrize("start", range(0, COUNT, CHUNK))
def test_printed_forms_are_derivatives(start: int) -> None:
    compared = sum(compare(draw(seed)) for seed in range(start, start + CHUNK))
    assert compared >= 0.2 * CHUNK


def power(x: float, y: float, n: int) -> float:
    return y if n == 0 else x * power(x, y, n - 1)


def test_what_a_text_adds_to_is_named_after_the_variables_of_these_cotangents():
    text = te.program(power).derivative("accumulate")
    assert set(re.findall(r"(\w+) \+= ", text)) == {"d_x", "d_y"}


@pytest.mark.parametrize("form", [*FORMS, "tangent"])
@pytest.mark.parametrize("name", sorted(EXAMPLES))
def test_functions_in_derivatives_of_each_form_are_used(name, form):
    """A derivative that the form does not have is refused; otherwise each function of its text is named again."""
    try:
        text = specification_of(EXAMPLES[name][0], form)
    except TapeEngineError:
        return
    for function in re.findall(r"^ +def (\w+)\(", text, re.MULTILINE):
        assert len(re.findall(rf"\b{function}\b", text)) > 1, text
