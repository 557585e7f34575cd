"""The regression gate reports a resolver that has become slower, and nothing where nothing changed."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from asv_bench import commands, compare, counts
from asv_bench.gate import bands, noise_band, regressions, results_of
from asv_bench.programs import scalar_loop

pytest.importorskip("asv")

ROOT = Path(__file__).resolve().parents[2]

# Python imports this module when it starts: every backpropagator resolves its tape thirty times.
SLOW_RESOLVER = """
import tapeengine as te
fast = te.vjp
def slow(program, *primals, **keywords):
    value, backpropagator = fast(program, *primals, **keywords)
    def slow_backpropagator(cotangent):
        for _ in range(29):
            backpropagator(cotangent)
        return backpropagator(cotangent)
    return value, slow_backpropagator
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


@pytest.mark.slow
def test_slower_resolver_is_reported_and_nothing_else(tmp_path):
    """Thirty times as slow is far beyond any noise; two measurements of the same code stay within five times."""
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
    band = 5.0
    assert noise_band(same, again) < band
    assert regressions(same, again, band) == {}
    assert [name.split(".")[-1] for name in regressions(same, slow, band)] == ["time_resolve[0]"]


def test_band_is_the_largest_factor_either_way():
    assert noise_band({"a": 1.0, "b": 4.0}, {"a": 1.5, "b": 2.0}) == 2.0
    assert regressions({"a": 1.0, "b": 1.0}, {"a": 1.9, "b": 2.1}, 2.0) == {"b": 2.1}


def test_the_smallest_sample_counts(tmp_path):
    columns = {"result_columns": ["result", "samples"]}
    rows = {"core.time_a": [[2.0, None, 5.0], [[3.0, 1.5, 2.0], None, None]], "core.time_b": [[4.0]]}
    (tmp_path / "machine").mkdir()
    (tmp_path / "machine" / "0123abcd-env.json").write_text(json.dumps(columns | {"results": rows}))
    found = results_of(tmp_path, "0123abcd")
    assert found == {"core.time_a[0]": 1.5, "core.time_a[2]": 5.0, "core.time_b[0]": 4.0}


def test_each_benchmark_has_the_band_of_its_own_noise():
    quiet = {f"quiet{i}": 1.0 for i in range(20)}
    one, other = quiet | {"noisy": 1.0}, dict.fromkeys(quiet, 1.02) | {"noisy": 1.5}
    found = bands(one, other)
    assert found["quiet3"] == pytest.approx(1.05)
    assert found["noisy"] == pytest.approx(2.25)
    slower = {"quiet3": 1.06, "quiet4": 1.04, "noisy": 2.0}
    assert regressions(dict.fromkeys(slower, 1.0), slower, found) == {"quiet3": 1.06}


def test_what_nearly_all_benchmarks_vary_by_every_one_may():
    one = {f"b{i}": 1.0 for i in range(21)}
    other = {name: 1.0 if name == "b0" else 1.2 for name in one}
    assert bands(one, other)["b0"] == pytest.approx(1.2)


class FakeAsv:
    """Writes results as asv does: every benchmark takes a second, or what `times` says of a commit's measurement."""

    def __init__(self, results, times):
        self.results, self.times, self.calls = results, times, []

    def __call__(self, config, base, head, pattern):
        folder = self.results / "machine"
        folder.mkdir(parents=True, exist_ok=True)
        self.calls.append((base, head, pattern))
        for commit in (base, head):
            results = {name: [seconds] for name, seconds in self.times(len(self.calls), commit).items()}
            content = {"result_columns": ["result"], "results": {name: [v] for name, v in results.items()}}
            (folder / f"{commit[:8]}-env.json").write_text(json.dumps(content))


def compared(monkeypatch, tmp_path, times):
    """Run the comparison of two commits on times that are given; return its exit code and asv's calls."""
    fake = FakeAsv(tmp_path / "compare" / "results", times)
    monkeypatch.setattr(compare, "continuous", fake)
    monkeypatch.setattr(compare, "asv", lambda *arguments: 0)
    monkeypatch.setattr(compare, "BUILD", tmp_path)
    monkeypatch.setattr(compare, "notes", list)
    monkeypatch.setattr(compare, "commits", lambda base: ("head" * 10, "base" * 10))
    monkeypatch.setattr(compare, "repository_with_twin", lambda head: "twin" * 10)
    return compare.main(["base"]), fake.calls


def seconds(resolve, record=1.0):
    return {"core.Sweep.time_resolve": resolve, "core.Loop.time_record": record}


def test_a_slower_resolver_fails_the_comparison(monkeypatch, tmp_path, capsys):
    code, calls = compared(monkeypatch, tmp_path, lambda call, c: seconds(2.0 if c[0] == "h" and call > 1 else 1.0))
    assert code == 1
    assert re.search(calls[-1][2], "core.Sweep.time_resolve")
    assert re.search(calls[-1][2], "core.Sweep.time_resolve(100)")
    assert not re.search(calls[-1][2], "core.Loop.time_record(100)")
    printed = capsys.readouterr().out
    assert "core.Sweep.time_resolve[0] takes 2.00 times as long" in printed
    assert "time_record" not in printed


def test_what_is_slower_only_once_does_not_fail_it(monkeypatch, tmp_path, capsys):
    code, calls = compared(monkeypatch, tmp_path, lambda call, c: seconds(2.0 if c[0] == "h" and call == 2 else 1.0))
    assert code == 0 and len(calls) == 3
    assert "none of 2 benchmarks is slower" in capsys.readouterr().out


def test_equal_times_pass_at_once(monkeypatch, tmp_path):
    code, calls = compared(monkeypatch, tmp_path, lambda call, c: seconds(1.0))
    assert code == 0 and len(calls) == 2


def test_a_noisy_benchmark_may_vary(monkeypatch, tmp_path):
    code, _ = compared(monkeypatch, tmp_path, lambda call, c: seconds({"t": 1.5, "h": 2.0}.get(c[0], 1.0)))
    assert code == 1
    code, _ = compared(monkeypatch, tmp_path, lambda call, c: seconds({"t": 4.0, "h": 2.0}.get(c[0], 1.0)))
    assert code == 0


@pytest.mark.parametrize("state", ["branch", "detached", "shallow"])
def test_a_repository_with_a_twin_serves_any_checkout(tmp_path, state):
    commits = three_commits(tmp_path / "source")
    checkout = tmp_path / "source"
    if state == "detached":
        commands.git("checkout", "--quiet", "--detach", "HEAD~1", folder=checkout)
    if state == "shallow":
        checkout = tmp_path / "shallow"
        commands.git("clone", "--quiet", "--depth=2", f"file://{tmp_path / 'source'}", str(checkout), folder=tmp_path)
    head = commands.commit_of(folder=checkout)
    twin = compare.repository_with_twin(head, checkout, tmp_path / "twin")
    assert commands.git("rev-list", "--parents", "-n1", twin, folder=tmp_path / "twin").split() == [twin, head]
    commands.git("clone", "--quiet", "--shared", str(tmp_path / "twin"), str(tmp_path / "again"), folder=tmp_path)
    commands.git("checkout", "--quiet", "--force", commits[1], folder=tmp_path / "again")
    assert commands.commit_of(folder=tmp_path / "again") == commits[1]


def test_commits_that_cannot_be_compared_are_named(tmp_path, monkeypatch):
    assert commands.commit_of(folder=tmp_path) is None
    for known, message in (
        ({}, "needs git"),
        ({"HEAD": "a"}, "no commit here"),
        ({"HEAD": "a", "b": "a"}, "HEAD itself"),
    ):
        monkeypatch.setattr(compare, "commit_of", lambda name="HEAD", known=known: known.get(name))
        with pytest.raises(SystemExit, match=message):
            compare.commits("b")


def test_uncommitted_changes_are_named(tmp_path):
    (tmp_path / "empty").mkdir()
    assert "no commit" in commands.notes(tmp_path / "empty")[0]
    source = tmp_path / "source"
    three_commits(source)
    assert commands.notes(source) == []
    (source / "file").write_text("text")
    commands.git("add", "file", folder=source)
    assert "not measured" in commands.notes(source)[0]


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


def test_single_primitives_are_sampled():
    names = [f"numpy.f{k:03}" for k in range(240)]
    pattern = compare.usual(names)
    shown = [f"primitives.Primitives.time_derivative({name!r})" for name in names]
    assert sum(bool(re.search(pattern, name)) for name in shown) == 20
    for other in ("scalars.Loop.time_derivative(1000)", "core.Resolver.time_resolve(10)"):
        assert re.search(pattern, other)
    assert not re.search(pattern, "scalars.Loop.track_ratio(1000)")
