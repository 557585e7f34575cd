"""Every figure of the performance page is a benchmark, and every part of the engine has a benchmark module."""

import json
from pathlib import Path

import pytest

from asv_bench import derivatives, figures, limits, quick, transformed, typed_cases
from asv_bench.programs.catalogue import PROGRAMS
from asv_bench.targets.target import Target

ROOT = Path(__file__).resolve().parents[2]
PARTS = {"core", "scalars", "arrays", "primitives", "transforms", "chad", "plugins", "import_time", "memory"}
GROUPS = figures.all_targets()


@pytest.fixture(scope="module")
def names():
    """The benchmarks as ``module.Class.method(parameters)``."""
    return [name for name, _ in quick.cases()]


def test_every_part_has_a_module_with_benchmarks(names):
    assert {name.split(".")[0] for name in names} >= PARTS


@pytest.mark.parametrize(("group", "target"), [(group, name) for group in GROUPS for name in GROUPS[group]])
def test_every_target_is_a_benchmark(names, group, target):
    assert f"{group}.Figures.track_{target}()" in names


def test_every_row_of_the_page_is_a_target():
    known = {name: target.what for targets in GROUPS.values() for name, target in targets.items()}
    rows = json.loads((ROOT / "docs" / "figures.json").read_text())
    assert rows
    for row in rows:
        assert known[row["name"]] == row["what"]


def test_every_program_of_the_table_of_tools_is_a_benchmark_in_each_size(names):
    for name, program in PROGRAMS.items():
        module = program.flavour
        cls = module[:-1].capitalize()
        for size in program.sizes:
            assert f"{module}.{cls}Ratios.track_ratio('{name} {size}',)" in names
        for method in ("Times.time_derivative", "First.track_first", "Counts.track_contributions"):
            assert f"{module}.{cls}{method}('{name}',)" in names


def test_the_headline_goes_from_a_hundred_to_ten_million_operations(names):
    for exponent in range(2, 8):
        assert f"core.Growth.track_gradient_over_program({10**exponent},)" in names


def test_transforms_and_typed_programs_are_timed_weighed_and_counted(names):
    for transform in transformed.ALONG:
        for program in transformed.LINES:
            for kind in ("time_transform", "peakmem_transform", "track_over_gradient"):
                assert f"transforms.Along.{kind}('{transform}', '{program}')" in names
    for name in typed_cases.CASES:
        for method in ("Derivatives.time_vjp", "Derivatives.peakmem_vjp", "Transformation.track_lines"):
            assert f"chad.{method}('{name}',)" in names


def test_timed_benchmarks_have_no_setup():
    """asv would run it before every call that it times."""
    for name, call in quick.cases():
        cls, method, _ = call.args
        if method.startswith("time_"):
            assert not hasattr(cls, "setup"), name


def test_a_benchmark_that_fails_is_reported(capsys, monkeypatch):
    def broken():
        raise ValueError("wrong")

    def missing():
        raise NotImplementedError("not installed")

    monkeypatch.setattr(quick, "cases", lambda: iter([("good", int), ("bad", broken), ("absent", missing)]))
    monkeypatch.setenv("TAPEENGINE_BENCH_QUICK", "")
    assert quick.main() == 1
    printed = capsys.readouterr().out
    assert "bad\n    failed: ValueError: wrong" in printed
    assert "absent\n    skipped: not installed" in printed
    assert quick.main("good|absent") == 0
    assert quick.main("no such") == 1


def test_ratios_of_slow_programs_take_fewer_rounds():
    assert derivatives.rounds_for(lambda: None) > 5


def test_the_theorem_holds_on_the_benchmarks_programs():
    for program, primals in typed_cases.SCALARS.values():
        found = typed_cases.theorem(program, primals)
        assert 0 < found["steps"] < found["gradient_steps"] <= found["bound"]


def test_probe_counts_rules_and_runs():
    assert transformed.probed("vjp") == {"runs": 1, "values": 2, "vjp": 2, "jvp": 0}
    assert transformed.probed("checkpoint")["runs"] == 2


def test_a_target_of_a_module_that_is_not_installed_is_skipped():
    measure = limits.method(Target("name", "what", 1.0, "ms", lambda: None, needs_module="no_such_module"))
    with pytest.raises(NotImplementedError, match="no_such_module is not installed"):
        measure.setup()
    assert not hasattr(limits.method(Target("name", "what", 1.0, "ms", lambda: None)), "setup")
