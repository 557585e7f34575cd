"""The documentation of plugins names every hook, every check and every builder; its examples run."""

import re
from pathlib import Path
from typing import Any

import pytest

import tapeengine
from tapeengine.plugins import hookspecs
from tapeengine.primitive import builders
from tapeengine.primitive.builders import SCALE
from tapeengine.testing import check_primitive, check_vjp, report_primitive
from tapeengine.testing.checks import CHECKS

TEXT = (Path(__file__).parents[2] / "docs" / "plugins.md").read_text()
HOOKS = [name for name in hookspecs.__all__ if name.startswith("tapeengine_")]


@pytest.mark.parametrize("hook", HOOKS)
def test_every_hook_has_a_row_and_an_example(hook: str) -> None:
    assert re.search(rf"^\| `{hook}\(", TEXT, re.MULTILINE)
    assert ">>>" in (getattr(hookspecs, hook).__doc__ or "")


@pytest.mark.parametrize("hook", HOOKS)
def test_every_hook_is_tested(hook: str) -> None:
    assert hook in (Path(__file__).parent / "test_discovery.py").read_text()


def test_every_check_has_a_row() -> None:
    rows = set(re.findall(r"^\| `(\w+)` \|", TEXT, re.MULTILINE))
    ran = set(report_primitive(SCALE, order=1).runs)
    assert rows >= {*ran, *CHECKS, "kernel", "order2"}


def test_every_builder_is_named() -> None:
    for name in builders.__all__:
        assert f"`{name}" in TEXT, name


def run(contained: str) -> dict[str, Any]:
    """Run the only example of the text that contains some words; return the names that it defines."""
    [source] = [block for block in re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL) if contained in block]
    names: dict[str, Any] = {}
    exec(source, names)
    return names


def test_the_record_in_the_text_keeps_the_contract() -> None:
    check_primitive(run("multiply = ")["multiply"])


def test_the_local_operation_in_the_text_is_right() -> None:
    check_vjp(run("def softclip")["softclip"], 0.7, 1.5)


def test_the_numba_kernel_in_the_text_agrees_with_its_rules() -> None:
    pytest.importorskip("numba")
    names = run("@numba.cfunc")
    check_primitive(names["SOFTPLUS"])
    check_vjp(names["softplus"], 0.7)
    assert tapeengine.grad(tapeengine.grad(names["softplus"]))(0.0) == pytest.approx(0.25)
