"""Calls of git and asv: configurations, commits, and what happens if something is missing."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
BUILD = HERE.parent / "build" / "asv"


def git(*arguments: str, folder: Path = HERE) -> str:
    """Run git and return what it prints."""
    return subprocess.run(["git", *arguments], cwd=folder, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


def commit_of(name: str = "HEAD", folder: Path = HERE) -> str | None:
    """Return the hash of a commit; None if git, the repository or the commit does not exist."""
    command = ["git", "rev-parse", "--quiet", "--verify", f"{name}^{{commit}}"]
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    except FileNotFoundError:
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def notes(folder: Path = HERE) -> list[str]:
    """Return a note about the state of the checkout for readers of results."""
    if commit_of(folder=folder) is None:
        return ["no commit to measure: the installed package is measured, and asv keeps no results"]
    changed = git("status", "--porcelain", "--untracked-files=no", folder=folder)
    return ["uncommitted changes are not measured: only the commit's sources are built"] if changed else []


def configuration(name: str, build: Path = BUILD, **settings: Any) -> Path:
    """Write asv's configuration with absolute folders below `build` and further settings; return its path."""
    found = json.loads((HERE / "asv.conf.json").read_text())
    found |= {
        "repo": str(HERE.parent),
        "benchmark_dir": str(HERE / "benchmarks"),
        "env_dir": str(build / "environments"),
    }
    found |= {f"{part}_dir": str(build / part) for part in ("results", "html")} | settings
    build.mkdir(parents=True, exist_ok=True)
    path = build / f"{name}.conf.json"
    path.write_text(json.dumps(found))
    return path


def single_threads() -> dict[str, str]:
    """Return an environment in which numpy's libraries use one thread, like the other tools."""
    return dict(os.environ) | {f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL")}


def asv(config: Path, *arguments: str) -> int:
    """Run asv and return its exit code."""
    command = [sys.executable, "-m", "asv", "--config", str(config), *arguments]
    return subprocess.run(command, cwd=HERE, env=single_threads()).returncode
