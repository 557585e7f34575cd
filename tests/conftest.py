"""Fixtures of all tests: the path of the benchmark programs, working interrupts, numpy's state of errors."""

import gc
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import hypothesis
import numpy as np
import pytest

# Appended, so that an installed core is tested instead of this folder's.
sys.path.append(str(Path(__file__).resolve().parents[1]))

# No deadlines: a loaded machine takes longer, and tests count instead of timing.
# The same draws in each run except in nightly mode, so that continuous integration depends only on the commit.
hypothesis.settings.register_profile("untimed", deadline=None, derandomize="TAPEENGINE_NIGHTLY" not in os.environ)
hypothesis.settings.load_profile("untimed")


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
