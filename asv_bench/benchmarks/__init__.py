"""Benchmarks that asv runs, one module for each part of the engine.

``time_*`` measure seconds, ``peakmem_*`` the process's memory, ``track_*`` either counts, which have no noise, or
ratios to the plain program, taken interleaved in one process.
"""

import sys
from pathlib import Path

# Appended, because tapeengine itself must be imported from the environment in which asv has installed it.
sys.path.append(str(Path(__file__).resolve().parents[2]))
