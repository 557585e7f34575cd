"""Compare this commit's times with another's: `make bench-compare BASE=...`.

    python asv_bench/compare.py BASE [--bench REGEX]

Times vary from run to run, so the noise is measured first: `asv continuous` compares HEAD with a commit of the same
content, rounds interleaved, and the largest factor found is the band. Then `asv continuous` compares BASE with HEAD;
the exit code is 1 where a benchmark is slower by more than the band.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))

from asv_bench.gate import noise_band, regressions, results_of

HERE = Path(__file__).resolve().parent
BUILD = HERE.parent / "build" / "asv"
NARROWEST = 1.05


def git(*arguments: str, folder: Path = HERE) -> str:
    """Run git and return what it prints."""
    return subprocess.run(["git", *arguments], cwd=folder, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


def clone_with_twin(head: str) -> str:
    """Clone this repository and give its HEAD a child with the same content; return the child's hash."""
    clone = BUILD / "repository"
    if not clone.exists():
        git("clone", "--quiet", str(HERE.parent), str(clone))
    git("fetch", "--quiet", "origin", folder=clone)
    author = ("-c", "user.name=bench", "-c", "user.email=bench@localhost")
    twin = git(*author, "commit-tree", f"{head}^{{tree}}", "-p", head, "-m", "The same content", folder=clone)
    git("branch", "--force", "twin", twin, folder=clone)
    return twin


def configuration() -> Path:
    """Write asv's configuration for the clone."""
    settings = json.loads((HERE / "asv.conf.json").read_text())
    settings |= {"repo": str(BUILD / "repository"), "branches": ["twin"], "benchmark_dir": str(HERE / "benchmarks")}
    settings |= {f"{part}_dir": str(BUILD / part) for part in ("results", "html")}
    settings["env_dir"] = str(BUILD / "environments")
    path = BUILD / "compare.conf.json"
    path.write_text(json.dumps(settings))
    return path


def continuous(config: Path, base: str, head: str, *options: str) -> None:
    """Let asv measure two commits in interleaved rounds; what counts as slower is decided here."""
    command = [sys.executable, "-m", "asv", "--config", str(config), "continuous", "--interleave-rounds"]
    done = subprocess.run([*command, *options, base, head], cwd=HERE)
    if done.returncode not in (0, 1):
        raise SystemExit(done.returncode)


def main(arguments: list[str] | None = None) -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(description="Compare the times of HEAD with another commit's.")
    parser.add_argument("base", help="the commit to compare with")
    parser.add_argument("--bench", default=r"\.time_", help="which benchmarks, as a regular expression")
    options = parser.parse_args(arguments)
    head, base = git("rev-parse", "HEAD"), git("rev-parse", f"{options.base}^{{commit}}")
    BUILD.mkdir(parents=True, exist_ok=True)
    twin = clone_with_twin(head)
    config, results = configuration(), BUILD / "results"
    subprocess.run([sys.executable, "-m", "asv", "--config", str(config), "machine", "--yes"], cwd=HERE, check=True)
    continuous(config, head, twin, "--bench", options.bench)
    band = max(NARROWEST, noise_band(results_of(results, head), results_of(results, twin)))
    print(f"the same code differs by up to {band:.2f} times")
    continuous(config, base, head, "--bench", options.bench, "--factor", f"{band:.3f}")
    slower = regressions(results_of(results, base), results_of(results, head), band)
    print(
        "\n".join(f"{name} takes {factor:.2f} times as long" for name, factor in slower.items()) or "nothing is slower"
    )
    return bool(slower)


if __name__ == "__main__":
    sys.exit(main())
