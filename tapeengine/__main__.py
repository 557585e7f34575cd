"""The commands of ``python -m tapeengine``."""

from __future__ import annotations

import argparse
import sys
import traceback
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

from . import __version__
from .commands.target import CommandError
from .errors import TapeEngineError

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
    except Exception as error:
        if (text := told(error)) is None:
            raise
        print(f"{options.command}: {text}", file=sys.stderr)
        return 2


def told(error: Exception) -> str | None:
    """Return the text of a wrong command or an error of the user's program, without the engine's frames.

    An error that arises inside the engine, and is not meant for users, has no such text.
    """
    if isinstance(error, (CommandError, TapeEngineError)):
        return "\n".join([str(error), *getattr(error, "__notes__", ())])
    frames = [
        f for f in traceback.extract_tb(error.__traceback__) if not f.filename.startswith("tapeengine")
    ]  # compiled
    own = [frame for frame in frames if not _is_ours(frame.filename)]
    if isinstance(error, SyntaxError) or (own and own[-1] is frames[-1]):
        lines = [*traceback.format_list(own), *traceback.format_exception_only(error)]
        return "the program raises\n" + "".join(lines).rstrip()
    return None


def _is_ours(file: str) -> bool:
    """Whether a frame is one of the engine's, or of `runpy`, which runs the program."""
    return file.startswith("<frozen") or Path(file).is_relative_to(Path(__file__).parent)


if __name__ == "__main__":
    sys.exit(main())
