"""The commands of ``python -m tapeengine``. Each is a module with HELP, add_arguments(parser) and run(options)."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from importlib import import_module

COMMANDS = {
    "ladder": "tapeengine.ladder.command",
    "plugins": "tapeengine.plugins.command",
    "show": "tapeengine.transforms.show",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m tapeengine", description="Derivatives of ordinary Python programs."
    )
    commands = parser.add_subparsers(dest="command", required=True)
    for name, module in COMMANDS.items():
        command = import_module(module)
        own = commands.add_parser(name, help=command.HELP, description=command.HELP)
        command.add_arguments(own)
        own.set_defaults(run=command.run)
    options = parser.parse_args(arguments)
    return int(options.run(options))


if __name__ == "__main__":
    sys.exit(main())
