"""What this distribution brings to the engine: see tapeengine.plugins.hookspecs for all hooks."""

from tapeengine.plugins import hookimpl
from tapeengine.primitive import Primitive
from tapeengine_example.loss import PSEUDO_HUBER


@hookimpl
def tapeengine_primitives() -> list[Primitive]:
    """The primitives."""
    return [PSEUDO_HUBER]
