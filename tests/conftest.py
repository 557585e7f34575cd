"""Fixtures of all tests: the path of the benchmark programs, working interrupts, numpy's state of errors."""

import gc
import os
import signal
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path

import hypothesis
import numpy as np
import pytest
from sweeps import pytest_addoption, pytest_collection_modifyitems

__all__ = ["pytest_addoption", "pytest_collection_modifyitems"]

# Appended, so that an installed core is tested instead of this folder's.
sys.path.append(str(Path(__file__).resolve().parents[1]))

# No deadlines: a loaded machine takes longer, and tests count instead of timing.
# The same draws in each run except in nightly mode, so that continuous integration depends only on the commit.
hypothesis.settings.register_profile("untimed", deadline=None, derandomize="TAPEENGINE_NIGHTLY" not in os.environ)
hypothesis.settings.load_profile("untimed")


#: The tests in which a program fell back to a slower way. It has the same values: only its warning tells.
SLOWER: list[str] = []


def pytest_warning_recorded(warning_message: warnings.WarningMessage, nodeid: str) -> None:
    """Note a program without native code. A filter that raises the warning would keep staged programs from replays."""
    if "runs without native code" in str(warning_message.message):
        SLOWER.append(nodeid)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail if a program fell back to a slower way."""
    session.exitstatus = session.exitstatus or int(bool(SLOWER))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Name the tests in which programs fell back."""
    for nodeid in SLOWER:
        terminalreporter.write_line(f"FAILED {nodeid}: a program runs without native code")


def pytest_collection_finish() -> None:
    """Take the tests themselves, some hundred thousand objects, from what each garbage collection looks through."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True, scope="module")
def _collections_look_through_new_objects() -> None:
    """Take what earlier modules left, such as caches, from what each garbage collection looks through."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True, scope="session")
def _interrupts_arrive() -> Iterator[None]:
    """Restore Ctrl-C, which a shell that runs the tests in the background may have disabled."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before or signal.SIG_DFL)


@pytest.fixture(autouse=True)
def _the_state_of_floating_point_errors_stays() -> Iterator[None]:
    """Fail a test after which numpy raises other errors than before."""
    before, shown = np.geterr(), np.get_printoptions()
    yield
    after = np.geterr()
    np.seterr(**before)
    np.set_printoptions(**shown)  # which tests that call all functions of numpy set
    assert after == before


@pytest.fixture
def no_callbacks_of_collections() -> Iterator[None]:
    """Let no callback of the garbage collector run: Python only prints an exception that a signal raises in one."""
    before, gc.callbacks[:] = list(gc.callbacks), []  # hypothesis puts one here
    yield
    gc.callbacks[:] = before
