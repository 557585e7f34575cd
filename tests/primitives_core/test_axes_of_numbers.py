"""Functions with an `axis` take numbers, as numpy's do: their derivatives by blocks are those by single directions."""

import inspect

import numpy as np
import pytest

import tapeengine as te

X = np.array([0.7, 0.4, 1.2])
NO_RULE = {"copysign", "floor_divide", "heaviside", "logical_xor", "nextafter"}
CALLS = ({"axis": 0}, {"axis": -1}, {"axis": 0, "keepdims": True})


def functions():
    """Each function of numpy that has an axis, and each reduction by a ufunc or a method."""
    for name in sorted(set(np.__all__) - NO_RULE):
        function = getattr(np, name)
        if isinstance(function, np.ufunc) and function.nin == 2 and not function.signature:
            yield f"{name}.reduce", function.reduce
        elif inspect.isfunction(inspect.unwrap(function)) and "axis" in inspect.signature(function).parameters:
            yield name, function
    for name in ("sum", "mean", "prod", "max", "min", "std", "var", "cumsum", "cumprod"):
        yield f"ndarray.{name}", lambda a, name=name, **options: getattr(a, name)(**options)


def programs(function):
    """Programs in which numpy applies the function to a number along some axis."""
    for options in CALLS:
        program = lambda x, o=options: function(x[0], **o) * x * x[1]  # noqa: E731
        try:
            plain = np.asarray(program(X))
        except (TypeError, ValueError, IndexError, AttributeError):
            continue
        if plain.dtype == float and plain.size:
            yield options, program


def derivatives(program):
    """First and second derivatives, each by a block of tangents and by another way."""
    total = lambda x: np.sum(program(x))  # noqa: E731
    yield te.jacfwd(program)(X), te.jacrev(program)(X)
    yield te.sparse_jacobian(lambda x: np.ravel(program(x)))(X).toarray().ravel(), np.ravel(te.jacrev(program)(X))
    yield te.jacfwd(te.jacfwd(total))(X), te.jacrev(te.grad(total))(X)


@pytest.mark.parametrize(("name", "function"), [pytest.param(*pair, id=pair[0]) for pair in functions()])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_blocks_through_functions_of_a_number(name, function):
    for call, program in programs(function):
        for found, expected in derivatives(program):
            np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12, err_msg=f"{name} {call}")
