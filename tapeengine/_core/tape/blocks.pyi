# For the other parts of the core, by blocks.pxd: nothing here is called from Python.
