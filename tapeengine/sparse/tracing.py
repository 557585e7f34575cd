"""Traces whose records keep what their patterns need."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tapeengine._core.sweeps import trace
from tapeengine.errors import UnsupportedError
from tapeengine.transforms.debugging import watched
from tapeengine.transforms.forms import Form, form_of
from tapeengine.transforms.own import own_derivative

if TYPE_CHECKING:
    from tapeengine.transforms.contract import Engine

__all__ = ["paths_of", "plain_program", "real_form", "traced"]


def plain_program(f: Callable[..., Any]) -> Callable[..., Any]:
    """The Python function of a `te.program`, whose tape has a structure; any other program as it is."""
    program: Any = f
    return program.python if own_derivative(f, "__tapeengine_directional__") is not None else f


def traced(engine: Engine, program: Callable[..., Any], primals: tuple[Any, ...]) -> tuple[Any, Any]:
    """Run a program on a tape that its structure can be found from; its value and its backpropagator.

    A staged program is replayed; its recording holds scalars.
    """
    own = own_derivative(program, "__tapeengine_tape__")
    if own is not None and engine.switches is None:
        return own(program, engine, *primals)  # type: ignore[no-any-return]
    rules = copy.copy(engine.rules)
    rules.wanted = {}  # by the number of a record, what its pattern needs
    order = 1 if engine.switches is None else 2
    found: tuple[Any, Any] = trace.vjp(
        watched(engine, program), primals, {}, engine.structures, engine.max_tape_bytes, rules, order
    )
    return found


def real_form(engine: Engine, value: Any, what: str, name: str) -> Form:
    """The form of a structure of real numbers."""
    form = form_of(engine.structures, value)
    if form.is_complex:
        raise UnsupportedError(f"{name}: the {what} has complex numbers. Take its real and imaginary parts")
    return form


def paths_of(engine: Engine, value: Any) -> list[tuple[str, int, int]]:
    """For each leaf with numbers its path, its first number and how many it has; a bare leaf has the path ""."""
    leaves: list[tuple[str, int, int]] = []
    pending: list[tuple[str, Any]] = [("", value)]
    start = 0
    while pending:
        path, item = pending.pop()
        children = _children(engine, item)
        if children is not None:
            pending.extend((path + name, child) for name, child in reversed(children))
            continue
        space = form_of(engine.structures, item).spaces[0]
        if space is not None:
            leaves.append((path, start, space.size))
            start += space.size
    return leaves


def _children(engine: Engine, value: Any) -> list[tuple[str, Any]] | None:
    """The children of a container with their names; None for a leaf."""
    kind = type(value)
    if kind is list or kind is tuple:
        return [(f"[{k}]", child) for k, child in enumerate(value)]
    if kind is dict:
        return [(f"[{key!r}]", child) for key, child in value.items()]
    container = None if kind is float else engine.structures.find(kind)
    if container is None:
        return None
    children, aux = container.take(value)
    return list(zip(container.names(aux), children, strict=True))
