"""Runs of programs that are native code; for tests."""

import tapeengine as te

__all__ = ["improved", "run"]


def improved(function, *args):
    """Return a program with all that LLVM has."""
    program = te.program(function, backend="native")
    te.vjp(program, *args)
    program.ways.native.promote()
    return program


def run(program, *args):
    """Return the value of a program and the cotangents of its primals."""
    value, back = te.vjp(program, *args)
    return value, back(1.0)
