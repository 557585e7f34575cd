"""Programs that run again without Python: recordings, the register machine; functions that wrap other functions."""
