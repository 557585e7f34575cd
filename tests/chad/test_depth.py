"""The recursion limit stays raised until the last user has left; that of calls by C code belongs to a thread."""

import gc
import sys

import pytest

from tapeengine._core.programs.callables import calls_by_c
from tapeengine.recursion import deep


def test_one_that_leaves_does_not_lower_the_limit_of_another() -> None:
    before = sys.getrecursionlimit()
    first, second = deep(before + 1000), deep(before + 500)
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert sys.getrecursionlimit() >= before + 500
    second.__exit__(None, None, None)
    assert sys.getrecursionlimit() == before


def test_an_error_inside_puts_the_limit_back() -> None:
    before = sys.getrecursionlimit()
    with pytest.raises(ValueError), deep(before + 1000):
        raise ValueError
    assert sys.getrecursionlimit() == before


def test_the_collector_of_cycles_comes_back() -> None:
    @deep()
    def failing() -> None:
        assert not gc.isenabled()
        raise ValueError

    with pytest.raises(ValueError):
        failing()
    assert gc.isenabled()


def test_calls_by_c_code_are_as_deep_and_the_limit_comes_back() -> None:
    before = calls_by_c(0)
    with deep(50_000), pytest.raises(ValueError), deep(60_000):
        assert calls_by_c(0) > 59_000
        raise ValueError
    assert calls_by_c(0) == before
