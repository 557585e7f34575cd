"""The option ``--share``: a run takes a part of the sweeps, which are most of the time of all tests."""

import zlib
from collections import Counter

import pytest

#: Tests with more cases than this are sweeps, of which `--share` takes a part.
FEW = 12


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option."""
    text = f"of each test with more than {FEW} cases, run one case in N; 1, the default, runs all"
    parser.addoption("--share", type=int, default=1, metavar="N", help=text)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out cases of sweeps. A case is taken by its name alone, whatever the order of the cases."""
    share = config.getoption("--share")
    cases = Counter(item.nodeid.partition("[")[0] for item in items)

    def is_taken(item: pytest.Item) -> bool:
        return cases[item.nodeid.partition("[")[0]] <= FEW or zlib.crc32(item.nodeid.encode()) % share == 0

    if left := [item for item in items if not is_taken(item)]:
        config.hook.pytest_deselected(items=left)
        items[:] = filter(is_taken, items)
