"""Traced numbers: Python's and numpy's arithmetic, `math` and `cmath` on duals, one record for each operation."""
