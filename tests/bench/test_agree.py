"""Comparison of two runs: counts exactly, everything else within the band of its kind."""

import json
import os
from argparse import Namespace

import pytest

from asv_bench import agree, bench

BENCHMARKS = {
    "version": 2,
    "core.time_resolve": {"type": "time", "unit": "seconds"},
    "core.track_records": {"type": "track", "unit": "unit"},
    "core.track_ratio": {"type": "track", "unit": "x plain"},
    "memory.track_bytes": {"type": "track", "unit": "B"},
    "memory.peakmem": {"type": "peakmemory", "unit": "bytes"},
}
VALUES = {
    "core.time_resolve": [1.0, 2.0],
    "core.track_records": [100],
    "core.track_ratio": [2.0],
    "memory.track_bytes": [30.0],
    "memory.peakmem": [1e6],
}


def run(folder, changed=None, figure=1.0):
    """Write a run in its stored form, with some values changed."""
    folder.mkdir(parents=True)
    results = {name: [values] for name, values in (VALUES | (changed or {})).items()}
    (folder / "benchmarks.json").write_text(json.dumps(BENCHMARKS))
    (folder / "0123abcd-env.json").write_text(json.dumps({"result_columns": ["result"], "results": results}))
    (folder / "figures.json").write_text(json.dumps([{"name": "dot", "value": figure}, {"name": "gone", "error": "?"}]))
    return folder


@pytest.fixture(autouse=True)
def nothing_stated(monkeypatch, tmp_path):
    monkeypatch.setattr(agree, "STATED", tmp_path / "noise.json")


def test_equal_runs_agree(tmp_path, capsys):
    runs = [run(tmp_path / name) for name in ("0123abcd-1", "0123abcd-2")]
    assert agree.main(list(map(str, runs))) == 0
    printed = capsys.readouterr().out
    assert "1 counts, 0 of them differ" in printed
    assert "time       2 benchmarks: half within 1.000, 95 % within 1.000, all within 1.000" in printed
    assert "ratio      2 benchmarks" in printed and "memory     2 benchmarks" in printed


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"core.track_records": [101]}, "core.track_records[0]: 100 and 101"),
        ({"core.time_resolve": [1.0, 1.0]}, "beyond the band: core.time_resolve[1] differs 2.00 times"),
        ({"core.track_ratio": [3.5]}, "beyond the band: core.track_ratio[0] differs 1.75 times"),
        ({"memory.peakmem": [1.2e6]}, "beyond the band: memory.peakmem[0] differs 1.20 times"),
        ({"core.time_resolve": [1.0, None]}, "only in one run: core.time_resolve[1]"),
    ],
)
def test_disagreement_is_named(tmp_path, capsys, changed, named):
    runs = [run(tmp_path / "a"), run(tmp_path / "b", changed)]
    assert agree.main(list(map(str, runs))) == 1
    assert named in capsys.readouterr().out


def test_a_target_that_differs_is_named(tmp_path, capsys):
    runs = [run(tmp_path / "a"), run(tmp_path / "b", figure=1.8)]
    assert agree.main(list(map(str, runs))) == 1
    assert "figures.dot[0] differs 1.80 times" in capsys.readouterr().out


def test_the_stated_band_is_written_and_then_holds(tmp_path, capsys):
    first, second = run(tmp_path / "0123abcd-1"), run(tmp_path / "0123abcd-2", {"core.time_resolve": [1.62, 2.0]})
    third = run(tmp_path / "0123abcd-3", {"core.time_resolve": [1.0, 3.4]})
    assert agree.main([str(first), str(second)]) == 1
    assert agree.main(["--write", str(first), str(second)]) == 0
    stated = json.loads(agree.STATED.read_text())
    assert stated["commits"] == ["0123abcd"]
    assert stated["kinds"]["time"]["band"] == pytest.approx(1.65)
    assert agree.main([str(first), str(third)]) == 1
    assert "time_resolve[1] differs 1.70 times" in capsys.readouterr().out


def test_no_band_is_stated_where_counts_differ(tmp_path):
    runs = [run(tmp_path / "a"), run(tmp_path / "b", {"core.track_records": [99]})]
    assert agree.main(["--write", *map(str, runs)]) == 1
    assert not agree.STATED.exists()


def test_a_run_is_compared_with_the_one_before_it(tmp_path, capsys):
    run(tmp_path / "0123abcd-1")
    agree.with_the_run_before(run(tmp_path / "0123abcd-2"))
    assert "compared with 0123abcd-1" in capsys.readouterr().out
    agree.with_the_run_before(tmp_path / "0123abcd-1")
    assert capsys.readouterr().out == ""


def test_runs_are_kept_in_folders_of_their_own(tmp_path):
    build = tmp_path / "asv"
    machine = build / "results" / "machine"
    machine.mkdir(parents=True)
    (build / "results" / "benchmarks.json").write_text("{}")
    (machine / "0123abcd-env.json").write_text("{}")
    (machine / "other000-env.json").write_text("{}")
    figures = build / "figures.json"
    figures.write_text("[]")
    old = machine / "0123abcd-old.json"
    old.write_text("{}")
    os.utime(old, (1.0, 1.0))
    first, second = (bench.keep("0123abcd" * 5, figures, 10.0, build) for _ in range(2))
    assert [first.name, second.name] == ["0123abcd-1", "0123abcd-2"]
    assert {path.name for path in second.iterdir()} == {"0123abcd-env.json", "benchmarks.json", "figures.json"}


def test_without_an_environment_the_installed_package_is_measured(monkeypatch, tmp_path):
    calls = []

    def no_network(config, *arguments):
        calls.append(arguments)
        return 0 if "--environment" in " ".join(arguments) else 1

    monkeypatch.setattr(bench, "asv", no_network)
    options = Namespace(bench=".", here=False, rounds=None)
    assert bench.measure(tmp_path / "conf", "0123", options) == 0
    assert len(calls) == 3 and calls[-1][1].startswith("--environment=existing:")
    assert "--set-commit-hash=0123" in calls[-1]
    calls.clear()
    assert bench.measure(tmp_path / "conf", None, options) == 0
    assert not any("--set-commit-hash" in argument for argument in calls[-1])
    assert not any("rounds" in argument for argument in calls[-1])


def test_a_number_of_rounds_reaches_asv(monkeypatch, tmp_path):
    calls = []
    monkeypatch.setattr(bench, "asv", lambda config, *arguments: calls.append(arguments) or 0)
    assert bench.measure(tmp_path / "conf", None, Namespace(bench=".", here=True, rounds=1)) == 0
    assert "--attribute=rounds=1" in calls[-1]
