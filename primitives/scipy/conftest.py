"""Settings for the tests."""

import os

# OpenBLAS starts its threads for systems of any size, and on a busy machine waits milliseconds for them.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
