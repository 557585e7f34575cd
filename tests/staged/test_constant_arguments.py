"""Constants among the arguments of a staged program: replayed for the same constant, recorded for another one."""

from __future__ import annotations

import datetime
import decimal
import ipaddress
import pathlib
import re
import uuid
import warnings
import zoneinfo
from typing import Any

import numpy as np
import pytest

import tapeengine as te
from tapeengine.errors import StagingWarning

PARIS, UTC = zoneinfo.ZoneInfo("Europe/Paris"), datetime.UTC
NOON = datetime.datetime(2024, 6, 1, 12, tzinfo=UTC)
#: Pairs that differ; the second parts of most are equal to the first by ``==``.
PAIRS = [
    (datetime.date(2020, 1, 1), datetime.date(2020, 1, 2)),
    (NOON, NOON.astimezone(PARIS)),
    (datetime.datetime(2024, 10, 27, 2, 30), datetime.datetime(2024, 10, 27, 2, 30, fold=1)),
    (datetime.timedelta(1), datetime.timedelta(2)),
    (decimal.Decimal("1.5"), decimal.Decimal("1.50")),
    (decimal.Decimal("0"), decimal.Decimal("-0")),
    (uuid.UUID(int=1), uuid.UUID(int=2)),
    (pathlib.PurePosixPath("a"), pathlib.PureWindowsPath("a")),
    (re.compile("a"), re.compile("a", re.IGNORECASE)),
    (ipaddress.ip_address("127.0.0.1"), ipaddress.ip_address("127.0.0.2")),
    (PARIS, UTC),
    (frozenset([1, "a"]), frozenset([True, "a"])),
    (frozenset([decimal.Decimal(1)]), frozenset([1])),
]


@pytest.mark.parametrize(("first", "second"), PAIRS, ids=lambda x: repr(x)[:40])
@pytest.mark.parametrize(
    "around", [lambda c: c, lambda c: [c, 1], lambda c: {"a": (c,)}], ids=["alone", "list", "dict"]
)
def test_a_replay_belongs_to_its_constant(around: Any, first: Any, second: Any) -> None:
    number = te.stage(lambda x, c: x * sum(map(ord, repr(c))))
    passed = te.stage(lambda x, c: (x * x, c))
    for constant in (first, first, first, second, second, first):
        c = around(constant)
        assert te.value_and_grad(number)(0.5, c) == (0.5 * sum(map(ord, repr(c))), sum(map(ord, repr(c))))
        assert repr(passed(0.5, c)) == repr((0.25, c))
    for staged in (number, passed):
        assert staged.stats().replays >= 3
        assert staged.refused is None


def test_settings_are_no_constants() -> None:
    staged = te.stage(lambda x, c: x * c.prec)
    context = decimal.Context(prec=3)
    with pytest.warns(StagingWarning, match="may change"):
        assert te.grad(staged)(1.0, context) == 3.0
    context.prec = 5
    assert te.grad(staged)(1.0, context) == 5.0


@pytest.mark.parametrize("z", [1j, np.complex128(2j)], ids=repr)
def test_a_program_that_is_never_replayed_warns_once(z: Any) -> None:
    staged = te.stage(lambda x, z: x * x)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(6):
            assert te.grad(staged)(0.5, z) == 1.0
    assert len(caught) == 1
    assert type(z).__name__ in str(caught[0].message)
