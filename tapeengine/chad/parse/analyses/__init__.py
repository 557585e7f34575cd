"""What is found in syntax trees before terms are made: aliases, owners of arrays, lists, grids, iterators."""
