"""The regression gate reports a resolver that has become slower, and reports nothing if nothing changed."""

import re
import shutil
import subprocess
from pathlib import Path
from time import process_time

import pytest

from asv_bench import commands, compare, counts, derivatives, quick, worker
from asv_bench.programs import scalar_loop

# Python imports this module at its start: it makes every backpropagator resolve its tape thirty times.
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


@pytest.mark.slow
def test_a_slower_resolver_is_reported_and_nothing_else(tmp_path):
    """Thirty times as slow is far beyond any noise."""
    (tmp_path / "sitecustomize.py").write_text(SLOW_RESOLVER)
    names = ["core.Loop.time_plain(100,)", "core.Loop.time_resolve(100,)", "core.Loop.time_resolve(10000,)"]
    found = compare.regressions([*names, "core.Loop.time_nothing(100,)"], [(), (tmp_path,), (tmp_path,)])
    assert list(found) == names[1:]
    assert min(found.values()) > 5.0


class Workers:
    """Answer like the processes of the three sites; a benchmark's seconds depend on the measurement and the site."""

    def __init__(self, seconds):
        self.seconds, self.measurement, self.asked = seconds, 0, []

    def measured(self, names, sites, seconds):
        self.measurement += 1
        self.asked.append(list(names))
        return {name: [self.seconds(self.measurement, name, site) for site in sites] for name in names}


def regressions(monkeypatch, seconds):
    workers = Workers(seconds)
    monkeypatch.setattr(compare, "measured", workers.measured)
    return compare.regressions(["core.resolve", "core.record"], ["base", "head", "twin"]), workers.asked


def test_what_is_slower_twice_is_a_regression(monkeypatch):
    found, asked = regressions(monkeypatch, lambda k, name, site: 1.3 if site != "base" and "resolve" in name else 1.0)
    assert found == {"core.resolve": pytest.approx(1.3)}
    assert asked == [["core.resolve", "core.record"], ["core.resolve"]]


def test_what_is_slower_once_is_none(monkeypatch):
    found, asked = regressions(monkeypatch, lambda k, name, site: 1.3 if site != "base" and k == 1 else 1.0)
    assert found == {} and len(asked) == 2


def test_equal_times_are_measured_once(monkeypatch):
    found, asked = regressions(monkeypatch, lambda k, name, site: 1.0)
    assert found == {} and len(asked) == 1


def test_a_noisy_benchmark_may_vary_but_not_by_more_than_a_plain_slow_down(monkeypatch):
    noisy = {"base": 1.0, "head": 1.2, "twin": 1.35}
    assert regressions(monkeypatch, lambda k, name, site: noisy[site])[0] == {}
    assert compare.limit([1.0, 1.0, 1.01]) == compare.SURE
    assert compare.limit([1.0, 1.0, 1.09]) == pytest.approx(1.09**2)
    assert compare.limit([1.0, 1.0, 9.0]) == compare.PLAIN < 1.3


def test_a_commit_is_built_once(monkeypatch, tmp_path):
    commands_run = []

    def run(command, **options):
        commands_run.append(command)
        Path(command[command.index("--target") + 1]).mkdir()

    monkeypatch.setattr(compare.subprocess, "run", run)
    monkeypatch.setattr(
        compare, "git", lambda *arguments, folder: shutil.make_archive(arguments[2][:-4], "tar", folder)
    )
    monkeypatch.setattr(compare, "HERE", tmp_path / "checkout" / "asv_bench")
    (tmp_path / "checkout").mkdir()
    sites = {compare.built("0123456789abcdef", tmp_path / "commits") for _ in range(2)}
    assert sites == {tmp_path / "commits" / "0123456789ab"} and len(commands_run) == 1


def test_nothing_in_common_is_an_error(monkeypatch):
    monkeypatch.setattr(compare, "measured", lambda *arguments: {})
    with pytest.raises(SystemExit, match="no benchmark runs on both"):
        compare.regressions(["core.resolve"], ["base", "head", "twin"])


def test_a_worker_says_what_it_cannot_measure():
    class Broken:
        timer = staticmethod(lambda: 0.0)

        def time_nothing(self):
            raise NotImplementedError("not here")

    assert worker.answer({}, "a", 0) == "it does not exist there"
    assert worker.answer({"a": ("a", Broken, "time_nothing", ())}, "a", 0) == "NotImplementedError: not here"


def test_samples_are_of_the_operation_and_not_of_its_preparation():
    """The clock is stopped while a benchmark prepares, also if one preparation calls another."""
    clock = derivatives.Clock()

    def work(seconds):
        started = process_time()
        while process_time() - started < seconds:
            pass

    started = clock()
    clock.stopped(lambda: (work(0.05), clock.stopped(work, 0.05)))
    assert clock() - started < 0.05
    work(0.02)
    assert clock() - started >= 0.02


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
    shown = [f"primitives.Primitives.time_derivative{(name,)}" for name in names]
    assert sum(bool(re.search(pattern, name)) for name in shown) == 20
    for other in ("scalars.Loop.time_derivative(1000,)", "core.Resolver.time_resolve(10,)"):
        assert re.search(pattern, other)
    assert not re.search(pattern, "scalars.Loop.track_ratio(1000,)")


def test_every_timed_benchmark_has_a_clock_that_a_worker_can_read():
    for _, cls, name, _ in quick.found():
        assert not name.startswith("time_") or callable(cls().timer)
