"""SciPy's functions that are compositions: its values, and derivatives to second order against differences."""

import ast
import functools
import inspect
from importlib import import_module
from types import SimpleNamespace

import numpy
import pytest
from differences import check, flat
from programs import CONSTANTS, EXACT, GROUPS, TIGHT

import tapeengine as te
import tapeengine.numpy as np

MODULES = "integrate optimize interpolate linalg fft signal ndimage spatial special stats".split()
SCIPY, OURS = (
    SimpleNamespace(**{name: import_module(f"{package}.{name}") for name in MODULES})
    for package in ("scipy", "tapeengine_scipy")
)
LINES = [(group, line) for group, (_, text) in GROUPS.items() for line in text.strip().splitlines()]


class ByName:
    """A module of this package whose functions are given by name the arguments that SciPy's signature lets be named."""

    def __init__(self, ours, theirs):
        self._ours, self._theirs = ours, theirs

    def __getattr__(self, name):
        ours, theirs = getattr(self._ours, name), getattr(self._theirs, name)
        return ByName(ours, theirs) if inspect.ismodule(theirs) else functools.partial(named, ours, theirs)


def named(ours, theirs, *args, **keywords):
    parameters = inspect.signature(theirs).parameters.values()
    names = [p.name for p in parameters if p.kind == p.POSITIONAL_OR_KEYWORD]
    first = sum(p.kind == p.POSITIONAL_ONLY for p in parameters)
    can = len(args) <= len(names) + first
    return ours(*args[:first], **dict(zip(names, args[first:], strict=False)), **keywords) if can else ours(*args)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("group", "line"), LINES, ids=[line for _, line in LINES])
def test_program(group, line):
    text, _, flags = line.partition(" | ")
    arrays = GROUPS[group][0]
    read = {node.id for node in ast.walk(ast.parse(f"({text},)")) if isinstance(node, ast.Name)}
    names = sorted(read & set(arrays))

    def program(modules, *args):
        exact = EXACT if modules is SCIPY else [TIGHT, {**TIGHT, "method": "trf"}]
        held = {**CONSTANTS, "s": modules, "np": np, "exact": exact, **dict(zip(names, args, strict=True))}
        return eval(f"({text},)", held)

    args, fit = [arrays[name] for name in names], {"step": 1e-3, "rtol": 1e-4} if "fit" in flags else {}
    ours = functools.partial(program, OURS)
    check(ours, functools.partial(program, SCIPY), args, "first" not in flags, **fit)
    by_name = SimpleNamespace(**{name: ByName(getattr(OURS, name), getattr(SCIPY, name)) for name in MODULES})
    found = te.vjp(lambda *args: flat(program(by_name, *args)), *args)[0]
    numpy.testing.assert_array_equal(found, te.vjp(lambda *args: flat(ours(*args)), *args)[0])
