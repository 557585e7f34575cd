"""Runs of programs that are native code, and the back ends that run here; for tests."""

import tapeengine as te
from tapeengine.chad.backends.tiers import is_installed

__all__ = ["BACKENDS", "improved", "run", "texts"]
#: The back ends of `te.program`; None chooses one.
BACKENDS = (None, "machine", *(("native",) if is_installed() else ()))


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


def texts(function, args, is_long):
    """Return the LLVM text of a program's lowered derivatives."""
    from tapeengine.chad.backends.llvm import calling

    found, program = [], te.program(function, backend="native")
    original = calling.module

    def listening(lowered, entries, *_):
        text, made = original(lowered, entries, True, is_long)
        found.append(text)
        return text, made

    calling.module = listening
    try:
        te.vjp(program, *args)
    finally:
        calling.module = original
    return found
