"""The benchmark of native code: gradients by hand agree, and a row of the table is measured."""

import pytest

from asv_bench import native
from asv_bench.measure import QUICK
from asv_bench.peers.native_hand import BY_HAND


@pytest.mark.parametrize("name", BY_HAND)
def test_gradients_by_hand_agree(name: str) -> None:
    args = native.CASES[name][1]()
    value, gradient = native.ours(name, "machine", args)[1]()
    native.check(name, "numpy", (value, gradient), BY_HAND[name](*args))
    with pytest.raises(AssertionError, match="differ by"):
        native.check(name, "numpy", (value + 1.0, gradient), BY_HAND[name](*args))


def test_a_row(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("llvmlite")
    monkeypatch.setenv(QUICK, "1")
    monkeypatch.setattr(native, "CALLS", 1)
    monkeypatch.setattr(native, "ROUNDS", 1)
    times = native.measured("chain", None)
    assert set(times) == {"native", "default", "first_native", "first_default"}
    assert native.row("chain", times).count("|") == native.HEADER.splitlines()[0].count("|")
    assert native.summary({"chain": times | {"jax": 1e-9}}, "jax", 1.2).endswith(
        f"chain {min(times['native'], times['default']) / 1e-9:.2f}"
    )


def test_records_for_tools_without_records() -> None:
    angles, lengths = native.for_others("chain", native.CASES["chain"][1]())
    assert len(angles) == len(lengths) == 300
    (tree,) = native.for_others("expression", native.CASES["expression"][1]())
    assert len(list(native.numbers(tree))) == 64
