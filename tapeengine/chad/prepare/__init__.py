"""What is done to a program before it is differentiated: closure conversion (EC 9), fusion, choices."""
