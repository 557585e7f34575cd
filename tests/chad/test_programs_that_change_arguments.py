"""Programs that change their arguments: derivatives change copies, as dual numbers do; a call changes the caller's."""

import copy

import numpy as np
import pytest
from chad.written_functions import function_of, refused

import tapeengine as te
import tapeengine.numpy as tnp
from tapeengine.errors import TapeEngineError


def put(y):
    y[0] = 2.0 * y[1]


V, W, M, XS = (
    np.array([0.5, -1.5, 2.0]),
    np.array([1.0, 3.0, -0.5]),
    np.arange(1.0, 10.0).reshape(3, 3),
    [0.5, 3.0, -2.0],
)
BODIES = [
    (["x[0] = 1.0", "return np.sum(x * x)"], (V,)),
    (["x += 1.0", "x *= x", "return x"], (V,)),
    (["x[x < 0] = 0.0", "x[1:] -= x[:-1]", "return x"], (V,)),
    (["y[:] = x * 2.0", "x[1] = y[0] * y[2]", "return np.sum(x * y)"], (V, W)),
    (["np.exp(x, out=x)", "np.add.at(x, [0, 0], x[1:])", "return x"], (V,)),
    (["put(x)", "return np.sum(x * x)"], (V,)),
    (["for k in range(len(x)):", "    x[k] = x[k] ** 2 + x[k - 1]", "return x"], (V,)),
    (["x = x * 2.0", "x[0] = 1.0", "return x"], (V,)),
    (["x += 1.0", "return x * x"], (0.5,)),
    (["x.append(x[0] * x[1])", "x[0] = x.pop(1)", "return sum(x) * x[0]"], (XS,)),
    (["x.sort()", "x.reverse()", "return x[0] * x[1]"], (XS,)),
    (["x['a'] = x['a'] * x['b']", "return x['a'] ** 2"], ({"a": 2.0, "b": 3.0},)),
    (["def add(v):", "    x.append(v * x[0])", "add(y)", "return sum(x)"], (XS, 2.0)),
    (["x[0][1] = y * x[1][0]", "x[1][0] += x[0][1]", "return x[0][1] * x[1][0]"], ([[1.0, 2.0], [3.0, 4.0]], 0.5)),
    (["x[1, 0] = y[0]", "x[:, 2] *= y", "return x @ y"], (M, W)),
    (
        [
            "n = len(y)",
            "for k in range(n):",
            "    for i in range(k + 1, n):",
            "        f = x[i, k] / x[k, k]",
            "        x[i] -= f * x[k]",
            "        y[i] -= f * y[k]",
            "return y[n - 1] / x[n - 1, n - 1]",
        ],
        (M + 3.0 * np.eye(3), W),
    ),
]


def program_of(lines, count):
    return function_of("x, y"[: 3 * count - 2], lines, np=tnp, put=put)


@pytest.mark.parametrize(("lines", "given"), BODIES)
def test_a_derivative_changes_copies(lines, given):
    program = te.program(program_of(lines, len(given)))
    args = copy.deepcopy(given)
    wanted, dual_back = te.vjp(program.python, *copy.deepcopy(given))
    cotangent = np.cos(wanted) if isinstance(wanted, np.ndarray) else 1.0
    expected = dual_back(cotangent)
    for _ in range(3):  # also without Python
        value, back = te.vjp(program, *args)
        np.testing.assert_allclose(value, wanted, rtol=1e-14)
        assert repr(args) == repr(given)
        for found, other in zip(back(cotangent), expected, strict=True):
            assert type(found) is type(other)
            flat = (lambda d: list(d.values())) if isinstance(other, dict) else np.ravel
            np.testing.assert_allclose(flat(found), flat(other), rtol=1e-12, atol=1e-14)
    tangent = te.jvp(program, args, expected)[1]
    np.testing.assert_allclose(tangent, te.jvp(program.python, args, expected)[1], rtol=1e-12)
    assert repr(args) == repr(given)


@pytest.mark.parametrize(("lines", "given"), BODIES)
def test_a_call_changes_what_the_plain_function_changes(lines, given):
    function = program_of(lines, len(given))
    plain, own = copy.deepcopy(given), copy.deepcopy(given)
    wanted, found = function(*plain), te.program(function)(*own)
    assert repr((wanted, plain)) == repr((found, own))


@pytest.mark.parametrize(("lines", "given"), BODIES[:2] + BODIES[9:10])
def test_a_program_on_dual_numbers_sees_the_changes(lines, given):
    function = program_of(lines, 1)
    program = te.program(function)

    def around(inner):
        def whole(x):
            y = [*x, x[0]] if isinstance(x, list) else x * 3.0
            value = inner(y)
            return np.sum(value) + y[0] * 5.0 + y[-1]

        return whole

    value, back = te.vjp(around(program), *given)
    wanted, expected = te.vjp(around(program.python), *given)
    assert value == wanted
    np.testing.assert_array_equal(back(1.0)[0], expected(1.0)[0])


@pytest.mark.parametrize(
    "lines", [["x[0] = y", "return x, True"], ["x *= y", "return x, 2"], ["x[0] = np.log(y - y)", "return x"]]
)
def test_a_derivative_inside_a_trace_changes_copies(lines):
    program = te.program(program_of(lines, 2))

    def around(f, x):
        value = te.vjp(f, x, 2.0)[0]
        return np.sum(value[0] if isinstance(value, tuple) else value[1:]) + x[0] * 5.0 + x[1] * x[2]

    for x in (V, V.tolist()):
        if "*=" not in lines[0] or x is V:
            (wanted, expected), (value, back) = (
                te.vjp(lambda x, f=f: around(f, x), x) for f in (program.python, program)
            )
            assert value == wanted
            np.testing.assert_array_equal(back(1.0)[0], expected(1.0)[0])


def test_errors_leave_arguments_as_they_were():
    program = te.program(program_of(["x[0] = 9.0", "x[1] = 1.0 / y", "return x[7]"], 2))
    args = V.copy(), 0.0
    for error, given in ((ZeroDivisionError, args), (IndexError, (args[0], 2.0))):
        with pytest.raises(error):
            te.vjp(program, *given)
        with pytest.raises(error):
            te.jvp(program, given, (V, 0.0))
    np.testing.assert_array_equal(args[0], V)


@pytest.mark.parametrize("shared", [lambda x: (x, x), lambda x: (x, x[1:]), lambda x: (x[::-1], x)])
def test_arguments_that_share_memory_are_refused(shared):
    program = te.program(program_of(["x[0] = 2.0", "return np.sum(x) * np.sum(y)"], 2))
    te.vjp(program, V.copy(), W.copy())
    for _ in range(2):
        with pytest.raises(TapeEngineError, match="share memory"):
            te.vjp(program, *shared(V.copy()))
    with pytest.raises(TapeEngineError, match="share memory"):
        te.jvp(program, shared(V.copy()), shared(V.copy()))
    xs = [[1.0, 2.0]] * 2
    changing = te.program(program_of(["x.append(x[0])", "return x[0][0] * x[1][1]"], 1))
    with pytest.raises(TapeEngineError, match="share memory"):
        te.vjp(changing, xs)


def test_a_program_that_another_one_calls_changes_what_is_the_others():
    inner = te.program(program_of(["x[0] = 2.0 * x[1]", "return x[0]"], 1))
    program = te.program(function_of("x", ["y = x * 1.0", "z = inner(y)", "return z * np.sum(y)"], np=tnp, inner=inner))
    value, back = te.vjp(program, V)
    assert value == program(V.copy()) == (2.0 * V[1]) * (3.0 * V[1] + V[2])
    np.testing.assert_allclose(back(1.0)[0], [0.0, 12.0 * V[1] + 2.0 * V[2], 2.0 * V[1]])
    mapped = te.program(function_of("x", ["y = x * 1.0", "return sum(map(inner, [y])) + y[0]"], inner=inner))
    value, back = te.vjp(mapped, V)
    assert value == mapped(V.copy()) == 4.0 * V[1]
    np.testing.assert_allclose(back(1.0)[0], [0.0, 4.0, 0.0])


@pytest.mark.parametrize(
    "lines",
    [
        ["y = [x]", "x[0] = 1.0", "return y[0][0]"],
        ["if len(x) > 1:", "    x.pop()", "    return f(x)", "return x[0]"],
    ],
)
def test_what_stays_refused(lines):
    with pytest.raises(TapeEngineError):
        refused(te.program(program_of(lines, 1)), list(XS))
