"""The stubs that are written from the source of compiled modules."""

import runpy
from pathlib import Path

STUBS = runpy.run_path(str(Path(__file__).parents[2] / "stubs.py"))
SOURCE = '''
from tapeengine._core.tape.tape cimport Tape, live_traces
include "part.pxi"
LIMIT = 3   # def no(function)

@cython.final
cdef class Found(Base):
    """def not_this(self): neither"""
    cdef readonly Tape tape
    cdef public int first, last
    cdef double own
    def __cinit__(self, Tape tape=None, *args): pass
    def __dealloc__(self): pass
    @property
    def whole(self) -> list[int]: pass
    @whole.setter
    def whole(self, value): pass
    cpdef bint same(self, other) except -1:
        pass
    def __pow__(x, y, modulus): pass
    @staticmethod
    def made(x): pass
'''
PART = """
def outer(f: Callable[[int, int], object], text=",)", *,
          dict options, **names) -> tuple[int, Found]:
    def inner(x): pass

cdef class Base:
    cdef object f(self, x):
        pass
"""
WANTED = """\
from tapeengine._core.tape.tape import Tape
def outer(f: Callable[[int, int], object], text: Any = ..., *, options: dict[Any, Any], **names: Any)\\
 -> tuple[int, Found]: ...
LIMIT: Any
@disjoint_base
class Base():
    ...
@final
class Found(Base):
    tape: Tape | Any
    first: int
    last: int
    def __new__(cls, tape: Tape | None = ..., *args: Any) -> Self: ...
    @property
    def whole(self) -> list[int]: ...
    @whole.setter
    def whole(self, value: Any) -> Any: ...
    def same(self, other: Any) -> bool: ...
    def __pow__(self, y: Any, modulus: Any = ..., /) -> Any: ...
    def __rpow__(self, y: Any, modulus: Any = ..., /) -> Any: ...
    @staticmethod
    def made(x: Any) -> Any: ...
    ...
"""


def test_a_stub_says_what_the_source_says(tmp_path: Path) -> None:
    (tmp_path / "whole.pyx").write_text(SOURCE)
    (tmp_path / "part.pxi").write_text(PART)
    text = STUBS["Stub"](tmp_path / "whole.pyx").text()
    assert text.startswith(STUBS["HEAD"])
    assert text.removeprefix(STUBS["HEAD"]).strip() == WANTED.replace("\\\n", "").strip()
