"""The dual-numbers frontend: numpy's protocols and methods for traced scalars and arrays."""
