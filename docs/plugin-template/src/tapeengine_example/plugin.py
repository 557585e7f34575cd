"""What this distribution brings to the engine: see tapeengine.plugins.hookspecs for all hooks."""

from tapeengine.plugins import hookimpl
from tapeengine.primitive import Primitive
from tapeengine_example.loss import pseudo_huber


@hookimpl
def tapeengine_primitives() -> list[Primitive]:
    """The primitives."""
    return [pseudo_huber]
