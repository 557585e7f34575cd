"""Random functions that change, name, choose and pass on arrays have the results of arrays that never change."""

from random import Random
from typing import Any

import pytest

from tapeengine.chad.intermediate import statements as F
from tapeengine.chad.intermediate.analysis import needed
from tapeengine.chad.intermediate.operations import REAL, TRUTH, WHOLE
from tapeengine.chad.intermediate.text import compiled
from tapeengine.chad.language.traverse import Names
from tapeengine.chad.lowering.builder import Builder
from tapeengine.chad.lowering.in_place import in_place

P, Q = (F.Var(name, F.ArrayOf(REAL)) for name in "pq")
TOTAL, CONDITION = F.Var("t", REAL), F.Var("c", TRUTH)
GIVEN = {"p": [1.0, 2.0, 3.0], "q": [4.0, 5.0, 6.0]}


class Draw:
    """Statements over the arrays that are visible; elements that are read are added to a total."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.names = Names(["p", "q", "t", "c"])
        self.numbers = 0.0

    def array(self) -> F.Var:
        return F.Var(self.names("a"), F.ArrayOf(REAL))

    def number(self) -> F.Const:
        self.numbers += 10.0
        return F.Const(self.numbers, REAL)

    def block(self, visible: list[F.Var], length: int, depth: int) -> list[F.Statement]:
        return [s for _ in range(length) for s in self.statement(visible, depth)]

    def statement(self, visible: list[F.Var], depth: int) -> list[F.Statement]:
        kinds = ["changed", "changed", "same", "read", *["choice", "loop"] * (depth > 0)]
        kind, out, x = self.random.choice(kinds), self.array(), self.random.choice(visible)
        if kind == "choice":
            return self.choice(visible, out, depth - 1)
        if kind == "loop":
            return self.loop(visible, depth - 1)
        at = F.Const(self.random.randrange(3), WHOLE)
        if kind == "read":
            read = F.Var(self.names("y"), REAL)
            return [F.Load(read, x, (at,)), F.Add(TOTAL, read)]
        visible.append(out)
        return [F.Changed(out, x, at, self.number()) if kind == "changed" else F.Assign((out,), (x,))]

    def choice(self, visible: list[F.Var], out: F.Var, depth: int) -> list[F.Statement]:
        sides = []
        for _ in range(2):
            inner = [*visible]
            body = self.block(inner, 2, depth)
            sides.append([*body, F.Assign((out,), (self.random.choice(inner),))])
        visible.append(out)
        return [F.If(CONDITION, *sides)]

    def loop(self, visible: list[F.Var], depth: int) -> list[F.Statement]:
        carried = [self.array() for _ in range(self.random.choice((1, 1, 2)))]
        starts = tuple(self.random.choice(visible) for _ in carried)
        inner = [*visible, *carried]
        body = self.block(inner, 3, depth)
        ends = [(v, self.random.choice(inner[len(visible) :])) for v in carried]
        visible += carried
        index = F.Var(self.names("i"), WHOLE)
        return [F.Assign(tuple(carried), starts), F.For(index, F.Const(3, WHOLE), body, carried=ends)]  # type: ignore[arg-type]


def run(statements: list[F.Statement], env: dict[str, Any]) -> None:
    """Run statements on arrays that never change."""
    value = lambda x: env[x.name] if isinstance(x, F.Var) else x.value  # noqa: E731
    for s in statements:
        match s:
            case F.Load(out, array, (at,)):
                env[out.name] = value(array)[value(at)]
            case F.Add(out, x):
                env[out.name] += value(x)
            case F.Changed(out, array, at, x):
                env[out.name] = [value(x) if k == value(at) else old for k, old in enumerate(value(array))]
            case F.Assign(outs, values):
                env |= zip([out.name for out in outs], [value(x) for x in values], strict=True)
            case F.If(condition, then, orelse):
                run(then if value(condition) else orelse, env)
            case F.For(_, count, body, carried=carried):
                for _ in range(value(count)):
                    run(body, env)
                    env |= zip([v.name for v, _ in carried], [value(x) for _, x in carried], strict=True)
            case _:
                raise NotImplementedError(type(s))


@pytest.mark.parametrize("part", range(8))
def test_changes_in_place_are_not_seen_by_other_names(part: int) -> None:
    for seed in range(50 * part, 50 * part + 50):
        draw = Draw(seed)
        visible = [P, Q]
        body = [F.Assign((TOTAL,), (F.Const(0.0, REAL),)), *draw.block(visible, 7, 2)]
        function = F.Function("f", [P, Q, CONDITION], body, [TOTAL, *draw.random.sample(visible, 2)])
        envs = [{**GIVEN, "c": c} for c in (True, False)]
        for env in envs:
            run(body, env)
        wanted = [[env[x.name] for x in function.results] for env in envs]
        needed(function, may_raise=True)  # as in programs: an array that nothing reads is not made
        in_place(function, Builder(draw.names))
        program = compiled(F.Program({"f": function}))["f"]
        found = [[*program([*GIVEN["p"]], [*GIVEN["q"]], c)] for c in (True, False)]
        assert found == wanted, seed
