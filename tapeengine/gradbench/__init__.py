"""An adapter for GradBench, the public benchmark of differentiation tools: ``python -m tapeengine.gradbench``.

`protocol` reads and writes its JSON messages on stdin and stdout. Each other module is one evaluation, whose FUNCTIONS
holds a `Function` for each name that GradBench asks for. The definitions come from GradBench and ADBench; the code is
written for this engine, in the idiom that an experienced user would choose.
"""
