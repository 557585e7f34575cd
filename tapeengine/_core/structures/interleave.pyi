# For the other parts of the core, by interleave.pxd: nothing here is called from Python.
