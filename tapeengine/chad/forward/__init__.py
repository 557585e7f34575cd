"""Forward CHAD (CHAD 7.4): derivatives along tangents."""
