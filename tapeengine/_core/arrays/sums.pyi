# For the other parts of the core, by sums.pxd: nothing here is called from Python.
