"""Targets."""

from asv_bench.targets.target import Target

TARGETS: tuple[Target, ...] = ()
