from typing import Any

# For the other parts of the core, by boundary.pxd: nothing else here is called from Python.
def overlap(a: Any, b: Any) -> bool: ...
