"""Every example program: value, reverse, forward, the dual-numbers frontend and finite differences agree."""

import dataclasses

import chad.examples_language
import chad.examples_syntax  # noqa: F401  (registers its programs)
import numpy as np
import pytest
from chad import evaluated as specification
from chad.examples import EXAMPLES

import tapeengine
from asv_bench.term_values import arguments, cotangent_in, cotangent_out
from tapeengine.chad.specification import Evaluator
from tapeengine.chad.specification.dense import Dense
from tapeengine.chad.specification.ladder import derivative, reverse_in

ENGINE = tapeengine.Engine()


def leaves(value):
    """The floats of a structure, in order."""
    if isinstance(value, bool | int | np.integer | np.bool_) or value is None:
        return []
    if isinstance(value, float):
        return [float(value)]
    if isinstance(value, np.ndarray):
        return [] if value.dtype.kind != "f" else list(map(float, value.ravel()))
    if dataclasses.is_dataclass(value):
        return [x for f in dataclasses.fields(value) for x in leaves(getattr(value, f.name))]
    return [x for item in value for x in leaves(item)]


def rebuilt(value, numbers):
    """The structure with other floats in it."""
    if isinstance(value, bool | int | np.integer | np.bool_) or value is None:
        return value
    if isinstance(value, float):
        return next(numbers)
    if isinstance(value, np.ndarray):
        if value.dtype.kind != "f":
            return value
        return np.array([next(numbers) for _ in range(value.size)]).reshape(value.shape)
    if dataclasses.is_dataclass(value):
        return dataclasses.replace(
            value, **{f.name: rebuilt(getattr(value, f.name), numbers) for f in dataclasses.fields(value)}
        )
    items = [rebuilt(item, numbers) for item in value]
    return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)


def random_like(value, seed):
    rng = np.random.default_rng(seed)
    return rebuilt(value, iter(rng.normal(size=len(leaves(value))).tolist()))


def dot(a, b):
    return float(np.dot(leaves(a), leaves(b)))


@pytest.fixture(params=sorted(EXAMPLES))
def case(request):
    return EXAMPLES[request.param]


def test_value_is_the_program_s(case):
    program, args = case
    value, _ = ENGINE.vjp(program, *args)
    np.testing.assert_allclose(leaves(value), leaves(program(*args)), rtol=1e-13, atol=1e-13)


def test_inner_products_tie_forward_to_reverse(case):
    program, args = case
    value, backpropagator = ENGINE.vjp(program, *args)
    ct = random_like(value, 1)
    tangents = tuple(random_like(a, 2 + i) for i, a in enumerate(args))
    _, tangent = program.__tapeengine_jvp__(ENGINE, args, tangents)
    cotangents = backpropagator(ct)
    pairs = [(c, t) for c, t, a in zip(cotangents, tangents, args, strict=True) if leaves(a)]
    assert dot(ct, tangent) == pytest.approx(sum(dot(c, t) for c, t in pairs), rel=1e-12, abs=1e-12)


def slopes_agree(program, args, value, backpropagator):
    """Compare cotangents with central differences of fourth order, along one direction."""
    ct = random_like(value, 3)
    direction = tuple(random_like(a, 4 + i) for i, a in enumerate(args))
    got = sum(dot(c, d) for c, d, a in zip(backpropagator(ct), direction, args, strict=True) if leaves(a))

    def at(h):
        moved = np.array(leaves(args)) + h * np.array(leaves(direction))
        return dot(ct, program(*rebuilt(args, iter(moved.tolist()))))

    h = 1e-4
    slope = (8 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12 * h)
    assert got == pytest.approx(slope, rel=1e-6, abs=1e-7)


def test_finite_differences(case):
    program, args = case
    slopes_agree(program, args, *ENGINE.vjp(program, *args))


def test_dual_numbers_agree(case):
    program, args = case
    value, backpropagator = ENGINE.vjp(program, *args)
    dual_value, dual = ENGINE.vjp(program.python, *args)
    np.testing.assert_allclose(leaves(value), leaves(dual_value), rtol=1e-13, atol=1e-13)
    ct = random_like(value, 5)
    dual_ct = rebuilt(dual_value, iter(leaves(ct)))
    for mine, theirs, arg in zip(backpropagator(ct), dual(dual_ct), args, strict=True):
        if leaves(arg):
            np.testing.assert_allclose(leaves(mine), leaves(theirs), rtol=1e-11, atol=1e-12)


def test_evaluated_terms_agree_with_what_runs(case):
    program, args = case
    value, backpropagator = ENGINE.vjp(program, *args)
    evaluated_value, evaluated = specification.vjp(program.executable, args)
    np.testing.assert_allclose(leaves(value), leaves(evaluated_value), rtol=1e-13, atol=1e-13)
    ct = random_like(value, 8)
    for mine, theirs, arg in zip(backpropagator(ct), evaluated(ct), args, strict=True):
        if leaves(arg):
            np.testing.assert_allclose(leaves(mine), leaves(theirs), rtol=1e-11, atol=1e-12)


def test_all_forms_agree(case):
    program, args = case
    executable = program.executable
    inside = arguments(executable, args)
    value, expected = ENGINE.vjp(program, *args)
    ct = random_like(value, 6)
    expected = expected(ct)
    of = executable.definition.result
    for form, source in (("sparse", executable.closed), ("copower", executable.module)):
        evaluator = Evaluator(reverse_in(source, form), primitives=executable.primitives)
        primal, back = evaluator.run(source.main, inside)
        got = back(cotangent_in(executable, of, ct, primal, "value"))
        each = zip(executable.definition.params, got, inside, args, expected, strict=True)
        for p, d, x, like, e in each:
            mine = cotangent_out(executable, p.of, d, x, like, evaluator.linear)
            if leaves(like):
                np.testing.assert_allclose(leaves(mine), leaves(e), rtol=1e-11, atol=1e-12, err_msg=form)


def test_discrete_cotangents_are_none(case):
    program, args = case
    value, backpropagator = ENGINE.vjp(program, *args)
    for arg, d in zip(args, backpropagator(random_like(value, 7)), strict=True):
        if isinstance(arg, bool | int) or (isinstance(arg, np.ndarray) and arg.dtype.kind != "f"):
            assert d is None
        elif isinstance(arg, np.ndarray):
            assert d.shape == arg.shape and d.dtype == np.float64
        else:
            assert type(d) is type(arg)


def test_derivatives_are_texts(case):
    program, _ = case
    for form in ("tangent", "accumulate", "sparse", "copower"):
        text = derivative(program, form)
        assert text.startswith("def ") and "<" + "class" not in text


def test_dense_form_agrees_on_scalars():
    program, args = EXAMPLES["figure_1b"]
    evaluator = Evaluator(reverse_in(program.executable.closed, "vector"), Dense())
    _, back = evaluator.run("figure_1b", list(args))
    np.testing.assert_allclose(back(1.0), ENGINE.vjp(program, *args)[1](1.0), rtol=1e-14)
