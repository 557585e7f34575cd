"""Statements and definitions that are rewritten as simpler Python before terms are made: match, generators, classes."""
