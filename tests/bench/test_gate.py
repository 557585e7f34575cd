"""The regression gate reports a resolver that has become slower, and nothing where nothing changed."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from asv_bench import counts
from asv_bench.gate import noise_band, regressions, results_of
from asv_bench.programs import scalar_loop

pytest.importorskip("asv")

ROOT = Path(__file__).resolve().parents[2]

# Python imports this module when it starts: every backpropagator resolves its tape three times.
SLOW_RESOLVER = """
import tapeengine as te
fast = te.vjp
def slow(program, *primals, **keywords):
    value, backpropagator = fast(program, *primals, **keywords)
    def resolve_thrice(cotangent):
        backpropagator(cotangent)
        backpropagator(cotangent)
        return backpropagator(cotangent)
    return value, resolve_thrice
te.vjp = slow
"""


def three_commits(folder: Path) -> list[str]:
    """Make a repository whose commits give asv three names to keep results under."""
    author = ("-c", "user.name=bench", "-c", "user.email=bench@localhost")
    subprocess.run(["git", "init", "--quiet", "--initial-branch=main", str(folder)], check=True)
    for message in ("first", "second", "third"):
        subprocess.run(["git", *author, "commit", "--quiet", "--allow-empty", "-m", message], cwd=folder, check=True)
    listed = subprocess.run(["git", "rev-list", "HEAD"], cwd=folder, check=True, capture_output=True, text=True)
    return listed.stdout.split()


def configured(folder: Path) -> Path:
    settings = json.loads((ROOT / "asv_bench" / "asv.conf.json").read_text())
    settings |= {"repo": str(folder / "repository"), "benchmark_dir": str(ROOT / "asv_bench" / "benchmarks")}
    settings |= {f"{part}_dir": str(folder / part) for part in ("env", "results", "html")}
    path = folder / "asv.conf.json"
    path.write_text(json.dumps(settings))
    return path


def run_asv(folder: Path, *arguments: str, path: str = "") -> None:
    command = [sys.executable, "-m", "asv", "--config", str(configured(folder)), *arguments]
    environment = os.environ | {"PYTHONPATH": path, "HOME": str(folder)}
    done = subprocess.run(command, env=environment, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def measured(folder: Path, commit: str, path: str = "") -> None:
    options = ("--bench", r"core\.Sweep\.time_resolve", "--attribute", "processes=1", "--attribute", "repeat=15")
    run_asv(folder, "run", "--python=same", "--append-samples", f"--set-commit-hash={commit}", *options, path=path)


def test_slower_resolver_is_reported_and_nothing_else(tmp_path):
    site = tmp_path / "site"
    site.mkdir()
    (site / "sitecustomize.py").write_text(SLOW_RESOLVER)
    run_asv(tmp_path, "machine", "--yes")
    head, parent, first = three_commits(tmp_path / "repository")
    for _ in range(2):
        measured(tmp_path, head)
        measured(tmp_path, parent)
    measured(tmp_path, first, path=str(site))
    same, again = (results_of(tmp_path / "results", commit) for commit in (head, parent))
    slow = results_of(tmp_path / "results", first)
    band = 2.0
    assert noise_band(same, again) < band
    assert regressions(same, again, band) == {}
    assert [name.split(".")[-1] for name in regressions(same, slow, band)] == ["time_resolve[0]"]


def test_band_is_the_largest_factor_either_way():
    assert noise_band({"a": 1.0, "b": 4.0}, {"a": 1.5, "b": 2.0}) == 2.0
    assert regressions({"a": 1.0, "b": 1.0}, {"a": 1.9, "b": 2.1}, 2.0) == {"b": 2.1}


def test_changed_counts_are_reported_exactly():
    found = {"loop": counts.count(scalar_loop.PROGRAM)}
    assert counts.differences(found, found) == []
    more = {"loop": found["loop"] | {"contributions": found["loop"]["contributions"] + 1}}
    assert len(counts.differences(found, more)) == 1
    assert len(counts.differences(found, {})) == 1


def test_a_primitive_without_a_sample_cannot_be_left_out():
    import tapeengine as te

    if not te.default_engine().registry:
        pytest.skip("no plugins are installed")
    from asv_bench.benchmarks.primitives import cases

    with pytest.raises(LookupError, match="has no sample"):
        cases({"test.bare": te.Primitive("test.bare", lambda x: x, {}, {})})
