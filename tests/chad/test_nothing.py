"""None and the empty tuple as results, arguments and values that a program asks for."""

import numpy as np
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


#: Programs of a number, and of an argument that is None or a tuple.
ASKED = """
return 1.0 if a is None else x * x
return 1.0 if a == () else x * x
return 1.0 if isinstance(a, tuple) else x * x
r = None if a == () else ()|return 1.0 if r is None else x, r
return [a, ()], {'a': a, 'b': None}, x * len(a or (1, 2))
return taken(x) + taken(x, a) + taken(x, ()) + taken(x, None) + taken(x, (x,))
return () if x > 1.0 else [a, x]
return np.shape(x) == (), np.shape(x) == a, (x, x)[2:] == a, x
""".strip().splitlines()


def taken(x, args=None):
    """A function with an optional argument."""
    return x if args is None else x * x + sum(args)


@pytest.mark.parametrize("text", ASKED)
def test_the_empty_tuple_is_not_none(text):
    function = function_of("x, a", text.split("|"), taken=taken, np=np)
    for x, a in ((2.0, ()), (2.0, None), (0.5, ()), (0.5, (0.25, 3.0))):
        assert ENGINE.vjp(te.program(function), x, a)[0] == function(x, a), (x, a)


@pytest.mark.parametrize("backend", BACKENDS)
def test_an_annotation_of_none_takes_no_empty_tuple(backend):
    function = function_of("a: None, x: float", ["return x * 2 if a is None else x"])
    program = te.program(function, backend=backend)
    assert ENGINE.vjp(program, None, 1.5)[0] == 3.0
    with pytest.raises(tapeengine.errors.StructureError, match="tuple where None is wanted"):
        ENGINE.vjp(program, (), 1.5)
    assert program.value((), 1.5) == 1.5  # by the plain function
