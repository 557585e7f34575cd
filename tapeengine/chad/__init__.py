"""The CHAD frontend: typed functional programs and their readable derivatives (CHAD, EC)."""
