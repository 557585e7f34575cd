"""Names of numpy that lifted code calls: methods of the class of arrays, classes of numbers, and what has no rule."""

import importlib
import sys
from typing import Any

import numpy as np
import pytest

import tapeengine as te
from tapeengine.errors import TapeEngineError

METHODS = sorted(name for name, f in vars(np.ndarray).items() if callable(f) and not name.startswith("_"))
#: Methods that take a file or memory, or count references.
OTHERS = {"dump", "tofile", "setfield", "to_device", "resize"}
ARGUMENTS = ["", ", 0", ", 1", ", -1", ", (1, 2)", ", 0, 1", ", [0, 1]", ", x", ", float", ", x > 0.7"]
OF_PLAIN = ["x", "x[0]", "x[0], x[1]", "0, x[0]", "initial=x[0]", "min=x[0]", "None, x[0]", "b=x", "v=x", "[x, 2 * x]"]
NUMBERS = ["float64", "float32", "complex128", "complex64", "double", "single", "half", "longdouble"]
CALLS = [
    *(f"np.ndarray.{name}(x{rest})" for name in METHODS if name not in OTHERS for rest in ARGUMENTS),
    *(f"(A + 0).{name}({rest})" for name in METHODS if name not in OTHERS and name[:4] != "conj" for rest in OF_PLAIN),
    *(
        f"{kind}.type({x})"
        for kind in ("x.dtype", "np.dtype('f4')", "np.result_type(x, 1j)")
        for x in ("x[0]", "x", "2.5")
    ),
    *("np.sctypeDict['float32'](x[0])", "x.dtype.type is np.float64", "np.dtype('f4').type is np.float32"),
    *("np.issubdtype(x.dtype.type, np.floating)", "{np.float64: 1.5}[x.dtype.type] * x"),
    *(f"list(map(np.ndarray.{name}, [x, x]))" for name in ("sum", "copy", "tolist", "argmax")),
    *(f"np.{name}({x})" for name in NUMBERS for x in ("x[0]", "x", "x.sum() * 1.5", "2.5", "x[0].item()", "")),
    *(f"np.{name}(x[0], {y})" for name in NUMBERS for y in ("x[1]", "-0.0", "2")),
    *(f"np.{name}(complex(x[0], x[1]))" for name in NUMBERS),
    *("np.float32(x[0]) * np.float32(0.1)", "np.complex64(x[0]) / 3", "isinstance(np.float32(2), np.float32) * x[0]"),
    *("np.zeros(2, np.float32).dtype == np.float32", "np.finfo(np.float32).eps * x[0]", "np.dtype(np.complex64).name"),
    *("np.broadcast(x, x).shape", "[a * b for a, b in np.broadcast(x, x)]", "np.broadcast_arrays(x, x)[0]"),
]


def told(value):
    """The classes, dtypes and bits of a value, or of the items of a list or tuple."""
    if isinstance(value, (list, tuple)):
        return [type(value).__name__, *map(told, value)]
    value = te.value(value)
    kind = type(value).__name__
    return kind, np.asarray(value).dtype, np.asarray(value).tobytes() if kind != "str" else value


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    """A module with one function for each call."""
    folder = tmp_path_factory.mktemp("lifted_names")
    lines = [f"def f{k}(x):\n    return {call}\n" for k, call in enumerate(CALLS)]
    (folder / "calls_of_numpy_names.py").write_text("import numpy as np\nA = np.array([0.25, 1.75])\n" + "".join(lines))
    sys.path.insert(0, str(folder))
    yield importlib.import_module("calls_of_numpy_names")
    sys.path.remove(str(folder))


@pytest.mark.filterwarnings("ignore")
def test_each_call_has_the_plain_result_or_is_refused(library):
    lifted, wrong, computed = te.lift(library), [], 0
    x = np.array([0.5, 1.5])
    for k, call in enumerate(CALLS):
        try:
            expected = told(getattr(library, f"f{k}")(x.copy()))
        except Exception:
            continue
        assert told(getattr(lifted, f"f{k}")(x.copy())) == expected, call
        found = []
        try:
            te.vjp(lambda x, k=k, found=found: [found.append(told(getattr(lifted, f"f{k}")(x))), 0.0][1], x)
        except TapeEngineError as error:
            if not any(
                way in str(error) for way in ("Write ", "Use ", "use ", "Leave ", "Index ", "tapeengine.value(x)")
            ):
                wrong.append((call, str(error)))
            continue
        computed += 1
        if found[0] != expected and "longdouble" not in call:  # which has no derivative: a double takes its place
            wrong.append((call, found[0], expected))
    assert not wrong
    assert computed > 100


@te.lift
def through_classes(x):
    return np.ndarray.sum(np.ndarray.reshape(x, (1, 2)) * np.float32(x[0])) + np.complex128(x[0], x[1]).imag ** 2


def test_derivatives_through_classes_of_numpy():
    for x in ([0.5, 1.5], [2.0, -1.0]):
        assert te.grad(through_classes)(np.array(x)) == pytest.approx([2 * x[0] + x[1], x[0] + 2 * x[1]], rel=1e-6)


@pytest.mark.parametrize("call", [lambda x: np.broadcast(x, x).shape, lambda x: sum(a for a, _ in np.broadcast(x, x))])
def test_numpys_broadcast_says_what_to_write_unless_it_is_lifted(call):
    with pytest.raises(TapeEngineError, match=r"Write np.broadcast_arrays .* np.broadcast_shapes"):
        te.vjp(call, np.ones(2))
    assert te.vjp(te.lift(call), np.ones(2))[0] == call(np.ones(2))


OF_DTYPES = {
    "dot": (lambda a, x: a.dot(x), lambda a, x: a.dot(b=x)),
    "clip": (lambda a, x: a.clip(x[0], x[1]), lambda a, x: a.clip(min=x[0]), lambda a, x: a.clip(x[0], max=2.0)),
    "choose": (lambda a, x: (a > 0).choose([x, 2.0 * x]), lambda a, x: (a * 0 + 1).astype(int).choose((x, x * x))),
}


@pytest.mark.parametrize("dtype", [bool, np.int8, np.int64, np.float32, float])
@pytest.mark.parametrize("method", OF_DTYPES)
def test_methods_of_plain_arrays_of_every_dtype(method: str, dtype: Any) -> None:
    x, direction = np.array([0.2, 0.7, 0.9]), np.array([1.0, -2.0, 0.5])
    for a in (np.array([1, 0, 1]).astype(dtype), np.array([[0, 1, 2], [1, 0, 3]]).astype(dtype)):
        for program in OF_DTYPES[method]:

            def total(x: Any, a: Any = a, program: Any = program) -> Any:
                return program(a, x).sum()

            value, ct = te.value_and_grad(te.lift(total))(x)
            assert value == total(x)
            assert ct @ direction == pytest.approx(
                (total(x + 1e-6 * direction) - total(x - 1e-6 * direction)) / 2e-6, rel=1e-5, abs=1e-5
            )
