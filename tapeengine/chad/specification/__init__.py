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

from tapeengine.chad.specification.dense import Dense
from tapeengine.chad.specification.evaluator import Evaluator
from tapeengine.chad.specification.forward import forward
from tapeengine.chad.specification.ladder import FORMS, derivative, reverse_in

__all__ = ["FORMS", "Dense", "Evaluator", "derivative", "forward", "reverse_in"]
