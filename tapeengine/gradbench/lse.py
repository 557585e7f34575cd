"""The evaluation ``lse``: the logarithm of a sum of exponentials."""

import tapeengine as te

from .functions import Function, entries
from .gmm import log_sum_exp

PREPARE = entries("x")
FUNCTIONS = {"primal": Function(PREPARE, log_sum_exp), "gradient": Function(PREPARE, te.grad(log_sum_exp))}
