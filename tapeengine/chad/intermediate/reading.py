"""Write the intermediate form for readers: with expressions of up to a line, and with everything needed to run it."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..language.traverse import Names
from . import statements as F
from .analysis import changes, keeps, outs, reads, recalls, renamed, rewritten, walk
from .operations import ATOM, FUNCTIONS, Scalar
from .text import RESERVED, Writer, name

#: The length of the longest expression that replaces a variable.
LONGEST = 60


def readable(program: F.Program, about: str = "", file: str = "") -> str:
    """Write a program as Python that runs when it is pasted; comments give the lines of the file that it comes from."""
    writer = Reader(program, file)
    for function in program.functions.values():
        writer.function(without_copies(function))
    body = "\n".join(writer.lines).rstrip().replace("\n\n", "\n\n\n") + "\n"
    head = [f"# {about}"] if about else []
    return "\n".join([*head, *imports(body, writer.rules), *writer.rules.values(), "", "", body]).lstrip("\n")


def imports(body: str, rules: Mapping[Any, str]) -> list[str]:
    """Give the imports of the names that a text uses."""
    words = set(re.findall(r"\b([A-Za-z_]\w*)\(", body))
    called = sorted(words & FUNCTIONS.keys())
    of_math, others = ([w for w in called if hasattr(math, w) is there] for there in (True, False))
    running = sorted(words & {"add_all", "plus", "zeros_like"}) + ["registered"] * bool(rules)
    found = [f"from math import {', '.join(of_math)}"] if of_math else []
    found += ["import numpy as np"] if "np." in body else []
    found += [f"from tapeengine.chad.intermediate.scalars import {', '.join(others)}"] if others else []
    found += [f"from tapeengine.chad.intermediate.running import {', '.join(running)}"] if running else []
    return found + (["from tapeengine.chad.registered import named"] if rules else [])


class Reader(Writer):
    """Writes functions, replacing variables that are used once by expressions."""

    def __init__(self, program: F.Program, file: str = "") -> None:
        super().__init__(program)
        self.file = file
        self.latest: tuple[object, ...] = ()
        self.inline: dict[str, tuple[str, int]] = {}
        self.rules: dict[Any, str] = {}
        self.once: set[str] = set()
        self.changed: set[str] = set()
        self.rule_names: dict[Any, str] = {}
        self.shown: dict[str, str] = {}
        self.free = Names(RESERVED)

    def named(self, x: F.Var) -> str:
        """Give a variable a name that is free in its function; frames are passed by position, so names may differ."""
        if x.name not in self.shown:
            label = self.program.names.get(x.name)
            self.shown[x.name] = self.free(name(label.shown if label else x.name.rstrip("0123456789_") or "v"))
        return self.shown[x.name]

    def function(self, f: F.Function) -> None:
        """Write a function."""
        self.inline, self.shown, self.latest = {}, {}, ()
        self.free = Names({*RESERVED, *map(name, self.program.functions)})
        used: Counter[str] = Counter(x.name for x in f.results if isinstance(x, F.Var))
        self.changed = set()
        for s, _ in walk(f.body):
            used.update(x.name for x in reads(s) if isinstance(x, F.Var))
            self.changed |= {v.name for v in changes(s)}
            self.changed |= {v.name for v in outs(s)} if isinstance(s, F.Add) else set()
        passed = [v for k in (f.kept, f.recalled) if k is not None for v in k.fields]
        passed += [v for s, _ in walk(f.body) for v in (*keeps(s), *recalls(s))]
        kept = {v.name for v in passed}
        self.once = {n for n, count in used.items() if count == 1 and n not in kept}
        super().function(f)

    def block(self, statements: Sequence[F.Statement]) -> None:
        """Write statements; a value that is used once, in this block, is written at its use."""
        here = {x.name for s in statements for x in self.direct(s) if isinstance(x, F.Var)}
        assigned = {v.name for s in statements if isinstance(s, F.Assign) for v in s.outs}
        for s in statements:
            start = len(self.lines)
            if not self.moves(s, here, assigned):
                super().block([s])
            if len(self.lines) > start and not isinstance(s, F.Flow):
                self.lines[start] += self.comment(s)

    def comment(self, s: F.Statement) -> str:
        """Give a comment with the source line of a statement, if the statement above has another one."""
        places = [n.place for v in outs(s) if (n := self.program.names.get(v.name)) and n.place]
        if not places or places[0] == self.latest:
            return ""
        self.latest = file, line = places[0]
        return f"  # line {line}" if file == self.file else f"  # {file}:{line}"

    def direct(self, s: F.Statement) -> Sequence[F.Operand]:
        """Give the operands of a statement, including those of statements at a marked place."""
        return [x for inner in s.body for x in self.direct(inner)] if isinstance(s, F.Join) else reads(s)

    def moves(self, s: F.Statement, here: set[str], assigned: set[str]) -> bool:
        """Delay a statement whose value is used once in its block, so that it becomes part of an expression."""
        if not isinstance(s, F.Compute | F.Load | F.Size) or s.out.name not in self.once or s.out.name not in here:
            return False
        if any(isinstance(x, F.Var) and (x.name in self.changed or x.name in assigned) for x in reads(s)):
            return False
        text, binds = self.expression(s)
        if len(text) > LONGEST:
            return False
        self.inline[s.out.name] = text, binds
        return True

    def expression(self, s: F.Compute | F.Load | F.Size) -> tuple[str, int]:
        """Write the value of a statement, with its precedence."""
        if isinstance(s, F.Load):
            return self.place(s.array, s.indices), ATOM
        if isinstance(s, F.Size):
            return self.measured(s), ATOM
        binds = s.operation.binds
        if binds == ATOM:
            return s.operation.text.format(*map(self.operand, s.args)), ATOM
        return s.operation.text.format(*map(self.tight, s.args, s.operation.levels)), binds

    def operand(self, x: F.Operand) -> str:
        """Write an operand."""
        return self.inline[x.name][0] if isinstance(x, F.Var) and x.name in self.inline else super().operand(x)

    def tight(self, x: F.Operand, level: int = ATOM) -> str:
        """Write an operand, in parentheses if its precedence is lower than `level`."""
        if isinstance(x, F.Var) and x.name in self.inline:
            text, binds = self.inline[x.name]
            return text if binds >= level else f"({text})"
        return super().operand(x)

    def computed(self, s: F.Compute) -> str:
        """Write a scalar operation."""
        return self.expression(s)[0]

    def registered(self, s: F.Registered) -> str:
        """Give the name of a primitive's function, which is defined above the text."""
        key = (s.name, s.rule, s.argument, s.groups, s.static, tuple(v.type for v in s.outs))
        if key not in self.rule_names:
            short = re.sub(r"\W", "_", s.name.split(".")[-1]) + ("" if s.rule == "value" else f"_{s.rule}")
            tried = (f"{short}_{k or ''}_".replace("__", "_") for k in range(len(self.rules) + 1))
            given = next(n for n in tried if n not in self.rules)  # no variable has this ending
            groups = ", ".join(map(grouped, s.groups))
            types = ", ".join(repr(shape(v)) for v in s.outs)
            static = ", ".join(f"{k!r}: {v!r}" for k, v in s.static)
            made = f'named("{s.name}"), "{s.rule}", {s.argument}, [{groups}], [{types}], {{{static}}}'
            self.rule_names[key] = given
            self.rules[given] = f"{given} = registered({made})"
        return self.rule_names[key]


def without_copies(function: F.Function) -> F.Function:
    """Put variables in the place of their copies, where neither changes while the other is used."""
    every = [s for s, _ in walk(function.body)]
    made = [(v, x) for s in every if isinstance(s, F.Assign) for v, x in zip(s.outs, s.values, strict=True)]
    often = {n for n, count in Counter(v.name for v, _ in made).items() if count > 1}
    often |= {s.out.name for s in every if isinstance(s, F.Add)}
    stepped = {v.name for s in every if isinstance(s, F.For | F.While) for v, _ in s.carried}
    copied: dict[str, F.Operand] = {}
    for v, x in made:
        if isinstance(x, F.Var) and v.name not in stepped and not often & {v.name, x.name}:
            copied[v.name] = copied.get(x.name, x)
    found: F.Function = renamed(function, copied)
    return replace(found, body=rewritten(found.body, needed))


def needed(s: F.Statement) -> list[F.Statement]:
    """Leave out assignments of variables to themselves."""
    if not isinstance(s, F.Assign):
        return [s]
    pairs = [(v, x) for v, x in zip(s.outs, s.values, strict=True) if v != x]
    return [F.Assign(tuple(v for v, _ in pairs), tuple(x for _, x in pairs))] if pairs else []


def grouped(group: F.Group) -> str:
    """Write a group: None for a leaf, a tuple for a tuple."""
    if group.items is None:
        return "None"
    return f"({''.join(grouped(g) + ', ' for g in group.items)})"


def shape(v: F.Var) -> str:
    """Write the type of a leaf: its kind and its number of dimensions."""
    if isinstance(v.type, F.ArrayOf):
        return f"{kind_of(v.type.element)}{v.type.rank}"
    return kind_of(v.type)


def kind_of(of: F.Type) -> str:
    """Give the name of a type of numbers; a rule has no leaves of other types."""
    return of.name if isinstance(of, Scalar) else "other"
