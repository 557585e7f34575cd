"""What is found from texts of functions and classes is remembered until something that a program has read changes."""

from __future__ import annotations

from .classes import maker_of
from .generators import collected
from .procedures import changed_parameters, made_handing_back


def forget() -> None:
    """Forget all that was found."""
    for find in (maker_of, collected, changed_parameters, made_handing_back):
        find.cache_clear()
