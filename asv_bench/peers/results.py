"""The file of results, docs/peers.json: the rows of one commit, written atomically as they come."""

import importlib.metadata
import json
import os
import platform
import subprocess
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from asv_bench.peers.idioms import IDIOMS, installed, version
from asv_bench.programs.catalogue import PROGRAMS

ROOT = Path(__file__).resolve().parents[2]
MEASURED = ("tapeengine", "primitives", "asv_bench/peers", "asv_bench/programs", "asv_bench/measure.py", "setup.py")

Row = dict[str, Any]


def git(*arguments: str) -> str:
    """Return the output of a git command; empty if there is no repository."""
    done = subprocess.run(["git", *arguments], capture_output=True, text=True, cwd=ROOT)
    return done.stdout.strip() if done.returncode == 0 else ""


def commit() -> str:
    """Return the last commit that changed measured files, followed by a plus if files have changed since."""
    found = git("log", "-1", "--format=%h", "--", *MEASURED)
    return (found or "unknown") + ("+" if git("status", "--porcelain", "--", *MEASURED) else "")


def machine() -> dict[str, Any]:
    """Describe this machine."""
    cpu = Path("/proc/cpuinfo")
    lines = cpu.read_text().splitlines() if cpu.exists() else []
    names = [line.split(":")[1].strip() for line in lines if line.startswith("model name")]
    return {
        "processor": names[0] if names else platform.processor(),
        "cores": os.cpu_count(),
        "load": round(os.getloadavg()[1], 1),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "numpy": importlib.metadata.version("numpy"),
    }


class Results:
    """The rows of one commit, kept in a file.

    Parameters
    ----------
        The file. Its rows are kept if they are from the commit that is measured now, and dropped otherwise.
        The file. Its rows are kept where they are of the commit that is measured now, and left out otherwise.
    measured
        That commit.
    """

    def __init__(self, path: Path, measured: str) -> None:
        self.path, self.commit = path, measured
        self.rows: list[Row] = []
        self.memory: dict[str, float] = {}
        self.left_out = ""
        if path.exists():
            self.take(json.loads(path.read_text()))

    def take(self, old: dict[str, Any]) -> None:
        """Take over the rows of an earlier run on the same commit; unknown commits or changed files never match."""
        if old["commit"] == self.commit and self.commit != "unknown" and not self.commit.endswith("+"):
            self.rows, self.memory = old["rows"], old["memory"]
        else:
            self.left_out = f"{len(old['rows'])} rows of commit {old['commit']}, for this is {self.commit}"

    def replace(self, tool: str, program: str, rows: Iterable[Row]) -> None:
        """Replace all rows of the tool for the program by these, and write the file."""
        self.rows = [row for row in self.rows if (row["tool"], row["program"]) != (tool, program)]
        self.rows = sorted([*self.rows, *rows], key=place)
        self.write()

    def write(self) -> None:
        """Write the file next to its place and move it there, so that a reader never sees a partial file."""
        tools = {name: version(name) for name in IDIOMS if installed(name)}
        head = {"machine": machine(), "commit": self.commit, "day": datetime.now(UTC).date().isoformat()}
        text = json.dumps(head | {"tools": tools, "memory": self.memory}, indent=1)[:-2]
        body = ",\n".join(json.dumps(row) for row in self.rows)
        beside = self.path.with_name(f".{self.path.name}.{os.getpid()}")
        beside.write_text(f'{text},\n "rows": [\n{body}\n]}}\n')
        os.replace(beside, self.path)


def place(row: Row) -> tuple[int, int, int]:
    """Return the sort key of a row: program, tool and size."""
    return list(PROGRAMS).index(row["program"]), list(IDIOMS).index(row["tool"]), row["size"]


def disagreeing(rows: list[Row]) -> list[str]:
    """Return a line for each case whose slope differs from the other tools' by more than 1e-8."""
    lines = []
    for row in rows:
        if "slope" in row:
            case = row["program"], row["size"]
            others = sorted(r["slope"] for r in rows if "slope" in r and (r["program"], r["size"]) == case)
            middle = others[len(others) // 2]
            if abs(row["slope"] - middle) > 1e-8 * max(abs(middle), abs(row["value"])):
                lines.append(f"{row['tool']} on {row['program']} {row['size']}: {row['slope']!r}, others {middle!r}")
    return lines
