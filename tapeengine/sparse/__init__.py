"""Sparse derivatives: which inputs an output depends on, colours, compressed sweeps; and other sums than of numbers."""
