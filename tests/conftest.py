"""What all tests share: where the benchmark programs are, and an interrupt that interrupts."""

import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import hypothesis
import pytest

# After what is installed: an installed core is tested, not this folder's.
sys.path.append(str(Path(__file__).resolve().parents[1]))

# A loaded machine takes longer; tests count, they do not time.
# The same draws in each run, but for the nightly mode: what continuous integration finds depends on the commit alone.
hypothesis.settings.register_profile("untimed", deadline=None, derandomize="TAPEENGINE_NIGHTLY" not in os.environ)
hypothesis.settings.load_profile("untimed")


@pytest.fixture(autouse=True, scope="session")
def _interrupts_arrive() -> Iterator[None]:
    """A shell that runs the tests in the background may have told them to ignore Ctrl-C."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before or signal.SIG_DFL)
