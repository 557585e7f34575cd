"""Lower terms to the intermediate form: one lowering for values, forward passes, reverse passes and tangents."""
