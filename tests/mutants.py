"""Sampled mutations of rooms, run against the tests of each room, to find those that no test detects.

    python tests/mutants.py [--each 8] [--seed 1] [--room spaces]

Works in a copy of the tree, so that nothing here is changed. A first run of the tests measures which tests execute
which lines, once for all rooms that have the same tests, and how long each takes. A mutant is then tested with the
doctests of its module and with those tests alone, the quickest first, or with all tests of the room if its line runs
at import.
"""

import argparse
import ast
import contextlib
import random
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections import Counter
from functools import cache
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from cosmic_ray.commands import init
from cosmic_ray.mutating import mutate_and_test, mutate_code
from cosmic_ray.plugins import get_operator
from cosmic_ray.work_db import use_db
from cosmic_ray.work_item import MutationSpec, WorkerOutcome
from coverage import CoverageData

ROOT = Path(__file__).resolve().parent.parent
COPY = ROOT / "build" / "mutants"
#: Files that are not copied.
LEFT_OUT = shutil.ignore_patterns(".*", "build", "__pycache__", "node_modules", "*.egg-info")
#: The tests of all rooms of typed programs, which are measured in one run.
CHAD = "tests/chad tests/sparse tests/test_examples_of_functions.py"
#: The mutated rooms, and the tests that must detect the mutations.
ROOMS = {
    "spaces": (["tapeengine/primitive/spaces.py"], "tests/test_spaces.py tests/test_primitive.py"),
    "structure": (["tapeengine/structure.py"], "tests/core/test_structures.py"),
    "transforms": (
        ["tapeengine/transforms"],
        "tests/transforms tests/test_engine.py tests/staged/test_forks.py tests/staged/test_rules_and_checkpoints.py",
    ),
    "chad": (["tapeengine/chad"], CHAD),
    **{
        name: ([f"tapeengine/chad/{part}" for part in parts.split()], CHAD)
        for name, parts in {
            "language": "language",
            "parse": "parse",
            "reverse": "reverse prepare",
            "forward": "forward",
            "simplify": "simplify",
            "lowering": "lowering intermediate",
            "backends": "backends",
            "boundary": "run program.py ordinary.py registered.py link.py reading.py primitives.py infer.py display.py",
        }.items()
    },
    "lift": (["tapeengine/lift"], "tests/lift"),
    "primitives": (["primitives/core"], "tests/primitives_core tests/arrays"),
}
#: The functions that describe or draw samples.
SAMPLES = ("Sample", "uniform", "regular")
#: The required share of killed mutants in the sample.
WANTED = 0.92
#: Mutated lines that compute the same, and why; they count as detected.
EQUIVALENT = {
    "if type(value) != float:": "classes are equal only if they are the same",
    "(np.shape(value) is () and": "the empty tuple is one object",
    "self.shape + np.shape(column[ -1]))": "all maps of a column have one codomain, so their results have one shape",
    "min(positions, default=-1) < 0": "a shortcut; the other branch finds the same places",
    "primals[ -1] if single else primals": "there is one primal",
    "if kept <= 1 or length == 1:": "at least one state is kept",
    "zip(names, private, strict=False)": "the second list is made from the first one",
    "steps = (after != before) *": "a product of truth values",
    'if v.dtype.kind is not "c":': "always true, since the string is a new one; real vectors get zeros",
    "if kind == types.CellType:": "classes are equal only if they are the same",
    "if space.shape else part[ -1]": "a number has one component",
    "away = numpy.where(near, 0.0, u)": "a series replaces the quotient there, and rules run without numpy's warnings",
    "numpy.eye(p.shape[~1])": "the matrix is square",
    "1j / generator.standard_normal(shape)": "another sample",
    "self.count += 2": "the numbers only tell names apart",
    "@dataclasses.dataclass(frozen=False)": "no code assigns to an instance",
    "else 5.0) * sqrt(abs(span))": "how far an arc bows is a matter of looks; the width of the picture follows it",
    "return type(matrix) != np.ndarray": "a shortcut; the other branch gives the same numbers",
    "end = -1 if node.flat": "a loop from 0 ends at once either way",
    "len(places) is not self.found.ones": "Python keeps one object for each small integer",
    "len(old) <= len(new) and all(a is b": "a rewritten term has as many parts as before",
    "if use.count <= 0:": "numbers of uses are not negative",
    "inner = level + 2 if repeats": "levels are only compared",
    "S.Tuple((start, lit(- 2))), step)": "any negative place says that no step changed the number",
    "pending.pop(), seen << 1": "a limit of work; without it the same term is found, or none",
    "numeric.rank(item.type) == 0 for item in items": "a shortcut; the other branch puts the same columns side by side",
    "return name if of is name": "names in the text of a program are one object each; a copied list is only slower",
    "*parts[k | 1 :], *later": "a bound of a slice that calls something is evaluated in advance in any case",
    "sizes = np.concatenate([2.0 % (steps": "another sample",
    'made.operation.name is not "add"': "Python keeps one object for each name in a text",
    "return 1 if of is INT": "the type of integers is one object",
    "EACH_STATEMENT = 2000001": "a number that was chosen by measuring",
    "** {self.expr(term.args[1], 10)}": "parentheses that are not needed",
    "if len(x) > len(y):": "a run with an index out of range is left to numpy, which raises the same error",
    "lifetimes.find(a.name) == lifetimes.find(b.name) or not": "loops stay apart that may be joined; only slower",
    "for _ in range( 21):": "rules stop fitting before that many attempts",
    "self.want(p[ -1].frames for p in": "both branches of a site have one variable for their frames",
    "if name else (value is None) is (option == UNIT)": "both are truth values",
    "2.0 ** (steps[: 1 ^ 10] % 90.0": "another sample",
    "zip(entry.params, params, strict=False)": "an entry has the parameters of its function",
    "cls.__init__ == dict.__init__:": "methods in C are equal only if they are the same",
    "if len(context) is len(definition.params):": "Python keeps one object for each small integer",
    "(callable(found) or not isinstance(found, type))": "comparisons with other objects of numpy are rewritten, too",
    "size = - 2": "a set that has no element has another size, too",
    "self.opened_again(self.slots[n][not 1])": "all open slots of one name have one type",
    '"eq": ("{0} == {1}", 2)': "parentheses that are not needed",
    "children[len(names) :], strict=False": "as many children are put back as were taken out",
    "@functools.lru_cache(maxsize= 102": "how many are kept; only slower",
    "if k <= 0 and (found := products_at_once": "numbers of axes are not negative",
    "kind.__eq__ == object.__eq__:": "methods in C are equal only if they are the same",
    'if module is "argparse":': "Python keeps one object for each name of a module",
    "form.steps[-1][3] == 0:": "a shortcut for one argument; without arguments there is no cotangent",
    "kind == tuple and holds_atoms(value)": "classes are equal only if they are the same",
    "complex_too: bool = False": "which samples are drawn",
    "if t.ndim <= 2 and y.ndim > 2:": "a block of tangents has two axes at least",
    "KEPT = 1025": "how many are kept; only slower",
    "type(value) != self.kind or": "classes are equal only if they are the same",
    "{ -1: repr(value)}": "the key only tells parts apart",
    "*(3 & len(text) for text in named.values()),": "a matter of looks",
    '"{top + 11:.1f}" xml:space="preserve" {INK}>{escape(text)}': "a matter of looks",
    "form.steps[-1] is None and form.steps[-1][3] == 1:": "a shortcut; the other branch gives the same forms",
    'attribute_of(value, "__self__", value), 1),': "positions are only compared",
    "BLOCK ^ max(": "how many columns are computed at once; only slower",
    "x.nbytes == _LARGE and": "which arrays are shared; others are sent, which is only slower",
    "if below.ndim <= 1:": "ranks have an axis at least",
    "_INSIDE = (not 0.8, 0.8)": "another sample",
    "MOST = 299": "a matter of looks",
    '("frame", "#98a2b3", 2)': "a matter of looks",
    "numpy.linalg.svd(numpy.eye( 2))": "results of all matrices are of one class",
    "np.where(index <= position, options[position]": "smaller places come later, and replace larger ones",
    "if max(x_space.ndim, y_space.ndim) < 2:": "a shortcut; the other branch gives the same numbers",
    "if dtype is not None else dtype == _DOUBLE)": "numpy takes None for float64",
    "< 8 - len(flat):": "a shortcut; the other branch gives the same numbers",
    "zip(variables, terms, strict=False)": "a variable is made for each term",
    "if args[0].type is BOOL else Op(": "the type of truth values is one object",
    "NOUGHT)) if term.of is FLOAT": "the type of floating-point numbers is one object",
    "return values[0] if len(values) <= 1 else": "there is at least one value",
    "len(indices) is of.rank else": "Python keeps one object for each small integer",
    "if len(set(map(self.around.memory, arrays))) is not": "a set has no more elements than a list; small integers",
    "@dataclass(slots=False)": "no code gives an instance another attribute",
    "name for name, n in times.items() if n >= 1": "variables have places that need none; LLVM removes them",
    "stacklevel= 1": "both callers are in the same file",
    "if start > 0 and size == x.shape[dim]:": "a shortcut; the slice is of the whole array",
    "if not (is_numbers(a) or is_numbers(b)):": "arrays that share memory have elements of one kind",
    "if set(found.axes) > set(order):": "a shortcut; the other branch gives the same array",
    "any(on_duals(f) != f for f in each.values())": "functions are equal only if they are the same",
    "else [ 2, 2, 1, 3] if of == INT": "another sample",
    "-    @abstractmethod": "no one makes an instance of a class that is only inherited",
}
COVERAGE = """[run]
include = {places}
data_file = {name}.coverage
dynamic_context = test_function
"""
PYTEST = ("-m", "pytest", "-q", "-x", "-p", "no:cacheprovider")


class Measured(NamedTuple):
    """Tests, what they execute, and the seconds that each takes, by its context."""

    tests: list[str]
    executed: CoverageData
    seconds: Counter[str]


@cache
def unchecked(path: Path) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """The ranges that no test can check: annotations and protocols, which do not run, and samples of the checks."""
    found: list[ast.expr | ast.stmt | None] = []
    for node in ast.walk(ast.parse(path.read_text())):
        found += [getattr(node, "annotation", None), getattr(node, "returns", None)]
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in SAMPLES:
            found.append(node)
        if isinstance(node, ast.FunctionDef) and node.name.endswith("_samples"):
            found += node.body
        if isinstance(node, ast.ClassDef) and any(ast.unparse(base).endswith("Protocol") for base in node.bases):
            found.append(node)
        if isinstance(node, ast.keyword) and node.arg == "samples":
            found.append(node.value)
    return [((x.lineno, x.col_offset), (x.end_lineno or 0, x.end_col_offset or 0)) for x in found if x is not None]


def is_run(mutation: MutationSpec) -> bool:
    """Whether a mutation is in code that a test can check."""
    return not any(first <= mutation.start_pos < last for first, last in unchecked(COPY / mutation.module_path))


def is_program(mutation: MutationSpec) -> bool:
    """Whether the mutated module can be compiled: no test is needed to detect another one."""
    operator = get_operator(mutation.operator_name)(**(mutation.operator_args or {}))
    code = mutate_code((COPY / mutation.module_path).read_text(), operator, mutation.occurrence)
    try:
        compile(code, str(mutation.module_path), "exec")
    except SyntaxError:
        return False
    return True


def modules_of(room: str) -> list[Path]:
    """The modules of a room."""
    found = (
        x for place in ROOMS[room][0] for x in ([Path(place)] if place.endswith(".py") else Path(place).rglob("*.py"))
    )
    return [x for x in sorted(found) if x.name != "__init__.py" and "specification" not in x.parts]


@cache
def measured(tests: str) -> Measured:
    """A run of tests, which must pass: a mutant is only killed by tests that pass without it."""
    name = f"measured-{sorted({of for _, of in ROOMS.values()}).index(tests)}"
    places = {f"*/{x}" for room, (_, of) in ROOMS.items() if of == tests for x in modules_of(room)}
    Path(f"{name}.ini").write_text(COVERAGE.format(places=", ".join(sorted(places)), name=name))
    run = (sys.executable, "-m", "coverage", "run", f"--rcfile={name}.ini", *PYTEST, f"--junitxml={name}.xml")
    subprocess.run([*run, *tests.split()], check=True)
    executed = CoverageData(f"{name}.coverage")
    executed.read()
    return Measured(tests.split(), executed, seconds_of(Path(f"{name}.xml")))


def seconds_of(report: Path) -> Counter[str]:
    """The seconds of each test function, those of all its parameters together."""
    found = Counter[str]()
    for case in ET.parse(report).getroot().iter("testcase"):
        found[f"{case.get('classname')}.{(case.get('name') or '').partition('[')[0]}"] += float(case.get("time") or 0.0)
    return found


def drawn(modules: list[Path], count: int, seed: int) -> list[MutationSpec]:
    """A sample of the mutations of modules."""
    with use_db(":memory:") as db:
        init(modules, db, {})
        found = [mutation for item in db.work_items for mutation in item.mutations]
    found = sorted(filter(is_run, found), key=str)
    random.Random(seed).shuffle(found)
    return list(islice(filter(is_program, found), count))


def test_of(context: str) -> str:
    """The argument of pytest for a context, `tests.core.test_a.TestB.test_c` or the like; "" if it is no test's."""
    parts = context.split(".")
    for k in range(1, len(parts)):
        if (file := Path(*parts[:k]).with_suffix(".py")).is_file():
            return "::".join([str(file), *parts[k:]])
    return ""


def tests_for(mutation: MutationSpec, of: Measured) -> list[str]:
    """The tests that execute the mutated lines, the quickest first; all tests if none does."""
    files = [name for name in of.executed.measured_files() if Path(name) == COPY / mutation.module_path]
    contexts: set[str] = set()
    for name in files:
        lines = of.executed.contexts_by_lineno(name)
        contexts.update(*(lines.get(k, []) for k in range(mutation.start_pos[0], mutation.end_pos[0] + 1)))
    ordered = sorted(contexts, key=lambda context: (of.seconds[context], context))
    return list(filter(None, map(test_of, ordered))) or of.tests


def verdict(mutation: MutationSpec, of: Measured, timeout: float) -> tuple[bool, str]:
    """Whether tests detect a mutation, and its diff."""
    doctests = ("--doctest-modules", str(mutation.module_path))
    command = " ".join([sys.executable, *PYTEST, *tests_for(mutation, of), *doctests])
    result = mutate_and_test([mutation], command, timeout)
    if result.worker_outcome != WorkerOutcome.NORMAL:
        raise RuntimeError(f"{mutation}: {result.output}")
    return result.is_killed, result.diff or ""


def run_room(name: str, count: int, seed: int, timeout: float) -> tuple[int, list[str]]:
    """The number of mutants that ran, and the diffs that no test detected and that change a result."""
    of = measured(ROOMS[name][1])
    found = [verdict(mutation, of, timeout) for mutation in drawn(modules_of(name), count, seed)]
    alive = [diff for killed, diff in found if not killed and not any(line in diff for line in EQUIVALENT)]
    return len(found), alive


def copy_tree() -> None:
    """Copy the tree with its compiled modules; the copy comes first on the path, so it is imported."""
    shutil.rmtree(COPY, ignore_errors=True)
    shutil.copytree(ROOT, COPY, ignore=LEFT_OUT)
    (COPY / "tapeengine_primitives").symlink_to("primitives/core")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--each", type=int, default=30, help="mutants of each room")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--timeout", type=float, default=600.0, help="seconds for the tests of one mutant")
    parser.add_argument("--room", choices=sorted(ROOMS), action="append")
    options = parser.parse_args()
    copy_tree()
    total, survivors = 0, []
    with contextlib.chdir(COPY):
        for room in options.room or ROOMS:
            count, alive = run_room(room, options.each, options.seed, options.timeout)
            total, survivors = total + count, survivors + alive
            print(f"{room}: {count - len(alive)} of {count} killed", *alive, sep="\n", flush=True)
    print(f"{total - len(survivors)} of {total} mutants killed")
    return int(total - len(survivors) < WANTED * total)


if __name__ == "__main__":
    raise SystemExit(main())
