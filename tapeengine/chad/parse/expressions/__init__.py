"""Expressions: operators, subscripts, local functions, dicts, parts."""
