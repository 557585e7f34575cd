"""The compiled core: tape, dual scalars, traced arrays, accumulation and the sweeps over the tape."""
