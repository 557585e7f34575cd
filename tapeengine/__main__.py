"""The commands of ``python -m tapeengine``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from importlib import import_module

from . import __version__
from .commands.target import CommandError

COMMANDS = {
    "check": "tapeengine.commands.check",
    "ladder": "tapeengine.ladder.command",
    "new-plugin": "tapeengine.commands.plugin_writer",
    "plugins": "tapeengine.commands.plugins",
    "profile": "tapeengine.commands.profile",
    "show": "tapeengine.commands.show",
}


def parser() -> argparse.ArgumentParser:
    """Return the parser of all commands; each command's help ends with an example."""
    whole = argparse.ArgumentParser(prog="python -m tapeengine", description="Derivatives of ordinary Python programs.")
    whole.add_argument("--version", action="version", version=f"tapeengine {__version__}")
    commands = whole.add_subparsers(dest="command", required=True)
    for name, module in COMMANDS.items():
        command = import_module(module)
        own = commands.add_parser(
            name, help=command.HELP, description=command.HELP, epilog=f"example: {command.EXAMPLE}"
        )
        command.add_arguments(own)
        own.set_defaults(run=command.run)
    return whole


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status: 2 if its arguments are wrong."""
    options = parser().parse_args(arguments)
    try:
        return int(options.run(options))
    except CommandError as error:
        print(f"{options.command}: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
