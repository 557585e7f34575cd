"""Benchmark programs, each written once as ordinary Python or numpy and generic over the module that computes."""
