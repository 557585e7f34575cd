"""What is on a tape: counts, costs and pictures of its records, source lines, and where a number is not finite."""
