"""Complex numbers in gradients and Jacobians: what may be complex, and in which direction; the meaning is JAX's.

A forward sweep needs real inputs and a reverse sweep needs real results: then a column, or a row, determines the
derivative. If both are complex, only a holomorphic program has a complex Jacobian, and the caller must declare it.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from ..._core.scalars.complex import ComplexDual
from ...errors import ResultError, UnsupportedError
from ...forms import Form

Sweep = Literal["forward", "reverse"]


def sweeps(rows: Form, columns: Form, holomorphic: bool) -> tuple[Sweep, ...]:
    """Return the sweeps that give a Jacobian from `columns` to `rows`.

    Raises
    ------
    UnsupportedError
        If neither sweep does.
    """
    if holomorphic:
        check_holomorphic("the inputs", columns)
        check_holomorphic("the result", rows)
        return "forward", "reverse"
    forward: tuple[Sweep, ...] = () if columns.is_complex else ("forward",)
    return forward if rows.is_complex else (*forward, "reverse")


def check_complex(found: tuple[Sweep, ...], mode: str, rows: Form, columns: Form) -> None:
    """Refuse a mode that does not give the Jacobian, and name the one that does."""
    if mode in found or (mode == "auto" and found):
        return
    held = f"inputs {columns} and a result {rows}"
    if not found:
        raise UnsupportedError(
            f"a program with the {held} has no Jacobian unless it is holomorphic. If it is, say holomorphic=True; if "
            "not, write it in real and imaginary parts, or use vjp and jvp, which take complex cotangents and tangents"
        )
    wrong = "inputs" if mode == "forward" else "results"
    name, other = ("jacfwd", "jacrev") if mode == "forward" else ("jacrev", "jacfwd")
    raise UnsupportedError(
        f"{name} does not take complex {wrong}, and this program has {held}. Use {other}; if the program is "
        "holomorphic and all values are complex, say holomorphic=True"
    )


def check_holomorphic(what: str, form: Form) -> None:
    """Refuse a real leaf: a holomorphic program maps complex numbers to complex numbers."""
    if any(space is not None and not space.is_complex for space in form.spaces):
        raise UnsupportedError(
            f"holomorphic=True needs {what} to be complex, not {form}. Convert the real values to complex numbers "
            "first, or leave holomorphic=True out"
        )


def check_holomorphic_number(value: Any, transform: str) -> None:
    """Refuse a result that is not one complex number."""
    dtype = getattr(value, "dtype", None)
    if isinstance(value, (complex, ComplexDual)) or (dtype is not None and dtype.kind == "c" and np.shape(value) == ()):
        return
    kind = type(value).__name__ if dtype is None else f"{dtype} of shape {np.shape(value)}"
    raise ResultError(
        f"{transform} with holomorphic=True needs a program that returns one complex number, and this one returned "
        f"{kind}. Leave holomorphic=True out if the result is real; use jacobian if there are several results"
    )
