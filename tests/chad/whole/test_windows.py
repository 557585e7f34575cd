"""Windows of vectors and their sums of products, at each place and size: numbers of plain loops, or an index error.

A program whose run raises it runs again on dual numbers, so its results do not show an error too many.
"""

import itertools

import numpy as np
import pytest

from tapeengine.chad.backends.whole.running import convolve, correlate, unwindows, windows

SIZES = list(itertools.product((0, 1, 4, 5), (-1, 0, 1, 2), (0, 1, 2, 3, 4), (0, 1, 2, 3)))


@pytest.mark.parametrize(("length", "start", "rows", "columns"), SIZES)
def test_windows_and_their_sums_of_products(length, start, rows, columns):
    x, w = np.cos(np.arange(length)), np.sin(np.arange(1.0, 1.0 + columns))
    places = [[start + i + j for j in range(columns)] for i in range(rows)]
    if any(not 0 <= k < length for row in places for k in row):
        for run in (lambda: windows(x, start, rows, columns, 0), lambda: correlate(x, start, w, rows)):
            with pytest.raises(IndexError):
                run()
        return
    wanted = np.array([[x[k] for k in row] for row in places]).reshape(rows, columns)
    np.testing.assert_array_equal(windows(x, start, rows, columns, 0), wanted)
    np.testing.assert_allclose(correlate(x, start, w, rows), [sum(r * w) for r in wanted], rtol=1e-14, atol=1e-15)
    sums = np.zeros(rows + columns - 1 if rows and columns else 0)
    for i, j in itertools.product(range(rows), range(columns)):
        sums[i + j] += wanted[i, j]
    np.testing.assert_allclose(unwindows(wanted), sums, rtol=1e-14, atol=1e-15)


@pytest.mark.parametrize(("n", "m"), list(itertools.product(range(4), repeat=2)))
def test_sums_of_products_with_equal_sums_of_indices(n, m):
    a, b = np.cos(np.arange(n)), np.sin(np.arange(1.0, 1.0 + m))
    sums = np.zeros(n + m - 1 if n and m else 0)
    for i, j in itertools.product(range(n), range(m)):
        sums[i + j] += a[i] * b[j]
    np.testing.assert_allclose(convolve(a, b), sums, rtol=1e-14, atol=1e-15)
