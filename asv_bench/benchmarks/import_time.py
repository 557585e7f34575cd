"""The cost of `import tapeengine`."""

import subprocess
import sys
from resource import RUSAGE_CHILDREN, getrusage

from asv_bench.measure import in_subprocess

MODULES = """
import sys
before = set(sys.modules)
import tapeengine
print(len([name for name in set(sys.modules) - before if name.split(".")[0] != "numpy"]))
"""


def children_time() -> float:
    """Return the CPU seconds of all child processes that have ended."""
    used = getrusage(RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


class Import:
    """Starts a new process for each sample."""

    timer = staticmethod(children_time)
    number = 1
    rounds = 2
    repeat = 10
    warmup_time = 0

    def time_import(self) -> None:
        subprocess.run([sys.executable, "-c", "import tapeengine"], check=True)

    def time_numpy_alone(self) -> None:
        subprocess.run([sys.executable, "-c", "import numpy"], check=True)

    def track_modules_beside_numpy(self) -> int:
        return int(in_subprocess(MODULES))
