"""The ladder: the systems of the papers, executable and small, from the first to the last.

Each step is a module with the paper's rules above the code. `dn` is *Parallel Dual-Numbers Reverse AD*, `chad` is
*CHAD* and *Efficient CHAD*, `wn` the *Working notes on Automatic differentiation*. Nothing here is fast, and the engine
uses none of it; the counts of the steps say why the next one was taken.
"""
