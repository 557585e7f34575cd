"""A program that catches a refusal of the engine and goes on has another value than the plain one: it is refused."""

import contextlib
import copy
import functools
import logging
import math
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tapeengine as te
from tapeengine._core.tape import swallowed
from tapeengine.errors import DroppedDerivativeError, TapeEngineError, TapeLimitError, TraceError, UnsupportedError


def bare(use: Callable[[Any], Any], x: Any) -> Any:
    try:
        return use(x)
    except:  # noqa: E722
        return 3.0


def every(use: Callable[[Any], Any], x: Any) -> Any:
    try:
        return use(x)
    except Exception:
        return 3.0


def of_python(use: Callable[[Any], Any], x: Any) -> Any:
    try:
        return use(x)
    except (TypeError, ValueError):
        return 3.0


def suppressed(use: Callable[[Any], Any], x: Any) -> Any:
    with contextlib.suppress(TypeError):
        return use(x)
    return 3.0


def left(use: Callable[[Any], Any], x: Any) -> Any:
    while True:
        try:
            return use(x)
        finally:
            break  # noqa: B012
    return 3.0


def later(use: Callable[[Any], Any], x: Any) -> Any:
    with contextlib.suppress(ValueError):
        try:
            return use(x)
        except TypeError as error:
            raise ValueError("no number") from error
    return 3.0


def in_turn(use: Callable[[Any], Any], x: Any) -> Any:
    return sum(every(use, x * k) for k in (1.0, 2.0, 3.0))


WAYS = (bare, every, of_python, suppressed, left, later, in_turn)
USES: dict[str, Callable[[Any], Any]] = {
    "float": float,
    "math": math.exp,
    "complex": complex,
    "hash": lambda x: hash(x) * 0 + 1.0,
    "array": lambda x: np.array([0.0, 1.0]).__setitem__(0, x),
    "class without a rule": lambda x: x * np.ma.array([1.0]),
    "cache": functools.lru_cache(maxsize=None)(lambda x: x),
    "view": lambda x: (x * np.ones(3)).view(np.recarray),
}
TRANSFORMS: dict[str, Callable[[Callable[[Any], Any]], Any]] = {
    "vjp": lambda f: te.vjp(f, 2.0),
    "jvp": lambda f: te.jvp(f, (2.0,), (1.0,)),
    "hessian": lambda f: te.hessian(f)(2.0),
    "staged": lambda f: te.grad(te.stage(f))(2.0),
    "inside": lambda f: te.grad(lambda x: te.grad(f)(x) * x)(2.0),
    "around": lambda f: te.grad(lambda x: every(te.grad(f), x))(2.0),
    "fork": lambda f: te.grad(lambda x: sum(te.fork_map(f, [x, x])))(2.0),
}


@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize("way", WAYS)
def test_what_is_caught_is_raised_at_the_end(transform: str, way: Callable[..., Any]) -> None:
    with pytest.raises(DroppedDerivativeError, match=r"float|would turn") as caught:
        TRANSFORMS[transform](lambda x: way(float, x) * x)
    assert "the program catches this error and goes on" in str(caught.value.__notes__)
    assert way.__name__ in str(caught.value.__notes__) or way is in_turn
    assert not swallowed.OPEN.errors
    assert te.grad(lambda x: x * x)(2.0) == 4.0


class Unit:
    """A class of a library that makes a quantity of each number, and takes an error of it for an unknown operand."""

    __array_priority__ = 1000

    def __rmul__(self, other: Any) -> Any:
        return bare(lambda x: float(x), other) if isinstance(other, float) else self.of(other)

    def of(self, other: Any) -> Any:
        try:
            return float(other)
        except TypeError:
            return NotImplemented


def answered(x: Any) -> Any:
    value = every(float, x)
    raise ValueError(f"{value} is out of range")


@pytest.mark.parametrize("program", [lambda x: x * Unit(), answered, lambda x: {}[bare(math.exp, x)]])
@pytest.mark.parametrize("transform", TRANSFORMS)
def test_a_refusal_is_raised_in_place_of_the_error_that_it_leads_to(transform: str, program: Any) -> None:
    with pytest.raises(DroppedDerivativeError, match="would turn a dual number"):
        TRANSFORMS[transform](program)
    assert not swallowed.OPEN.errors


def kept(write: Callable[[Any, Any], Any], place: Any, x: Any) -> Any:
    """What is stored in a plain array by a program that takes a ValueError for a number that does not fit."""
    with contextlib.suppress(ValueError):
        write(place, x)
    return place * x


#: Ways to store a number in a plain array: numpy's own error takes the place of the refusal in some of them.
STORES: dict[str, Callable[[Any, Any], Any]] = {
    "element": lambda place, x: place.__setitem__(0, x),
    "flat": lambda place, x: place.flat.__setitem__(0, x),
    "slice": lambda place, x: place.__setitem__(slice(1), x),
    "list": lambda place, x: place.__setitem__(slice(2), [x, 1.0]),
    "mask": lambda place, x: place.__setitem__(place == 0.0, x),
    "fill": lambda place, x: place.fill(x),
}


@pytest.mark.parametrize("number", [1.5, np.float64(1.5), np.float32(1.5), np.array(1.5), np.array(1.5, np.float32)])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.complex128])
@pytest.mark.parametrize("store", STORES)
def test_refusals_in_place_of_which_numpy_raises_its_own_error(store: str, dtype: Any, number: Any) -> None:
    """Also where the program catches it: it would compute with an array to which nothing has been written."""
    for program in (STORES[store], functools.partial(kept, STORES[store])):
        with pytest.raises(DroppedDerivativeError, match="into a plain"):
            te.vjp(lambda x, program=program: program(np.zeros(2, dtype), x), number)
    assert not swallowed.OPEN.errors
    assert not np.array_equal(kept(STORES[store], np.zeros(2, dtype), number), np.zeros(2))


def test_numbers_of_an_ended_trace_that_a_program_catches() -> None:
    """A cache with a fallback: the plain program has no error, and computes with the number that it has kept."""
    kept_numbers: list[Any] = []

    def program(x: Any) -> Any:
        kept_numbers.append(2.0 * x)
        return every(lambda x: kept_numbers[0] * x, x) * x

    assert te.grad(program)(1.5) == 6.0 * 1.5**2
    with pytest.raises(TraceError, match="after its trace has ended") as caught:
        te.grad(program)(2.0)
    assert "catches this error and goes on" in str(caught.value.__notes__)


def test_the_limit_of_a_tape_that_a_program_catches() -> None:
    def program(x: Any) -> Any:
        try:
            return sum(te.math.sin(k * x) for k in range(100_000))
        except MemoryError:
            return x

    with pytest.raises(TapeLimitError, match="limit of 10,000 bytes") as caught:
        te.Engine(max_tape_bytes=10_000).grad(program)(1.0)
    assert "catches this error and goes on" in str(caught.value.__notes__)


@pytest.mark.parametrize("use", USES)
def test_each_refusal_is_raised_at_the_end(use: str) -> None:
    with pytest.raises(TapeEngineError) as plain:
        te.grad(lambda x: USES[use](x) or x)(2.0)
    with pytest.raises(type(plain.value)):
        te.grad(lambda x: every(USES[use], x) or x)(2.0)


@pytest.mark.parametrize("error", [DroppedDerivativeError, TapeEngineError, (ValueError, TapeEngineError)])
def test_a_program_that_names_the_engines_errors_goes_on(error: Any) -> None:
    def program(x: Any) -> Any:
        try:
            y = float(x)
        except error:
            y = te.value(x)
        return x * y

    assert te.value_and_grad(program)(2.0) == (4.0, 2.0)


def test_what_the_engine_and_loggers_catch_is_no_part_of_the_value() -> None:
    def program(x: Any) -> Any:
        logging.getLogger("tests").debug("%s %f", hash, x)
        assert not hasattr(x, "no_such_name")
        copy.copy(x)
        return x * x

    assert te.grad(program)(2.0) == 4.0


def test_an_error_that_leaves_the_trace_is_forgotten() -> None:
    for _ in range(3):
        with pytest.raises(DroppedDerivativeError):
            te.grad(float)(2.0)
        assert not swallowed.OPEN.errors
        assert every(te.grad(float), 2.0) == 3.0  # caught outside of every trace: the caller's own affair
    assert te.grad(lambda x: x * x)(2.0) == 4.0


LATER: dict[str, Callable[[Any], Any]] = {
    "checkpoint": te.checkpoint(lambda y: float(y) * y),
    "iterate": lambda x: te.iterate(lambda y: float(y) * y, 2, x),
}


@pytest.mark.parametrize("name", LATER)
def test_errors_of_rules_that_run_after_their_trace_are_forgotten(name: str) -> None:
    """The first run is on plain numbers, so that only a later one, outside of the trace, is refused."""
    _, back = te.vjp(LATER[name], 2.0)
    for _ in range(2):
        assert every(lambda _: back(1.0), None) == 3.0  # caught by the caller, outside of every trace
        assert not swallowed.OPEN.errors
        assert te.grad(lambda x: te.checkpoint(lambda y: y * y)(x))(2.0) == 4.0
    with pytest.raises(DroppedDerivativeError):
        te.grad(lambda x: every(te.grad(LATER[name]), x) * x)(2.0)


def test_threads_have_their_own() -> None:
    inside, done = threading.Event(), threading.Event()
    found = []

    def waiting(x: Any) -> Any:
        every(float, x)
        inside.set()
        done.wait(10.0)
        return x

    def run() -> None:
        with pytest.raises(DroppedDerivativeError) as caught:
            te.grad(waiting)(2.0)
        found.append(caught.value)

    thread = threading.Thread(target=run)
    thread.start()
    inside.wait(10.0)
    assert te.grad(lambda x: x * x)(2.0) == 4.0
    every(te.grad(float), 2.0)
    assert te.grad(lambda x: x * x)(2.0) == 4.0
    done.set()
    thread.join()
    assert len(found) == 1


def test_many_caught_errors_are_not_kept() -> None:
    def program(x: Any) -> Any:
        for _ in range(100):
            with contextlib.suppress(UnsupportedError, DroppedDerivativeError):
                float(x)
            assert len(swallowed.OPEN.errors) <= 1
        return x * x

    assert te.grad(program)(2.0) == 4.0


# -- numbers in errors -------------------------------------------------------------------------------------------------
class Done(Exception):
    """An early exit with a result."""


@te.primitive
def leaving(x: Any) -> Any:
    raise Done(x * x)


leaving.def_vjp(x=lambda ct, out, x: ct)


def body(y: Any) -> Any:
    raise Done([y * y])


@te.custom_vjp
def ruled(y: Any) -> Any:
    return body(y)


ruled.defvjp(lambda y: (body(y), None), lambda _, ct: (ct,))
CALLS: dict[str, Callable[[Any], Any]] = {
    "checkpoint": te.checkpoint(body),
    "iterate": lambda x: te.iterate(body, 3, x),
    "custom_vjp": ruled,
    "primitive": leaving,
    "array": lambda x: te.checkpoint(body)(x * np.ones(3)),
    "narrow array": lambda x: te.checkpoint(lambda y: body(y.astype(np.float32)))(x * np.ones(3)),
    "array of objects": lambda x: te.checkpoint(lambda y: body(np.array([y, None])[:1]))(x),
}


def caught(call: Callable[[Any], Any], x: Any) -> Any:
    try:
        return call(x)
    except Done as error:
        return np.sum(error.args[0]) * x


@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize("call", CALLS)
def test_numbers_that_an_error_carries_out_are_refused(call: str, transform: str) -> None:
    with pytest.raises(DroppedDerivativeError, match=r"Done carries numbers out of .*test_swallowed_refusals"):
        TRANSFORMS[transform](lambda x: caught(CALLS[call], x))
    assert not swallowed.OPEN.errors


def caught_beside_refusals(call: Callable[[Any], Any], x: Any) -> Any:
    try:
        return call(x)
    except DroppedDerivativeError:
        raise
    except Done as error:
        return np.sum(error.args[0]) * x


@pytest.mark.parametrize("call", CALLS)
def test_code_that_knows_refusals_does_not_know_that_an_error_carries_numbers(call: str) -> None:
    with pytest.raises(DroppedDerivativeError, match="Done carries numbers out of"):
        te.grad(lambda x: caught_beside_refusals(CALLS[call], x))(2.0)


def test_numbers_that_an_error_carries_within_a_trace_have_their_derivative() -> None:
    assert te.grad(lambda x: caught(body, x))(2.0) == 12.0


def test_errors_without_numbers_may_be_caught() -> None:
    def fails(y: Any) -> Any:
        raise Done(f"at {te.value(y)}", 3)

    def program(x: Any) -> Any:
        try:
            return te.checkpoint(fails)(x)
        except Done as error:
            return error.args[1] * x * x

    assert te.grad(program)(2.0) == 12.0
    with pytest.raises(Done):
        te.grad(lambda x: te.checkpoint(body)(x))(2.0)


#: A function of any module that catches numpy's error in place of a refusal: compiled code has no line of its own.
CATCHING = """
def put(x):
    try:
        numpy.zeros(2).flat[0] = x
    except ValueError:
        pass
    return x * x
"""


@pytest.mark.parametrize("module", ["logging", "pandas.core", "numpy._core.fromnumeric", "mine", "loggings", ""])
def test_the_module_of_the_line_tells_whether_numpys_error_in_place_of_a_refusal_may_be_caught(module: str) -> None:
    names: dict[str, Any] = {"__name__": module, "numpy": np}
    exec(CATCHING, names)
    if module.partition(".")[0] in ("logging", "pandas", "numpy"):
        assert te.grad(names["put"])(2.0) == 4.0
    else:
        with pytest.raises(DroppedDerivativeError):
            te.grad(names["put"])(2.0)
