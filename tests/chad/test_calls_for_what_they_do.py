"""Calls of functions of libraries as statements, and variables annotated with classes of libraries."""

import pytest
from chad.written_functions import run_in

import tapeengine as te

HEAD = """
import bisect, collections, heapq, logging, operator, random
from collections import deque
kept = [4.0, 5.0]
"""
BODIES = {
    "heapify": "h = list(xs)\n    heapq.heapify(h)\n    return heapq.heappop(h) * h[0]",
    "heappush": "h = []\n    for x in xs: heapq.heappush(h, x)\n    return heapq.heappop(h) * h[1]",
    "insort": "h = [1.5]\n    for x in xs: bisect.insort(h, x)\n    return h[0] * h[1] + h[3]",
    "setitem": "h = list(xs)\n    operator.setitem(h, 0, xs[1] * xs[2])\n    return h[0] * h[1]",
    "seed": "random.seed(1)\n    return random.random() * xs[0]",
    "logging": "logging.debug('x')\n    return xs[0] * xs[1]",
    "argument": "heapq.heapify(xs)\n    return xs[0] * xs[1]",
    "kept": "heapq.heapreplace(kept, 6.0)\n    return xs[0] * kept[0]",
    "deque": "q: deque[int] = deque()\n    for i in range(3): q.append(i)\n    return xs[q[0]] * xs[q[-1]]",
    "set": "s: set[int] = set()\n    for k in range(3): s.add(k % 2)\n    return xs[0] * len(s)",
    "ordered": "t: collections.OrderedDict = collections.OrderedDict()\n    t[0] = xs[1]\n    return t[0] * xs[0]",
    "declared": "q: deque\n    q = deque(xs)\n    q.rotate(1)\n    return q[0] * xs[0]",
}


def scope_of(name):
    scope = {"__name__": "written_calls"}
    run_in(scope, f"{HEAD}def f(xs):\n    {BODIES[name]}\n")
    return scope


@pytest.mark.parametrize("name", BODIES)
def test_value_cotangents_and_state(name):
    plain, traced, at = scope_of(name), scope_of(name), [3.0, 1.0, 2.0]
    given = list(at)
    program = te.program(traced["f"])
    for run in range(2):
        value, back = te.vjp(program, given)
        assert value == plain["f"](list(at))
        assert traced["kept"] == plain["kept"]
        assert given == at  # a derivative changes copies
        scopes = [scope_of(name) for _ in range(6)]
        for k, scope in enumerate(scopes):
            scope["kept"][:] = [4.0, 5.0] if run == 0 else [5.0, 6.0]
            moved = list(at)
            moved[k // 2] += 1e-6 * (-1) ** k
            scope["value"] = scope["f"](moved)
        slopes = [(a["value"] - b["value"]) / 2e-6 for a, b in zip(scopes[::2], scopes[1::2], strict=True)]
        assert back(1.0)[0] == pytest.approx(slopes, rel=1e-7, abs=1e-8)
