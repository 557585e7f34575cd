"""Writes the stubs of the core's modules from the signatures in their source. `setup.py` runs it.

The type of a parameter is its annotation, which Cython ignores, or that of its declaration; without either it is Any.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

HEAD = """\
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Any, NoReturn, Self, final
import numpy
from numpy.typing import NDArray
from typing_extensions import disjoint_base
"""
TYPES = {"bint": "bool", "double": "float", "list": "list[Any]", "tuple": "tuple[Any, ...]", "dict": "dict[Any, Any]"}
TYPES |= dict.fromkeys("int long Py_ssize_t int64_t uint32_t Kind".split(), "int") | {"ndarray": "NDArray[Any]"}
TYPES |= {"str": "str", "bytes": "bytes"}
RESULTS = {"__init__": "None", "__len__": "int", "__hash__": "int", "__repr__": "str", "__bool__": "bool"}
#: Operators, which also have a method for the right operand.
OPERATORS = "add sub mul truediv pow mod floordiv divmod matmul".split()
COMPARISONS = "eq ne lt le gt ge".split()
#: Methods whose parameters have no names for callers.
SLOTS = {f"__{name}__" for name in ["get", "getitem", "setitem", "delitem", "contains", *OPERATORS, *COMPARISONS]}
SLOTS |= {f"__i{name}__" for name in OPERATORS} | {f"__r{name}__" for name in OPERATORS}
#: Methods of C, and those that a type checker takes from `object` or from a method of the same meaning.
LEFT_OUT = "__ipow__ __dealloc__ __class__ __doc__ __getbuffer__ __releasebuffer__".split()
#: Modules with stubs of their own: the types that users see.
WRITTEN = ("scalar", "math", "complex")
#: Strings and comments.
TOKENS = r'"""(?s:.*?)"""|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|#.*'
PARAMETER = r"(\**)(?:([\w.]+(?:\[.*\])?) )?(\w+)(?:: ([^=]+?))?( ?= ?.*)?"
DEF = r"(?:def|cpdef (\w+)) (\w+)\((.*?)\)(?: except \S+| noexcept)?(?: -> ([^:]*))?:"


def text_of(path: Path) -> str:
    """The source of a module without strings and comments, with included files, and each bracket on one line."""
    if not path.exists():
        return ""
    text = re.sub(r'^include "(\w+\.pxi)"', lambda m: text_of(path.parent / m[1]), path.read_text("utf-8"), flags=re.M)
    depth, characters = 0, []
    for character in re.sub(TOKENS, lambda m: "" if m[0][0] == "#" else '""', text):
        depth += (character in "([{") - (character in ")]}")
        characters.append(" " if character == "\n" and depth else character)
    return "".join(characters)


def split(params: str) -> Iterator[str]:
    """The parts of a list that commas separate."""
    depth, part = 0, ""
    for character in params + ",":
        depth += (character in "([{") - (character in ")]}")
        if character == "," and not depth:
            yield part.strip()
            part = ""
        else:
            part += character


class Class(NamedTuple):
    """A class: its bases, the lines of its members by their names, and what it declares in C."""

    head: str
    is_final: bool
    members: dict[str, list[str]]
    stores: list[str]


class Stub:
    """The stub of one module."""

    def __init__(self, path: Path) -> None:
        declared, text = text_of(path.with_suffix(".pxd")), text_of(path)
        self.classes: dict[str, Class] = {}
        self.names: dict[str, list[str]] = {}
        self.imported = dict(self.imports(declared + text))
        self.known = {*self.imported, *re.findall(r"^cdef class (\w+)", declared + text, flags=re.M)}
        self.read(declared)
        self.read(text)

    def imports(self, text: str) -> Iterator[tuple[str, str]]:
        """The classes of other modules of the core, and where they are."""
        for module, names in re.findall(r"^from (tapeengine\.[\w.]+) cimport (.*)", text, flags=re.M):
            for name in split(names.strip("() ")):
                if name[:1].isupper() and not name.isupper():
                    yield name, module

    def type(self, kind: str) -> str:
        """The type of a declaration."""
        return TYPES.get(kind, kind if kind in self.known else "Any")

    def read(self, text: str) -> None:
        """Read the lines of a file."""
        owner, marks = None, list[str]()
        for line in text.splitlines():
            indent, words = len(line) - len(line.lstrip()), line.strip()
            if words and not indent:
                owner = None
            if words.startswith("@"):
                marks.append(words)
            elif found := re.fullmatch(r"(?:cdef )?class (\w+)(?:\((.*)\))?:.*", words):
                owner = self.classes.get(found[1], Class(found[2] or "", False, {}, []))
                owner = self.classes[found[1]] = owner._replace(is_final=owner.is_final or "@cython.final" in marks)
            elif owner and indent == 4:
                self.member(owner, words, marks)
            elif not indent:
                self.name(words)
            marks = marks if words.startswith("@") or not words else []

    def name(self, words: str) -> None:
        """A function of the module, or a constant."""
        if found := re.match(DEF, words):
            self.names[found[2]] = [self.function(found)]
        elif found := re.match(r"([A-Z]\w*)(?:: (.*))? = ", words):
            self.names[found[1]] = [f"{found[1]}: {found[2] or 'Any'}"]

    def member(self, owner: Class, words: str, marks: list[str]) -> None:
        """A method, a property or an attribute of a class."""
        if words.startswith("def __richcmp__("):
            for name in COMPARISONS:
                self.member(owner, f"def __{name}__(self, other):", [])
        elif found := re.match(DEF, words):
            if found[2] not in LEFT_OUT and found.group(2, 3) != ("__cinit__", "self"):
                kept = [mark for mark in marks if not mark.startswith("@cython")]
                owner.members["".join([found[2], *kept])] = [*kept, self.function(found, kept != ["@staticmethod"])]
            if found[2] in (f"__{name}__" for name in OPERATORS):
                self.member(owner, words.replace("__", "__r", 1), [])
        elif found := re.fullmatch(r"cdef (?:readonly|public) ([\w.]+) (.*)", words):
            of = self.type(found[1])  # it may also be None, unless it is a number
            of = of if of in ("int", "bool", "float", "Any") else f"{of} | Any"
            owner.members.update({name: [f"{name}: {of}"] for name in split(found[2])})
        if words.startswith("cdef "):
            owner.stores.append("method" if "(" in words else "field")

    def function(self, found: re.Match[str], is_method: bool = False) -> str:
        """The line of a function."""
        kind, name, params, result = found.groups()
        parts = list(split(params)) if params else []
        if is_method:
            parts[0] = "cls" if name == "__cinit__" or parts[0] == "cls" else "self"
        if name in ("__get__", "__pow__", "__rpow__"):  # Python may leave out the last argument
            parts[-1] += "=None"
        given = [*parts[:is_method], *map(self.parameter, parts[is_method:]), *["/"] * (name in SLOTS)]
        if name == "__cinit__":
            name, result = "__new__", "Self"
        return f"def {name}({', '.join(given)}) -> {result or RESULTS.get(name) or self.type(kind)}: ..."

    def parameter(self, text: str) -> str:
        """A parameter with its type."""
        if text in ("", "*", "/"):
            return text
        stars, kind, name, given, default = re.fullmatch(PARAMETER, text).groups()
        of = given or self.type(kind)
        of = f"{of} | None" if default and default.endswith("None") and of != "Any" else of
        return f"{stars}{name}: {of}{' = ...' if default else ''}"

    def lines(self) -> Iterator[str]:
        """The lines of the stub."""
        yield from (line for lines in self.names.values() for line in lines)
        for name, found in self.classes.items():
            is_disjoint = "field" in found.stores or ("method" in found.stores and not found.head)
            yield "@final" if found.is_final else "@disjoint_base" if is_disjoint else ""
            yield f"class {name}({found.head}):"
            yield from (f"    {line}" for lines in found.members.values() for line in lines)
            yield "    ..."

    def text(self) -> str:
        """The whole stub."""
        body = "\n".join(self.lines())
        used = [name for name in self.imported if re.search(rf"\b{name}\b", body)]
        return "\n".join([HEAD, *(f"from {self.imported[name]} import {name}" for name in used), body, ""])


def main() -> None:
    """Write the stub of each module of the core, except of those whose classes and functions are the package's."""
    for path in (path for path in Path("tapeengine", "_core").glob("*/*.pyx") if path.stem not in WRITTEN):
        path.with_suffix(".pyi").write_text(Stub(path).text(), "utf-8")


if __name__ == "__main__":
    main()
