"""Members of enumerations and texts that a branch, a loop or a record chooses: each can do what a known one can."""

import enum
import textwrap
from dataclasses import dataclass
from itertools import product

import pytest
from chad.written_functions import defined, refused

import tapeengine as te


class Kind(enum.Enum):
    """Two members with a property, a method, and names of different lengths."""

    CALL = 1.5
    PUT_ = -2.0

    @property
    def weight(self) -> float:
        """A number for each."""
        return 2.5 if self is Kind.CALL else 0.5

    def pay(self, s: float, k: float) -> float:
        """Compute with a traced number."""
        return self.value * max(s - k, 0.25)

    def other(self) -> "Kind":
        """The member that this one is not."""
        return Kind.PUT_ if self is Kind.CALL else Kind.CALL


@dataclass
class Held:
    """A record with a member."""

    kind: Kind
    size: float


#: Statements that give `k` one of two constants, `{a}` or `{b}`, by what a run knows.
WAYS = (
    "k = {a} if x > 2.0 else {b}",
    "k = {a}\nif x > 2.0:\n    k = {b}",
    "k = {a}\nfor _ in range(n):\n    k = {b} if k == {a} else {a}",
    "k = {a}\nwhile n > 0 and k == {a}:\n    k, n = {b}, n - 1",
    "k = ({a}, {b})[n % 2]",
    "k = {{True: {a}, False: {b}}}[x > 2.0]",
    "def chosen(y):\n    return {a} if y > 2.0 else {b}\nk = chosen(x)",
)
#: What uses a member.
OF_MEMBERS = (
    "k.value * x",
    "k.weight * x + k.other().value",
    "k.pay(x, 1.0)",
    "len(k.name) * x",
    "k.other().pay(x, k.weight)",
    "(x if k.name.startswith('P') else 2.0 * x)",
    "Held(k, x).kind.value * Held(k, x).size",
    "sum(h.kind.pay(x, h.size) for h in [Held(k, x), Held(Kind.CALL, 2.0)])",
    "{Kind.CALL: x, Kind.PUT_: 3.0 * x}[k]",
    "sum(m.value * x if m is k else x for m in Kind)",
    "x * len(Kind)",
)
#: What uses a text.
OF_TEXTS = (
    "len(k) * x",
    "(x if k.startswith('z') else 2.0 * x)",
    "(x if k + 'q' == 'zzq' else 2.0 * x)",
    "(x if f'<{k}>' == '<zz>' else 2.0 * x)",
    "(x if k[0] == 'z' else 2.0 * x)",
    "{'abc': x, 'zz': 3.0 * x}[k]",
    "len(k.upper()) * x",
)
CASES = [
    *product(WAYS, [("Kind.CALL", "Kind.PUT_")], OF_MEMBERS),
    *product(WAYS, [("'abc'", "'zz'")], OF_TEXTS),
]


@pytest.mark.parametrize(("way", "constants", "use"), CASES)
def test_a_chosen_constant_can_do_what_a_known_one_can(way: str, constants: tuple[str, str], use: str) -> None:
    """The value is Python's; the programs are linear between kinks, so differences give the derivative."""
    body = way.format(a=constants[0], b=constants[1])
    text = f"def f(x, n):\n{textwrap.indent(body, '    ')}\n    return {use}\n"
    plain = defined(text, Kind=Kind, Held=Held)
    refused(te.program(plain), 1.5, 0)
    for x, n in product((1.5, 3.0), (0, 1, 2)):
        value, pull = te.vjp(te.program(plain), x, n)
        assert value == plain(x, n)
        assert pull(1.0) == ((plain(x + 0.125, n) - plain(x - 0.125, n)) / 0.25, None)
