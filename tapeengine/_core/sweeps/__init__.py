"""Traces and the sweeps over their tapes: reverse, forward, for many cotangents or tangents at once, second order."""
