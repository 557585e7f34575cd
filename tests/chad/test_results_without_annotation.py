"""Values of programs without an annotation of the result, where the text shows another type than a run gives."""

from dataclasses import dataclass

import numpy as np
import pytest

import tapeengine as te
from tapeengine.errors import StructureError


@te.program
def caught(x: float):
    d = {"a": x}
    try:
        return d["b"]
    except KeyError:
        return 2.0 * x


@te.program
def squeezed(x: np.ndarray, n: int):
    return np.squeeze(x[n:])


@te.program
def squeezed_array(x: np.ndarray, n: int) -> np.ndarray:
    return np.squeeze(x[n:])


@te.program
def squeezed_matrix(x: np.ndarray, n: int) -> te.Array[te.Vec]:
    return np.squeeze(x[n:])


def test_a_handler_gives_the_value():
    assert te.value_and_grad(caught)(3.0) == (6.0, 2.0)
    assert te.jvp(caught, (3.0,), (1.0,)) == (6.0, 2.0)


@pytest.mark.parametrize("program", [squeezed, squeezed_array])
def test_an_array_of_another_rank(program):
    x = np.array([[1.0, 2.0], [3.0, 4.0]])
    value, back = te.vjp(program, x, 1)
    assert np.array_equal(value, [3.0, 4.0])
    assert np.array_equal(back(np.array([1.0, 2.0]))[0], [[0.0, 0.0], [1.0, 2.0]])
    tangent = te.jvp(program, (x, 1), (x, None))[1]
    assert np.array_equal(tangent, [3.0, 4.0])
    assert np.array_equal(te.jacobian(program)(x, 1)[1], [[0.0, 0.0], [0.0, 1.0]])


def test_an_annotation_is_kept():
    with pytest.raises(StructureError, match="what the plain function returns here"):
        te.vjp(squeezed_matrix, np.eye(2), 1)


@te.program
def determinant(m):
    rows = [r[:] for r in m]
    return 1.0 if not rows else rows[0][0]


def test_an_empty_list_shows_no_type():
    assert te.vjp(determinant, [])[0] == 1.0
    assert te.value_and_grad(determinant)([[2.0]]) == (2.0, [[1.0]])


@dataclass
class Link:
    value: float
    rest: "Link | None" = None


def total(link):
    s = 0.0
    while link is not None:
        s, link = s + link.value * link.value, link.rest
    return s


def test_long_lists_of_links_without_annotation():
    links = None
    for k in range(20_000):
        links = Link(float(k % 3), links)
    value, back = te.vjp(te.program(total), links)
    assert value == total(links)
    assert back(1.0)[0].rest.value == 2.0 * links.rest.value
