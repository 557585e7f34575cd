"""The tape of a trace: records, their ids, the table of opcodes, and the tape as a program that is recorded again."""
