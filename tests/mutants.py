"""Sampled mutations of rooms, run against the tests of each room, to find those that no test detects.

    python tests/mutants.py [--each 8] [--seed 1] [--room spaces] [--share 4] [--seconds 60] [--tests FILE ...]

Works in a copy of the tree, so that nothing here is changed. A first run of the tests finds which cases reach the
sampled places, once for all rooms that have the same tests, and how long each takes. A mutant is then tested with
those cases alone, the quickest first, until they take `--seconds`. A place that no test reaches is a survivor.
"""

import argparse
import contextlib
import json
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from mutations import Mutation, mutations_of, with_probes

ROOT = Path(__file__).resolve().parent.parent
COPY = ROOT / "build" / "mutants"
#: Files that are not copied.
LEFT_OUT = shutil.ignore_patterns(".*", "build", "__pycache__", "node_modules", "*.egg-info")
#: The tests of all rooms of typed programs, which are measured in one run.
CHAD = "tests/chad tests/sparse tests/test_examples_of_functions.py"
SCIPY = "primitives/scipy"
#: The mutated rooms, and the tests that must detect the mutations.
ROOMS = {
    "spaces": (
        ["tapeengine/primitive"],
        "tests/test_spaces.py tests/test_primitive.py tests/test_local.py tests/test_builders.py "
        "tests/test_registry.py tests/test_examples_of_functions.py tests/plugins/test_kernels.py "
        "tests/sparse/test_structure.py tests/sparse/test_declared_patterns.py",
    ),
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
            "prepare": "prepare",
            "reverse": "reverse",
            "forward": "forward",
            "simplify": "simplify",
            "lowering": "lowering",
            "intermediate": "intermediate",
            "backends": "backends",
            "run": "run",
            "boundary": "program.py ordinary.py registered.py link.py reading.py primitives.py infer.py display.py",
        }.items()
    },
    "specification": (["tapeengine/chad/specification"], CHAD),
    "core": (
        [
            *(f"tapeengine/_core/{part}" for part in ("arrays", "programs", "scalars", "structures")),
            "tapeengine/_core/tape/swallowed.py",
        ],
        "tests/core tests/transforms/test_swallowed_refusals.py tests/staged/test_discrete_results.py "
        "tests/staged/test_replay.py tests/transforms/test_forking.py tests/chad/backends/test_forks.py "
        "tests/arrays/test_floating_point_errors.py tests/arrays/test_plain_errors.py",
    ),
    "workers": (["tapeengine/workers"], "tests/workers"),
    "plugins": (["tapeengine/plugins"], "tests/plugins tests/test_engine_plugins.py tests/test_registry.py"),
    "commands": (["tapeengine/commands"], "tests/commands tests/testing tests/plugins/test_discovery.py"),
    "gradbench": (["tapeengine/gradbench"], "tests/gradbench"),
    "sparse": (["tapeengine/sparse"], "tests/sparse"),
    "duals": (["tapeengine/duals"], "tests/duals tests/arrays"),
    "numpy": (["tapeengine/numpy"], "tests/duals tests/arrays tests/lift"),
    "staged": (["tapeengine/staged"], "tests/staged"),
    "lift": (["tapeengine/lift"], "tests/lift"),
    "ladder": (["tapeengine/ladder"], "tests/ladder"),
    "primitives": (["primitives/core"], "tests/primitives_core tests/arrays tests/duals tests/sparse"),
    "scipy": ([f"{SCIPY}/src"], f"{SCIPY}/tests"),
}
#: The required share of killed mutants in the sample.
WANTED = 0.92
#: Mutated lines that compute the same, and why; they count as detected.
EQUIVALENT = {
    "1j / generator.standard_normal(shape)": "another sample",
    "self.count += 2": "the numbers only tell names apart",
    "else 5.0) * sqrt(abs(span))": "how far an arc bows is a matter of looks; the width of the picture follows it",
    "inner = level + 2 if repeats": "levels are only compared",
    "EACH_STATEMENT = 2000001": "a number that was chosen by measuring",
    "MOST = 2**17": "how many sums are kept; a difference is found with both",
    "lifetimes.find(a.name) == lifetimes.find(b.name) or not": "loops stay apart that may be joined; only slower",
    "for _ in range(21):": "rules stop fitting before that many attempts",
    "(callable(found) or not isinstance(found, type))": "comparisons with other objects of numpy are rewritten, too",
    "complex_too: bool = False": "which samples are drawn",
    "KEPT = 1025": "how many are kept; only slower",
    "form.steps[-1] is None and form.steps[-1][3] == 1:": "a shortcut; the other branch gives the same forms",
    'attribute_of(value, "__self__", value), 1),': "positions are only compared",
    '("frame", "#98a2b3", 2)': "a matter of looks",
    "numpy.linalg.svd(numpy.eye(2))": "results of all matrices are of one class",
    "if max(x_space.ndim, y_space.ndim) < 2:": "a shortcut; the other branch gives the same numbers",
    "if dtype is not None else dtype == _DOUBLE)": "numpy takes None for float64",
    "name for name, n in times.items() if n >= 1": "variables have places that need none; LLVM removes them",
    "if not (is_numbers(a) or is_numbers(b)):": "arrays that share memory have elements of one kind",
    "else [2, 2, 1, 3] if of == INT": "another sample",
    "ufunc(numpy.inf, -numpy.inf) * -1.0": "neither of the two functions depends on the order",
    "if len(self.known) >= KEPT:": "how many are kept; only slower",
    "complex_too=True": "which samples are drawn",
    "int(places.max(initial=-2)) + 1": "a length that is asked for is not negative",
    "int(colours.max(initial=-2)) + 1": "sweeps of a range that ends at -1 are none, as of one that ends at 0",
    "values - 1j * generator.uniform": "another sample",
    "np.equal(0, partial)": "equality has no order",
    "STRIP = 1 << 16": "a number that was chosen by measuring",
    "__array_priority__ = 2.0": "any positive number comes before that of numpy's arrays",
    "T.LScale(part, T.LTotal(": "a product of numbers has no order",
    "np.result_type(_FLOAT64, self.dtype)": "the common type of two types has no order",
    "return tangents if missing < 0 else": "a new shape that is the old one",
    "FEWEST, COVERED = 4, 201": "numbers that were chosen by measuring",
    "numpy.where(far, 2.0, unit)": "0 is divided by it, and another formula fills the place",
    "np.where(x < 0, -x, 1.0) / math.sqrt(2)": "the other branch fills the place",
    "return np.where(x <= 0, ratio, ": "both formulas hold at 0",
    '"b": (1.3, 4.0), "x": (0.1, 0.9)': "another sample",
    "(math.copysign(1, whole) < 1)": "the sign is 1 or -1",
    "squared <= 1e-8": "the benchmark leaves it open what holds at its bound",
    "if MODES is not None:": "both branches set numpy's modes; only slower",
    "F.Row(made.out, base, (index,), True)": "the index is in range; only slower",
    "kept(s)[:2]": "both branches keep in one variable",
    "slope if where is False else np.where(where": "a shortcut; the other branch gives the same",
    "np.equal(start, x)": "equality has no order",
    "order = 1 if engine.switches is None else 3": "a recording besides; only slower",
    "_ORDER = 3": "a recording besides; only slower",
    "rows.starts[:(1)]": "rows without entries are swept, too; only slower",
    "EDGES = 2 << 23": "a number that was chosen by measuring",
    "blocks = (min(outputs.size, count) - 63) // 64": "how far a search goes; blocks of bits find the same",
    "np.ndarray or overlap(own, x)": "a shortcut; the longer way compares arrays exactly",
    "same_bits(value, node.held)": "equality has no order",
    "products(y, x) / math.sqrt": "a product of numbers has no order",
    "_discrete(n, real_two, TRUTH, f, is_total=False)": "comparisons are not computed early; only slower",
    "for at in range(1, n, longest)": "the first instruction is interpreted; only slower",
    "at >= 1 and self.op[at] == CONSTANT": "a constant is read from its register; only slower",
    "scaled(factor, d)": "a product of numbers has no order",
    "None if self.others is not None else self.others.on_duals": "the longer way runs dual numbers, too; only slower",
    "_TIMES = 4": "how often a task is repeated",
}
PYTEST = ("-m", "pytest", "-q", "-x", "-p", "no:cacheprovider")
#: Modules that typed programs read as text, where a probe is no part of the language.
READ_AS_TEXT = {"in_language.py"}
#: What pytest returns if a named case does not exist.
USAGE_ERROR = 4


class Reached(NamedTuple):
    """The cases that reach each sampled place, by its number, and the seconds that each takes."""

    tests: dict[str, list[str]]
    seconds: dict[str, float]

    def cases(self, number: int, is_read: bool, limit: float) -> list[str]:
        """Give the cases that reach a place, the quickest first; any if it only runs at import or is read as text."""
        found = self.tests.get(str(number), [""] if is_read else [])
        names = list(filter(None, found)) or (list(self.seconds) if found else [])
        took = {name: self.seconds.get(name, 0.0) for name in names}
        took |= {name: self.of_file(name) for name in names if "::" not in name}
        names.sort(key=lambda name: (took[name], name))
        spent = 0.0
        for k, name in enumerate(names):
            spent += took[name]
            if spent > limit and k:
                return names[:k]
        return names

    def of_file(self, name: str) -> float:
        """Give the seconds of all cases of a file."""
        return sum(seconds for case, seconds in self.seconds.items() if case.startswith(f"{name}::"))


def modules_of(room: str) -> list[Path]:
    """The modules of a room."""
    found = (
        x for place in ROOMS[room][0] for x in ([Path(place)] if place.endswith(".py") else Path(place).rglob("*.py"))
    )
    is_asked = "specification" in ROOMS[room][0][0]
    return [x for x in sorted(found) if x.name != "__init__.py" and ("specification" not in x.parts or is_asked)]


def drawn(room: str, count: int, seed: int) -> list[Mutation]:
    """A sample of the mutations of a room."""
    found = [mutation for path in modules_of(room) for mutation in mutations_of(path)]
    return random.Random(seed).sample(found, min(count, len(found)))


def pytest(tests: list[str], *options: str, timeout: float | None = None, **variables: str) -> tuple[int, str]:
    """Run tests, those of the SciPy plugin with its own settings; a run that does not end has failed."""
    home = COPY / SCIPY if tests[0].startswith(SCIPY) else COPY
    arguments = COPY / "arguments"
    arguments.write_text("\n".join(test.removeprefix(f"{SCIPY}/") for test in tests))
    places = [COPY, COPY / "tests", COPY / SCIPY / "src", os.environ.get("PYTHONPATH", "")]
    path = os.pathsep.join(filter(None, map(str, places)))
    plugins = ("-p", "sweeps") if home != COPY else ()
    command = (sys.executable, *PYTEST, *plugins, *options, f"@{arguments}")
    found = {**os.environ, "PYTHONPATH": path, **variables}
    try:
        ran = subprocess.run(command, cwd=home, env=found, timeout=timeout, text=True, capture_output=True)
    except subprocess.TimeoutExpired:
        return 1, "timeout"
    return ran.returncode, ran.stdout


@contextlib.contextmanager
def changed(texts: dict[Path, str]) -> Iterator[None]:
    """Change modules, and put them back."""
    before = {path: path.read_bytes() for path in texts}
    try:
        for path, text in texts.items():
            path.write_text(text)
        yield
    finally:
        for path, source in before.items():
            path.write_bytes(source)


def measured(tests: list[str], sample: list[Mutation], share: int) -> Reached:
    """A run of tests, which must pass: a mutant is only killed by tests that pass without it."""
    places: dict[Path, dict[int, Mutation]] = {}
    for number, mutation in enumerate(sample):
        if mutation.path.name not in READ_AS_TEXT:
            places.setdefault(mutation.path, {})[number] = mutation
    file = COPY / "reached.json"
    with changed({path: with_probes(path, of) for path, of in places.items()}):
        code, text = pytest(tests, "-p", "reached", f"--share={share}", REACHED=str(file))
    if code:
        raise SystemExit(f"The tests fail without a mutation:\n{text[-4000:]}")
    found = json.loads(file.read_text())
    home = f"{SCIPY}/" if tests[0].startswith(SCIPY) else ""
    return Reached(
        {k: [name and home + name for name in names] for k, names in found["tests"].items()},
        {home + name: seconds for name, seconds in found["seconds"].items()},
    )


def verdicts(sample: list[tuple[Mutation, list[str]]], options: argparse.Namespace) -> list[bool]:
    """Whether tests detect each mutation; what runs at import, of tests too, needs a process of its own."""
    home = f"{SCIPY}/" if any(case.startswith(SCIPY) for _, cases in sample for case in cases) else ""
    inside = [[case for case in cases if "::" in case] for _, cases in sample]
    given = [
        (str(COPY / x.path), x.applied(), [case.removeprefix(home) for case in cases])
        for (x, _), cases in zip(sample, inside, strict=True)
    ]
    files = {case.partition("::")[0] for cases in inside for case in cases}
    mutants, answers = COPY / "mutants.json", COPY / "verdicts.json"
    mutants.write_text(json.dumps(given))
    names = {"MUTANTS": str(mutants), "VERDICTS": str(answers), "SECONDS": str(round(options.seconds))}
    code, text = pytest(sorted(files), "-p", "forked_mutants", f"--share={options.share}", **names)
    if code:
        raise SystemExit(f"The tests cannot be collected:\n{text[-4000:]}")
    found = zip(sample, inside, json.loads(answers.read_text()), strict=True)
    return [
        is_killed(x, cases, options.seconds) if y is None or (not y and len(own) < len(cases)) else y
        for (x, cases), own, y in found
    ]


def is_killed(mutation: Mutation, cases: list[str], limit: float) -> bool:
    """Whether tests detect a mutation; whole tests are run where it changes the names of their cases."""
    with changed({mutation.path: mutation.applied()}):
        code = pytest(cases, timeout=120 + 6 * limit)[0]
        if code == USAGE_ERROR:
            code = pytest(sorted({case.partition("[")[0] for case in cases}), timeout=120 + 6 * limit)[0]
    return bool(code)


def run_rooms(rooms: list[str], options: argparse.Namespace) -> Iterator[tuple[int, int]]:
    """The numbers of mutants of each room and of detected ones; prints those that change a result undetected."""
    samples = {room: drawn(room, options.each, options.seed) for room in rooms}
    whole = [mutation for sample in samples.values() for mutation in sample]
    of = measured(options.tests or ROOMS[rooms[0]][1].split(), whole, options.share)
    cases = [of.cases(k, x.path.name in READ_AS_TEXT, options.seconds) for k, x in enumerate(whole)]
    reached = [pair for pair in zip(whole, cases, strict=True) if pair[1]]
    killed = {x for (x, _), is_dead in zip(reached, verdicts(reached, options), strict=True) if is_dead}
    numbers = dict(zip(whole, map(len, cases), strict=True))
    for room, sample in samples.items():
        alive = [x for x in sample if x not in killed and not is_equivalent(x)]
        for mutation in alive:
            old, new = mutation.lines()
            print(f"{mutation.path}:{mutation.line} ({numbers[mutation]} cases)\n  - {old}\n  + {new}")
        print(f"{room}: {len(sample) - len(alive)} of {len(sample)} killed", flush=True)
        yield len(sample), len(sample) - len(alive)


def is_equivalent(mutation: Mutation) -> bool:
    """Whether a mutation is known to compute the same."""
    return any(line in mutation.lines()[1] for line in EQUIVALENT)


def copy_tree() -> None:
    """Copy the tree with its compiled modules; the copy comes first on the path, so it is imported."""
    shutil.rmtree(COPY, ignore_errors=True)
    shutil.copytree(ROOT, COPY, ignore=LEFT_OUT)
    (COPY / "tapeengine_primitives").symlink_to("primitives/core")
    setup = "import setuptools; setuptools.setup()"  # writes the entry points by which the plugin is found
    subprocess.run((sys.executable, "-W", "ignore", "-c", setup, "-q", "egg_info"), cwd=COPY / SCIPY, check=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--each", type=int, default=30, help="mutants of each room")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--share", type=int, default=4, help="of each long sweep, run one case in so many")
    parser.add_argument("--seconds", type=float, default=60.0, help="of tests for one mutant")
    parser.add_argument("--tests", nargs="+", help="files that are run instead of the tests of the room")
    parser.add_argument("--room", choices=sorted(ROOMS), action="append")
    options = parser.parse_args()
    copy_tree()
    rooms = options.room or list(ROOMS)
    found = []
    with contextlib.chdir(COPY):
        for tests in dict.fromkeys(ROOMS[room][1] for room in rooms):
            found += run_rooms([room for room in rooms if ROOMS[room][1] == tests], options)
    total, killed = map(sum, zip(*found, strict=True))
    print(f"{killed} of {total} mutants killed")
    return int(killed < WANTED * total)


if __name__ == "__main__":
    raise SystemExit(main())
