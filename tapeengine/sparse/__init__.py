"""Sparse derivatives: dependencies of outputs on inputs, colouring, compressed sweeps; and sums over other monoids."""
