"""The written program: lines in blocks, removal of unused lines, and the values passed between passes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

NAME = re.compile(r"(?<![\w.'])[A-Za-z_]\w*")


def names_in(text: str) -> set[str]:
    """Give the names in an expression, without attributes."""
    return set(NAME.findall(text))


@dataclass(eq=False)
class Line:
    """``target = text``; or, if ``changes`` is a name, a statement that changes that variable.

    ``raises`` says that the line is needed for its errors even if its target is not used.
    """

    target: str
    text: str
    raises: bool = False
    changes: str = ""
    is_atom: bool = True


@dataclass(eq=False)
class Block:
    """Lines and branches in order."""

    lines: list[Line | Nest] = field(default_factory=list)


@dataclass(eq=False)
class Frames:
    """The kept values of a block: ``name`` is a tuple, ``names`` are its items."""

    name: str
    block: Block
    names: list[str] = field(default_factory=list)
    siblings: list[Frames] = field(default_factory=list)


@dataclass(eq=False)
class Nest:
    """A branch.

    * `heads`: one for each block.
    * `kept`: one for each block.
    * `recalled`: for each block, the frames that it recalls.
    * `sets`: the variables that the blocks may set and that are used after them.
    """

    heads: list[str]
    blocks: list[Block]
    kept: list[Frames] = field(default_factory=list)
    recalled: list[list[Frames]] = field(default_factory=list)
    sets: set[str] = field(default_factory=set)


def walk(block: Block) -> Iterator[Line | Nest]:
    """Iterate over all lines and nests."""
    for x in block.lines:
        yield x
        if isinstance(x, Nest):
            for inner in x.blocks:
                yield from walk(inner)


def own_names(x: Line | Nest) -> set[str]:
    """Give the names that a line or the head of a nest uses."""
    if isinstance(x, Line):
        return names_in(x.text)
    return {n for head in x.heads for n in names_in(head)}


def defined(block: Block) -> set[str]:
    """Give the names that have a value in a block, or through its branches."""
    found: set[str] = set()
    for x in block.lines:
        if isinstance(x, Line):
            found.add(x.target)
        else:
            found |= {f.name for f in x.kept} | x.sets
    return found


def pruned(block: Block, wanted: set[str]) -> None:
    """Remove the lines whose targets are not used."""
    while True:
        used = set(wanted)
        for x in walk(block):
            if isinstance(x, Nest) or x.raises:
                used |= own_names(x)
            elif x.changes:
                used |= names_in(x.text) - {x.changes}
            else:
                used |= names_in(x.text) - {x.target}
        if not swept(block, used):
            return


def swept(block: Block, used: set[str]) -> bool:
    """Remove lines; return whether there were any."""
    before, found = len(block.lines), False
    kept: list[Line | Nest] = []
    for x in block.lines:
        if isinstance(x, Line):
            if x.raises or (x.changes or x.target) in used:
                kept.append(x)
            continue
        for inner in x.blocks:
            found |= swept(inner, used)
        if any(b.lines for b in x.blocks) or any(f.name in used for f in x.kept):
            kept.append(x)
    block.lines[:] = kept
    return found or len(kept) < before


# ------------------------------------------------------------ frames


def uses(block: Block) -> list[str]:
    """Give the outer names that a block uses, in order; determine the fields of frames that inner blocks use."""
    own = defined(block)
    found: dict[str, None] = {}
    for x in block.lines:
        for n in sorted(own_names(x)):
            found.setdefault(n)
        if isinstance(x, Line):
            if x.changes:
                found.setdefault(x.changes)
            continue
        for k, inner in enumerate(x.blocks):
            needs = uses(inner)
            for frames in x.recalled[k] if x.recalled else ():
                has = defined(frames.block)
                for n in [n for n in needs if n in has]:
                    if n not in frames.names:
                        frames.names.append(n)
                needs = [n for n in needs if n not in has]
                if any(f.names for f in frames.siblings):
                    found.setdefault(frames.name)
            for n in needs:
                found.setdefault(n)
    return [n for n in found if n not in own]


# ------------------------------------------------------------ inlining


def inlined(block: Block, kept: set[str]) -> None:
    """Inline values that are used once, if no line in between changes an array."""
    counts: Counter[str] = Counter()
    for x in walk(block):
        texts = x.heads if isinstance(x, Nest) else [x.text]
        counts.update(n for t in texts for n in NAME.findall(t))
        if isinstance(x, Nest):
            counts.update(n for f in x.kept for n in f.names * 2)
    targets = Counter(x.target for x in walk(block) if isinstance(x, Line))
    within(block, counts, targets, kept)


def within(block: Block, counts: Counter[str], targets: Counter[str], kept: set[str]) -> None:
    """Inline values of one block."""
    held: dict[str, Line] = {}
    found: list[Line | Nest] = []
    for x in block.lines:
        if isinstance(x, Nest):
            release(held, found)
            for inner in x.blocks:
                within(inner, counts, targets, kept)
            found.append(x)
            continue
        for n in sorted(names_in(x.text) & held.keys()):
            line = held.pop(n)
            text = line.text if line.is_atom or x.text == n else f"({line.text})"
            x.is_atom = line.is_atom if x.text == n else x.is_atom
            x.text = re.sub(rf"(?<![\w.']){n}\b", lambda _, t=text: t, x.text)  # type: ignore[misc]
        if x.changes or targets[x.target] > 1:
            release(held, found)
        plain = not x.raises and not x.changes and x.target not in kept
        if plain and counts[x.target] == 1 and targets[x.target] == 1 and len(x.text) < LONGEST:
            held[x.target] = x
        else:
            found.append(x)
    release(held, found)
    block.lines[:] = found


def release(held: dict[str, Line], found: list[Line | Nest]) -> None:
    """Write delayed lines."""
    found.extend(held.values())
    held.clear()


#: Longer expressions get a name.
LONGEST = 90


# ------------------------------------------------------------ text


def rendered(name: str, params: Sequence[str], block: Block, results: str) -> str:
    """Write a function."""
    lines = [f"def {name}({', '.join(params)}):"]
    render(block, "    ", lines)
    return "\n".join([*lines, f"    return {results}", ""])


def listed(names: Sequence[str]) -> str:
    """Write a tuple of names."""
    return f"({', '.join(names)}{',' * (len(names) == 1)})"


def render(block: Block, indent: str, lines: list[str]) -> None:
    """Write a block."""
    start = len(lines)
    for x in block.lines:
        if isinstance(x, Line):
            lines.append(indent + (f"{x.target} = {x.text}" if x.target else x.text))
            continue
        for k, (head, inner) in enumerate(zip(x.heads, x.blocks, strict=True)):
            lines.append(indent + head)
            for f in x.recalled[k] if x.recalled else ():
                if f.names:
                    lines.append(f"{indent}    {listed(f.names)} = {f.name}")
            render(inner, indent + "    ", lines)
            if x.kept and x.kept[k].names:
                f = x.kept[k]
                lines.append(f"{indent}    {f.name} = {listed(f.names)}")
            elif x.kept and any(f.names for f in x.kept):
                lines.append(f"{indent}    {x.kept[k].name} = ()")
    if len(lines) == start:
        lines.append(indent + "pass")
