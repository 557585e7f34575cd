"""Every function of numpy's and SciPy's namespaces on traced arrays, numbers and lists of numbers: traced or refused.

What a function depends on is found by calling it without traces at other inputs; see `verdicts`.
"""

from __future__ import annotations

import importlib
import inspect
import os
from typing import Any

import numpy as np
import pytest
from namespaces import ARGUMENTS, DATA, LEFT_OUT, cases, functions_of, kinds_of, recipes
from verdicts import is_advised

import tapeengine.numpy as tnp

NIGHTLY = os.environ.get("TAPEENGINE_NIGHTLY") == "1"
NUMPY: dict[str, tuple[Any, Any]] = {
    "numpy": (np, tnp),
    "numpy.linalg": (np.linalg, tnp.linalg),
    "numpy.fft": (np.fft, tnp.fft),
    "numpy.lib.scimath": (np.lib.scimath, np.lib.scimath),
}


def wrong_of(namespace: Any, offered: Any) -> dict[str, str]:
    """The calls of a namespace's functions that are neither correct nor refused, and functions that were not called."""
    wrong = {}
    for name, function in functions_of(namespace).items():
        if name in LEFT_OUT:
            continue
        found = recipes(function, ARGUMENTS.get(name))
        if not found:
            wrong[name] = "no arguments that it takes"
        for args in found:
            for case in cases(getattr(offered, name), args):
                result = case.verdict()
                lists_as_arrays = case.numbers and result.word == "lenient"
                if not result.right and not lists_as_arrays:
                    wrong[str(case)] = str(result)
    return wrong


@pytest.mark.parametrize("name", NUMPY)
def test_every_function_of_numpy(name: str) -> None:
    assert wrong_of(*NUMPY[name]) == {}


#: Further modules of numpy, of which the engine offers none; numpy's functions for text and files are left out.
BESIDE = """lib.stride_tricks lib.array_utils rec char strings ctypeslib polynomial.polynomial polynomial.chebyshev
polynomial.hermite polynomial.legendre polynomial.polyutils matlib ma testing"""
#: Memory that is not set, iterators, quotients of equal polynomials, files, and what `docs/exact.md` says.
UNLIKE = set(
    "empty empty_like nditer Arrayterator polydiv hermdiv legdiv legfromroots test run_module_suite memmap".split()
)
UNLIKE |= set("rundocs runstring measure assert_no_gc_cycles nested_iters savez save load savetxt info bmat".split())


def public(module: Any) -> dict[str, Any]:
    """The functions and classes of a module, without errors."""
    names = getattr(module, "__all__", None) or [name for name in dir(module) if name[0] != "_"]
    found = {name: getattr(module, name, None) for name in names if name not in UNLIKE}
    if module is np.rec:
        del found["array"]  # numpy's ValueError
    if module is np.ma:
        del found["masked_values"]  # an array of objects has no values that are close
    errors = {name for name, x in found.items() if inspect.isclass(x) and issubclass(x, BaseException)}
    return {name: x for name, x in sorted(found.items()) if callable(x) and name not in errors}


@pytest.mark.parametrize("module", ["", *BESIDE.split()])
def test_classes_and_modules_beside_drop_no_derivative(module: str) -> None:
    """Each is called with traced arrays and numbers; an error of numpy's is right if it says what to write instead."""
    place = importlib.import_module(f"numpy.{module}".rstrip("."))
    wrong, judged = {}, 0
    found = public(place) if module else {name: x for name, x in public(np).items() if inspect.isclass(x)}
    for function in found.values():
        for args in recipes(function):
            for case in cases(function, args):
                result, judged = case.verdict(), judged + 1
                kind = kinds_of(case.args)[case.place]
                is_right = result.right or (result.word == "raw" and is_advised(case.program, DATA[kind]))
                is_object = case.numbers or (kind == "S" and result.word == "raw")  # numbers are objects there
                if not (is_right or is_object):
                    wrong[str(case)] = str(result)
    assert wrong == {}
    assert judged


#: Functions of SciPy that crash the process for meaningless arguments, even without traces.
CRASHES = {
    "distance_transform_cdt",
    "squareform",  # reads the memory of an object array, made from a traced number, as doubles
}
#: Functions of SciPy with nondeterministic values, or that misread a traced value as another argument.
NO_VALUE = {
    "choose_conv_method",  # measures times
    "clarkson_woodruff_transform",  # draws random numbers
    *("cumfreq", "relfreq"),  # count in an interval that ends in NaN, if there is one bin
    "freqz_zpk",  # computes in single precision with plain numbers only
    "label",  # treats an array of another class as the dtype of its output
}
SCIPY = "special linalg fft signal integrate interpolate stats ndimage spatial.distance".split()


@pytest.mark.parametrize("name", SCIPY)
def test_no_function_of_scipy_drops_a_derivative(name: str) -> None:
    """Of SciPy's own functions, only those that a plugin traces return values for traced arguments."""
    module = pytest.importorskip(f"scipy.{name}")
    dropped = {}
    functions = [function for name, function in functions_of(module).items() if name not in CRASHES | NO_VALUE]
    for function in functions if NIGHTLY else functions[::6]:
        for args in recipes(function)[: None if NIGHTLY else 2]:
            for case in cases(function, args):
                result = case.verdict()
                if result.word in ("dropped", "value"):
                    dropped[str(case)] = str(result)
    assert dropped == {}


@pytest.mark.parametrize("name", ["numpy.flip", "numpy.copy", "numpy.fft.fft", "numpy.deg2rad", "numpy.modf"])
def test_numbers_where_arrays_are_usual(name: str) -> None:
    """Functions of one array, called with a number or a list of numbers."""
    module, _, function = name.rpartition(".")
    for place in (
        importlib.import_module(module),
        importlib.import_module(module.replace("numpy", "tapeengine.numpy")),
    ):
        for args in (("S",), ("V",)):
            for case in cases(getattr(place, function), args):
                result = case.verdict()
                assert result.right or case.numbers, (str(case), result)
