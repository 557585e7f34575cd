"""Every performance target as a benchmark, so that asv tracks the figures that docs/performance.md names."""

from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from asv_bench.measure import peers_python
from asv_bench.targets.target import Target


def figures(targets: tuple[Target, ...]) -> type:
    """Return a class of benchmarks with a method ``track_<name>`` for each target."""
    methods: dict[str, Any] = {f"track_{target.name}": method(target) for target in targets}
    return type("Figures", (), {"timeout": 300, **methods})


def method(target: Target) -> Callable[[Any], float]:
    """Return the benchmark of one target; asv skips it if it needs a tool that is not installed."""

    def measure(self: Any) -> float:
        return target.measure().value

    measure.__name__ = f"track_{target.name}"
    measure.__doc__ = f"Measure: {target.what}."
    measure.unit = target.unit  # type: ignore[attr-defined]
    if target.needs_peers:
        measure.setup = skip_without_peers  # type: ignore[attr-defined]
    if target.needs_module:
        measure.setup = partial(skip_without, target.needs_module)  # type: ignore[attr-defined]
    return measure


def skip_without(module: str) -> None:
    """Make asv skip a benchmark if a module is not installed."""
    if find_spec(module) is None:
        raise NotImplementedError(f"{module} is not installed")


def skip_without_peers() -> None:
    """Make asv skip a benchmark if the peers' environment does not exist."""
    if not Path(peers_python()).exists():
        raise NotImplementedError("the peers are not installed: make peers")
