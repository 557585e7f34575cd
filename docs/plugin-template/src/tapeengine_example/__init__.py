"""The pseudo-Huber loss as a differentiable operation."""

from tapeengine_example.loss import pseudo_huber

__all__ = ["pseudo_huber"]
