"""Parse Python functions into typed terms."""

from .parser import parse_function
from .types import Unresolved

__all__ = ["Unresolved", "parse_function"]
