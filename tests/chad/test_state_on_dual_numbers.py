"""Programs on dual numbers that keep state outside: they read and change what the plain program reads and changes."""

import itertools

import pytest
from chad.written_functions import run_in

import tapeengine as te

#: For each kind of state: what makes it, the function that changes it, and the expression that reads it.
STATES = {
    "global number": ("n = 0.0", "def bump(k):\n    global n\n    n += k", "n"),
    "global of a list": ("n = [0.0]", "def bump(k): n[0] += k", "n[0]"),
    "global that is bound anew": ("n = [0.0]", "def bump(k):\n    global n\n    n = [n[0] + k]", "n[0]"),
    "global that is deleted": ("n = 0.0", "def bump(k):\n    global n\n    m = n + k\n    del n\n    n = m", "n"),
    "attribute of a function": ("", "def bump(k): bump.n += k\nbump.n = 0.0", "bump.n"),
    "attribute of functions that call each other": (
        "",
        "def bump(k): return other(k, 1)\n"
        "def other(k, more):\n    bump.n += k * math.exp(0.0)\n    return bump(k) if more > 1 else k\nbump.n = 0.0",
        "bump.n",
    ),
    "attribute of a class": ("class C: n = 0.0", "def bump(k): C.n += k", "C.n"),
    "field of an object": ("class C: pass\nc = C(); c.n = 0.0", "def bump(k): c.n += k", "c.n"),
    "method of an object": (
        "class C:\n    n = 0.0\n    def more(self, k): self.n += k\nc = C()",
        "def bump(k): c.more(k)",
        "c.n",
    ),
    "method that assigns a global": (
        "n = 0.0\nclass C:\n    def more(self, k):\n        global n\n        n += k\nc = C()",
        "def bump(k): c.more(k)",
        "n",
    ),
    "default": ("", "def bump(k, kept=[0.0]):\n    kept[0] += k\n    return kept[0]", "bump(0.0)"),
    "closure": (
        "def make():\n    n = 0.0\n    def bump(k):\n        nonlocal n\n        n += k\n    return bump, lambda: n",
        "bump, now = make()",
        "now()",
    ),
    "memo": ("@functools.cache\ndef kept(): return [0.0]", "def bump(k): kept()[0] += k", "kept()[0]"),
    "global by its name": ("n = 0.0", "def bump(k): globals()['n'] += k", "n"),
    "text that is run": ("n = 0.0", "def bump(k): exec('global n\\nn += k')", "n"),
    "text that is evaluated": ("n = [0.0]", "def bump(k): n[0] += k", "eval('n')[0]"),
}
#: Where the program changes the state: itself, in a function with its own mathematics, in a method.
CALLERS = {
    "the program": "",
    "a function": "def more(k): bump(k * math.cos(0.0))\n",
    "a function of functions": "def more(k, of=None): (of or bump)(k) if k else math.log(1.0)\n",
    "an object": "class D:\n    def __call__(self, k): bump(k)\nmore = D()\n",
}
#: Why the program runs on dual numbers: before or after the state is changed.
BODIES = {
    "before": "    d = collections.Counter()\n    {more}(1.0)\n    d[0] = math.sin(x) * {read}",
    "after": "    {more}(1.0)\n    y = math.sin(x) * {read}\n    d = collections.defaultdict(float)\n    d[0] = y",
    "twice": "    d = collections.Counter()\n    {more}(1.0)\n    d[0] = math.sin(x) * {read}\n    {more}(2.0)",
}
CASES = list(itertools.product(STATES, CALLERS, BODIES))


def scope_of(state, caller, body):
    made, bump, read = STATES[state]
    text = BODIES[body].format(more="more" if CALLERS[caller] else "bump", read=read)
    found = {"__name__": "written_state"}
    head = "import collections, functools, math"
    run_in(found, f"{head}\n{made}\n{bump}\n{CALLERS[caller]}def f(x):\n{text}\n    return d[0] * {read}\n")
    found["state"] = lambda: eval(read, found)
    return found


def outcome(run):
    """Give what a run gives, or that it is refused."""
    try:
        return run()
    except te.errors.UnsupportedError:
        return None


@pytest.mark.parametrize(("state", "caller", "body"), CASES, ids=[", ".join(case) for case in CASES])
def test_state_is_that_of_the_plain_program(state, caller, body):
    plain, other, traced = (scope_of(state, caller, body) for _ in range(3))
    program = te.program(traced["f"])
    for step in range(3):
        if step == 2:  # the plain function runs in between, as in ordinary use
            plain["f"](0.5), other["f"](0.5), traced["f"](0.5)
        found = outcome(lambda: te.value_and_grad(program)(1.25))
        if found is None:
            assert traced["state"]() == scope_of(state, caller, body)["state"]()
            return
        value, slope = found
        want = plain["f"](1.25)
        assert value == pytest.approx(want, rel=1e-14)
        assert slope == pytest.approx(want / plain["math"].tan(1.25), rel=1e-12)
        assert traced["state"]() == plain["state"]()


def test_most_kinds_of_state_are_taken():
    kinds = [case for case in CASES if outcome(lambda c=case: te.grad(te.program(scope_of(*c)["f"]))(1.25)) is not None]
    assert len(kinds) > len(CASES) // 2


@pytest.mark.parametrize("change", ["math.sin", "math.cos"])
def test_a_captured_function_that_the_program_exchanges(change):
    scope = {"__name__": "written_state"}
    run_in(
        scope,
        "import collections, math\n"
        "def make():\n    of = math.sin\n    def f(x):\n        nonlocal of\n"
        "        d = collections.defaultdict(float)\n        d[0] = of(x)\n"
        f"        of = {change}\n        return d[0]\n    return f\nf = make()\n",
    )
    with pytest.raises(te.errors.UnsupportedError):
        te.grad(te.program(scope["f"]))(1.25)
