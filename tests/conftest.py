"""Make the benchmark programs importable, after what is installed: an installed core is tested, not this folder's."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))
