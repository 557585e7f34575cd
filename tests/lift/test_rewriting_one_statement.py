"""A function is rewritten with the statement of its file that it stands in: as the whole file would be."""

import linecache
import types
from pathlib import Path

import numpy
import pytest

from tapeengine.lift import rewrite

#: Each piece is a statement of a file at its own place: what it looks like there must not depend on the others.
PIECES = {
    "decorated": "".join(
        [
            "@deco(\n",
            "    1,\n",
            ")\n",
            "@deco(2)\n",
            "def decorated(a):\n",
            "    a[0] = a[1] * 2.0\n",
            "    return a\n",
        ]
    ),
    "closure": "".join(
        [
            "def closure(a):\n",
            "    n = 0\n",
            "    def inner(b):\n",
            "        nonlocal n\n",
            "        b[n] += a[0]\n",
            "        return b\n",
            "    return inner\n",
        ]
    ),
    "nested": "".join(
        [
            "class Outer:\n",
            "    class Inner:\n",
            "        def __f(self, a):\n",
            "            self.__x = a.copy()\n",
            "            self.__x[0] = a[1]\n",
            "            return self.__x\n",
        ]
    ),
    "lambdas": "".join(
        [
            "f = lambda a: a.copy(); g = lambda a: a.copy() is float\n",
        ]
    ),
    "branch": "".join(
        [
            "if True:\n",
            "    def branch(a):\n",
            "        a += a\n",
            "        return a\n",
            "else:\n",
            "    def branch(a):\n",
            "        a -= a\n",
            "        return a\n",
        ]
    ),
    "text": "".join(
        [
            'TEXT = """\n',
            "def text(a):\n",
            "    a[0] = 1\n",
            '"""\n',
            "def text(a):\n",
            '    """Not\n',
            "def text(a):\n",
            '    at column 0."""\n',
            "    a[0] = 1.0\n",
        ]
    ),
    "feed": "".join(
        [
            "\x0cdef feed(a):\n",
            "    s = '\x0c\x1c\u2028'\n",
            "    a[0] = 2.0\n",
            "    return s, a\n",
        ]
    ),
    "later": "".join(
        [
            "def later(a: Unknown, *, k: 'Unknown' = 0) -> Unknown:\n",
            "    a[k] = 1.0\n",
            "    return a.dot(a)\n",
        ]
    ),
    "async": "".join(
        [
            "async def asynchronous(a):\n",
            "    async with a as b:\n",
            "        b[0] = 1.0\n",
            "    return [x.copy() async for x in b]\n",
        ]
    ),
    "continued": "".join(
        [
            "def continued(a): a[0] = \\\n",
            "    1.0; return a\n",
        ]
    ),
    "numba": "".join(
        [
            "@numba.njit\n",
            "def numba_one(a):\n",
            "    a[0] = a[1]\n",
            "    return a\n",
        ]
    ),
    "imports": "".join(
        [
            "try:\n",
            "    import os.path as here, sys.path\n",
            "except ImportError:\n",
            "    from os import path as there\n",
        ]
    ),
    "imported": "".join(
        [
            "def imported(a):\n",
            "    import late\n",
            "    a[0] = here.f(a), sys.f(a), there.f(a), late.f(a), path.f(a)\n",
        ]
    ),
    "operators": "".join(
        [
            "def operators(a, s):\n",
            "    return a * s / s\n",
        ]
    ),
}
FUTURE = "from __future__ import annotations\n"


def in_whole(source: str, place: str, flags: int) -> list[tuple[types.CodeType, types.CodeType]]:
    """Give the codes of all functions of a file, each with that of the file rewritten as a whole."""
    plain = compile(source, place, "exec", flags, True)
    changed = rewrite.compiled(source.encode(), place, flags) or plain
    return list(zip(rewrite.codes_in(plain), rewrite.codes_in(changed), strict=True))


def agree(source: str, place: str, flags: int = 0) -> int:
    """Compare each function rewritten alone with the same in the whole file; give how many differ from their text."""
    linecache.cache[place] = len(source), None, source.splitlines(keepends=True), place
    differ = 0
    for plain, changed in in_whole(source, place, flags):
        if plain.co_name.startswith("<") or "__class__" in plain.co_freevars or plain.co_freevars:
            continue  # a function can be made of the others
        function = types.FunctionType(plain, {})
        found = rewrite.changed_code(function)
        assert found == changed, plain.co_qualname
        assert list(found.co_lines()) == list(changed.co_lines())
        assert list(found.co_positions()) == list(changed.co_positions())
        differ += found != plain
    return differ


@pytest.mark.parametrize("first", ["", FUTURE, FUTURE + "from scipy import sparse\n"])
@pytest.mark.parametrize("turn", range(len(PIECES)))
def test_each_statement_is_changed_as_in_its_file(turn, first):
    pieces = [*PIECES.values()]
    source = first + "\n\n".join([*pieces[turn:], *pieces[:turn]])
    assert agree(source, f"pieces_{turn}_{len(first)}.py") >= 8 + ("sparse" in first)


@pytest.mark.parametrize("name", ["lib/_function_base_impl.py", "lib/_nanfunctions_impl.py", "ma/core.py"])
def test_files_of_numpy(name):
    place = Path(numpy.__file__).parent / name
    assert agree(place.read_text(), str(place)) > 5


def test_captured_variables_and_what_a_call_gives(tmp_path):
    place = tmp_path / "captured.py"
    place.write_text(PIECES["text"] + PIECES["closure"])
    names = {}
    exec(compile(place.read_text(), str(place), "exec"), names)
    inner = names["closure"]([2.0])
    found = rewrite.changed_code(inner)
    assert found != inner.__code__ and found.co_freevars == inner.__code__.co_freevars
    made = types.FunctionType(
        found, {**names, ".dropped": (), "__builtins__": __builtins__}, "", None, inner.__closure__
    )
    assert made([1.0]) == inner([1.0])


@pytest.mark.parametrize("others", [1, 40])
def test_one_statement_is_rewritten(tmp_path, monkeypatch, others):
    place = tmp_path / f"many_{others}.py"
    place.write_text("\n".join(f"def f{k}(a):\n    a[{k}] = 1.0\n    return a\n" for k in range(others + 1)))
    names, rewritten = {}, []
    exec(compile(place.read_text(), str(place), "exec"), names)
    stores = rewrite.with_traced_stores
    monkeypatch.setattr(rewrite, "with_traced_stores", lambda tree: rewritten.append(len(tree.body)) or stores(tree))
    assert rewrite.changed_code(names["f1"]) != names["f1"].__code__
    assert rewritten == [1]
