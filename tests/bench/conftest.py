"""Make the benchmark programs importable."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[2]))
