"""Builds the C kernels; everything else is in pyproject.toml. A plugin without kernels needs no setup.py."""

from setuptools import Extension, setup

setup(ext_modules=[Extension("tapeengine_example._kernels", ["src/tapeengine_example/_kernels.c"])])
