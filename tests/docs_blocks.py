"""The code blocks of the pages, and their execution: each in a process forked from one that has imported numpy."""

import json
import os
import re
import runpy
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
FENCE = re.compile(r"^( *)(`{3,})(\S*)[^\n]*\n(.*?)^\1\2[ ]*$", re.MULTILINE | re.DOTALL)
SAVED = re.compile(r":caption: (\w+\.py)\n")
EXPECTED = re.compile(r"^ *print\(.*\)  # (.*)$", re.MULTILINE)
SECONDS = 60
Outcome = tuple[int, str, str]  # exit code, stdout, stderr


@dataclass(frozen=True)
class Block:
    """A fenced block of a page: its position, language and text, and the output block that follows it."""

    page: Path
    line: int
    language: str
    text: str
    output: str | None = None
    files: tuple[tuple[str, str], ...] = ()  # files that the page tells the reader to save first

    @property
    def name(self) -> str:
        """The page and the line of the fence."""
        return f"{self.page.relative_to(ROOT)}:{self.line}"

    @property
    def printed(self) -> list[str]:
        """The output that the comments behind calls of `print` state."""
        return [words(text) for text in EXPECTED.findall(self.text)]


def words(text: str) -> str:
    """A text with normalised white space."""
    return " ".join(text.split())


def written(page: Path) -> bool:
    """Whether a page is written by hand; pages made by the site's builder are not tested."""
    parts = page.relative_to(ROOT).parts
    return not {"api", "_build"} & set(parts) and not (page.parent.name == "gallery" and page.stem != "index")


def blocks(page: Path) -> Iterator[Block]:
    """All fenced blocks of a page."""
    text = page.read_text(encoding="utf-8")
    found = list(FENCE.finditer(text))
    files: dict[str, str] = {}
    for match, after in zip(found, [*found[1:], None]):
        follows = after is not None and after[3] == "output" and not text[match.end() : after.start()].strip()
        output = after[4] if after is not None and follows else None
        source = re.sub(f"^{match[1]}", "", match[4], flags=re.MULTILINE)
        if saved := SAVED.match(source):
            files[saved[1]] = source = source[saved.end() :].lstrip("\n")
        language = "python" if saved else match[3]
        yield Block(page, 1 + text.count("\n", 0, match.start()), language, source, output, tuple(files.items()))


def all_blocks() -> list[Block]:
    """The fenced blocks of all pages."""
    return [block for page in PAGES if written(page) for block in blocks(page)]


def run(found: list[Block]) -> dict[str, Outcome]:
    """Run blocks in a process each, beside the files that their page tells the reader to save."""
    command = [sys.executable, __file__]
    programs = {block.name: {**dict(block.files), "block.py": block.text} for block in found}
    environment = os.environ | {"MPLBACKEND": "Agg"}
    done = subprocess.run(
        command, input=json.dumps(programs), capture_output=True, text=True, env=environment, check=True
    )
    return {name: (code, out, err) for name, (code, out, err) in json.loads(done.stdout).items()}


def run_all(programs: dict[str, dict[str, str]]) -> dict[str, Outcome]:
    """Fork for each program, two at a time."""
    waiting, running, outcomes = list(programs.items()), {}, {}
    with tempfile.TemporaryDirectory() as folder:
        while waiting or running:
            while waiting and len(running) < 2:
                name, files = waiting.pop(0)
                place = Path(folder, str(len(waiting)))
                place.mkdir()
                for file, source in files.items():
                    (place / file).write_text(source)
                running[start(place)] = name, place
            pid, status = os.wait()
            name, place = running.pop(pid)
            outcomes[name] = (
                os.waitstatus_to_exitcode(status),
                (place / "stdout").read_text(),
                (place / "stderr").read_text(),
            )
    return outcomes


def start(place: Path) -> int:
    """Run the program of a folder in a forked child; return its process id."""
    if pid := os.fork():
        return pid
    code = 1
    try:
        import signal

        signal.alarm(SECONDS)
        os.chdir(place)
        for stream, name in ((sys.stdout, "stdout"), (sys.stderr, "stderr")):
            os.dup2(os.open(name, os.O_CREAT | os.O_WRONLY), stream.fileno())
        sys.path.insert(0, str(place))
        sys.argv = ["block.py"]
        runpy.run_path("block.py", run_name="__main__")
        code = 0
    except ModuleNotFoundError as error:
        print(f"needs {(error.name or '').partition('.')[0]}", file=sys.stderr)
        code = 77
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    import contextlib

    import tapeengine

    tapeengine.default_engine()
    for module in ("scipy.optimize", "pandas", "tapeengine.chad", "tapeengine.testing"):  # slow imports
        with contextlib.suppress(ImportError):
            __import__(module)
    print(json.dumps(run_all(json.load(sys.stdin))))
