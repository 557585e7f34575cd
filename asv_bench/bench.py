"""Run all benchmarks and all performance targets: `make bench`.

    python asv_bench/bench.py [--bench REGEX] [--here] [--no-limits] [--rounds N]

asv builds a wheel of HEAD in a separate environment and measures that. With `--here`, or if the environment cannot be
made (no network), the installed package is measured. Then the targets are compared with their limits. Each run is kept
in build/asv/runs and compared with the previous one of the same commit. The exit code is 1 if a benchmark fails or a
limit is missed. build/asv/history.html shows the results of all commits without a network.
"""

import argparse
import shutil
import subprocess
import sys
from pathlib import Path
from time import time

sys.path.append(str(Path(__file__).resolve().parents[1]))

from asv_bench import agree, history
from asv_bench.commands import BUILD, HERE, asv, commit_of, configuration, notes, single_threads


def environment_is_made(config: Path) -> bool:
    """Make asv's environment and build the wheel; if the network fails, try once more."""
    nothing = ("run", "HEAD^!", "--bench", "just-discover")
    return any(asv(config, *nothing) == 0 for _ in range(2))


def measure(config: Path, commit: str | None, options: argparse.Namespace) -> int:
    """Let asv measure everything that matches; return its exit code."""
    rounds = [f"--attribute=rounds={options.rounds}"] if options.rounds else []
    what = ("--record-samples", "--bench", options.bench, *rounds)
    if commit and not options.here and environment_is_made(config):
        return asv(config, "run", "HEAD^!", *what)
    print("measuring the installed package, not a wheel of its own", flush=True)
    kept = [f"--set-commit-hash={commit}"] if commit else []
    return asv(config, "run", f"--environment=existing:{sys.executable}", *what, *kept)


def hold_to_limits(path: Path) -> int:
    """Measure the targets, write them to a file, and return the number of missed limits."""
    command = [sys.executable, str(HERE / "figures.py"), "--strict", "--json", str(path)]
    return subprocess.run(command, env=single_threads()).returncode


def keep(commit: str | None, figures: Path, started: float, build: Path = BUILD) -> Path:
    """Copy the output of this run into a folder of its own, numbered within the commit."""
    runs = build / "runs"
    name = (commit or "none")[:8]
    folder = runs / f"{name}-{len(list(runs.glob(f'{name}-*'))) + 1}"
    folder.mkdir(parents=True)
    for path in [figures, build / "results" / "benchmarks.json", *(build / "results").glob(f"*/{name}*.json")]:
        if path.exists() and path.stat().st_mtime >= started:
            shutil.copy(path, folder)
    return folder


def main(arguments: list[str] | None = None) -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(description="Run all benchmarks and all performance targets.")
    parser.add_argument("--bench", default=".", help="which benchmarks, as a regular expression")
    parser.add_argument("--here", action="store_true", help="measure the installed package")
    parser.add_argument("--rounds", type=int, help="measure each benchmark in so many rounds, not asv's number")
    parser.add_argument("--limits", action=argparse.BooleanOptionalAction, default=True, help="hold targets to limits")
    options = parser.parse_args(arguments)
    print("\n".join(notes()), flush=True)
    started = time() - 1.0
    commit, config, figures = commit_of(), configuration("bench"), BUILD / "figures.json"
    asv(config, "machine", "--yes")
    wrong = measure(config, commit, options)
    figures.unlink(missing_ok=True)
    missed = hold_to_limits(figures) if options.limits else 0
    folder = keep(commit, figures, started)
    print(f"kept in {folder}; {missed} limits missed")
    agree.with_the_run_before(folder)
    history.main()
    return bool(wrong or missed)


if __name__ == "__main__":
    sys.exit(main())
