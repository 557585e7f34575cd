"""Statements: assignments and changes in place, branches, loops, jumps, calls."""
