"""What runs the intermediate form: each back end takes a whole program and gives the same bits and the same errors."""
