"""An adapter for GradBench, the public benchmark of tools that differentiate: ``python -m tapeengine.gradbench``.

`protocol` speaks its JSON messages on stdin and stdout. Each other module is one evaluation: it gives FUNCTIONS, a
`Function` for each name that GradBench asks for. The definitions are GradBench's and ADBench's; the code is written for
this engine, each in the idiom that a user who knows it would choose.
"""
