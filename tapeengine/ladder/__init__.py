"""The ladder: the systems of the papers as small executable programs, in the order of the papers.

Each step is a module with the paper's rules above the code. `dn` is *Parallel Dual-Numbers Reverse AD*, `chad` is
*CHAD* and *Efficient CHAD*, `wn` the *Working notes on Automatic differentiation*. Nothing here is fast, and the engine
does not use it; the counts of each step show why the next step is needed.
"""
