"""The pytest plugin: two lines check every primitive of a distribution."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
PLUGIN = """
import numpy as np
from tapeengine.primitive.builders import elementwise, scale
from tapeengine.plugins import hookimpl
from tapeengine.primitive import Primitive, Sample, uniform

samples = (Sample((uniform(3, 0.5, 2.0),), order=1),)
square = elementwise("fake.square", lambda x: x * x, lambda x: 2.0 * x, samples=samples)
log = elementwise("fake.log", lambda x: np.log(x), lambda x: FACTOR / x, samples=samples)

@hookimpl
def tapeengine_primitives():
    return [square, log]
"""
TEST = "def test_contract(primitive_contract):\n    primitive_contract()\n"


def run(folder: Path, source: str, *options: str, configuration: str = "") -> Any:
    """Run the two lines in a separate process, with one fake distribution installed."""
    (folder / "fake_plugin.py").write_text(source)
    info = folder / "fake_dist-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: fake-dist\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[tapeengine]\nfake = fake_plugin\n")
    (folder / "test_contract.py").write_text(TEST)
    (folder / "pytest.ini").write_text(f"[pytest]\n{configuration}\n")
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-p",
        "tapeengine.testing.pytest",
        "-p",
        "no:cacheprovider",
        "-v",
        *options,
    ]
    environment = {"PYTHONPATH": f"{folder}:{ROOT}", "PATH": "/usr/bin:/bin"}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def test_every_primitive_of_a_distribution_is_one_test(tmp_path: Path) -> None:
    done = run(tmp_path, PLUGIN.replace("FACTOR", "1.0"), configuration="tapeengine_distribution = fake-dist")
    assert done.returncode == 0, done.stdout
    assert "test_contract[fake.square] PASSED" in done.stdout
    assert "test_contract[fake.log] PASSED" in done.stdout


def test_a_wrong_rule_fails_its_own_test_with_the_seed(tmp_path: Path) -> None:
    options = ("--tapeengine-distribution", "fake-dist", "--tapeengine-seed", "12")
    done = run(tmp_path, PLUGIN.replace("FACTOR", "1.1"), *options)
    assert done.returncode == 1
    assert "test_contract[fake.square] PASSED" in done.stdout
    assert "test_contract[fake.log] FAILED" in done.stdout
    assert "[differences] fake.log, argument 'x', sample 0, seed 12" in done.stdout


@pytest.mark.parametrize(
    ("source", "options", "message"),
    [
        (PLUGIN, (), "set tapeengine_distribution"),
        (PLUGIN, ("--tapeengine-distribution", "fake-dust"), "'fake-dust' is installed; there are plugins of: "),
        ("1 / 0", ("--tapeengine-distribution", "fake-dist"), "fake (fake-dist 1.0) failed: ZeroDivisionError"),
    ],
)
def test_what_cannot_be_checked_is_said(tmp_path: Path, source: str, options: tuple[str, ...], message: str) -> None:
    done = run(tmp_path, source.replace("FACTOR", "1.0"), *options)
    assert done.returncode not in (0, 5)
    assert message in done.stdout + done.stderr
