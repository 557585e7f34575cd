"""Parse Python functions into typed terms."""

from .names.types import Unresolved
from .parser import parse_function

__all__ = ["Unresolved", "parse_function"]
