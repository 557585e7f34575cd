"""The results of a checker: failures that name primitive, argument, sample and seed, and the parts it skipped."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from ..errors import TapeEngineError
from ..html import table


@dataclass(frozen=True)
class Failure:
    """One violation of the contract.

    Attributes
    ----------
    check : str
        The name of the check, such as ``adjoint``.
    subject : str
        The primitive or program.
    argument : str
        The argument whose rules were checked; empty if the check is about the whole operation.
    sample : str
        The sample, and the seed of its values.
    message : str
        A description of the failure, and how to correct it.
    """

    check: str
    subject: str
    argument: str
    sample: str
    message: str

    def __str__(self) -> str:
        where = f"{self.subject}, argument {self.argument!r}" if self.argument else self.subject
        return f"[{self.check}] {where}, {self.sample}: {self.message}"


class CheckError(TapeEngineError, AssertionError):
    """A primitive or a program violates the contract of derivative rules.

    Attributes
    ----------
    failures : tuple of Failure
        All failures that were found.
    """

    def __init__(self, failures: tuple[Failure, ...]) -> None:
        super().__init__("\n".join(map(str, failures)))
        self.failures = failures


@dataclass
class Report:
    """The result of a check: the number of runs of each check, the failures and the parts that were skipped.

    Examples
    --------
    >>> from tapeengine.testing import Report
    >>> report = Report("example.square")
    >>> report.fail("space", "x", "sample 0, seed 0", "wrong shape")
    >>> report.failed
    {'space'}
    """

    subject: str
    runs: dict[str, int] = field(default_factory=dict)
    failures: list[Failure] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)

    @property
    def failed(self) -> set[str]:
        """The names of the checks that failed."""
        return {failure.check for failure in self.failures}

    def ran(self, check: str) -> None:
        """Count one run of a check."""
        self.runs[check] = self.runs.get(check, 0) + 1

    def run(self, check: str, argument: str, sample: str, messages: Callable[[], Iterator[str]]) -> bool:
        """Run a check, and return whether it passed; each message is a failure, as is an exception that it raises."""
        before = len(self.failures)
        self.ran(check)
        try:
            for message in messages():
                self.fail(check, argument, sample, message)
        except Exception as error:
            self.fail(check, argument, sample, f"raises {type(error).__name__}: {error}")
        return len(self.failures) == before

    def fail(self, check: str, argument: str, sample: str, message: str) -> None:
        """Add a failure."""
        self.failures.append(Failure(check, self.subject, argument, sample, message))

    def skip(self, reason: str) -> None:
        """Add the reason why something was not checked, unless it is there already."""
        if reason not in self.skipped:
            self.skipped.append(reason)

    def warn_skipped(self) -> None:
        """Issue warnings about parts that were not checked, at the caller of the checker."""
        for reason in self.skipped:
            warnings.warn(f"{self.subject}: {reason}", stacklevel=3)

    def rows(self) -> list[tuple[str, int, str]]:
        """List the checks as (name, number of runs, ``ok`` or the messages of its failures)."""
        messages: dict[str, list[str]] = {}
        for failure in self.failures:
            messages.setdefault(failure.check, []).append(failure.message)
        return [(check, runs, "; ".join(messages.get(check, ["ok"]))) for check, runs in self.runs.items()]

    def table(self) -> str:
        """Return the checks as a table to print.

        Examples
        --------
        >>> from tapeengine.testing import Report
        >>> report = Report("square", {"value": 1})
        >>> print(report.table())
        square
        check         runs  outcome
        value            1  ok
        """
        lines = [f"{check:<12}{runs:>6}  {outcome}" for check, runs, outcome in self.rows()]
        skipped = [f"not checked: {reason}" for reason in self.skipped]
        return "\n".join([self.subject, f"{'check':<12}{'runs':>6}  outcome", *lines, *skipped])

    def _repr_html_(self) -> str:
        return table(self.subject, ("check", "runs", "outcome"), self.rows())

    def raise_failures(self) -> None:
        """Raise a `CheckError` if any check failed."""
        if self.failures:
            raise CheckError(tuple(self.failures))
