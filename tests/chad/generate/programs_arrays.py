"""Programs of registry primitives and of arrays of all kinds, whose generated form is of interest."""

import numpy
from chad.generate.programs import normal, on

import tapeengine.numpy as np
from tapeengine import chad as te

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
