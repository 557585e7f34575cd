"""From Python functions to typed terms."""

from tapeengine.chad.parse.parser import Unresolved, parse_function

__all__ = ["Unresolved", "parse_function"]
