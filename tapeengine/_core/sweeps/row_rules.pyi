# For the other parts of the core, by row_rules.pxd: nothing here is called from Python.
