"""Functions that tests write as text, with their source where `inspect` finds it."""

import linecache

import numpy as np


def function_of(head, lines, **names):
    """The function ``def f`` with a head, such as ``x, y``, and lines; it sees numpy as np, and further names."""
    name = f"<written {len(linecache.cache)}>"
    source = f"def f({head}):\n" + "".join(f"    {line}\n" for line in lines)
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    scope = {"__name__": name, "np": np, **names}
    exec(compile(source, name, "exec"), scope)
    return scope["f"]
