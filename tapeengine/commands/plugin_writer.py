"""The command ``new-plugin``: writes a distribution with one operation, as the start of a plugin."""

from __future__ import annotations

import argparse
import re
from importlib.resources import files
from pathlib import Path
from string import Template

from .target import CommandError

HELP = "write a plugin: one operation with its derivative, its C kernel, its entry point and its tests"
EXAMPLE = "python -m tapeengine new-plugin optics && cd tapeengine-optics && pip install -e '.[test]' && pytest"

#: What to do in the folder that was written.
AFTERWARDS = """pip install -e '.[test]'
pytest                            # the contract of derivative rules
python -m tapeengine plugins      # the table now lists it"""

PLACES = {
    "pyproject.toml": ".",
    "setup.py": ".",
    "README.md": ".",
    "test_contract.py": "tests",
    "__init__.py": "src/$package",
    "loss.py": "src/$package",
    "plugin.py": "src/$package",
    "_kernels.c": "src/$package",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's own options."""
    parser.add_argument("name", metavar="NAME", help="the plugin's name: letters, digits and '-', such as optics")
    parser.add_argument("--folder", help="where to write it (tapeengine-NAME); must not exist")


def run(options: argparse.Namespace) -> int:
    """Write the plugin and print the next steps."""
    folder = Path(options.folder or f"tapeengine-{options.name}")
    for path in write_plugin(options.name, folder):
        print(path)
    print(f"\ncd {folder}\n{AFTERWARDS}")
    return 0


def write_plugin(name: str, folder: Path) -> list[Path]:
    """Write the files of a plugin and return their paths.

    Raises
    ------
    CommandError
        If the name is invalid for a distribution and a module, or the folder exists.
    """
    if not re.fullmatch(r"[a-z][a-z0-9]*([-_][a-z0-9]+)*", name):
        raise CommandError(f"{name!r} is no valid plugin name: use small letters, digits and single '-', as in optics")
    if folder.exists():
        raise CommandError(f"{folder} exists; give another one with --folder")
    module = name.replace("-", "_")
    texts = {"name": module, "package": f"tapeengine_{module}", "distribution": f"tapeengine-{name.replace('_', '-')}"}
    paths = {file: folder / Template(place).substitute(texts) / file for file, place in PLACES.items()}
    written = [_write(path, _text(file, texts)) for file, path in paths.items()]
    return [*written, _write(paths["plugin.py"].with_name("py.typed"), "")]


def _text(file: str, texts: dict[str, str]) -> str:
    template = files("tapeengine.commands").joinpath("template", f"{file}.template").read_text(encoding="utf-8")
    return Template(template).substitute(texts)


def _write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path
