"""Answer GradBench's messages until the input ends."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[2]))

from asv_bench.gradbench.protocol import serve

if __name__ == "__main__":
    serve(sys.stdin, sys.stdout)
