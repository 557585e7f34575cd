"""What `import tapeengine` costs a process."""

import subprocess
import sys

from asv_bench.measure import in_subprocess

MODULES = """
import sys
before = set(sys.modules)
import tapeengine
print(len([name for name in set(sys.modules) - before if name.split(".")[0] != "numpy"]))
"""


class Import:
    """A fresh process for each sample."""

    def time_import(self) -> None:
        subprocess.run([sys.executable, "-c", "import tapeengine"], check=True)

    def time_numpy_alone(self) -> None:
        subprocess.run([sys.executable, "-c", "import numpy"], check=True)

    def track_modules_beside_numpy(self) -> int:
        return int(in_subprocess(MODULES))
