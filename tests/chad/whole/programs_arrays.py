"""Programs of registry primitives and of arrays of all kinds, whose generated form is of interest."""

from typing import NamedTuple

import numpy
from chad.whole.programs import normal

import tapeengine.math as math
import tapeengine.numpy as np
from tapeengine import chad as te

ARRAYS = {}


def on(*args):
    """Register a program with arguments."""

    def register(program):
        ARRAYS[program.__name__] = (program, args)
        return program

    return register


REGULAR = normal(3, 3) + 4 * numpy.eye(3)
SYMMETRIC = REGULAR + REGULAR.T


@on(REGULAR, normal(3))
@te.program
def solves(a: te.Array[te.Vec], b: te.Vec) -> float:
    x = np.linalg.solve(a, b)
    _, logdet = np.linalg.slogdet(a)
    return np.linalg.det(a) + sum(v * v for v in x) * logdet


@on(SYMMETRIC, normal(3), 3)
@te.program
def primitives_in_loops(m: te.Array[te.Vec], b: te.Vec, n: int) -> te.Vec:
    x = b
    for _ in range(n):
        x = np.linalg.solve(m, x) + np.linalg.det(m) / 100 * b
    return x


@on(SYMMETRIC, normal(3))
@te.program
def tuples_of_primitives(m: te.Array[te.Vec], b: te.Vec) -> te.Vec:
    w, v = np.linalg.eigh(m)
    return np.linalg.solve(m, b) * w + v.T @ b


@on(SYMMETRIC, normal(3), 0.5)
@te.program
def primitives_in_branches(m: te.Array[te.Vec], b: te.Vec, c: float) -> float:
    x = b
    if c > 0.2:
        x = np.linalg.solve(m, b)
    return sum(v * c for v in x)


ROWS = [normal(2), normal(5), normal(0), normal(3)]


@on(ROWS, normal(4), normal(5))
@te.program
def rows_of_different_sizes(rows: te.Array[te.Vec], w: te.Vec, u: te.Vec) -> float:
    scores = [sum(row[j] * u[j] for j in range(len(row))) for row in rows]
    squares = sum(sum(math.exp(x) * w[i] for x in row) / (1 + len(row)) for i, row in enumerate(rows))
    return sum(s * v for s, v in zip(scores, w)) + squares + sum(max(row) for row in rows if len(row) > 0)


@on(ROWS, 1.5)
@te.program
def rows_in_and_out(rows: te.Array[te.Vec], a: float) -> te.Array[te.Vec]:
    return [[a * x + math.sin(x) * len(row) for x in row] for row in rows]


@on(normal(5))
@te.program
def rows_built_inside(xs: te.Vec) -> float:
    rows = [[xs[i] * xs[j] for j in range(i + 1)] for i in range(len(xs))]
    return sum(sum(row) * len(row) + row[-1] * row[0] for row in rows) + rows[3][1]


@on(normal(3, 4), 0.1)
@te.program
def rows_by_filter(m: te.Array[te.Vec], least: float) -> te.Array[te.Vec]:
    return [[x * x * len(row) for x in row if x > least] for row in m]


@on(normal(3, 4), 0.1)
@te.program
def sums_by_filter(m: te.Array[te.Vec], least: float) -> float:
    chosen = [[x for x in row if x > least] for row in m]
    return sum(sum(x * m[i][0] for x in row) * len(row) for i, row in enumerate(chosen))


@on(ROWS, 3)
@te.program
def rows_in_a_loop(rows: te.Array[te.Vec], n: int) -> te.Array[te.Vec]:
    state = rows
    for _ in range(n):
        state = [[x + 0.1 * math.sin(x) * row[0] for x in row] for row in state]
    return state


@on(ROWS, True)
@te.program
def rows_in_branches(rows: te.Array[te.Vec], flag: bool) -> float:
    chosen = rows
    if flag:
        chosen = [[x * x for x in row[1:]] for row in rows]
    return sum(sum(row) for row in chosen)


@on([[normal(2), normal(3)], [normal(1)], []], 0.7)
@te.program
def rows_of_rows(blocks: te.Array[te.Array[te.Vec]], a: float) -> te.Vec:
    return [a + sum(sum(a * x * x for x in row) * len(block) for row in block) for block in blocks]


class Sample(NamedTuple):
    values: te.Vec
    weight: float
    label: int


@on([Sample(normal(2), 0.5, 1), Sample(normal(4), 1.5, 0), Sample(normal(1), -0.5, 1)])
@te.program
def samples_of_different_sizes(samples: te.Array[Sample]) -> float:
    return sum(s.weight * sum(x * x for x in s.values) if s.label == 1 else s.values[0] for s in samples)


@on([(0.5, 1), (1.5, 0)], [[(0.1, 0.2)], [(0.3, 0.4), (-0.5, 1.0)]])
@te.program
def pairs_with_integers(
    pairs: te.Array[tuple[float, int]], points: te.Array[te.Array[tuple[float, float]]]
) -> te.Array[tuple[float, int]]:
    return [(x * k + sum(a * b for a, b in row), k + 1) for (x, k), row in zip(pairs, points)]


@on(normal(6))
@te.program
def indices_from_the_end(xs: te.Vec) -> float:
    return sum(xs[i - 1] * xs[i] * xs[-i] for i in range(len(xs)))


@on(normal(5))
@te.program
def the_shortest(xs: te.Vec) -> te.Vec:
    return list(map(lambda a, b: a * b, xs, xs[1:]))


@on(normal(4, 3), numpy.array([0, 2, 2, 1, 0]), normal(5, 3))
@te.program
def scattered_rows(base: te.Array[te.Vec], at: te.Array[int], rows: te.Array[te.Vec]) -> te.Array[te.Vec]:
    return te.scatter(base, at, [[x * x for x in row] for row in rows])


@on(normal(3, 3, 3) + 3 * numpy.eye(3), normal(3), 2)
@te.program
def primitives_in_a_build(ms: te.Array[te.Array[te.Vec]], b: te.Vec, n: int) -> te.Array[te.Vec]:
    return [np.linalg.solve(m, b) + (m[0] if n > 1 else b) for m in ms]


@on(normal(3), normal(4), normal(2))
@te.program
def rows_written_out(a: te.Vec, b: te.Vec, c: te.Vec) -> float:
    rows = [a, b, c]
    return sum(sum(x * x for x in rows[i]) * rows[2 - i][0] for i in range(3))
