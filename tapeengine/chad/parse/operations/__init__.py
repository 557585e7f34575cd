"""Operations on terms: arithmetic, elementwise functions, whole arrays; and the state of the parser."""
