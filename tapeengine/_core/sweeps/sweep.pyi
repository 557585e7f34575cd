# For the other parts of the core, by sweep.pxd: nothing here is called from Python.
