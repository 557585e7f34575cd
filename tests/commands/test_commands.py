"""The commands of ``python -m tapeengine``: their output, and their messages for wrong arguments."""

import argparse
import shlex
import subprocess
import sys
import tomllib
from importlib import import_module
from pathlib import Path

import pytest

import tapeengine as te
from tapeengine.__main__ import COMMANDS, main
from tapeengine.commands.plugin_writer import write_plugin
from tapeengine.commands.target import CommandError

SOURCE = """
import numpy as np
import tapeengine as te

x0 = np.array([1.0, 2.0])

def loss(x, y):
    total = 0.0
    for i in range(len(x)):
        total = total + x[i] * y[i]
    return total

def wrong(x):
    return bad(x)

@te.custom_vjp
def bad(x):
    return x * x

bad.defvjp(lambda x: (x * x, x), lambda x, ct: (3.0 * x * ct,))
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "model.py"
    path.write_text(SOURCE)
    return path


def test_the_version() -> None:
    done = subprocess.run([sys.executable, "-m", "tapeengine", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["tapeengine", te.__version__]


@pytest.mark.parametrize("command", COMMANDS)
def test_help_shows_an_example_that_parses(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main([command, "--help"])
    assert ended.value.code == 0
    example = " ".join(capsys.readouterr().out.split()).partition("example: python -m tapeengine ")[2]
    words = shlex.split(example.partition("&&")[0])
    assert words[0] == command
    from tapeengine.__main__ import parser

    assert parser().parse_args(words).command == command


@pytest.mark.parametrize("command", COMMANDS)
def test_help_names_the_defaults(command: str) -> None:
    own = argparse.ArgumentParser()
    import_module(COMMANDS[command]).add_arguments(own)
    numbers = [action for action in own._actions if type(action.default) is int]
    assert all(str(action.help).endswith(f"({action.default})") for action in numbers)


def test_check_of_a_right_and_of_a_wrong_derivative(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", f"{file}:loss", "x0", "[3.0, 4.0]", "--arrays"]) == 0
    rows = {line.split()[0]: line.split()[2] for line in capsys.readouterr().out.splitlines()[2:]}
    assert {"value", "adjoint", "differences", "order2"} <= set(rows)
    assert set(rows.values()) == {"ok"}
    assert main(["check", f"{file}:wrong", "2.0", "--order", "1"]) == 1
    failed = [line for line in capsys.readouterr().out.splitlines()[2:] if not line.endswith(" ok")]
    assert [line.split()[0] for line in failed] == ["differences"]


def test_profile_names_the_line_that_costs(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["profile", f"{file}:loss", "[1.0, 2.0, 3.0]", "[4.0, 5.0, 6.0]"]) == 0
    first, second, _, *rows = capsys.readouterr().out.splitlines()
    assert "times as much" in first and second.startswith("6 records")
    assert rows[0].split()[:2] == ["model.py:10", "6"]


def test_show_writes_pictures(file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    svg, dot = tmp_path / "tape.svg", tmp_path / "tape.dot"
    assert main(["show", f"{file}:loss", "[1.0]", "[4.0]", "--svg", str(svg), "--dot", str(dot)]) == 0
    assert "operations: mul 1" in capsys.readouterr().out
    assert svg.read_text().startswith("<svg") and dot.read_text().startswith("digraph")


@pytest.mark.parametrize("primals", [["3", "4"], ["[1, 2]", "[3, 4]"], ["[]", "[]"]])
def test_integers_alone_are_not_checked(primals: list[str], file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", f"{file}:loss", *primals]) == 2
    assert "3.0 for 3" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["show", "profile"])
def test_a_tape_without_records_is_shown(command: str, file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([command, f"{file}:loss", "[]", "[]"]) == 0
    assert capsys.readouterr().out.splitlines()[-1 if command == "profile" else -2].split() == [
        "whole",
        "tape",
        "0",
        "0",
    ]


def test_a_picture_that_cannot_be_written_is_named(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for option in ("--svg", "--dot"):
        place = tmp_path / "nowhere" / "tape"
        assert main(["show", f"{file}:loss", "[1.0]", "[4.0]", option, str(place)]) == 2
        assert f"cannot write {place}: No such file" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["missing.py:loss", "1.0"], "with an existing file, not 'missing.py:loss'"),
        (["model.py", "1.0"], "expected FILE:FUNCTION"),
        (["{file}:lost", "1.0"], "has no function 'lost'; it has loss, wrong"),
        (["{file}:loss", "1.0"], "missing a required argument: 'y'"),
        (["{file}:loss", "1.0", "2.0", "3.0"], "too many positional arguments"),
        (["{file}:loss", "[1.0", "2.0"], "'[1.0' is neither a literal"),
        (
            ["{file}:loss", "x1", "2.0"],
            "'x1' is neither a literal, such as 1.5 or '[1.0, 2.0]', nor a variable",
        ),
    ],
)
@pytest.mark.parametrize("command", ["show", "check", "profile"])
def test_wrong_arguments_are_named(
    command: str, arguments: list[str], message: str, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([command, *(text.replace("{file}", str(file)) for text in arguments)]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize("command", ["show", "profile"])
@pytest.mark.parametrize("primals", [["'a'", "2.0"], ["None", "2.0"], ["[1.0]", "[]"]])
def test_an_error_of_the_program_is_shown_without_the_engine(
    command: str, primals: list[str], file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([command, f"{file}:loss", *primals]) == 2
    told = capsys.readouterr().err
    assert "total + x[i] * y[i]" in told or "range(len(x))" in told
    assert told.count('File "') == 1 and told.splitlines()[-1].partition(":")[0] in ("TypeError", "IndexError")


@pytest.mark.parametrize(
    ("source", "message"), [("def loss(:", "SyntaxError"), ("import nothing_at_all", "ModuleNotFoundError")]
)
def test_a_file_that_does_not_run(
    source: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "bad.py").write_text(source)
    assert main(["show", f"{tmp_path / 'bad.py'}:loss", "1.0"]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize("name", ["", "Optics", "3d", "a--b", "a b", "../up", "a.b"])
def test_names_that_are_no_plugin(name: str, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="no valid plugin name"):
        write_plugin(name, tmp_path / "plugin")
    assert not (tmp_path / "plugin").exists()


def test_a_new_plugin_is_written_whole(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "not" / "there" / "yet"
    assert main(["new-plugin", "thin-film", "--folder", str(folder)]) == 0
    written = [Path(line) for line in capsys.readouterr().out.partition("\n\n")[0].split("\n")]
    assert {path.parent.relative_to(folder) for path in written} == {
        Path(),
        Path("tests"),
        Path("src/tapeengine_thin_film"),
    }
    for path in written:
        text = path.read_text()
        assert "$" not in text
        if path.suffix == ".py":
            compile(text, path.name, "exec")
    distribution = tomllib.loads((folder / "pyproject.toml").read_text())["project"]
    assert distribution["name"] == "tapeengine-thin-film"


def test_a_new_plugin_writes_over_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    with pytest.raises(CommandError, match="exists"):
        write_plugin("mine", folder)
    assert list(folder.iterdir()) == []
