"""Compile the intermediate form to machine code through LLVM; optional, and imported at the first compilation."""
