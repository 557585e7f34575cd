"""On random programs of the whole language, what is lowered does what the terms mean: values, errors, cotangents."""

import os
from random import Random

import numpy as np
import pytest
from chad.lowering.leaves import Leaves
from chad.lowering.whole import Referred, whole_passes
from chad.terms_of_ec import cotangents
from chad.terms_of_language import programs
from chad.test_agreement import close_to, finite
from chad.whole import test_random, test_random_sums
from hypothesis import HealthCheck, Phase, assume, event, given, settings
from hypothesis import strategies as st

from asv_bench.term_values import arguments
from tapeengine.chad.forward.tangents import tangents
from tapeengine.chad.intermediate.reading import readable
from tapeengine.chad.intermediate.text import compiled
from tapeengine.chad.language.terms import Definition, Module
from tapeengine.chad.language.types import FLOAT, Array, Named, Product, Sum, is_discrete
from tapeengine.chad.language.values import Tagged
from tapeengine.chad.lowering.passes import lower_reverse, lower_value
from tapeengine.chad.lowering.values import NotLowered
from tapeengine.chad.prepare.close import close
from tapeengine.chad.reverse import reverse
from tapeengine.chad.run.execute import Executable
from tapeengine.chad.simplify import simplify_module
from tapeengine.chad.specification import Evaluator
from tapeengine.chad.specification.forward import forward
from tapeengine.chad.specification.sparse import Sparse
from tapeengine.recursion import deep

CALM = settings(
    max_examples=1000 if os.environ.get("TAPEENGINE_NIGHTLY") else 30,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    report_multiple_bugs=False,
    phases=(Phase.explicit, Phase.reuse, Phase.generate),
)


def sizes(value):
    """The shape of nested sequences; None where rows differ."""
    if not isinstance(value, list | np.ndarray):
        return ()
    inner = {sizes(x) for x in value}
    if len(inner) > 1 or None in inner:
        return
    return (len(value), *(inner.pop() if inner else ()))


def is_dense(value):
    if isinstance(value, tuple):
        return all(map(is_dense, value))
    if isinstance(value, list | np.ndarray):
        return sizes(value) is not None and all(map(is_dense, value)) and len(value) > 0
    return is_dense(value.payload) if hasattr(value, "payload") else True


def is_plain(of):
    """Whether arrays of a type hold no sums, so that rows can be of one size."""
    if isinstance(of, Array):
        return "Sum" not in repr(of) and is_plain(of.element)
    return all(map(is_plain, getattr(of, "items", None) or getattr(of, "options", None) or ()))


def attempt(run):
    try:
        with deep():
            return run()
    except (IndexError, ValueError, ZeroDivisionError, OverflowError) as error:
        return type(error)


def pasted(program):
    """The functions of a program whose text is pasted into an empty file."""
    names = {}
    with deep():
        exec(readable(program), names)
    return names


def agree(module, args, draw, dense, simplified=True):
    """Compare a program, once lowered, with its meaning."""
    definition = module.definitions[module.main]
    closed = close(module)
    leaves_of = Leaves(closed.types, dense)
    try:
        [leaves_of.flat(p.of, v) for p, v in zip(definition.params, args, strict=True)]
    except ValueError:
        dense, leaves_of = False, Leaves(closed.types, False)
    except NotLowered:
        return
    expected = attempt(lambda: Evaluator(closed).run(module.main, args))
    try:
        leaves = [x for p, v in zip(definition.params, args, strict=True) for x in leaves_of.flat(p.of, v)]
        lowered = lower_value(closed, dense)
        derivative = reverse(closed)
        both = [lower_reverse(closed, derivative, dense)]
    except NotLowered as reason:
        event(f"not lowered: {reason}"[:60])
        return
    try:
        if simplified:
            both.append(lower_reverse(closed, simplify_module(derivative), dense))
    except NotLowered as reason:
        event(f"not lowered when simplified: {reason}"[:60])
    run = compiled(lowered.program)[module.main]
    got = attempt(lambda: run(*leaves))
    if isinstance(expected, type) or isinstance(got, type):
        return
    value = Leaves(closed.types, lowered.is_dense).restored(definition.result, iter(got))
    same(value, expected)
    if not finite(expected):
        return
    d = draw(expected)
    _, back = Evaluator(reverse(closed)).run(module.main, args)
    with deep():
        whole = back(d)
    wanted = [None] * len(args) if whole is None else whole
    every = [(program, pasted(program.program)) for program in both]
    every += [(p, made) for p in both if dense and p.is_dense and (made := whole_passes(p.program)) is not None]
    for program, passes in every:
        try:
            with deep():
                *results, kept = passes["forward"](*leaves)
                result = Leaves(closed.types, program.is_dense)
                same(result.restored(definition.result, iter(results)), expected)
                gave = iter(passes["reverse"](kept, *result.cotangent_like(definition.result, d, expected, results)))
        except Referred:
            continue
        for p, x, arg in zip(definition.params, wanted, args, strict=True):
            found = leaves_of.nonzero(p.of, gave, arg)
            assert close_to(found, flat(p.of, x, closed.types)), (p.name, found, x)
        assert list(gave) == []


@CALM
@given(programs(), st.integers(0, 2**32 - 1))
def test_tangents(program, seed):
    env, args, term = program
    tangents_agree(module_of(env, term), args, seed)


@CALM
@given(test_random.programs(), st.integers(0, 2**32 - 1))
def test_tangents_of_arrays(program, seed):
    env, args, term = program
    tangents_agree(module_of(env, term), args, seed)


@CALM
@given(test_random_sums.programs(), st.integers(0, 2**32 - 1))
def test_tangents_of_sums_and_recursion(program, seed):
    module, args = program
    inside = arguments(Executable(module, test_random_sums.CLASSES, {}), args)
    tangents_agree(module, inside, seed)


def tangents_agree(module, args, seed):
    """Compare a program's tangent, once lowered, with what CHAD 7.4 gives."""
    definition = module.definitions[module.main]
    closed = close(module)
    leaves_of, rng = Leaves(closed.types, False), np.random.default_rng(seed)
    try:
        lowered = lower_value(tangents(closed), dense=False)
        leaves = [x for p, v in zip(definition.params, args, strict=True) for x in leaves_of.flat(p.of, v)]
    except NotLowered as reason:
        event(f"not lowered: {reason}"[:60])
        return
    expected = attempt(lambda: Evaluator(forward(closed)).run(module.main, args))
    if isinstance(expected, type):
        return
    value, ahead = expected
    given_ = tuple(cotangent_of(p.of, v, closed.types, rng) for p, v in zip(definition.params, args, strict=True))
    ds = [x for p, d, v in zip(definition.params, given_, args, strict=True) for x in leaves_of.cotangent(p.of, d, v)]
    with deep():
        wanted = flat(definition.result, ahead(given_), closed.types)
        got = iter(compiled(lowered.program)[lowered.main](*leaves, *ds))
    assume(finite(value))
    result = Leaves(closed.types, lowered.is_dense)
    same(result.restored(definition.result, got), value)
    assert close_to(result.nonzero(definition.result, got, value), wanted)


def same(got, expected):
    if isinstance(expected, list | tuple | np.ndarray) and not hasattr(expected, "payload"):
        assert len(got) == len(expected)
        for a, b in zip(got, expected, strict=True):
            same(a, b)
    elif hasattr(expected, "payload"):
        assert got.option == expected.option
        same(got.payload, expected.payload)
    else:
        assert type(python_number(got)) is type(python_number(expected))
        assert got == pytest.approx(expected, rel=1e-12, abs=1e-12, nan_ok=True)


def python_number(x):
    """Elements of numpy's arrays are numbers of Python's kinds."""
    return x.item() if isinstance(x, np.generic) else x


def module_of(env, term):
    return Module("f", {"f": Definition("f", env, term.type, term)})


@CALM
@given(programs(), st.data())
def test_terms_of_the_language(program, data):
    env, args, term = program
    agree(
        module_of(env, term),
        args,
        lambda value: data.draw(cotangents(term.type, value)),
        dense=all(map(is_dense, args)) and all(is_plain(v.of) for v in env),
    )


@CALM
@given(test_random.programs(), st.data())
def test_rectangular_arrays(program, data):
    env, args, term = program
    agree(module_of(env, term), args, lambda value: data.draw(cotangents(term.type, value)), dense=True)


def test_no_rows():
    env, args, term = test_random.program().chosen(Random(66725))
    assert term.type == Array(Array(FLOAT))
    agree(module_of(env, term), args, lambda value: ("entries", []), dense=True)


@CALM
@given(test_random.programs(), st.data())
def test_arrays_of_references(program, data):
    env, args, term = program
    agree(module_of(env, term), args, lambda value: data.draw(cotangents(term.type, value)), dense=False)


def flat(of, d, types):
    """A sparse cotangent as a mapping from paths to numbers, zeros left out."""
    found = {}

    def go(of, d, path):
        match of:
            case _ if d is None:
                return
            case Product(items):
                for i, (t, x) in enumerate(zip(items, d, strict=True)):
                    go(t, x, (*path, i))
            case Sum() | Named():
                options = of.options if isinstance(of, Sum) else types[of.name].options
                go(options[d.option], d.payload, path)
            case Array(element):
                for i, x in Sparse().entries(d):
                    go(element, x, (*path, i))
            case _ if isinstance(d, float):
                found[path] = found.get(path, 0.0) + d

    go(of, d, ())
    return {k: v for k, v in found.items() if v != 0}


def cotangent_of(of, value, types, rng):
    """A sparse cotangent of a value."""
    match of:
        case Product(items):
            return tuple(cotangent_of(t, v, types, rng) for t, v in zip(items, value, strict=True))
        case Sum(options):
            return Tagged(value.option, cotangent_of(options[value.option], value.payload, types, rng))
        case Named(name):
            return Tagged(value.option, cotangent_of(types[name].options[value.option], value.payload, types, rng))
        case Array(element):
            return ("entries", [(i, cotangent_of(element, v, types, rng)) for i, v in enumerate(value)])
    return None if is_discrete(of) else float(rng.normal())


@CALM
@given(test_random_sums.programs(), st.integers(0, 2**32 - 1))
def test_sums_and_recursion(program, seed):
    module, args = program
    inside = arguments(Executable(module, test_random_sums.CLASSES, {}), args)
    rng = np.random.default_rng(seed)
    results = module.definitions[module.main].result
    agree(module, inside, lambda value: cotangent_of(results, value, module.types, rng), dense=False)


def test_a_loop_that_is_shorter_than_the_array():
    env, args, term = test_random.program().chosen(Random(878470))
    ones = ("entries", [(0, (1.0, 1.0))])
    agree(module_of(env, term), args, lambda value: ones if value else None, dense=False)
