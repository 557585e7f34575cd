"""Tasks that run in parallel, on threads or in other processes, and whose derivatives run in parallel as well."""
