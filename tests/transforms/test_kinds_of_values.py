"""The value of a program is of the class that the plain program returns: Python's number, numpy's number, an array."""

import numpy as np
import pytest

import tapeengine as te
import tapeengine.cmath
import tapeengine.math
import tapeengine.numpy
from tapeengine.errors import DroppedDerivativeError, ResultError, UnsupportedError

PRIMALS = {
    "float": 1.5,
    "float64": np.float64(1.5),
    "array": np.array([1.5, 0.5]),
    "number_array": np.array(1.5),
    "single": np.array([1.5, 0.5], np.float32),
    "number_single": np.array(1.5, np.float32),
    "complex": 1.5 + 0.5j,
    "complex128": np.complex128(1.5 + 0.5j),
    "complex_array": np.array([1.5 + 0.5j, 2.0]),
    "complex64": np.array([1.5 + 0.5j, 2.0], np.complex64),
    "list": [1.5, 0.5],
    "list_of_numbers": [np.float64(1.5), 0.5],
}
PROGRAMS = {
    "same": lambda x: x,
    "twice": lambda x: x * 2.0 if not isinstance(x, list) else x * 2,
    "element": lambda x: x[0],
    "elements": lambda x: [x[0] * 2.0, x[-1]],
    "item": lambda x: x[0].item() * 3.0,
    "item_of_all": lambda x: x.sum().item(),
    "sum": lambda x: np.sum(x),
    "python_sum": lambda x: sum(x),
    "mean": lambda x: x.mean(),
    "real": lambda x: x.real * 2.0,
    "real_of_sum": lambda x: np.sum(x).real,
    "size": lambda x: abs(x[0]),
    "ufunc": lambda x: np.exp(x),
    "ufunc_of_element": lambda x: np.sin(x[0]),
    "ufunc_of_python": lambda x: np.sqrt(2.0) * x,
    "math": lambda x: te.math.sqrt(x),
    "math_of_element": lambda x: te.math.exp(x[0]),
    "relu": lambda x: te.math.relu(x - 3.0),
    "maximum": lambda x: te.math.maximum(x, 3.0),
    "numpy_maximum": lambda x: np.maximum(x, 3.0),
    "numpy_abs": lambda x: np.abs(x),
    "where_of_number": lambda x: np.where(x > 3.0, x, 0.0),
    "cmath": lambda x: te.cmath.exp(x),
    "python_and_numpy": lambda x: {"a": te.math.sqrt(x[0]), "b": x[0] * 2.0, "c": 3.0, "d": np.float64(2.0)},
    "constants": lambda x: (1.0, np.float64(2.0), np.float32(3.0), np.array(2.0)),
    "dot": lambda x: x @ x,
    "where": lambda x: np.where(x[0] > 0, x[0], 0.0),
    "max": lambda x: max(x),
    "numpy_max": lambda x: np.max(x),
    "round": lambda x: round(x[0] * 1.0, 1) + 1.0 * x[0],
    "float32": lambda x: np.sum(x.astype(np.float32)),
    "sum_of_axis": lambda x: np.sum(x, axis=0, keepdims=True),
    "reshaped": lambda x: np.reshape(x[:1], ()),
    "zero_d": lambda x: te.numpy.array(x[0] * 2.0),
}


def kind(value):
    if isinstance(value, dict):
        return {key: kind(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(map(kind, value))
    return type(value), getattr(value, "dtype", None), getattr(value, "shape", None)


def staged(program, x):
    again = te.stage(program)
    again(x)
    return again(x)


RUNS = {
    "vjp": lambda program, x: te.vjp(program, x)[0],
    "vjp_of_vjp": lambda program, x: te.vjp(lambda x: te.vjp(program, x)[0], x)[0],
    "value_and_grad": lambda program, x: te.value_and_grad(program)(x)[0],
    "jvp": lambda program, x: te.jvp(program, (x,), (x,))[0],
    "linearize": lambda program, x: te.linearize(program, x)[0],
    "stage": staged,
    "stage_vjp": lambda program, x: te.vjp(te.stage(program), x)[0],
    "checkpoint": lambda program, x: te.vjp(te.checkpoint(program), x)[0],
    "fork": lambda program, x: te.vjp(lambda x: te.fork(lambda: program(x))[0], x)[0],
}


# numpy adds up the elements of lists one by one, as objects, which are Python's numbers.
OF_LISTS = {"sum", "numpy_max", "real_of_sum"}


def plain(program, primal):
    try:
        return program(primal)
    except (TypeError, AttributeError, IndexError, ValueError, KeyError) as error:
        pytest.skip(f"the plain program does not take it: {error}")


@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize("primal", PRIMALS)
@pytest.mark.parametrize("name", PROGRAMS)
def test_values_are_of_the_plain_programs_classes(name, primal, run):
    if name in OF_LISTS and primal == "list":
        pytest.skip("numpy sees Python's numbers, one by one")
    program, x = PROGRAMS[name], PRIMALS[primal]
    with np.errstate(all="ignore"):
        wanted = plain(program, x)
        try:
            found = RUNS[run](program, x)
        except (DroppedDerivativeError, UnsupportedError):  # refused
            return
        except ResultError:
            assert run == "value_and_grad" and not isinstance(wanted, float)  # the gradient is of one real number
            return
    assert kind(found) == kind(wanted)
