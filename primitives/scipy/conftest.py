"""Settings for the tests."""

import os

# OpenBLAS wakes its threads for systems of any size, and on a busy machine waits milliseconds for them each time.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
