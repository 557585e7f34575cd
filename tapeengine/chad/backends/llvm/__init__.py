"""The intermediate form as machine code, through LLVM: an optional back end that is imported at the first compilation."""
