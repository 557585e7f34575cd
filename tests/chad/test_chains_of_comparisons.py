"""Comparisons in chains that bind a name or change something: Python stops at the first that is false."""

import pytest
from chad.written_functions import function_of

import tapeengine as te

#: What has an effect and is three times the variable, with what shows the effect.
EFFECTS = {
    "a name": ([], "(y := 3.0 * x)"),
    "a variable around": (
        ["def side(v):", "    nonlocal y", "    y += v", "    return 3.0 * v"],
        "side(x)",
    ),
    "an element": (["ys = [y]", "def bump(c):", "    c[0] += x", "    return 3.0 * x"], "bump(ys)"),
    "a list": (["ys = [y, 3.0 * x]"], "ys.pop()"),
    "an item": (["ys = [y]", "def log(c):", "    c.append(x)", "    return 3.0 * x"], "log(ys)"),
}
#: Chains in which an effect is always, or only sometimes, computed.
CHAINS = [
    "0.0 < EFFECT < 100.0",
    "EFFECT < 100.0 < x",
    "100.0 < x < EFFECT",
    "0.0 < x < EFFECT",
    "not 100.0 < x < EFFECT",
    "0.0 < 100.0 < x < EFFECT",
]
PLACES = [["ok = CHAIN"], ["if CHAIN:", "    y *= 2.0"], ["y += x if CHAIN else 1.0"]]


@pytest.mark.parametrize("effect", EFFECTS)
def test_a_chain_stops_where_it_stops_in_python(effect: str) -> None:
    before, effect = EFFECTS[effect]
    shown = "y * x + sum(ys) * len(ys)" if any("ys" in line for line in before) else "y * x"
    for k, chain in enumerate(CHAINS):
        place = [line.replace("CHAIN", chain.replace("EFFECT", effect)) for line in PLACES[k % len(PLACES)]]
        f = function_of("x", ["y = 7.0", *before, *place, f"return {shown}"])
        want = f(1.5), (f(1.5 + 1e-6) - f(1.5 - 1e-6)) / 2e-6
        value, backpropagator = te.vjp(te.program(f), 1.5)
        assert (value, *backpropagator(1.0)) == (want[0], pytest.approx(want[1])), chain
