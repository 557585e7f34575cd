# For the other parts of the core, by records.pxd: nothing here is called from Python.
