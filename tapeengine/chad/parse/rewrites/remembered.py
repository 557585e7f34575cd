"""What is found from texts of functions and classes is remembered until something that a program has read changes."""

from __future__ import annotations

from .by_fields import by_fields
from .classes import maker_of
from .generators import collected
from .procedures import changed_parameters, made_handing_back


def forget() -> None:
    """Forget all that was found."""
    for find in (by_fields, maker_of, collected, changed_parameters, made_handing_back):
        find.cache_clear()
