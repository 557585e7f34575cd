"""The command ``plugins``: a table of plugins, versions, hooks, primitives and failures."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from ..engine import Engine
from ..plugins.discovery import LoadedPlugins, PluginRecord, load_plugins
from ..primitive.registry import PluginFailure

HELP = "list the installed plugins, their contents and failures"
EXAMPLE = "python -m tapeengine plugins --names"
_HEADERS = ("plugin", "distribution", "version", "hooks", "primitives", "state")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's own options."""
    parser.add_argument("--names", action="store_true", help="list the primitives of each plugin by name")


def run(options: argparse.Namespace) -> int:
    """Print the table; the exit status is 1 if a plugin fails."""
    failures = Engine().registry.failures  # building an engine shows failures of tapeengine_configure
    print(table(load_plugins(), failures, names=options.names))
    return 1 if failures else 0


def table(loaded: LoadedPlugins, failures: Sequence[PluginFailure] = (), *, names: bool = False) -> str:
    """Return the table of plugins as text, followed by their failures."""
    if not loaded.records:
        return "no plugin is installed"
    failures = failures or loaded.registry.failures
    lines = _aligned([_HEADERS, *(_row(record, failures) for record in loaded.records)])
    lines += map(str, failures)
    if names:
        lines += [line for record in loaded.records for line in _primitives(record)]
    return "\n".join(lines)


def _row(record: PluginRecord, failures: Sequence[PluginFailure]) -> tuple[str, ...]:
    own = [failure.whole for failure in failures if failure.origin == record.origin]
    state = "disabled" if record.disabled else "failed" if any(own) else "in part" if own else "ok"
    count = str(len(record.contribution.primitives)) if record.contribution is not None else "-"
    hooks = " ".join(hook.removeprefix("tapeengine_") for hook in record.hooks) or "-"
    origin = record.origin
    return origin.plugin, origin.distribution or "-", origin.version or "-", hooks, count, state


def _aligned(rows: list[tuple[str, ...]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def _primitives(record: PluginRecord) -> list[str]:
    if record.contribution is None:
        return []
    return ["", f"{record.origin}:", *(f"  {p.name:<36} {p.doc}".rstrip() for p in record.contribution.primitives)]
