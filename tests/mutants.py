"""Sampled mutations of rooms, run against the tests of each room, to find those that no test detects.

    python tests/mutants.py [--each 8] [--seed 1] [--room spaces]

Runs in a copy of the tree, so that nothing here is ever changed.
"""

import argparse
import ast
import random
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

from cosmic_ray.work_db import use_db
from cosmic_ray.work_item import MutationSpec, WorkerOutcome, WorkResult

ROOT = Path(__file__).resolve().parent.parent
COPY = ROOT / "build" / "mutants"
#: Files that are not copied.
LEFT_OUT = shutil.ignore_patterns(".*", "build", "__pycache__", "node_modules", "*.egg-info")
#: The mutated rooms, and the tests that must detect the mutations.
ROOMS = {
    "spaces": (["tapeengine/primitive/spaces.py"], "tests/test_spaces.py tests/test_primitive.py"),
    "structure": (["tapeengine/structure.py"], "tests/core/test_structures.py"),
    "transforms": (["tapeengine/transforms"], "tests/transforms tests/test_engine.py"),
    "chad": (["tapeengine/chad"], "tests/chad"),
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
    "@dataclasses.dataclass(frozen=False)": "no code assigns to an instance",
}
CONFIG = """[cosmic-ray]
module-path = {modules!r}
timeout = {timeout}
excluded-modules = ["**/specification/*", "**/__init__.py"]
test-command = "{python} -m pytest -q -x -p no:cacheprovider {tests}"
[cosmic-ray.distributor]
name = "local"
"""


def cosmic_ray(*arguments: str) -> None:
    subprocess.run([sys.executable, "-m", "cosmic_ray.cli", *arguments], cwd=COPY, check=True)


@cache
def unchecked(path: Path) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """The ranges that no test can check: annotations, which do not run, and samples, the inputs of the checks."""
    found: list[ast.expr | None] = []
    for node in ast.walk(ast.parse(path.read_text())):
        found += [getattr(node, "annotation", None), getattr(node, "returns", None)]
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in SAMPLES:
            found.append(node)
        if isinstance(node, ast.keyword) and node.arg == "samples":
            found.append(node.value)
    return [((x.lineno, x.col_offset), (x.end_lineno or 0, x.end_col_offset or 0)) for x in found if x is not None]


def is_run(mutation: MutationSpec) -> bool:
    """Whether a mutation is in code that a test can check."""
    return not any(first <= mutation.start_pos < last for first, last in unchecked(COPY / mutation.module_path))


def sample(session: Path, count: int, seed: int) -> None:
    """Skip all but some mutants of a session."""
    with use_db(str(session)) as db:
        jobs = sorted(item.job_id for item in db.work_items)
        items = sorted(db.work_items, key=lambda item: str(item.mutations))
        items = [item for item in items if all(map(is_run, item.mutations))]
        chosen = {item.job_id for item in random.Random(seed).sample(items, min(count, len(items)))}
        db.set_multiple_results([job for job in jobs if job not in chosen], WorkResult(WorkerOutcome.SKIPPED))


def outcomes(session: Path) -> tuple[int, list[str]]:
    """The number of mutants that ran, and the diffs that no test detected and that change a result."""
    with use_db(str(session)) as db:
        found = [result for _, result in db.results if result.worker_outcome != WorkerOutcome.SKIPPED]
    alive = [result.diff or "" for result in found if not result.is_killed]
    return len(found), [diff for diff in alive if not any(line in diff for line in EQUIVALENT)]


def run_room(room: str, count: int, seed: int, timeout: float) -> tuple[int, list[str]]:
    modules, tests = ROOMS[room]
    config, session = COPY / f"{room}.toml", COPY / f"{room}.sqlite"
    config.write_text(CONFIG.format(modules=modules, timeout=timeout, python=sys.executable, tests=tests))
    session.unlink(missing_ok=True)
    cosmic_ray("baseline", config.name)  # a mutant is only killed by tests that pass without it
    cosmic_ray("init", config.name, session.name)
    sample(session, count, seed)
    cosmic_ray("exec", config.name, session.name)
    return outcomes(session)


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
    for room in options.room or ROOMS:
        count, alive = run_room(room, options.each, options.seed, options.timeout)
        total, survivors = total + count, survivors + alive
        print(f"{room}: {count - len(alive)} of {count} killed", flush=True)
    print("\n".join(survivors))
    print(f"{total - len(survivors)} of {total} mutants killed")
    return int(total - len(survivors) < WANTED * total)


if __name__ == "__main__":
    raise SystemExit(main())
