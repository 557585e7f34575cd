"""Parse Python functions into typed terms."""

from tapeengine.chad.parse.parser import parse_function
from tapeengine.chad.parse.types import Unresolved

__all__ = ["Unresolved", "parse_function"]
