"""Transforms built on the backpropagator: gradients, tangents, linear maps, Jacobians, custom rules, views of the tape.

Each function takes the engine as its first argument. `tapeengine.Engine` offers them as methods, and `tapeengine` as
functions of its default engine.
"""
