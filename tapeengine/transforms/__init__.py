"""What is built on the backpropagator: gradients, tangents, linear maps, Jacobians, custom rules, views of the tape.

Each function takes the engine first; `tapeengine.Engine` has them as methods, and `tapeengine` for its default engine.
"""
