"""The functions of Python, math, numpy and this package that programs may call."""
