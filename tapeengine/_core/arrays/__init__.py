"""Traced arrays: storages and views of them, kernels for small arrays, calls of primitives."""
