"""Structures of numbers: decomposed into leaves where they enter a trace, rebuilt where they leave it."""
