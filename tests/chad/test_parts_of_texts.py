"""Items and slices of texts: of arguments, constants, other texts, by indices that the text or only a run knows."""

import itertools

import pytest
from chad.written_functions import run_in

import tapeengine as te

TEXTS = ("name", "TABLE['b']", "'R10'", "(name + 'x')", "name.lower()", "f'{name}0'", "KEPT.label")
PARTS = ("0", "-1", ":2", "1:", "::-1", "1:-1", "-2:", ":", "k", "k:", "int(x)", "1:10", "0:0")
USES = (
    "x * x if {0} == 'R' else x",
    "x * len({0})",
    "x if {0} in ('R', '1', 'R1', '10', 'R10') else x * x",
    "x * ({0} + 'z' == '1z') + x",
    "x * {{'R': 2.0, '0': 3.0}}.get({0}, 4.0)",
)
HEAD = "import types\nTABLE = {'a': 'zz', 'b': 'R10'}\nKEPT = types.SimpleNamespace(label='R10')\n"


@pytest.mark.parametrize(("text", "part"), itertools.product(TEXTS, PARTS))
def test_value_and_derivative(text, part):
    for use in USES:
        scope = {"__name__": "written_texts"}
        run_in(scope, f"{HEAD}def f(x, name):\n    k = 1\n    return {use.format(f'{text}[{part}]')}\n")
        value, back = te.vjp(te.program(scope["f"]), 1.3, "R10")
        assert value == scope["f"](1.3, "R10")
        slope = (scope["f"](1.3 + 1e-6, "R10") - scope["f"](1.3 - 1e-6, "R10")) / 2e-6
        assert back(1.0)[0] == pytest.approx(slope, rel=1e-8, abs=1e-9)


@pytest.mark.parametrize("part", ["5", "-5", "2.0", "'a'", "None"])
def test_errors_are_those_of_python(part):
    scope = {"__name__": "written_texts"}
    run_in(scope, f"def f(x, name):\n    return x if name[{part}] == 'R' else x * x\n")
    with pytest.raises((IndexError, TypeError)) as want:
        scope["f"](1.3, "R10")
    with pytest.raises(type(want.value)):
        te.grad(te.program(scope["f"]))(1.3, "R10")


@pytest.mark.parametrize("seed", [("R10", 2.6), ("Q10", 1.0)])
def test_each_text_is_compiled_for_itself(seed):
    scope = {"__name__": "written_texts"}
    run_in(scope, "def f(x, name):\n    return x * x if name[0] == 'R' else x\n")
    program = te.program(scope["f"])
    for _ in range(2):
        assert te.grad(program)(1.3, seed[0]) == seed[1]
        assert te.grad(program)(1.3, "Rx") == 2.6


METHODS = ("split(' ')", "rsplit(' ', 1)", "splitlines()", "partition(' ')", "split(' ')[-1:]")
KINDS = (
    *("{}", "{{'parts': {}}}", "[isinstance({}, list)]", "{} * 2", "{} == ['a', 'b']", "{} == ('a', ' ', 'b')"),
    *("[x, {}] == (x, {})", "isinstance([x, {}], list)", "isinstance((x, {}), list)", "(x, {}) != (x, {})"),
)


@pytest.mark.parametrize(("text", "method"), itertools.product(("name", "'a b'", "TABLE['a']"), METHODS))
@pytest.mark.parametrize("use", KINDS)
def test_a_list_of_texts_is_a_list(text, method, use):
    scope = {"__name__": "written_texts"}
    each = f"{text}.{method}"
    run_in(scope, f"TABLE = {{'a': 'a b'}}\ndef f(x, name):\n    return {use.format(*[each] * 2)}, x * x\n")
    wanted = scope["f"](1.5, "a b")
    assert te.vjp(te.program(scope["f"]), 1.5, "a b")[0] == wanted
    value, moved = te.jvp(te.program(scope["f"]), (1.5, "a b"), (1.0, None))
    assert (value, moved[1]) == (wanted, 3.0)
