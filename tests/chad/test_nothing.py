"""None and the empty tuple as results and parts of results: one value in the language, two in Python."""

import pytest
from chad.written_functions import function_of

import tapeengine
from tapeengine import chad as te
from tapeengine.chad.backends.tiers import is_installed

ENGINE = tapeengine.Engine()
BACKENDS = (None, *(("native",) if is_installed() else ()))
RESULTS = """
return ()
return None
return
pass
return [()]
return [None, None]
return [[None], [None]]
return x, ()
return x, None, [(), ()]
return {'a': None, 'b': ()}
t = (x, x)|return t[2:]
t = ((), x)|return t
if x > 0.0:|    return ()|return None
""".strip().splitlines()


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # what runs without native code
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("text", RESULTS)
def test_results_without_numbers(text, backend):
    function = function_of("x", text.split("|"))
    program = te.program(function, backend=backend)
    for x in (1.0, -1.0, 2.0):
        assert ENGINE.vjp(program, x)[0] == function(x)
        assert ENGINE.jvp(program, (x,), (1.0,))[0] == function(x)
