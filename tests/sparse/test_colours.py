"""Colourings of known graphs against the bounds of the literature, and Hessians that are recovered by substitution."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tapeengine as te
from tapeengine._core.sweeps import linear
from tapeengine.errors import ResultError, UnsupportedError
from tapeengine.sparse.colours import (
    ORDERS,
    Graph,
    colour_acyclic,
    colour_columns,
    colour_star,
    order_of,
    transposed,
)
from tapeengine.sparse.plans import _colours

sp = pytest.importorskip("scipy.sparse")


def random_rows(seed: int) -> Graph:
    dense = np.random.default_rng(seed).random((30, 20)) < 0.15
    matrix = sp.csr_array(dense)
    return Graph(matrix.indptr.astype(np.int64), matrix.indices.astype(np.int64), 20)


@pytest.mark.parametrize("seed", range(8))
def test_no_row_has_two_entries_of_one_colour(seed: int) -> None:
    rows = random_rows(seed)
    colours = colour_columns(rows)
    for k in range(30):
        of_row = colours[rows.others[rows.starts[k] : rows.starts[k + 1]]]
        assert len(set(of_row.tolist())) == of_row.size


def least_allowed(order: Any, rows: Graph) -> list[int]:
    """Curtis, Powell and Reid's colouring, as it is described."""
    of_row = np.repeat(np.arange(len(rows.starts) - 1), np.diff(rows.starts))
    found = [-1] * rows.size
    for column in order.tolist():
        mine = of_row[rows.others == column]
        taken = {found[k] for k in rows.others[np.isin(of_row, mine)].tolist()}
        found[column] = next(c for c in range(rows.size + 1) if c not in taken)
    return found


@pytest.mark.parametrize("name", ["natural", "largest first", "smallest last"])
@pytest.mark.parametrize(("long", "share"), [(0, 0.1), (150, 0.01), (150, 0.1), (64, 0.02)])
@pytest.mark.parametrize("seed", range(3))
def test_each_column_gets_the_least_allowed_colour(name: str, long: int, share: float, seed: int) -> None:
    """Some rows have more entries than there are bits in a word."""
    rng = np.random.default_rng(seed)
    dense = rng.random((60, 200)) < share
    dense[rng.integers(60), rng.choice(200, long, replace=False)] = True
    pattern = sp.csr_array(dense)
    rows = Graph(pattern.indptr.astype(np.int64), pattern.indices.astype(np.int64), 200)
    columns = transposed(rows)
    order = order_of(name, columns, rows)
    greedy = partial(linear.greedy, order, columns.starts, columns.others, rows.starts, rows.others)
    expected = least_allowed(order, rows)
    assert greedy(1 << 62).tolist() == expected
    assert greedy(max(expected) + 2).tolist() == expected
    assert greedy(max(expected) + 1) is None


def arrows(rng: Any, size: int, hubs: int, share: float) -> Any:
    """A sparse square pattern, some rows and columns of which have many entries."""
    dense = rng.random((size, size)) < share
    np.fill_diagonal(dense, True)
    for k in rng.permutation(size)[:hubs]:
        dense[k] |= rng.random(size) < 0.9
        dense[:, -1 - k] |= rng.random(size) < 0.9
    return dense


@pytest.mark.parametrize("share", [0.0, 0.02, 0.1, 0.3])
@pytest.mark.parametrize("hubs", [0, 1, 3, 6])
@pytest.mark.parametrize("size", [6, 24, 60])
def test_rows_and_columns_are_swept_where_they_are_cheaper_than_either(size: int, hubs: int, share: float) -> None:
    """Both are swept only if they need less than 0.7 of the sweeps of one; each entry is alone in a sweep."""
    dense = arrows(np.random.default_rng(size + hubs), size, hubs, share)
    pattern = sp.csr_array(dense)
    graph = Graph(pattern.indptr.astype(np.int64), pattern.indices.astype(np.int64), size)
    rows, columns = _colours(graph, graph)
    sums = [dense[rows == k].sum(axis=0) for k in range(rows.max() + 1)]
    rest = dense & (rows < 0)[:, None]
    sums += [rest[:, columns == k].sum(axis=1) for k in range(columns.max() + 1)]
    assert max(map(np.max, sums)) == 1
    assert np.sum(sums) == dense.sum()
    single = min(colour_columns(each).max() + 1 for each in (graph, transposed(graph)))
    assert len(sums) < 0.7 * single if rows.max() >= 0 <= columns.max() else len(sums) == single
    extents = dense.sum(axis=1)
    for k in range(1, int(extents.max()).bit_length() if single >= 8 else 0):
        apart = extents > extents.max() // 2**k
        parts = [sp.csr_array(each) for each in (dense[apart].T, dense[~apart])]
        both = [colour_columns(Graph(*(x.astype(np.int64) for x in (p.indptr, p.indices)), p.shape[1])) for p in parts]
        assert sum(x.max(initial=-1) + 1 for x in both) >= 0.7 * len(sums) or apart.sum() >= single


@pytest.mark.parametrize("name", ORDERS)
@pytest.mark.parametrize("seed", range(4))
def test_an_order_has_each_column_once(name: str, seed: int) -> None:
    rows = random_rows(seed)
    assert sorted(order_of(name, transposed(rows), rows).tolist()) == list(range(20))


@pytest.mark.parametrize("hubs", [0, 2])
@pytest.mark.parametrize("share", [0.05, 0.15, 0.4])
@pytest.mark.parametrize("seed", range(8))
def test_a_star_colouring_has_no_path_of_four_in_two_colours(seed: int, share: float, hubs: int) -> None:
    n = 18
    rng = np.random.default_rng(seed)
    dense = rng.random((n, n)) < share
    dense[rng.choice(n, hubs, replace=False)] = True
    dense = dense | dense.T
    colours = colour_star(graph_of(dense))
    edges = {(int(a), int(b)) for a, b in zip(*np.nonzero(dense), strict=True) if a != b}
    assert all(colours[a] != colours[b] for a, b in edges)
    for a, b in edges:
        for c in range(n):
            for d in range(n):
                if len({a, b, c, d}) == 4 and (b, c) in edges and (c, d) in edges:
                    assert len({int(colours[k]) for k in (a, b, c, d)}) > 2


@pytest.mark.parametrize(("n", "bound"), [(10, 3), (50, 3)])
def test_a_tridiagonal_hessian_takes_at_most_three_columns(n: int, bound: int) -> None:
    """A star colouring of a path needs three colours (Coleman and More 1984)."""
    band = sp.csr_array(sp.diags([1.0, 1.0, 1.0], [-1, 0, 1], shape=(n, n)))
    assert colour_star(Graph(band.indptr.astype(np.int64), band.indices.astype(np.int64), n)).max() + 1 == bound


# -- bounds ------------------------------------------------------------------------------------------------------------
def graph_of(matrix: Any) -> Graph:
    """The pattern of a symmetric matrix, with its diagonal."""
    dense = sp.csr_array(matrix != 0) + sp.csr_array(sp.eye(matrix.shape[0]))
    pattern = sp.csr_array((dense + dense.T) != 0)
    pattern.sort_indices()
    return Graph(pattern.indptr.astype(np.int64), pattern.indices.astype(np.int64), matrix.shape[0])


def tree(n: int, seed: int) -> Any:
    generator = np.random.default_rng(seed)
    parents = [int(generator.integers(k)) for k in range(1, n)]
    names = generator.permutation(n)
    found = np.zeros((n, n))
    for k, parent in enumerate(parents, 1):
        found[names[k], names[parent]] = found[names[parent], names[k]] = 1.0
    return found


def band(n: int, width: int) -> Any:
    return np.triu(np.tril(np.ones((n, n)), width), -width)


def arrow_matrix(n: int) -> Any:
    found = np.eye(n)
    found[0] = found[:, 0] = 1.0
    return found


def grid(n: int, m: int) -> Any:
    path = [np.eye(k, k=1) + np.eye(k, k=-1) for k in (n, m)]
    return np.kron(path[0], np.eye(m)) + np.kron(np.eye(n), path[1])


def at_random(n: int, share: float, seed: int) -> Any:
    found = np.random.default_rng(seed).random((n, n)) < share
    return (found | found.T).astype(float)


def colours_of(colouring: Callable[[Graph], Any], matrix: Any) -> int:
    return int(colouring(graph_of(matrix)).max()) + 1


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("n", [2, 17, 200])
def test_trees_take_two_colours(n: int, seed: int) -> None:
    """A forest is its own union of two colours; a star colouring of it needs up to three (Fertin et al. 2004, 2)."""
    assert colours_of(colour_acyclic, tree(n, seed)) == 2


@pytest.mark.parametrize("width", [1, 2, 3, 5])
def test_bands_take_a_colour_for_each_diagonal_of_a_half(width: int) -> None:
    """Chordal graphs: half the width and one by substitution, the width directly (Coleman and More 1984, 5)."""
    assert colours_of(colour_acyclic, band(40, width)) == width + 1
    assert colours_of(colour_star, band(40, width)) <= 2 * width + 1


def test_an_arrow_takes_two_colours() -> None:
    for colouring in (colour_star, colour_acyclic):
        assert colours_of(colouring, arrow_matrix(30)) == 2


@pytest.mark.parametrize("hub", [0, 1 << 16, (1 << 17) - 1])
def test_colourings_of_long_arrows_end(hub: int) -> None:
    """A walk over all pairs of leaves would take minutes."""
    n = 1 << 17
    leaves = np.delete(np.arange(n), hub)
    here, there = np.full(n - 1, hub), np.arange(n)
    places = np.r_[here, leaves, there], np.r_[leaves, here, there]
    pattern = sp.coo_array((np.ones(3 * n - 2), places), (n, n)).tocsr()
    graph = Graph(pattern.indptr.astype(np.int64), pattern.indices.astype(np.int64), n)
    assert colour_star(graph).max() == colour_acyclic(graph).max() == 1
    assert colour_columns(graph).max() == n - 1


@pytest.mark.parametrize(("n", "m"), [(2, 2), (3, 5), (8, 8), (20, 30)])
def test_grids_take_one_colour_more_than_the_fewest(n: int, m: int) -> None:
    """At best three, acyclically (Fertin, Godard and Raspaud 2003), and five for stars (Fertin et al. 2004)."""
    assert 3 <= colours_of(colour_acyclic, grid(n, m)) <= 4
    assert colours_of(colour_star, grid(n, m)) <= 6


@pytest.mark.parametrize("seed", range(8))
def test_random_graphs_stay_below_the_bound_by_degrees(seed: int) -> None:
    """A vertex has at most d + d (d - 1) others within two edges, so that greedy colourings take one more at most."""
    matrix = at_random(30, 0.05 + 0.02 * seed, seed)
    degree = int(np.count_nonzero(matrix - np.diag(np.diag(matrix)), axis=0).max())
    least = colours_of(colour_acyclic, matrix)
    assert least <= colours_of(colour_star, matrix) <= 1 + degree * degree


def has_cycle(edges: list[tuple[int, int]]) -> bool:
    sets: dict[int, int] = {}

    def find(k: int) -> int:
        while sets.setdefault(k, k) != k:
            k = sets[k]
        return k

    for a, b in edges:
        a, b = find(a), find(b)
        if a == b:
            return True
        sets[a] = b
    return False


@settings(deadline=None, max_examples=80)
@given(st.integers(1, 25), st.floats(0.02, 0.6), st.integers(0, 1 << 20))
def test_two_colours_of_an_acyclic_colouring_have_no_cycle(n: int, share: float, seed: int) -> None:
    matrix = at_random(n, share, seed)
    colours = colour_acyclic(graph_of(matrix))
    edges = [(a, b) for a, b in combinations(range(n), 2) if matrix[a, b]]
    assert all(colours[a] != colours[b] for a, b in edges)
    for pair in combinations(range(int(colours.max()) + 1), 2):
        assert not has_cycle([(a, b) for a, b in edges if {colours[a], colours[b]} == set(pair)])


# -- substitution ------------------------------------------------------------------------------------------------------
def quadratic(matrix: Any) -> Callable[[Any], Any]:
    """A program whose Hessian is a symmetric matrix, written with the entries alone."""
    rows, columns = np.nonzero(np.triu(matrix))
    weights = np.where(rows == columns, 0.5, 1.0) * matrix[rows, columns]
    return lambda x: np.sum(weights * x[rows] * x[columns])


def weighted(matrix: Any, seed: int, digits: float = 0.0) -> Any:
    """Entries of random signs, of sizes that differ by so many digits."""
    generator = np.random.default_rng(seed)
    size = generator.uniform(0.5, 1.0, matrix.shape) * 10.0 ** generator.uniform(-digits, 0.0, matrix.shape)
    found = np.triu(np.where(matrix != 0, size * generator.choice([-1.0, 1.0], matrix.shape), 0.0))
    return found + np.triu(found, 1).T


MATRICES: dict[str, Any] = {
    "tree": tree(60, 1),
    "path": band(50, 1),
    "band": band(40, 3),
    "arrow": arrow_matrix(30) + np.diag(np.ones(30)),
    "grid": grid(7, 9),
    "random": at_random(40, 0.1, 3),
    "full": np.ones((9, 9)),
    "diagonal": np.eye(6),
    "no entries": np.zeros((5, 5)),
}


@pytest.mark.parametrize("colouring", ["star", "acyclic"])
@pytest.mark.parametrize("name", MATRICES)
def test_hessians_of_known_matrices(name: str, colouring: str) -> None:
    matrix = weighted(MATRICES[name], 5)
    found = te.sparse_hessian(quadratic(matrix), colouring=colouring)(np.linspace(0.5, 1.0, len(matrix)))
    np.testing.assert_allclose(found.toarray(), matrix, rtol=1e-12, atol=1e-13)
    np.testing.assert_array_equal(found.toarray() != 0, matrix != 0)


@settings(deadline=None, max_examples=40)
@given(st.integers(1, 25), st.floats(0.02, 0.6), st.integers(0, 1 << 20))
def test_hessians_of_random_matrices_by_substitution(n: int, share: float, seed: int) -> None:
    matrix = weighted(at_random(n, share, seed), seed)
    found = te.sparse_hessian(quadratic(matrix), colouring="acyclic")(np.ones(n))
    np.testing.assert_allclose(found.toarray(), matrix, rtol=0, atol=1e-14 * n)


@pytest.mark.parametrize("seed", range(4))
def test_the_error_of_substitution_is_one_rounding_of_the_largest_entry_for_each_step(seed: int) -> None:
    """Sizes differ by 12 digits: small entries lose digits to large ones, which a star colouring keeps apart."""
    matrix = weighted(tree(120, seed), seed, digits=12.0)
    x = np.ones(120)
    star, acyclic = (te.sparse_hessian(quadratic(matrix), colouring=k)(x).toarray() for k in ("star", "acyclic"))
    np.testing.assert_allclose(star, matrix, rtol=1e-15)
    assert abs(acyclic - matrix).max() <= 120 * np.finfo(float).eps * abs(matrix).max()


def test_within_another_transform_entries_are_read_off() -> None:
    pytest.importorskip("tapeengine_scipy")

    def f(x: Any) -> Any:
        return np.sum((te.sparse_hessian(cubic, colouring="acyclic")(x) @ x) ** 2)

    def cubic(x: Any) -> Any:
        return np.sum(x[1:] ** 2 * x[:-1])

    x = np.linspace(0.5, 1.5, 6)
    dense = te.grad(lambda x: np.sum((te.hessian(cubic)(x) @ x) ** 2))(x)
    np.testing.assert_allclose(te.grad(f)(x), dense, rtol=1e-12)


def test_another_colouring_is_refused() -> None:
    with pytest.raises(UnsupportedError, match="'greedy' is no colouring: choose 'star' or 'acyclic'"):
        te.sparse_hessian(np.sum, colouring="greedy")
    with pytest.raises(ResultError):
        te.sparse_hessian(lambda x: x, colouring="acyclic")(np.ones(3))
