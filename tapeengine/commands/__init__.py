"""The commands of ``python -m tapeengine``; each is a module: HELP, EXAMPLE, add_arguments(parser), run(options)."""
