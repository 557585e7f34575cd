"""Recordings with guards: a program is recorded once, and replayed as long as it would do the same operations."""

from .program import Staged

__all__ = ["Staged"]
