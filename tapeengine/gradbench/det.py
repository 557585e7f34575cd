"""The evaluation ``det``: a determinant by its recursive definition with minors."""

from typing import Any

import tapeengine as te

from .functions import Function


def determinant(rows: list[list[Any]]) -> Any:
    """Return the determinant, expanded along the first row."""
    if len(rows) == 1:
        return rows[0][0]
    total, sign = 0.0, 1.0
    for column, entry in enumerate(rows[0]):
        minor = [row[:column] + row[column + 1 :] for row in rows[1:]]
        total = total + sign * entry * determinant(minor)
        sign = -sign
    return total


def prepare(given: dict[str, Any]) -> tuple[list[list[float]]]:
    """The rows of the matrix."""
    size, entries = given["ell"], [float(entry) for entry in given["A"]]
    return ([entries[row * size : (row + 1) * size] for row in range(size)],)


def flat(rows: list[list[float]]) -> list[float]:
    """One list, row by row."""
    return [entry for row in rows for entry in row]


FUNCTIONS = {"primal": Function(prepare, determinant), "gradient": Function(prepare, te.grad(determinant), flat)}
