"""`check_primitive`: checks the whole contract of a primitive at each of its samples."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ..engine import Engine
from ..errors import PrimitiveError
from ..primitive import Primitive, Sample
from ..primitive.spaces import leaves, space_of
from .blocks import block_messages
from .case import Case
from .checks import CHECKS, ROUNDINGS, check_space
from .derivative import copied, has_nan, read_only, same_bits
from .edges import edge_messages
from .kernels import kernel_messages, opcode_messages
from .patterns import pattern_messages
from .report import Report
from .second_order import second_order_messages, untraced
from .zeros import is_elementwise, zero_messages


def check_primitive(primitive: Primitive, *, seed: int = 0, order: int = 2) -> Report:
    """Check a primitive against the contract of derivative rules, at each of its samples.

    The checks are ``samples`` (at least one exists), ``value`` (the primal runs, and has the value that the sample
    states), ``inputs`` (nothing writes into arguments, tangents or cotangents), ``space`` (of each tangent and
    cotangent), ``linearity``, ``adjoint`` (jvp and vjp are transposes of each other to 1e-13), ``differences`` (jvp
    against central differences), ``zero`` (a zero cotangent gives exactly zero, elementwise, even where the partial
    is infinite or NaN), ``repeat`` (a second call gives the same bits), ``block`` (the block form of a jvp rule
    against the rule), ``edges`` (first and second derivatives at ties, zeros, poles and infinities against those
    nearby), ``pattern`` (it holds what unit tangents reach), ``kernel`` and ``opcode`` (C against the primal and
    the rules) and ``order2`` (the derivatives of the rules).

    Parameters
    ----------
    primitive : Primitive
        The primitive to check.
    seed : int
        The seed for samples, tangents and cotangents.
    order : int
        With 1, the derivatives of the rules are not checked.

    Returns
    -------
    Report
        The number of runs of each check, and the parts that were skipped.

    Raises
    ------
    CheckError
        With one `Failure` for each broken rule, which names primitive, argument, sample and seed.

    Examples
    --------
    >>> from tapeengine.primitive.builders import SCALE
    >>> from tapeengine.testing import check_primitive
    >>> check_primitive(SCALE, order=1).runs["adjoint"]
    8
    """
    report = report_primitive(primitive, seed=seed, order=order)
    report.raise_failures()
    report.warn_skipped()
    return report


def report_primitive(primitive: Primitive, *, seed: int = 0, order: int = 2) -> Report:
    """Like `check_primitive`, but return the failures in the report."""
    if not isinstance(primitive, Primitive):
        what = f"check_primitive takes a Primitive, not {primitive!r}"
        raise PrimitiveError(f"{what}: check functions by check_vjp(f, x)")
    report = Report(primitive.name)
    samples: list[Sample] = []
    report.run("samples", "", f"seed {seed}", lambda: _sample_messages(primitive, seed, samples))
    found = [_case(report, primitive, position, sample, seed) for position, sample in enumerate(samples)]
    cases = [case for case in found if case is not None]
    elementwise = is_elementwise(cases, np.random.default_rng(seed))
    checker = _Checker(report, seed, order, elementwise, Engine())
    for case in cases:
        checker.check(case)
    return report


def _sample_messages(primitive: Primitive, seed: int, samples: list[Sample]) -> Iterator[str]:
    """Draw all samples and append them to a list."""
    samples.extend(primitive.samples_drawn(seed))
    if not samples:
        yield "there are no samples, so nothing can be checked; pass samples="


def _case(report: Report, primitive: Primitive, position: int, sample: Sample, seed: int) -> Case | None:
    report.ran("value")
    try:
        return Case(primitive, position, sample, seed)
    except Exception as error:
        told = f"the primal raises {type(error).__name__}: {error}"
        report.fail("value", "", f"sample {position}, seed {seed}", told)
        return None


@dataclass(frozen=True)
class _Checker:
    """The state that all samples of a primitive share."""

    report: Report
    seed: int
    order: int
    elementwise: bool
    engine: Engine

    def check(self, case: Case) -> None:
        """Check the whole operation at a sample, then each of its arguments."""
        for message in _value_messages(case):
            self.report.fail("value", "", case.where, message)
        is_smooth = case.sample.order >= 1 and any(True for _ in case.differentiated())
        if is_smooth and has_nan(case.out) and not has_nan(case.args):
            told = "the primal is NaN here: draw the sample from the operation's domain, or set order=0"
            self.report.fail("value", "", case.where, told)
            return
        self.report.run("inputs", "", case.where, lambda: _primal_writes(case))
        if case.primitive.kernel is not None:
            self.report.run("kernel", "", case.where, lambda: kernel_messages(case))
        if self.elementwise and self._has_edges(case):
            self.report.run("edges", "", case.where, lambda: edge_messages(self.engine, case))
        if case.primitive.opcode is not None:
            self.report.run("opcode", "", case.where, lambda: opcode_messages(case))
        for position in case.differentiated():
            if case.primitive.pattern is not None and is_smooth:
                messages = partial(pattern_messages, self.engine, case, position)
                self.report.run("pattern", case.name(position), case.where, messages)
            self._check_argument(case, position, np.random.default_rng((self.seed, position)))

    def _has_edges(self, case: Case) -> bool:
        """Whether to check edges: at the scalar sample of float64, and at samples marked as edges."""
        doubles = all(np.asarray(arg).dtype == np.float64 for arg in case.args)
        scalar = all(np.ndim(arg) == 0 for arg in case.args)
        traced = self.order >= 2 and untraced(self.engine, case) is None
        return doubles and traced and (case.sample.edge or scalar)

    def _check_argument(self, case: Case, position: int, generator: np.random.Generator) -> None:
        derivative = case.derivative(position)
        run, at = self.report.run, (derivative.argument, case.where)
        if not run("space", *at, lambda: check_space(derivative, generator)):
            return
        run("inputs", *at, lambda: _rules_write(case, position, generator))
        run("zero", *at, lambda: zero_messages(case, position, self.elementwise, generator))
        order = min(self.order, case.sample.order)
        if order >= 1:
            for name, check in CHECKS.items():
                run(name, *at, partial(check, derivative, generator))
            run("block", *at, lambda: block_messages(case, position, generator))
        if order >= 2:
            self._check_order2(case, position)

    def _check_order2(self, case: Case, position: int) -> None:
        reason = untraced(self.engine, case)
        if reason is not None:
            self.report.skip(reason)
            return
        messages = partial(second_order_messages, self.engine, case, position, self.seed)
        self.report.run("order2", case.name(position), case.where, messages)


def _value_messages(case: Case) -> Iterator[str]:
    for leaf in leaves(case.out):
        dtype = getattr(space_of(leaf), "dtype", None)
        if dtype is not None and dtype.kind == "O" and not isinstance(leaf, (str, bytes, type(None))):
            yield f"the value holds a {type(leaf).__name__}, but must be a number, an array or a structure of them"
    expected = case.sample.value
    if expected is not None and not _agrees(case, expected):
        yield f"the value is {case.out!r}, but the sample states {expected!r}"


def _agrees(case: Case, expected: Any) -> bool:
    if space_of(expected) != case.out_space:
        return False
    return all(_close(a, b) for a, b in zip(leaves(case.out), leaves(expected), strict=True))


def _close(a: Any, b: Any) -> bool:
    if not isinstance(a, (int, float, complex, np.ndarray, np.generic)):
        return bool(a == b)
    return bool(np.allclose(a, b, rtol=ROUNDINGS * 2.0**-52, atol=0.0, equal_nan=True))


def _primal_writes(case: Case) -> Iterator[str]:
    args = copied(case.args)
    case.value(args)
    if not same_bits(args, case.args):
        yield "the primal changes its inputs; let it work on a copy"
        return
    with np.errstate(all="ignore"):
        case.value(read_only(case.args))


def _rules_write(case: Case, position: int, generator: np.random.Generator) -> Iterator[str]:
    derivative = case.derivative(position, read_only)
    t, ct = derivative.space.random(generator), derivative.out_space.random(generator)
    for name, rule, first in (("jvp", derivative.jvp, t), ("vjp", derivative.vjp, ct)):
        given = copied(first)
        rule(given)
        if not same_bits(given, first):
            yield f"{name} writes into its first parameter; let it work on a copy"
        rule(read_only(first))
