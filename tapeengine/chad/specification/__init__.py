"""The specification: the meaning and the cost of programs and their derivatives. The executed code does not import it.

=====================  ==============================================================================================
`evaluator`            the meaning of source and target terms, counting steps by the cost model of EC appendix C
`dense`                linear types as in EC Fig. 4
`environment`          environment cotangents as pairs (CHAD 7.5) and as vectors (EC Fig. 2)
`functions`            functions by copowers (CHAD 7.5)
`ladder`               the reverse derivative in each of these forms
`forward`              the forward derivative as a function of the context's tangent (CHAD 7.4)
`running`              a program's derivatives by evaluating their terms
=====================  ==============================================================================================
"""

from .dense import Dense
from .evaluator import Evaluator
from .forward import forward
from .ladder import FORMS, derivative, reverse_in

__all__ = ["FORMS", "Dense", "Evaluator", "derivative", "forward", "reverse_in"]
