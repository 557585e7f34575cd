"""The meaning of source and target terms, counting steps by the cost model of EC appendix C."""

from tapeengine.chad.evaluate.evaluator import Evaluator

__all__ = ["Evaluator"]
