"""Answer GradBench's messages until the input ends."""

import sys

from .protocol import serve

if __name__ == "__main__":
    serve(sys.stdin, sys.stdout)
