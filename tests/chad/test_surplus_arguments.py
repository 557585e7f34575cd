"""An argument of a function of the language that would be ignored is refused."""

import linecache

import pytest

import tapeengine as te
from tapeengine.errors import TapeEngineError

CALLS = [
    *(
        "round(x, 1)",
        "int(x, 10)",
        "bool(x, x)",
        "len(xs, 1)",
        "pow(x, x, 3)",
        "math.isnan(x, x)",
        "math.prod(xs, 2.0)",
    ),
    *("np.cumsum(xs, 0)", "np.dot(xs, xs, xs)", "np.matmul(xs, xs, xs)", "np.transpose(xs, 0)", "np.outer(xs, xs, xs)"),
]


@pytest.mark.parametrize("call", CALLS)
def test_an_argument_that_is_not_looked_at(call: str) -> None:
    text = f"import math\nimport numpy as np\nimport tapeengine as te\ndef f(x: float, xs: te.Vec):\n return {call}\n"
    linecache.cache[call] = (len(text), None, text.splitlines(keepends=True), call)
    names: dict[str, object] = {}
    exec(compile(text, call, "exec"), names)
    with pytest.raises(TapeEngineError):
        te.program(names["f"])
