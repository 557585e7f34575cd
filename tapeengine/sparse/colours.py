"""Colourings of rows and columns: those of one colour can share one sweep.

The vertices are coloured in order, each with the smallest free colour (Curtis, Powell and Reid 1974). The result
depends on the order; known good orders are tried and the best result is kept (Gebremedhin, Manne and Pothen 2005:
"What color is your Jacobian?"; Gebremedhin, Tarafdar, Pothen and Walther 2009: "Efficient computation of sparse
Hessians using coloring and automatic differentiation").
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from .._core.sweeps import linear

#: The largest number of edges in a graph of columns for the orders that need all edges.
EDGES = 1 << 23
#: Rows are long whose number of entries, squared, is more than so many times the number of all entries.
LONG = 64
#: More colours than any graph needs.
ANY = 1 << 62


class Graph(NamedTuple):
    """A pattern by rows: `others[starts[i]:starts[i + 1]]` are the columns of row i; there are `size` columns."""

    starts: Any
    others: Any
    size: int


def transposed(graph: Graph) -> Graph:
    """Return the pattern by columns."""
    rows = np.repeat(np.arange(len(graph.starts) - 1), np.diff(graph.starts))
    order = np.argsort(graph.others, kind="stable")
    counts = np.bincount(graph.others, minlength=graph.size)
    return Graph(np.concatenate([[0], np.cumsum(counts)]).astype(np.int64), rows[order], len(graph.starts) - 1)


def number_of(colours: Any) -> int:
    """Return the number of colours; -1 is none."""
    return int(colours.max(initial=-1)) + 1


def colour_columns(rows: Graph) -> Any:
    """Colour the columns so that no row has two entries of one colour, with the fewest colours among the orders tried.

    Returns
    -------
    numpy.ndarray of int32, shape (columns,)
    """
    columns = transposed(rows)
    least = int(np.diff(rows.starts).max(initial=0))  # the longest row needs this many colours
    best: Any = None
    for name in ORDERS:
        order = order_of(name, columns, rows)
        if order is None:
            continue
        most = ANY if best is None else number_of(best)
        found = linear.greedy(order, columns.starts, columns.others, rows.starts, rows.others, most)
        best = best if found is None else found
        if number_of(best) <= least:
            break
    return best


def colour_star(graph: Graph) -> Any:
    """Colour a symmetric pattern so that each entry can be recovered directly (a star colouring)."""
    return _fewest(graph, linear.star, None)


def colour_acyclic(graph: Graph) -> Any:
    """Colour a symmetric pattern so that each entry can be recovered by substitution (an acyclic colouring).

    A star colouring is one as well, and is given where no other has fewer colours, since it needs no substitution.
    """
    trees = np.minimum(np.arange(graph.others.size), mirrored(graph))
    return _fewest(graph, partial(linear.acyclic, trees=trees), colour_star(graph))


def mirrored(graph: Graph) -> Any:
    """Return for each entry of a symmetric pattern the place of its mirror image; rows are in ascending order."""
    rows = np.repeat(np.arange(graph.size), np.diff(graph.starts))
    return np.lexsort((rows, graph.others))


def _fewest(graph: Graph, colouring: Callable[..., Any], best: Any) -> Any:
    """The colouring with the fewest colours: the given one, or of one of the orders of the vertices."""
    for name in ("largest first", "smallest last", "natural"):
        most = ANY if best is None else number_of(best)
        found = colouring(order_of(name, graph, None), graph.starts, graph.others, most)
        best = best if found is None else found
    return best


# -- orders ------------------------------------------------------------------------------------------------------------
def order_of(name: str, columns: Graph, rows: Graph | None) -> Any:
    """Return an order of the columns, int64; None if their graph is too large for it.

    Parameters
    ----------
    name : str
        One of `ORDERS`.
    columns, rows : Graph
        A pattern and its transpose: columns are neighbours if a row has both. Without rows, a symmetric pattern, whose
        entries are the neighbours.
    """
    count = len(columns.starts) - 1
    if name == "natural":
        return np.arange(count)
    neighbours = columns if rows is None else _neighbours(columns, rows)
    if neighbours is None:
        return None
    degrees = np.diff(neighbours.starts)
    if name == "largest first":
        return np.argsort(-degrees, kind="stable")
    last = name == "smallest last"
    return linear.by_degree(neighbours.starts, neighbours.others, last)


#: The orders, as they are tried.
ORDERS = ("natural", "largest first", "smallest last", "incidence")


def _neighbours(columns: Graph, rows: Graph) -> Graph | None:
    """The columns that share a row with each column, or None if there are too many.

    Long rows are left out: almost all columns are neighbours by one, which says nothing about their order.
    """
    extents = np.diff(rows.starts)
    few = extents.astype(float) ** 2 <= LONG * rows.others.size
    if int((extents[few].astype(float) ** 2).sum()) > EDGES:
        return None
    row = np.repeat(np.arange(len(extents)), np.where(few, extents, 0))
    count = extents[row]
    first = np.repeat(rows.others[np.repeat(few, extents)], count)
    start = np.repeat(rows.starts[row], count)
    within = np.arange(first.size) - np.repeat(np.cumsum(count) - count, count)
    second = rows.others[start + within]
    keys = distinct(first.astype(np.int64) * rows.size + second)
    keys = keys[keys // rows.size != keys % rows.size] if rows.size else keys
    counts = np.bincount(keys // max(rows.size, 1), minlength=rows.size)
    return Graph(np.concatenate([[0], np.cumsum(counts)]).astype(np.int64), keys % max(rows.size, 1), rows.size)


def distinct(keys: Any) -> Any:
    """The different integers of a vector in ascending order; `numpy.unique` hashes them, and keys of pairs collide."""
    keys = np.sort(keys)
    first = np.ones(keys.size, bool)
    first[1:] = keys[1:] != keys[:-1]
    return keys[first]
