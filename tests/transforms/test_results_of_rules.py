"""Results of derivative rules that cannot be added to cotangents: complex numbers for real ones, another library's
arrays. They are refused in both directions, for given and for transposed rules."""

import re
import sys

import numpy as np
import pandas as pd
import pytest

import tapeengine as te
from tapeengine.errors import CotangentError, StructureError, UnsupportedError

VALUES = [2.0, np.float64(2.0), np.array(2.0), np.array([1.0, 2.0]), np.array([1.0, 2.0], np.float32)]
VECTOR = np.array([1.0, 2.0])
FOREIGN = {
    "masked": np.ma.masked_array([3.0, 4.0], [False, True]),
    "matrix": np.array([[3.0], [4.0]]).view(np.matrix),
    "subclass": VECTOR.view(type("Labelled", (np.ndarray,), {})),
    "Series": pd.Series([3.0, 4.0]),
}


def by_vjp(result):
    f = te.custom_vjp(lambda v: v * 2.0)
    f.defvjp(lambda v: (v * 2.0, None), lambda kept, ct: (result(ct),))
    return f


def by_jvp(result):
    f = te.custom_jvp(lambda v: v * 2.0)
    f.defjvp(lambda primals, tangents: (primals[0] * 2.0, result(tangents[0])))
    return f


def by_primitive_vjp(result):
    return te.primitive(lambda v: v * 2.0, name="tests.doubled").def_vjp(v=lambda ct: result(ct))


def by_primitive_jvp(result):
    return te.primitive(lambda v: v * 2.0, name="tests.doubled").def_jvp(v=lambda t: result(t))


MAKERS = [by_vjp, by_jvp, by_primitive_vjp, by_primitive_jvp]
DIRECTIONS = {
    "reverse": lambda f, x: te.grad(lambda v: np.sum(f(v)))(x),
    "forward": lambda f, x: te.jvp(f, (x,), (x,))[1],
    "linearize": lambda f, x: te.linearize(f, x)[1](x),
    "jacrev": lambda f, x: te.jacrev(f)(x),
    "jacfwd": lambda f, x: te.jacfwd(f)(x),
    "forward over reverse": lambda f, x: te.hvp(lambda v: np.sum(f(v)) ** 2, (x,), (x,)),
}


@pytest.mark.parametrize("x", VALUES, ids=repr)
@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("direction", DIRECTIONS)
def test_complex_results_of_real_values_are_refused(direction, make, x):
    with pytest.raises(CotangentError):
        DIRECTIONS[direction](make(lambda ct: ct * 1j), x)


@pytest.mark.parametrize("kind", FOREIGN)
@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("direction", DIRECTIONS)
def test_another_librarys_arrays_are_refused(direction, make, kind):
    for result in (lambda ct: FOREIGN[kind], lambda ct: FOREIGN[kind] * te.value(ct)):
        with pytest.raises((CotangentError, StructureError, UnsupportedError)) as caught:
            DIRECTIONS[direction](make(result), VECTOR)
        assert type(FOREIGN[kind]).__name__ in str(caught.value)


@pytest.mark.parametrize("kind", [kind for kind in FOREIGN if kind != "Series"])  # a Series is a structure
@pytest.mark.parametrize("direction", DIRECTIONS)
def test_functions_with_rules_whose_value_is_another_librarys_array(direction, kind):
    custom = te.custom_vjp(lambda v: FOREIGN[kind])
    custom.defvjp(lambda v: (FOREIGN[kind], None), lambda kept, ct: (ct,))
    forward = te.custom_jvp(lambda v: FOREIGN[kind])
    forward.defjvp(lambda primals, tangents: (FOREIGN[kind], tangents[0]))
    primitive = te.primitive(lambda v: FOREIGN[kind], name="tests.odd").def_vjp(v=lambda ct: ct)
    for f in (custom, forward, primitive, te.checkpoint(lambda v: FOREIGN[kind])):
        with pytest.raises((StructureError, UnsupportedError), match=type(FOREIGN[kind]).__name__):
            DIRECTIONS[direction](f, VECTOR)


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("direction", ["reverse", "forward"])
def test_a_rule_may_return_a_memory_map_and_zero(direction, make, tmp_path):
    mapped = np.memmap(tmp_path / "numbers", float, "w+", shape=(2,))
    mapped[:] = 3.0
    assert np.all(np.isfinite(DIRECTIONS[direction](make(lambda ct: mapped * te.value(ct)), VECTOR)))
    if make is by_vjp:  # None in the tuple of cotangents
        assert np.all(DIRECTIONS[direction](make(lambda ct: None), VECTOR) == 0.0)


@pytest.mark.parametrize("result", [None, 10**400], ids=["None", "a large number"])
@pytest.mark.parametrize("make", [by_primitive_vjp, by_primitive_jvp])
@pytest.mark.parametrize("direction", DIRECTIONS)
def test_a_rule_that_returns_no_derivative_is_refused(direction, make, result):
    """None is what a function without a return gives."""
    with pytest.raises(CotangentError, match=r"rule of .* returned"):
        DIRECTIONS[direction](make(lambda ct: result), VECTOR)


@pytest.mark.parametrize("result", [10**400, -(2**1024), None, "text", [10**400]], ids=str)
@pytest.mark.parametrize("value", [2.0, np.float64(2.0), VECTOR], ids=repr)
@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("direction", DIRECTIONS)
def test_what_no_float_holds_is_refused_by_an_error_that_names_the_rule(direction, make, value, result):
    if result is None and make is by_vjp:
        return  # in the tuple of cotangents, None is zero
    with pytest.raises(CotangentError, match=r"rule (of .* )?returned"):
        DIRECTIONS[direction](make(lambda ct: result), value)


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_whole_numbers_up_to_the_largest_float_are_derivatives(direction):
    for make in (by_vjp, by_jvp, by_primitive_vjp, by_primitive_jvp):
        for whole in (3, int(sys.float_info.max)):
            given = {by_vjp: "reverse", by_primitive_vjp: "reverse"}.get(make, "forward")
            if given == direction:  # a constant has no transpose
                assert DIRECTIONS[direction](make(lambda ct, whole=whole: whole), 2.0) == float(whole)


@pytest.mark.parametrize("values", [[2.0, 3.0], (2.0, 3.0), {0: 2.0, 1: 3.0}, [[2.0], 3.0]], ids=repr)
@pytest.mark.parametrize("kind", ["vjp", "jvp"])
def test_structures_with_traced_values_are_refused_where_there_is_a_rule(kind, values):
    product = te.primitive(lambda x: x[0] * x[1] if not isinstance(x[0], list) else x[1], name="tests.product")
    getattr(product, f"def_{kind}")(x=lambda ct: [10.0 * ct, 20.0 * ct])
    with pytest.raises(UnsupportedError, match="custom_vjp"):
        te.grad(product)(values)
    assert product(values) in (6.0, 3.0)


DISCRETE_RESULTS = {
    "int64[3]": np.ones(3, int),
    "bool[3]": np.ones(3, bool),
    "int64[2]": np.ones(2, int),
    "int": 1,
    "str": "x",
}


@pytest.mark.parametrize("told", DISCRETE_RESULTS)
def test_errors_say_which_rule_returned_what_in_place_of_floats(told: str) -> None:
    result, x = DISCRETE_RESULTS[told], np.arange(3.0)
    by_vjp, by_jvp = te.custom_vjp(lambda y, x: x * x), te.custom_jvp(lambda y, x: x * x)
    by_vjp.defvjp(lambda y, x: (x * x, x), lambda kept, ct: (None, result))
    by_jvp.defjvp(lambda primals, tangents: (primals[1] ** 2, result))
    vjps = te.primitive(lambda x: x * 2, name="mine.p").def_vjp(x=lambda ct: result)
    jvps = te.primitive(lambda x: x * 2, name="mine.p").def_jvp(x=lambda t: result)
    for f, what in (
        (lambda x: by_vjp(1.0, x), r"argument 1 of the cotangents that <lambda>'s rule"),
        (lambda x: by_jvp(1.0, x), "tangent that <lambda>'s rule"),
    ):
        for run in (lambda f=f: te.vjp(f, x)[1](x), lambda f=f: te.jvp(f, (x,), (x,))):
            with pytest.raises(te.errors.CotangentError, match=f"{what}.*not {re.escape(told)}"):
                run()
    for run, kind in ((lambda: te.vjp(jvps, x)[1](x), "jvp"), (lambda: te.jvp(vjps, (x,), (x,)), "vjp")):
        with pytest.raises(te.errors.CotangentError, match=f"the {kind} rule of mine.p for 'x' returned"):
            run()
