"""The benchmark programs in other tools, each in its natural and in its fastest idiom."""
