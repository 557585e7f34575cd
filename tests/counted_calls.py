"""Count the calls that Python makes."""

import gc
import sys
from collections.abc import Callable
from typing import Any


def calls(run: Callable[[], Any], kinds: tuple[str, ...] = ("call", "c_call")) -> list[str]:
    """Return the names of the functions that a run calls, of Python and of C.

    No collection of garbage runs meanwhile: it would call finalizers of objects that other tests have left.
    """
    names: list[str] = []

    def note(frame: Any, event: str, of: Any) -> None:
        if event in kinds:
            names.append(frame.f_code.co_name if event == "call" else of.__name__)

    gc.collect()
    gc.disable()
    sys.setprofile(note)
    try:
        run()
    finally:
        sys.setprofile(None)
        gc.enable()
    return [name for name in names if name != "setprofile"]
