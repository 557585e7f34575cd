"""Traces whose records keep the data that their patterns need."""

from __future__ import annotations

import copy
from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from .._core.programs.callables import own_derivative
from .._core.sweeps import trace
from ..errors import UnsupportedError
from ..forms import Form, form_of
from ..structure import PLAIN
from ..transforms.contract import Engine
from ..transforms.inspection.debugging import watched
from ..transforms.repeated.rerun import paths


def plain_program(f: Callable[..., Any]) -> Callable[..., Any]:
    """The Python function of a `te.program`, whose tape has a structure; other programs unchanged."""
    program: Any = f
    return program.python if own_derivative(f, "__tapeengine_directional__") is not None else f


def traced(engine: Engine, program: Callable[..., Any], primals: tuple[Any, ...]) -> tuple[Any, Any]:
    """Run a program on a tape from which its structure can be found; return its value and its backpropagator.

    A staged program is replayed where its recording holds scalars alone.
    """
    own = own_derivative(program, "__tapeengine_tape__")
    if own is not None and engine.switches is None and not getattr(program, "has_arrays", False):
        value, back = own(program, engine, *primals)
        if not back.tape.arrays:
            return value, back
    rules = copy.copy(engine.rules)
    rules.wanted = {}  # what the pattern of each record needs, by the record's id
    order = 1 if engine.switches is None else 2
    found: tuple[Any, Any] = trace.vjp(
        watched(engine, program), primals, {}, engine.structures, engine.max_tape_bytes, rules, order
    )
    return found


class Side:
    """The result or the chosen arguments of a program, which the rows or columns of a matrix stand for.

    Parameters
    ----------
    engine : Engine
    value : structure
    what, name : str
        Its description and the function's name, for errors.
    """

    def __init__(self, engine: Engine, value: Any, what: str, name: str) -> None:
        self.engine, self.value, self.what, self.name = engine, value, what, name

    @cached_property
    def form(self) -> Form:
        """The form of its tangents.

        Raises
        ------
        UnsupportedError
            If there are complex numbers.
        """
        form = form_of(self.engine.structures, self.value)
        if form.is_complex:
            raise UnsupportedError(f"{self.name}: the {self.what} has complex numbers. Take real and imaginary parts")
        return form

    @property
    def is_discrete(self) -> bool:
        """Whether it is a single integer or an array of them, which has no derivative."""
        return self.is_bare and self.form.spaces == (None,)

    @property
    def dtype(self) -> Any:
        """The dtype that all of its numbers fit."""
        return np.result_type(*{space.dtype for space in self.form.spaces if space is not None} or {np.dtype(float)})

    @property
    def is_bare(self) -> bool:
        """Whether it is a single number or array, not a structure."""
        return type(self.value) not in PLAIN and self.engine.structures.find(type(self.value)) is None

    def paths(self) -> list[tuple[str, int, int]]:
        """The path, first number and number count of each leaf with numbers; a bare leaf has the path ""."""
        leaves: list[tuple[str, int, int]] = []
        structures, start = self.engine.structures, 0
        for path, space in zip(paths(structures, "", self.value), form_of(structures, self.value).spaces, strict=True):
            if space is not None:
                leaves.append((path, start, space.size))
                start += space.size
        return leaves
