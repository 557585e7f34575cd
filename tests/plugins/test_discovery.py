"""Discovery: contributions of installed plugins; a plugin that fails is named and does not affect the others."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tapeengine_primitives.plugin as CORE
from tapeengine import Engine
from tapeengine.__main__ import main
from tapeengine.commands.plugins import table
from tapeengine.errors import RegistryError, UnsupportedError
from tapeengine.plugins import hookimpl, load_plugins
from tapeengine.primitive import Primitive

Install = Callable[..., Path]

HEAD = """
import numpy as np
from tapeengine.primitive.builders import elementwise
from tapeengine.plugins import hookimpl
"""


def bringing(name: str) -> str:
    """The source of a plugin with one primitive."""
    return f"""{HEAD}
f = elementwise({name!r}, lambda x: x * x, lambda x: 2.0 * x, doc="x**2; dx = 2 x ct")

@hookimpl
def tapeengine_primitives():
    return [f]
"""


GOOD = bringing("good.square")

BAD = {
    "cannot be imported": (
        "import module_that_is_nowhere",
        "ModuleNotFoundError: No module named 'module_that_is_nowhere'",
    ),
    "raises when imported": ("1 / 0", "ZeroDivisionError: division by zero"),
    "is not Python": ("def", "SyntaxError"),
    "has no hooks": (HEAD, "implements no hook"),
    "has an unknown hook": (
        f"{HEAD}\n@hookimpl\ndef tapeengine_primitivs():\n    return []",
        "tapeengine_primitivs, which is no hook; there are tapeengine_configure, tapeengine_modules, ",
    ),
    "has a hook with wrong parameters": (
        f"{HEAD}\n@hookimpl\ndef tapeengine_primitives(engine):\n    return []",
        "PluginValidationError",
    ),
    "raises in a hook": (
        f"{HEAD}\n@hookimpl\ndef tapeengine_primitives():\n    raise ValueError('not today')",
        "ValueError: not today",
    ),
    "exits when imported": ("raise SystemExit(3)", "SystemExit: 3"),
    "returns nothing": (
        f"{HEAD}\n@hookimpl\ndef tapeengine_primitives():\n    pass",
        "its tapeengine_primitives returns None, not an iterable of Primitive",
    ),
    "returns a number": (
        f"{HEAD}\n@hookimpl\ndef tapeengine_primitives():\n    return 3",
        "its tapeengine_primitives returns an object of type int, not an iterable of Primitive",
    ),
    "returns something else among primitives": (
        f"{HEAD}\n@hookimpl\ndef tapeengine_primitives():\n    return ['sin']",
        "its tapeengine_primitives returns an object of type str among its primitives",
    ),
    "brings one primitive twice": (
        bringing("bad.f").replace("return [f]", "return [f, f]"),
        "brings two primitives named 'bad.f'",
    ),
    "maps to no function": (
        f"{HEAD}\n@hookimpl\ndef tapeengine_numpy_rules():\n    return {{np.sin: 3}}",
        "both must be callable",
    ),
    "returns a list of rules": (
        f"{HEAD}\n@hookimpl\ndef tapeengine_numpy_rules():\n    return [np.sin]",
        "tapeengine_numpy_rules returns an object of type list, not a mapping",
    ),
    "registers no container": (
        f"{HEAD}\n@hookimpl\ndef tapeengine_structures():\n    return {{int: 3}}",
        "not a class to a Container",
    ),
    "names no module": (
        f"{HEAD}\n@hookimpl\ndef tapeengine_modules():\n    return {{'math': 3}}",
        "both must be names",
    ),
    "returns a list of modules": (
        f"{HEAD}\n@hookimpl\ndef tapeengine_modules():\n    return ['math']",
        "tapeengine_modules returns an object of type list, not a mapping",
    ),
    "builds a wrong primitive": (
        f"{HEAD}\nelementwise('bad', lambda x: x, lambda x: x)",
        "PrimitiveError: a primitive's name has the form family.operation",
    ),
}


@pytest.mark.parametrize(("source", "error"), BAD.values(), ids=BAD)
def test_a_plugin_that_fails_is_named_and_stops_nobody(install: Install, source: str, error: str) -> None:
    install("alpha", GOOD)
    install("bad", source, version="0.3")
    install("zulu", bringing("other.square"))
    loaded = load_plugins()
    assert list(loaded.registry) == ["good.square", "other.square"]
    [failure] = loaded.registry.failures
    assert (failure.origin.plugin, failure.origin.distribution, failure.origin.version) == ("bad", "fake-bad", "0.3")
    assert error in failure.error
    with pytest.raises(RegistryError, match=r"there is no primitive 'bad\.f'") as caught:
        loaded.registry["bad.f"]
    assert f"plugin bad (fake-bad 0.3) failed: {failure.error}" in str(caught.value)
    assert loaded.registry["other.square"](3.0) == 9.0


def test_what_plugins_bring_and_where_it_comes_from(install: Install) -> None:
    install("alpha", GOOD, version="2.1")
    rules = (
        f"{HEAD}\n@hookimpl\ndef tapeengine_numpy_rules():\n    return {{np.sin: np.cos, (np.add, 'reduce'): np.sum}}\n"
    )
    install("beta", rules + "@hookimpl\ndef tapeengine_configure(engine):\n    engine.append('beta')\n")
    loaded = load_plugins()
    assert str(loaded.registry.origin("good.square")) == "plugin alpha (fake-alpha 2.1)"
    assert dict(loaded.registry.numpy_rules) == {np.sin: np.cos, (np.add, "reduce"): np.sum}
    assert [record.hooks for record in loaded.records] == [
        ("tapeengine_primitives",),
        ("tapeengine_configure", "tapeengine_numpy_rules"),
    ]
    engine: list[str] = []
    loaded.configure(engine)
    assert engine == ["beta"]


CONFIGURE = "@hookimpl\ndef tapeengine_configure(engine):\n    engine.max_tape_bytes //= 0\n"


def test_a_plugin_that_fails_to_configure_stops_nobody(install: Install) -> None:
    install("alpha", GOOD + CONFIGURE)
    install("beta", bringing("b.f") + CONFIGURE.replace("//= 0", "+= 5"))
    engine = Engine()
    assert engine.max_tape_bytes == 5
    [failure] = engine.registry.failures
    assert str(failure).startswith("plugin alpha (fake-alpha 1.0) failed: its tapeengine_configure raises ZeroDivision")
    assert list(engine.registry) == ["good.square", "b.f"]
    with pytest.raises(RegistryError, match=r"plugin alpha .* its tapeengine_configure raises ZeroDivisionError"):
        Engine(plugins=["beta", "alpha"])


def test_first_party_primitives_come_first_and_others_by_name(install: Install) -> None:
    install("zulu", bringing("z.f"), distribution="tapeengine")
    install("beta", bringing("b.f"))
    install("alpha", bringing("a.f"))
    assert list(load_plugins().registry) == ["z.f", "a.f", "b.f"]


def test_two_plugins_with_one_entry_point_name(install: Install) -> None:
    root = install("same", bringing("a.f"), distribution="one")
    (root / "two-1.0.dist-info").mkdir()
    (root / "two-1.0.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: two\nVersion: 1.0\n")
    (root / "two-1.0.dist-info" / "entry_points.txt").write_text("[tapeengine]\nsame = fake_module_second\n")
    (root / "fake_module_second.py").write_text(bringing("b.f"))
    assert list(load_plugins().registry) == ["a.f", "b.f"]


@pytest.mark.parametrize("disabled", ["bad", " fake-bad , nothing"])
def test_a_plugin_is_disabled_by_name(install: Install, monkeypatch: pytest.MonkeyPatch, disabled: str) -> None:
    install("alpha", GOOD)
    install("bad", "raise SystemError('must not be imported')")
    monkeypatch.setenv("TAPEENGINE_DISABLE_PLUGINS", disabled)
    loaded = load_plugins()
    assert loaded.registry.failures == ()
    assert [record.disabled for record in loaded.records] == [False, True]


def test_explicit_plugins_are_all_there_is(install: Install) -> None:
    install("alpha", GOOD)
    install("beta", bringing("b.f"))

    class Plugin:
        @hookimpl
        def tapeengine_primitives(self) -> list[Primitive]:
            return [Primitive("c.f", lambda x: x, {}, {})]

    loaded = load_plugins(["beta", Plugin()])
    assert list(loaded.registry) == ["b.f", "c.f"]
    assert str(loaded.registry.origin("c.f")) == "plugin Plugin"


def test_an_explicit_plugin_that_fails_raises(install: Install) -> None:
    install("bad", "import module_that_is_nowhere", version="0.3")
    install("alpha", GOOD)
    with pytest.raises(RegistryError, match=r"plugin bad \(fake-bad 0.3\) failed: ModuleNotFoundError"):
        load_plugins(["bad"])
    with pytest.raises(RegistryError, match="no installed plugin 'gamma'; installed are: alpha, bad"):
        load_plugins(["gamma"])
    with pytest.raises(RegistryError, match="implements no hook"):
        load_plugins([object()])


TWO = GOOD.replace("return [f]", "return [f, elementwise('two.cube', lambda x: x**3, lambda x: 3.0 * x * x)]")
OWN_SINE = "@hookimpl\ndef tapeengine_numpy_rules():\n    return {np.sin: f, np.cbrt: f}\n"


def test_what_an_installed_plugin_brings_twice_is_left_out_alone(install: Install) -> None:
    install("alpha", GOOD + OWN_SINE, version="1.2")
    install("beta", TWO + OWN_SINE.replace("np.cbrt", "np.tan"), version="3.4")
    loaded = load_plugins()
    assert list(loaded.registry) == ["good.square", "two.cube"]
    assert str(loaded.registry.origin("good.square")) == "plugin alpha (fake-alpha 1.2)"
    assert {np.sin, np.cbrt, np.tan} == set(loaded.registry.numpy_rules)
    assert [str(failure) for failure in loaded.registry.failures] == [
        f"plugin beta (fake-beta 3.4) is used in part: without {what}, which plugin alpha (fake-alpha 1.2) brings"
        for what in ("the primitive 'good.square'", "a rule for sin")
    ]
    assert table(loaded).splitlines()[2].split()[-2:] == ["in", "part"]


@pytest.mark.parametrize("order", [["alpha", "beta"], ["beta", "alpha"]])
def test_the_later_of_listed_plugins_is_used(install: Install, order: list[str]) -> None:
    install("alpha", GOOD, version="1.2")
    install("beta", TWO, version="3.4")
    registry = load_plugins(order).registry
    assert set(registry) == {"good.square", "two.cube"}
    assert registry.origin("good.square").plugin == order[1]
    assert registry.failures == ()


def test_the_rule_of_a_later_plugin_runs(install: Install) -> None:
    own = "f = elementwise('d.f', lambda x: 2.0 * x, lambda x: 2.0 + 0.0 * x)\n"
    install("double", f"{HEAD}\n{own}@hookimpl\ndef tapeengine_numpy_rules():\n    return {{np.sinc: f}}\n")
    for plugins, slope in (([CORE, "double"], 2.0), (["double", CORE], -4.0 / np.pi)):
        assert Engine(plugins=plugins).grad(lambda x: np.sinc(x)[0])(np.array([0.5]))[0] == pytest.approx(slope)


def test_a_missing_rule_names_the_plugins_that_failed(install: Install) -> None:
    install("broken", "import module_that_is_nowhere", version="0.3")
    with pytest.raises(UnsupportedError) as caught:
        Engine().grad(lambda x: np.packbits(x)[0])(np.array([0.5]))
    assert "plugin broken (fake-broken 0.3) failed: ModuleNotFoundError" in str(caught.value)


def test_the_command_shows_a_configure_that_raises(install: Install, capsys: pytest.CaptureFixture[str]) -> None:
    install("alpha", GOOD + CONFIGURE)
    assert main(["plugins"]) == 1
    _, row, failure = capsys.readouterr().out.splitlines()
    assert row.split()[-1] == "failed" and "its tapeengine_configure raises ZeroDivisionError" in failure


def test_discovery_leaves_no_state_behind(install: Install) -> None:
    install("alpha", GOOD)
    first = load_plugins()
    install("beta", bringing("b.f"))
    assert list(first.registry) == ["good.square"]
    assert list(load_plugins().registry) == ["good.square", "b.f"]


def test_the_table_shows_plugins_versions_hooks_primitives_and_failures(install: Install) -> None:
    install("alpha", GOOD, version="2.1")
    install("bad", "1 / 0")
    install("off", "1 / 0", version="7")
    assert table(load_plugins(), names=True).splitlines() == [
        "plugin  distribution  version  hooks       primitives  state",
        "alpha   fake-alpha    2.1      primitives  1           ok",
        "bad     fake-bad      1.0      -           -           failed",
        "off     fake-off      7        -           -           failed",
        "plugin bad (fake-bad 1.0) failed: ZeroDivisionError: division by zero",
        "plugin off (fake-off 7) failed: ZeroDivisionError: division by zero",
        "",
        "plugin alpha (fake-alpha 2.1):",
        "  good.square                          x**2; dx = 2 x ct",
    ]


def test_the_command(install: Install, monkeypatch: pytest.MonkeyPatch) -> None:
    root = install("alpha", GOOD)
    install("bad", "1 / 0")

    def run(**environment: str) -> Any:
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        command = [sys.executable, "-m", "tapeengine", "plugins"]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    monkeypatch.setenv("PYTHONPATH", f"{root}:{Path(__file__).parents[2]}")
    failing = run()
    assert failing.returncode == 1
    assert "alpha" in failing.stdout
    assert "ZeroDivisionError" in failing.stdout
    fine = run(TAPEENGINE_DISABLE_PLUGINS="bad,core")
    assert fine.returncode == 0
    assert "disabled" in fine.stdout


def test_importing_tapeengine_looks_for_no_plugins() -> None:
    code = "import sys, tapeengine; print([m for m in ('pluggy', 'importlib.metadata') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
