"""Makes the virtual environment of the peers and measures them: `make peers PEERS_ARGS="..."`.

    python asv_bench/peers/setup.py [--environment DIR] [--only-install] [arguments of asv_bench.peers.run]

The environment is in .venv-peers, or where the variable TAPEENGINE_PEERS says. A peer that cannot be installed on this
machine is named and skipped.
"""

import argparse
import os
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
REQUIREMENTS = Path(__file__).with_name("requirements.txt")


def requirements() -> list[str]:
    """Return the pinned requirements."""
    lines = REQUIREMENTS.read_text().splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def install(python: Path) -> list[str]:
    """Install all requirements, one by one if they cannot be installed together; return those that failed."""
    pip = [str(python), "-m", "pip", "install", "--quiet"]
    if subprocess.run([*pip, "-r", str(REQUIREMENTS)]).returncode == 0:
        return []
    return [line for line in requirements() if subprocess.run([*pip, line]).returncode]


def main() -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(description="Make the environment of the peers and measure them.")
    default = Path(os.environ.get("TAPEENGINE_PEERS", ROOT / ".venv-peers"))
    parser.add_argument("--environment", type=Path, default=default)
    parser.add_argument("--only-install", action="store_true")
    options, rest = parser.parse_known_args()
    python = options.environment / "bin" / "python"
    if not python.exists():
        venv.create(options.environment, with_pip=True)
    for missing in install(python):
        print(f"{missing} could not be installed: its rows will be missing")
    subprocess.run([str(python), "-m", "pip", "install", "--quiet", str(ROOT)], check=True)
    if options.only_install:
        return 0
    environment = os.environ | {"TAPEENGINE_PEERS": str(options.environment)}
    code = f"import sys; sys.path.append({str(ROOT)!r}); from asv_bench.peers.run import main; sys.exit(main())"
    return subprocess.run([str(python), "-P", "-c", code, *rest], env=environment).returncode


if __name__ == "__main__":
    sys.exit(main())
