"""What names mean: scopes, what a function reads from outside of it, annotations, callees."""
