"""The intermediate form as machine code through LLVM: optional, and imported at the first compilation."""
