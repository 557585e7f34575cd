"""Settings for the tests."""

import gc
import os

# OpenBLAS starts its threads for systems of any size, and on a busy machine waits milliseconds for them.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def pytest_collection_finish():
    """Take the tests themselves, many thousand objects, from what each garbage collection looks through."""
    gc.collect()
    gc.freeze()
