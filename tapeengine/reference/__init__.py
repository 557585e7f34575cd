"""The executable specification of the scalar core, in small pure Python."""
