"""The commands of ``python -m tapeengine``, a module each: HELP, EXAMPLE, add_arguments(parser), run(options)."""
