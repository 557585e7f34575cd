"""Structures of numbers: taken apart where they enter a trace, put together where they leave it."""
