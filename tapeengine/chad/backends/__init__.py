"""Back ends run the intermediate form. Each takes a whole program; all give the same bits and the same errors."""
