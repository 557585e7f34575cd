"""A plugin of pytest that writes which tests reach the probes in mutated modules, and the seconds of each test."""

import builtins
import json
import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

#: The tests that reach each probe, by its number, and files that reach it when they are imported; "" is the rest.
TESTS: dict[int, dict[str, None]] = {}
SECONDS = Counter[str]()
current = ""


def _reached(number: int) -> None:
    """Note that the running test reaches a probe."""
    TESTS.setdefault(number, {})[current] = None


vars(builtins)["_reached"] = _reached


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector: pytest.Collector) -> Iterator[None]:
    """Note which file is imported."""
    global current
    before, file = current, collector.nodeid.partition("::")[0]
    current = file if file.endswith(".py") else ""
    try:
        return (yield)
    finally:
        current = before


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Note which test runs."""
    global current
    current = item.nodeid
    try:
        return (yield)
    finally:
        current = ""


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Add the seconds of a phase of a test."""
    SECONDS[report.nodeid] += report.duration


def pytest_sessionfinish() -> None:
    """Write what was found."""
    found = {"tests": {k: list(tests) for k, tests in TESTS.items()}, "seconds": SECONDS}
    Path(os.environ["REACHED"]).write_text(json.dumps(found))
