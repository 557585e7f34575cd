"""The rules of the source tree, checked on the syntax trees of all files."""

import ast
import inspect
import re
import symtable
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import tapeengine as te
from tapeengine.engine import METHODS, OF_ENGINES

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = {"tapeengine": ROOT / "tapeengine", "tapeengine_primitives": ROOT / "primitives" / "core"}
PLUGINS = {"tapeengine_scipy": ROOT / "primitives" / "scipy" / "src" / "tapeengine_scipy"}

# A module belongs to the layer of its longest prefix, and imports only from its own layer and those below it.
LAYERS: dict[str, int] = {
    "tapeengine.errors": 0,
    "tapeengine.default": 0,
    "tapeengine.html": 0,
    "tapeengine.naming": 0,
    "tapeengine.dropped": 0,
    "tapeengine.primitive": 0,
    "tapeengine.primitive.local": 1,
    "tapeengine.structure": 0,
    "tapeengine._core": 1,
    "tapeengine._core.structures.interleave": 0,
    "tapeengine._core.tape": 0,
    "tapeengine.recursion": 1,
    "tapeengine.reference": 1,
    "tapeengine.ladder": 1,
    "tapeengine.duals": 2,
    "tapeengine.forms": 2,
    "tapeengine.numpy": 2,
    "tapeengine.cmath": 2,
    "tapeengine.math": 2,
    "tapeengine.chad": 2,
    "tapeengine.plugins": 2,
    "tapeengine_primitives": 2,
    "tapeengine.engine": 3,
    "tapeengine.sparse": 3,
    "tapeengine.staged": 3,
    "tapeengine.transforms": 3,
    "tapeengine.workers": 3,
    "tapeengine.lift": 2,
    "tapeengine.testing": 4,
    "tapeengine.commands": 5,
    "tapeengine": 5,
}
# Parts of one layer that must not see each other: the two frontends, the core and its specification.
STRANGERS = [("tapeengine.duals", "tapeengine.chad"), ("tapeengine._core", "tapeengine.reference")]
# The table is data that the core's build and the specification read; the ladder reads the terms of the language, and
# evaluates them by their specification.
SHARED = {"tapeengine._core.tape.table"}
TERMS = {f"tapeengine.chad.{name}" for name in ("language", "specification")}
MUTABLE_CALLS = {"dict", "list", "set", "bytearray", "defaultdict", "deque", "Counter", "OrderedDict", "local"}
CHANGES = {"append", "add", "update", "pop", "clear", "extend", "insert", "remove", "setdefault", "popitem", "discard"}


def modules(packages: dict[str, Path]) -> Iterator[tuple[str, Path]]:
    for name, folder in packages.items():
        for path in sorted(folder.rglob("*.py")):
            parts = path.relative_to(folder).with_suffix("").parts
            yield ".".join([name, *(part for part in parts if part != "__init__")]), path


def top_level(tree: ast.Module) -> Iterator[ast.stmt]:
    """Statements that run when the module is imported, outside classes and functions."""
    pending = list(tree.body)
    while pending:
        statement = pending.pop()
        yield statement
        if not isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            handlers = getattr(statement, "handlers", [])
            blocks = [getattr(statement, name, []) for name in ("body", "orelse", "finalbody")]
            pending += [inner for block in [*blocks, *(handler.body for handler in handlers)] for inner in block]


def imported(module: str, path: Path) -> Iterator[str]:
    """The absolute names of a module's imports anywhere: at top level, inside functions, and for its types."""
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    for part in ast.walk(ast.parse(path.read_text())):
        if isinstance(part, ast.Import):
            yield from (alias.name for alias in part.names)
        elif isinstance(part, ast.ImportFrom):
            up = package.split(".")[: len(package.split(".")) - part.level + 1] if part.level else []
            base = ".".join([*up, *filter(None, [part.module])])
            yield from (f"{base}.{alias.name}" for alias in part.names)


def imported_by_text(path: Path) -> Iterator[str]:
    """The modules of the project that a module imports by texts: ``import_module("tapeengine.math")``."""
    for part in ast.walk(ast.parse(path.read_text())):
        if isinstance(part, ast.Call) and "import_module" in (getattr(part.func, n, "") for n in ("id", "attr")):
            texts = [arg.value for arg in part.args if isinstance(arg, ast.Constant)]
            yield from (text for text in texts if str(text).startswith("tapeengine"))


CYTHON = re.compile(r"^[ \t]*(?:from ([\w.]+) c?import (?:\(([^)]*)\)|([^\n#]*))|c?import ([\w., ]+))", re.MULTILINE)


def with_includes(path: Path) -> str:
    """The text of a Cython file, with that of the files that it includes."""
    text = path.read_text()
    included = [path.parent / name for name in re.findall('^include "(.*)"', text, re.MULTILINE)]
    return "\n".join([text, *(with_includes(part) for part in included if part.exists())])


def cimported(path: Path) -> Iterator[str]:
    """The names that a Cython file imports or cimports, with its included files; all its imports are absolute."""
    text = re.sub(r'""".*?"""', "", with_includes(path), flags=re.DOTALL)
    for module, several, some, plain in CYTHON.findall(text):
        names = [name.split(" as ")[0].strip() for name in (several or some or plain).split(",")]
        yield from (f"{module}.{name}" if module else name for name in names if name)


def part_of(module: str) -> str | None:
    """The entry of LAYERS for a module."""
    names = [name for name in LAYERS if module == name or module.startswith(name + ".")]
    return max(names, key=len, default=None)


def violation(module: str, target: str) -> str | None:
    ours, theirs = part_of(module), part_of(target)
    if ours is None or theirs is None or any(target.startswith(name) for name in SHARED):
        return None
    if ours == "tapeengine.ladder":
        stands = theirs in (ours, "tapeengine.recursion") or any(target.startswith(name + ".") for name in TERMS)
        stands |= module.startswith("tapeengine.ladder.chad") and theirs == "tapeengine.chad"
        return None if stands else f"{module} imports {target}: a ladder stands on the opcode table and the terms alone"
    if LAYERS[theirs] > LAYERS[ours]:
        return f"{module} (layer {LAYERS[ours]}) imports {target} (layer {LAYERS[theirs]})"
    if (ours, theirs) in STRANGERS or (theirs, ours) in STRANGERS:
        return f"{module} imports {target}: {ours} and {theirs} do not see each other"
    return None


ALL = list(modules(PACKAGES))

COMPILED = [
    (".".join(path.relative_to(ROOT).with_suffix("").parts), path)
    for path in sorted((ROOT / "tapeengine" / "_core").rglob("*.p[yx][xd]"))
]


@cache
def targets() -> dict[str, set[str]]:
    """The imports of each module, by name; a compiled module includes those of its declarations."""
    found: dict[str, set[str]] = {}
    for module, path in [*ALL, *modules(PLUGINS)]:
        found.setdefault(module, set()).update(imported(module, path))
    for module, path in COMPILED:
        found.setdefault(module, set()).update(cimported(path))
    return found


@cache
def modules_graph() -> dict[str, set[str]]:
    """Which of the project's modules each of them imports."""
    known = targets()
    by_text = {module: set(imported_by_text(path)) for module, path in ALL}
    return {
        module: {x if x in known else x.rpartition(".")[0] for x in names | by_text.get(module, set())}
        & known.keys() - {module}
        for module, names in known.items()
    }


@pytest.mark.parametrize("module", sorted({module for module, _ in [*ALL, *COMPILED]}))
def test_imports_go_down(module: str) -> None:
    """Imports inside functions, imports for types and cimports count."""
    found = [violation(module, target) for target in targets()[module]]
    assert [text for text in found if text] == []


def test_a_cimport_is_seen() -> None:
    seen = targets()["tapeengine._core.sweeps.trace"]
    assert "tapeengine._core.tape.tape.Tape" in seen and "tapeengine._core.arrays.array.zero_dim" in seen


def test_an_import_of_an_included_file_is_seen() -> None:
    assert "tapeengine.primitive.spaces.space_of" in targets()["tapeengine._core.arrays.array"]  # by calls.pxi
    assert "tapeengine._core.programs.threads" in targets()["tapeengine._core.programs.machine"]  # by forks.pxi


#: Modules of the core that call one above them by its name, ``above("arrays.array")`` of ``tape.pyx``, in rare cases:
#: numbers that become arrays, classes of numpy's scalars, the memory of a tape, the last use of a storage.
CALLED_BY_NAME = {
    "tape.tape": {"sweeps.linear"},
    "scalars.scalar": {"arrays.array", "arrays.reports", "scalars.complex"},
    "scalars.complex": {"arrays.array"},
    "arrays.array": {"sweeps.linear"},
}


def test_modules_above_are_called_by_name_where_it_is_listed() -> None:
    found = {module: set(re.findall(r'\babove\("([\w.]+)"\)', with_includes(path))) for module, path in COMPILED}
    assert {
        module.removeprefix("tapeengine._core."): names for module, names in found.items() if names
    } == CALLED_BY_NAME


@pytest.mark.parametrize("path", sorted((ROOT / "tapeengine" / "_core").rglob("*.pxd")), ids=lambda path: path.stem)
def test_a_declaration_is_for_another_module(path: Path) -> None:
    """A function that only its own module calls is not declared: Cython exports it by name and signature."""
    module = next(name for name, found in COMPILED if found == path)
    others = {name for user, names in targets().items() if user != module for name in names}
    text = re.sub("#.*", "", path.read_text())
    declared = re.findall(r"^cp?def (?!class|enum|struct|extern|inline)[\w. ]+? \**(\w+)\(", text, re.MULTILINE)
    inlined = [name for name in declared if len(re.findall(rf"\b{name}\(", text)) > 1]
    assert [name for name in declared if f"{module}.{name}" not in others and name not in inlined] == []


@pytest.mark.parametrize("path", sorted((ROOT / "tapeengine" / "_core").rglob("*.pyx")), ids=lambda path: path.stem)
def test_a_module_that_uses_numpys_c_interface_fills_its_table(path: Path) -> None:
    """Cython does so for a module that cimports numpy itself; without it a call of numpy jumps to address 0."""
    text = "\n".join(with_includes(part) for part in (path, path.with_suffix(".pxd")) if part.exists())
    assert not re.search("^(from numpy )?cimport numpy|^from numpy cimport", text, re.MULTILINE)
    fills = re.search(r"^(cnp\.)?import_array\(\)", text, re.MULTILINE)
    assert fills or not re.search(r"\bPyArray_\w+", text)


def bound(path: Path) -> Iterator[tuple[str, str]]:
    """The names that a Cython file, with the files that it includes, imports or defines; and where each comes from."""
    text = re.sub(r'""".*?"""', "", path.read_text(), flags=re.DOTALL)
    for found in re.finditer(r"^(?:cp?def|def|class) (?:[^=\n]*?[ *])?(\w+)\(", text, re.MULTILINE):
        yield found[1], f"{path}:{found.start()}"
    for module, several, some, _ in CYTHON.findall(text):
        for name in filter(str.strip, (several or some).split(",")):
            yield name.split(" as ")[-1].strip(), f"{module}.{name.split(' as ')[0].strip()}"
    for included in re.findall('^include "(.*)"', text, re.MULTILINE):
        if (path.parent / included).exists():
            yield from bound(path.parent / included)


@pytest.mark.parametrize("path", sorted((ROOT / "tapeengine" / "_core").rglob("*.pyx")), ids=lambda path: path.stem)
def test_a_compiled_module_binds_a_name_once(path: Path) -> None:
    """Of two modules' names that are the same, Cython takes the last one, and says nothing."""
    names = [name for name, _ in set(bound(path))]
    assert {name for name in names if names.count(name) > 1} == set()


@pytest.mark.parametrize(
    ("module", "target"),
    [
        ("tapeengine.errors", "tapeengine.engine"),
        ("tapeengine._core", "tapeengine.numpy.fft"),
        ("tapeengine.duals.protocol", "tapeengine.chad.parse"),
        ("tapeengine.reference.tape", "tapeengine._core.engine_core"),
        ("tapeengine.engine", "tapeengine"),
        ("tapeengine.ladder.dn.naive", "tapeengine.reference.tape"),
        ("tapeengine.ladder.dn.naive", "tapeengine.chad.reverse.definitions"),
    ],
)
def test_an_import_that_goes_up_is_seen(module: str, target: str) -> None:
    assert violation(module, target)


SPECIFICATION = "tapeengine.chad.specification"


def test_nothing_that_runs_imports_the_specification() -> None:
    """Code that is compared with the specification does not depend on it; test code and the ladder may."""
    users = [m for m, names in targets().items() if any(x.startswith(SPECIFICATION) for x in names)]
    assert [m for m in users if not m.startswith((SPECIFICATION, "tapeengine.testing.", "tapeengine.ladder."))] == []


def circles(graph: dict[str, set[str]]) -> list[set[str]]:
    """The sets of modules that import each other, directly or indirectly."""
    reached = {name: set(targets) for name, targets in graph.items()}
    changed = True
    while changed:
        changed = False
        for found in reached.values():
            more = set().union(*(reached[name] for name in found)) - found
            found |= more
            changed = changed or bool(more)
    rings = {frozenset({name, *(x for x in found if name in reached[x])}) for name, found in reached.items()}
    return [set(ring) for ring in rings if len(ring) > 1]


def test_no_circle_of_imports() -> None:
    """Lazy imports and those for types count: a module can be read without the modules above it."""
    assert circles(modules_graph()) == []


def rooms_graph(package: str) -> dict[str, set[str]]:
    """What the members of a package, its modules and folders, import of one another."""
    depth = package.count(".") + 2
    graph: dict[str, set[str]] = {}
    for module, names in modules_graph().items():
        if module.startswith(f"{package}."):
            room = ".".join(module.split(".")[:depth])
            inside = {".".join(x.split(".")[:depth]) for x in names if x.startswith(f"{package}.")}
            graph.setdefault(room, set()).update(inside - {room})
    return {room: names & graph.keys() for room, names in graph.items()}


#: Containers of the user's classes keep their fields in a compiled class, which stands with the other compiled modules.
RINGS_OF_ROOMS = [{"tapeengine._core", "tapeengine.structure", "tapeengine.primitive"}]


@pytest.mark.parametrize("package", sorted({m.rpartition(".")[0] for m in modules_graph()} - {""}))
def test_no_circle_of_rooms(package: str) -> None:
    """The folders and modules of a package import each other one way, so that each is read after those it stands on."""
    rings = circles(rooms_graph(package))
    assert [ring for ring in rings if not any(ring <= known for known in RINGS_OF_ROOMS)] == []


def test_a_plugin_imports_no_private_module() -> None:
    """A first-party plugin stands on what any plugin can import."""
    private = re.compile(r"tapeengine(_primitives)?\.(\w+\.)*_[a-z]\w*(\.|$)")
    plugin = {module for module, _ in modules(PLUGINS)}
    assert [(m, x) for m, names in targets().items() if m in plugin for x in names if private.match(x)] == []


def test_a_circle_is_seen() -> None:
    assert "tapeengine.chad.backends.llvm.compile" in modules_graph()["tapeengine.staged.compiling"]
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"b"}}) == [{"b", "c"}]


def is_mutable(value: ast.expr | None) -> bool:
    """Whether an expression makes a mutable object."""
    if isinstance(value, ast.Call):
        name = value.func.attr if isinstance(value.func, ast.Attribute) else getattr(value.func, "id", "")
        return name in MUTABLE_CALLS
    return isinstance(value, (ast.List, ast.Dict, ast.Set, ast.ListComp, ast.DictComp, ast.SetComp))


def is_changed(name: str, tree: ast.Module) -> bool:
    """Whether a module changes the object of a name, by item assignment or a method that changes the container."""

    def writes(part: ast.AST) -> bool:
        if not isinstance(part, (ast.Subscript, ast.Attribute)) or not isinstance(part.value, ast.Name):
            return False
        changes = isinstance(part.ctx, (ast.Store, ast.Del)) or (
            isinstance(part, ast.Attribute) and part.attr in CHANGES
        )
        return changes and part.value.id == name

    return any(writes(part) for part in ast.walk(tree))


def mutable_state(tree: ast.Module) -> list[str]:
    """Names of a module that hold a container which the module changes or does not declare as a constant."""
    found = [name for part in ast.walk(tree) if isinstance(part, ast.Global) for name in part.names]
    for statement in top_level(tree):
        if isinstance(statement, ast.Assign):
            names = [target.id for target in statement.targets if isinstance(target, ast.Name)]
        elif isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            names = [statement.target.id]
        else:
            continue
        if is_mutable(statement.value):
            found += [n for n in names if not n.startswith("__") and (is_changed(n, tree) or n != n.upper())]
    return found


@pytest.mark.parametrize(("module", "path"), ALL, ids=[module for module, _ in ALL])
def test_no_module_level_mutable_state(module: str, path: Path) -> None:
    assert mutable_state(ast.parse(path.read_text())) == []


@pytest.mark.parametrize(
    "source",
    [
        "cache = {}",
        "CACHE = {}\ndef f(x):\n    CACHE[x] = 1",
        "SEEN = set()\nSEEN.add(1)",
        "x = 0\ndef f():\n    global x\n    x = 1",
    ],
)
def test_mutable_state_is_seen(source: str) -> None:
    assert mutable_state(ast.parse(source))


def source_files() -> list[Path]:
    folders = ["tapeengine", "primitives", "tests", "examples", "asv_bench"]
    found = [path for folder in folders for kind in ("*.py", "*.pyx", "*.pxd") for path in (ROOT / folder).rglob(kind)]
    return [path for path in found if not {"env", "build", ".venv"} & set(path.parts)]


def hidden_captures(table: symtable.SymbolTable) -> Iterator[str]:
    """The captured variables of functions that have the name of a comprehension's variable in the same function."""
    for inner in table.get_children():
        if inner.get_name() in ("listcomp", "setcomp", "dictcomp") and table.get_type() == "function":
            names = {symbol.get_name() for symbol in inner.get_symbols() if symbol.is_local()}
            captured = {symbol.get_name() for symbol in table.get_symbols() if symbol.is_free()}
            yield from sorted(names & captured)
        yield from hidden_captures(inner)


tables_of_comprehensions = pytest.mark.skipif(
    sys.version_info >= (3, 12), reason="symtable has no tables of comprehensions, which are part of their functions"
)


@tables_of_comprehensions
@pytest.mark.parametrize(("module", "path"), ALL)
def test_no_variable_of_a_comprehension_hides_a_captured_one(module: str, path: Path) -> None:
    """CPython 3.12.1 and 3.13.0 lose the captured variable, because comprehensions run in their function's frame."""
    if path.suffix == ".py":
        assert list(hidden_captures(symtable.symtable(path.read_text(), str(path), "exec"))) == []


@tables_of_comprehensions
def test_a_hidden_capture_is_seen() -> None:
    source = "def f():\n    def g():\n        return [a for a in b], lambda: a\n    a = 1"
    assert list(hidden_captures(symtable.symtable(source, "m.py", "exec"))) == ["a"]


def test_files_are_named_in_lower_case_without_history() -> None:
    names = [path.relative_to(ROOT) for path in source_files()]
    wrong = [n for n in names if not re.fullmatch(r"[a-z_][a-z0-9_]*", n.stem)]
    history = [n for n in names if re.search(r"(^|_)(new|old|v\d+|final|tmp)(_|$)", n.stem)]
    assert wrong + history == []


def test_setup_lists_data_in_sixty_lines() -> None:
    assert (ROOT / "setup.py").read_text().count("\n") <= 60


def test_every_package_is_listed_for_the_wheel() -> None:
    listed = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["packages"]
    there = {module for module, path in ALL if path.name == "__init__.py"}
    assert sorted(listed) == sorted(there)


def test_test_folders_are_not_packages() -> None:
    """A `tests/numpy/__init__.py` would hide numpy itself; only helpers that tests import by name are packages."""
    found = [path.parent.relative_to(ROOT / "tests") for path in (ROOT / "tests").rglob("__init__.py")]
    assert [str(path) for path in found if str(path) != "programs"] == []


def test_words_of_the_field() -> None:
    """The field's terms: a record is not a node, a backpropagator not a pullback."""
    banned = re.compile(r"\b(pullback|pushforward|wengert)\b", re.IGNORECASE)
    texts = {path: path.read_text() for path in source_files() if not {"tests", "peers"} & set(path.parts)}
    assert [str(path.relative_to(ROOT)) for path, text in texts.items() if banned.search(text)] == []


def test_every_extension_that_python_imports_has_a_stub() -> None:
    """A type checker sees a .pyi beside each .pyx; the others are for other parts of the core, by their .pxd."""
    bare = {name for name, path in COMPILED if path.suffix == ".pyx" and not path.with_suffix(".pyi").exists()}
    assert [name for name, path in COMPILED if name in bare and not path.with_suffix(".pxd").exists()] == []
    read = {name for module, path in [*ALL, *modules(PLUGINS)] for name in imported(module, path)}
    assert {name for name in read if {name, name.rpartition(".")[0]} & bare} == set()


# -- documentation -----------------------------------------------------------------------------------------------------
def documented(tree: ast.Module) -> Iterator[tuple[str, ast.arguments, str]]:
    """The functions and classes whose docstrings list parameters: name, arguments, the section's text."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.FunctionDef | ast.ClassDef):
            continue
        _, found, text = (ast.get_docstring(node) or "").partition("Parameters\n----------\n")
        inits = [x for x in node.body if isinstance(x, ast.FunctionDef) and x.name == "__init__"]
        if found and (isinstance(node, ast.FunctionDef) or inits):
            yield node.name, (node if isinstance(node, ast.FunctionDef) else inits[0]).args, text.split("\n\n")[0]


@pytest.mark.parametrize("module, path", ALL, ids=[module for module, _ in ALL])
def test_a_docstring_lists_the_parameters_of_its_function(module: str, path: Path) -> None:
    """All but the object, its class and the engine, which mean the same everywhere."""
    for name, args, text in documented(ast.parse(path.read_text())):
        heads = [line.partition(" :")[0] for line in text.splitlines() if not line.startswith(" ")]
        listed = {word.strip(" *") for head in heads for word in head.split(",")}
        own = [*args.posonlyargs, *args.args, *args.kwonlyargs, args.vararg, args.kwarg]
        wanted = {arg.arg for arg in own if arg is not None and not arg.arg.startswith("_")}
        assert listed ^ wanted <= {"self", "cls", "engine"}, f"{module}.{name}"


# -- one engine, one set of functions ---------------------------------------------------------------------------------
def test_the_engine_and_the_module_have_the_same_functions() -> None:
    """Each public method of `Engine` is a function of the package, with a type; others are named in `OF_ENGINES`."""
    methods = {name for name, value in inspect.getmembers(te.Engine, callable) if not name.startswith("_")}
    assert methods == {*METHODS, *OF_ENGINES}
    assert all(getattr(te, name).__self__ is te.default_engine() for name in METHODS)
    block = ast.parse((ROOT / "tapeengine" / "engine.py").read_text()).body[-1]
    typed = {x.id for x in ast.walk(block) if isinstance(x, ast.Name) and isinstance(x.ctx, ast.Store)}
    assert typed - {"_engine"} == set(METHODS)
