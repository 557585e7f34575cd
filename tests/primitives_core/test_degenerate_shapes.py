"""Functions of numpy on arrays of no elements, of one element, and of axes of length 1, with odd second arguments.

Each call has the value of plain numpy, or is refused; derivatives are compared with differences where two steps agree.
"""

import itertools
import zlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy
import pytest

import tapeengine as te
import tapeengine.numpy as np
from tapeengine.errors import TapeEngineError
from tests.outcomes import outcome

SHAPES = [(), (1,), (1, 1), (2,), (0,), (0, 3), (1, 3), (3, 1), (2, 2), (1, 1, 1), (2, 1, 2)]
#: The further arguments of a call; x stands for the array once more.
FURTHER: list[tuple[Any, ...]] = [(), (0,), (1,), (-1,), ("x",), (2,), (0.5,), ((0,),), ("x", 0), (3,), ([0],), (1, 1)]
MODULES = {"": (numpy, np), "linalg.": (numpy.linalg, np.linalg), "fft.": (numpy.fft, np.fft)}
#: Functions of files, of printing, of memory, of functions, and those that return memory as it is.
LEFT_OUT = set(
    "array2string array_repr array_str asmatrix bmat empty empty_like errstate from_dlpack frombuffer fromfile "
    "fromfunction frompyfunc fromregex fromstring genfromtxt get_include info isfortran load loadtxt "
    "may_share_memory memmap ndenumerate ndindex nditer nested_iters open_memmap printoptions put_along_axis save "
    "savetxt savez savez_compressed set_printoptions setbufsize seterr seterrcall shares_memory show_config "
    "show_runtime test vectorize".split()
)
UNINITIALISED = {"fft.hfft", "fft.irfft", "fft.irfft2", "fft.irfftn"}  # of no elements


def functions() -> Iterator[str]:
    for prefix, (plain, traced) in MODULES.items():
        for name in sorted(vars(plain)):
            function = getattr(plain, name)
            is_function = callable(function) and not isinstance(function, type) and not name.startswith("_")
            if is_function and name not in LEFT_OUT and hasattr(traced, name):
                yield prefix + name


def numbers(value: Any) -> numpy.ndarray:
    """The real and complex numbers of a result, in order."""
    if isinstance(value, (tuple, list)):
        return numpy.concatenate([numpy.zeros(0, complex), *map(numbers, value)])
    array = numpy.asarray(value)
    return array.ravel().astype(complex) if array.dtype.kind in "fc" else numpy.zeros(0, complex)


def weights(size: int) -> numpy.ndarray:
    return numpy.cos(numpy.arange(size))


def total(value: Any) -> Any:
    """A real number that depends on every real and complex number of a traced result."""
    if isinstance(value, (tuple, list)):
        return sum((total(part) for part in value), 0.0)
    part = np.ravel(value) if numpy.asarray(te.value(value)).dtype.kind in "fc" else numpy.zeros(0)
    return np.sum(np.real(part * weights(part.size)))


def slope(f: Callable[[Any], Any], x: numpy.ndarray, d: numpy.ndarray) -> numpy.ndarray | None:
    """The derivative by differences; None where two steps do not agree."""
    with numpy.errstate(all="ignore"):
        found = [outcome(lambda h=h: (numbers(f(x + h * d)) - numbers(f(x - h * d))) / (2 * h)) for h in (1e-5, 1e-6)]
    if any(isinstance(part, Exception) for part in found) or found[0].shape != found[1].shape:
        return None
    return found[1] if numpy.allclose(*found, rtol=1e-3, atol=1e-4) else None


def disagreement(name: str, shape: tuple[int, ...], further: tuple[Any, ...]) -> str:
    prefix, short = name.rsplit(".", 1) if "." in name else ("", name)
    plain, traced = (getattr(module, short) for module in MODULES[prefix + "." if prefix else ""])

    def on(function: Any) -> Callable[[Any], Any]:
        return lambda x: function(x, *[x if one == "x" else one for one in further])

    random = numpy.random.default_rng(zlib.crc32(f"{name}{shape}".encode()))
    x, d = random.uniform(0.2, 0.9, shape), random.normal(size=shape)
    expected = outcome(lambda: numbers(on(plain)(x.copy())))
    if isinstance(expected, Exception) or (name in UNINITIALISED and x.size == 0):
        return ""
    found = outcome(lambda: te.jvp(on(traced), (x,), (d,)))
    gradient = outcome(lambda: te.grad(lambda x: total(on(traced)(x)))(x))
    if isinstance(found, TapeEngineError) or isinstance(gradient, TapeEngineError):
        return ""
    if isinstance(found, Exception) or isinstance(gradient, Exception):
        return f"{name}{further} of {shape} raises {found!r} and {gradient!r}"
    if not close(numbers(found[0]), expected, 0.0, 0.0):
        return f"{name}{further} of {shape} is {found[0]} for {expected}"
    tangent, of_total = slope(on(plain), x, d), slope(lambda x: total(on(plain)(x)), x, d)
    if tangent is not None and not close(numbers(found[1]), tangent, 1e-4, 1e-5):
        return f"{name}{further} of {shape} has the tangent {found[1]} for {tangent}"
    if of_total is not None and not close(numpy.sum(gradient * d), of_total, 1e-4, 1e-5):
        return f"{name}{further} of {shape} has the gradient {gradient}"
    return ""


def close(found: Any, expected: Any, relative: float, absolute: float) -> bool:
    return numpy.allclose(found, expected, rtol=relative, atol=absolute, equal_nan=True)


@pytest.mark.parametrize("name", list(functions()))
def test_value_and_derivative(name: str) -> None:
    wrong = [disagreement(name, *case) for case in itertools.product(SHAPES, FURTHER)]
    assert not list(filter(None, wrong))
