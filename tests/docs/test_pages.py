"""Every code block of every page runs by itself and prints what the page says; every link has a target."""

import importlib.util
import pkgutil
import re
from functools import cache

import pytest
from docs_blocks import PAGES, ROOT, Block, Outcome, all_blocks, run, words, written

import tapeengine as te

BLOCKS = [block for block in all_blocks() if block.language == "python"]
LANGUAGES = {"python", "output", "text", "console", "toml", "svg", "{toctree}", "{eval-rst}", "{include}", "{image}"}
LANGUAGES |= {"{figure}", "{literalinclude}", "{raw}", "{note}"}


#: What dotted names begin with that are no modules of the package: lifted twins, and the name of a C capsule.
NO_MODULES = ("tapeengine.lift.twins.", "tapeengine.kernel.")


#: What every page that is not an index says first.
HEAD = re.compile(r"# .+\n\n\*For (?s:[^*]*?)\byou\s+can\b(?s:[^*]*?)\.\*\n\n")


#: Public names that have no page in the reference: annotations, and what is documented with something else.
NOT_LISTED = {"Vec", "hookimpl", "__version__"}


@cache
def outcomes() -> dict[str, Outcome]:
    return run(BLOCKS)


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: block.name)
def test_a_block_runs_by_itself(block: Block) -> None:
    code, printed, error = outcomes()[block.name]
    if code == 77 and "tapeengine" not in error.replace("tapeengine_scipy", ""):
        pytest.skip(error.strip())
    assert code == 0, f"{block.name}\n{error}"
    if block.output is not None:
        assert words(printed) == words(block.output)
    lines = iter(map(words, printed.splitlines()))
    for expected in block.printed:
        assert expected in lines, f"{block.name} prints\n{printed}\nand not {expected!r} at its place"


def test_blocks_say_their_language() -> None:
    """An indented block, or a fence without a language, would be code that no test runs."""
    others = [b for b in all_blocks() if b.language not in LANGUAGES and not b.text.startswith("$ ")]
    assert {block.name: block.language for block in others} == {}
    for page in filter(written, PAGES):
        text = re.sub(r"^( *)```.*?^\1```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
        assert re.findall(r"(?<!\S\n)\n(    [^ \n|*-].*)", text) == [], page.name


@pytest.mark.parametrize("page", [p for p in PAGES if written(p)], ids=lambda page: str(page.relative_to(ROOT)))
def test_a_page_says_whom_it_is_for(page) -> None:
    if page.name not in ("README.md", "index.md") and page.parent.name != "reference":
        assert HEAD.match(page.read_text(encoding="utf-8"))


def test_the_reference_lists_all_names() -> None:
    text = (ROOT / "docs" / "reference" / "index.md").read_text(encoding="utf-8")
    listed = {line.strip().removeprefix("Engine.").rpartition(".")[2] for line in text.splitlines()}
    assert [name for name in te.__all__ if name not in listed | NOT_LISTED] == []


def test_a_table_ends_with_its_last_row() -> None:
    """Text in the next line would be a row."""
    for page in filter(written, PAGES):
        text = re.sub(r"^( *)```.*?^\1```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
        assert re.findall(r"^ *\|.*\n(?! *(?:\||<!--|$))(.*)$", text, re.MULTILINE) == [], page.name


@pytest.mark.parametrize("page", [p for p in PAGES if written(p)], ids=lambda page: str(page.relative_to(ROOT)))
def test_rows_have_the_cells_of_their_head(page) -> None:
    """A bar in a row, also one in code, begins a cell, and what follows the last column is not shown."""
    text = re.sub(r"^( *)```.*?^\1```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    for table in re.findall(r"(?:^ *\|.*\n)+", text, re.MULTILINE):
        head, *rows = (len(re.findall(r"(?<!\\)\|", row)) for row in table.splitlines())
        assert set(rows) == {head}, table


@pytest.mark.parametrize("page", [p for p in PAGES if written(p)], ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page) -> None:
    text = re.sub(r"```.*?```|`[^`\n]*`", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if not target.startswith(("http://", "https://", "#")):
            name, _, anchor = target.partition("#")
            there = page.parent / name
            assert there.exists() or there.with_suffix(".py").exists(), f"{page.name}: {target}"
            if anchor:
                headings = re.findall(r"^#+ (.*)$", there.read_text(encoding="utf-8"), re.MULTILINE)
                assert anchor in {slug(heading) for heading in headings}, f"{page.name}: {target}"


@pytest.mark.parametrize("page", [p for p in PAGES if written(p)], ids=lambda page: str(page.relative_to(ROOT)))
def test_names_of_the_package_exist(page) -> None:
    """In inline code, such as the tables for those who come from elsewhere; code blocks run."""
    text = re.sub(r"^( *)```.*?^\1```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    code = " ".join(re.findall(r"`([^`\n]+)`", text))
    for name in re.findall(r"\b(?:te|tapeengine)((?:\.[A-Za-z]\w*)+)", code):
        assert f"tapeengine{name}".startswith(NO_MODULES) or is_there(f"tapeengine{name}"), f"{page.name}: {name[1:]}"


@cache
def files() -> set[str]:
    """The paths of all files of the repository, each from every folder on."""
    rooms = [ROOT / name for name in ("tapeengine", "primitives", "tests", "asv_bench", "examples", "docs")]
    paths = [*ROOT.iterdir(), *(path for room in rooms for path in room.rglob("*.*") if "build" not in path.parts)]
    parts = [path.relative_to(ROOT).parts for path in paths]
    return {"/".join(part[k:]) for part in parts for k in range(len(part))}


@pytest.mark.parametrize("page", [p for p in PAGES if written(p)], ids=lambda page: str(page.relative_to(ROOT)))
def test_files_that_a_page_names_exist(page) -> None:
    """Files of the reader's own have a block with their text."""
    text = page.read_text(encoding="utf-8")
    own = set(re.findall(r"^:caption: (\S+)$", text, re.MULTILINE))
    text = re.sub(r"^( *)```.*?^\1```", "", text, flags=re.MULTILINE | re.DOTALL)
    named = set(re.findall(r"`([\w./]+\.(?:py|pyx|pxi|pxd|h))`", text)) - own
    assert [name for name in sorted(named) if name not in files()] == []


def is_there(name: str) -> bool:
    """Whether a dotted name is a module, or what a module holds."""
    module, _, last = name.rpartition(".")
    if not module or importlib.util.find_spec(module.partition(".")[0]) is None:
        return not module
    try:
        holder = pkgutil.resolve_name(module)
    except (ImportError, AttributeError):
        return False
    return hasattr(holder, last) or (hasattr(holder, "__path__") and importlib.util.find_spec(name) is not None)


def slug(heading: str) -> str:
    """The anchor of a heading on GitHub."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
