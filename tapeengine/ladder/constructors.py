"""Constructors of the small languages of the working notes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import dataclass_transform


@dataclass_transform(frozen_default=True)
class Constructor:
    """Base class of constructors, which makes each of them a frozen dataclass."""

    def __init_subclass__(cls) -> None:
        dataclass(frozen=True)(cls)
