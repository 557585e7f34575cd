"""Every test program by four Jacobians that must agree: by hand, by differences, in forward and in reverse mode."""

from typing import Any

import forward_mode
import pytest
from jacobians import by_differences, by_forward_mode, by_reverse_mode, close, leaves
from programs import PROGRAMS, Program

every_program = pytest.mark.parametrize("program", PROGRAMS, ids=str)


def test_names_are_different() -> None:
    names = [program.name for program in PROGRAMS]
    assert len(set(names)) == len(names)


@every_program
def test_value(core: Any, program: Program) -> None:
    value, _ = core.vjp(lambda *xs: program.run(core.math, *xs), *program.inputs)
    assert close([leaves(value)], [leaves(program.run(forward_mode, *program.inputs))], 1e-14)


@every_program
def test_reverse_mode_agrees_with_forward_mode(core: Any, program: Program) -> None:
    ours = by_reverse_mode(core, program.run, program.inputs)
    assert close(ours, by_forward_mode(program.run, program.inputs), 1e-12)


@pytest.mark.parametrize("program", [p for p in PROGRAMS if p.step], ids=str)
def test_forward_mode_agrees_with_differences(program: Program) -> None:
    forward = by_forward_mode(program.run, program.inputs)
    assert close(by_differences(program.run, program.inputs, program.step), forward, 1e-7)


@pytest.mark.parametrize("program", [p for p in PROGRAMS if p.jacobian], ids=str)
def test_reverse_mode_agrees_with_the_derivative_by_hand(core: Any, program: Program) -> None:
    assert program.jacobian is not None
    ours = by_reverse_mode(core, program.run, program.inputs)
    assert close(ours, program.jacobian(*program.inputs), 1e-12)


@every_program
def test_both_cores_give_the_same_bits(cores: Any, program: Program) -> None:
    ours, theirs = (by_reverse_mode(core, program.run, program.inputs) for core in cores)
    assert repr(ours) == repr(theirs)
