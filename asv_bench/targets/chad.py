"""Targets."""

from targets.target import Target

TARGETS: tuple[Target, ...] = ()
