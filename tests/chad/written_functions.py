"""Functions that tests write as text, with their source where `inspect` finds it; lists of functions with arguments."""

import linecache

import numpy as np


class Cases(list):
    """Functions with the arguments of their calls: ``@cases(2.0)`` appends one."""

    def __call__(self, *args):
        def add(function):
            self.append((function, args))
            return function

        return add


def run_in(scope, source):
    """Run a text whose functions have their source where `inspect` finds it."""
    name = f"<written {len(linecache.cache)}>"
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    exec(compile(source, name, "exec"), scope)


def function_of(head, lines, **names):
    """The function ``def f`` with a head, such as ``x, y``, and lines; it sees numpy as np, and further names."""
    scope = {"__name__": f"<written {len(linecache.cache)}>", "np": np, **names}
    run_in(scope, f"def f({head}):\n" + "".join(f"    {line}\n" for line in lines))
    return scope["f"]
