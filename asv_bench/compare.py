"""Compare this commit's times with another's: `make bench-compare BASE=...`.

    python asv_bench/compare.py BASE [--bench REGEX]

Times vary from run to run, so the noise is measured first: `asv continuous` compares HEAD with a commit of the same
content, rounds interleaved, which gives each benchmark its band. Then `asv continuous` compares BASE with HEAD. What is
slower by more than its band is measured once more, and counts as a regression where it is so again: then the exit code
is 1. Of the single primitives every twelfth is measured; `--bench time_` measures all.
"""

import argparse
import re
import shutil
import sys
from collections.abc import Iterable
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))

import tapeengine as te
from asv_bench.commands import BUILD, HERE, asv, commit_of, configuration, git, notes
from asv_bench.gate import Results, bands, noise_band, regressions, results_of

#: Of how many single primitives one is compared by default: they share their machinery, and are most of the benchmarks.
STEP = 12
REPOSITORY = BUILD / "repository"
IDENTITY = ("-c", "user.name=bench", "-c", "user.email=bench@localhost")


def repository_with_twin(head: str, source: Path = HERE, repository: Path = REPOSITORY) -> str:
    """Make a repository that borrows the objects of `source`; give `head` a child of the same content there.

    Borrowing needs no branch that leads to a commit, so a detached HEAD and a shallow clone serve as well.
    """
    shutil.rmtree(repository, ignore_errors=True)
    git("init", "--quiet", str(repository), folder=source)
    common = (source / git("rev-parse", "--git-common-dir", folder=source)).resolve()
    (repository / ".git" / "objects" / "info" / "alternates").write_text(f"{common / 'objects'}\n")
    if (common / "shallow").exists():
        shutil.copy(common / "shallow", repository / ".git" / "shallow")
    same = ("commit-tree", f"{head}^{{tree}}", "-p", head, "-m", "The same content")
    twin = git(*IDENTITY, *same, folder=repository)
    git("update-ref", "refs/heads/twin", twin, folder=repository)
    return twin


def continuous(config: Path, base: str, head: str, pattern: str) -> None:
    """Let asv measure two commits in interleaved rounds; what counts as slower is decided here."""
    code = asv(config, "continuous", "--interleave-rounds", "--record-samples", "--bench", pattern, base, head)
    if code not in (0, 1, 2):
        raise SystemExit(code)


def pattern_of(names: Results) -> str:
    """Return the regular expression of benchmarks, given as ``name[number]``; asv shows it ``name(parameters)``."""
    return "^(" + "|".join(sorted({re.escape(name.rsplit("[", 1)[0]) for name in names})) + r")(\(|$)"


def again(config: Path, base: str, head: str, slower: Results, limits: Results) -> Results:
    """Measure the benchmarks that seem slower once more, and return those that are so again."""
    results = config.parent / "results"
    continuous(config, base, head, pattern_of(slower))
    confirmed = regressions(results_of(results, base), results_of(results, head), limits)
    return {name: found for name, found in confirmed.items() if name in slower}


def usual(names: Iterable[str]) -> str:
    """Return the regular expression of what is compared by default: every STEP-th single primitive, and all others."""
    sampled = "|".join(re.escape(repr(name)) for name in sorted(names)[::STEP])
    return rf"(?<!\.Primitives)\.time_|\.Primitives\.time_derivative\(({sampled})\)"


def commits(base: str) -> tuple[str, str]:
    """Return the hashes of HEAD and of the commit to compare with."""
    head, other = commit_of(), commit_of(base)
    if head is None:
        raise SystemExit("there is no commit to compare: this needs git, and the project's repository")
    if other is None:
        raise SystemExit(f"{base} is no commit here; in a shallow clone fetch more: git fetch --deepen=100")
    if other == head:
        raise SystemExit(f"{base} is HEAD itself: name another commit with BASE=...")
    return head, other


def main(arguments: list[str] | None = None) -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(description="Compare the times of HEAD with another commit's.")
    parser.add_argument("base", help="the commit to compare with")
    parser.add_argument(
        "--bench", help="which benchmarks, as a regular expression; by default all but most single primitives"
    )
    options = parser.parse_args(arguments)
    head, base = commits(options.base)
    pattern = options.bench or usual(te.default_engine().registry)
    print("\n".join(notes()), flush=True)
    twin = repository_with_twin(head)
    settings = {"repo": str(REPOSITORY), "branches": ["twin"], "env_dir": str(BUILD / "environments")}
    config = configuration("compare", BUILD / "compare", **settings)
    results = BUILD / "compare" / "results"
    asv(config, "machine", "--yes")
    continuous(config, head, twin, pattern)
    one, other = results_of(results, head), results_of(results, twin)
    limits = bands(one, other)
    print(f"the same code differs by up to {noise_band(one, other):.2f} times")
    continuous(config, base, head, pattern)
    slower = regressions(results_of(results, base), results_of(results, head), limits)
    slower = again(config, base, head, slower, limits) if slower else slower
    lines = [f"{name} takes {found:.2f} times as long (noise {limits[name]:.2f})" for name, found in slower.items()]
    print("\n".join(lines) or f"none of {len(limits)} benchmarks is slower")
    return bool(slower)


if __name__ == "__main__":
    sys.exit(main())
