"""The plain benchmark programs compute the right values: known results, and comparisons with each other."""

import math
from functools import partial

import numpy as np
import pytest

import tapeengine as te
from asv_bench import against_duals
from asv_bench.peers.leaves import flat, leaves
from asv_bench.programs import (
    adbench_data,
    ba,
    gmm,
    gradbench,
    hand,
    loops,
    lstm,
    nested,
    network,
    network_arrays,
    particles,
    particles_arrays,
    products,
    quaternion,
)
from asv_bench.programs.catalogue import PROGRAMS
from asv_bench.programs.program import Program

# Written for thousands of points, for which dual numbers take a second.
SLOW = ("mixture", "gmm (twin)")

with_files = pytest.mark.skipif(adbench_data.loaders() is None, reason="TAPEENGINE_TEST_DATA names no folder")


def value_of(program: Program, size: int, functional: bool = False):
    run, primals = program.problem(size, math if program.flavour == "scalars" else np, functional)
    return run(*primals)


@pytest.mark.parametrize("name", PROGRAMS)
def test_program_gives_finite_values(name):
    program = PROGRAMS[name]
    assert np.all(np.isfinite(value_of(program, program.sizes[0])))


@pytest.mark.parametrize("program", [p for p in PROGRAMS.values() if p.known], ids=lambda p: p.name)
def test_known_values(program):
    for size, value in program.known.items():
        assert value_of(program, size) == pytest.approx(value, rel=1e-13)


@pytest.mark.parametrize("program", [p for p in PROGRAMS.values() if p.functional], ids=lambda p: p.name)
def test_program_without_assignment_gives_the_same(program):
    size = program.sizes[0]
    np.testing.assert_allclose(value_of(program, size), value_of(program, size, functional=True), rtol=1e-13)


@pytest.mark.parametrize(
    ("scalars", "arrays", "size"),
    [(particles.PROGRAM, particles_arrays.PROGRAM, 50), (network.PROGRAM, network_arrays.PROGRAM, 20)],
    ids=["particles", "network"],
)
def test_scalars_and_arrays_agree(scalars, arrays, size):
    assert value_of(arrays, size) == pytest.approx(value_of(scalars, size), rel=1e-12)


def test_determinant_is_numpys():
    (rows,) = gradbench.det_inputs(6)
    assert gradbench.determinant(math, rows) == pytest.approx(np.linalg.det(np.array(rows)), rel=1e-12)


def test_ode_tends_to_its_solution():
    x, steps = gradbench.ode_inputs(400)
    solution = math.prod(x) * 2.0 ** len(x) / math.factorial(len(x))
    assert gradbench.ode(math, x, steps) == pytest.approx(solution, rel=1e-4)


def test_rotation_keeps_the_length():
    vector, q = quaternion.inputs(1)
    rotated = quaternion.rotate(math, vector, q)
    assert math.hypot(*rotated) == pytest.approx(math.hypot(*vector), rel=1e-14)
    assert rotated != vector


def test_reads_sum_the_squares():
    (a,) = loops.read_inputs(100)
    assert loops.index_reads(np, a) == pytest.approx(np.dot(a, a), rel=1e-13)


def test_gradients_by_hand_match_differences():
    for program, by_hand in ((products.MATVEC, products.matvec_by_hand), (products.MATMUL, products.matmul_by_hand)):
        run, primals = program.problem(7, np)
        directions = [np.random.default_rng(i).standard_normal(p.shape) for i, p in enumerate(primals)]
        value, gradients = by_hand(*primals)
        ahead, behind = (run(*(p + h * d for p, d in zip(primals, directions))) for h in (1e-4, -1e-4))
        assert value == pytest.approx(run(*primals), rel=1e-13)
        slope = sum(np.sum(g * d) for g, d in zip(gradients, directions))
        assert (ahead - behind) / 2e-4 == pytest.approx(slope, rel=1e-8)


def central_gradient(f, x):
    h = 1e-6
    steps = [[h if i == j else 0.0 for j in range(len(x))] for i in range(len(x))]
    return [(f([a + b for a, b in zip(x, step)]) - f([a - b for a, b in zip(x, step)])) / (2 * h) for step in steps]


def test_particle_with_differences_comes_close_to_the_known_control():
    assert nested.particle(central_gradient, central_gradient) == pytest.approx(nested.PARTICLE, abs=1e-4)


@with_files
@pytest.mark.parametrize(
    ("program", "reference"),
    [
        (gmm.PROGRAM, "gmm_d10_K10"),
        (lstm.PROGRAM, "lstm_l2_c1024"),
        (hand.PROGRAM, "hand_simple"),
        (hand.COMPLICATED, "hand_complicated"),
    ],
    ids=lambda x: getattr(x, "name", x),
)
def test_adbench_values(program, reference):
    loaders = adbench_data.loaders()
    assert loaders.rho(value_of(program, program.sizes[-1]), loaders.reference(reference)["F"]) < 1e-12


@with_files
def test_bundle_adjustment_values():
    loaders = adbench_data.loaders()
    error, weight_error = value_of(ba.PROGRAM, 31843)
    known = loaders.reference("ba1")
    assert loaders.rho(error, known["reproj_err"]) < 1e-12
    assert loaders.rho(weight_error, known["w_err"]) < 1e-12


FORMS = {
    "gmm": adbench_data.gmm,
    "lstm": adbench_data.lstm,
    "hand": adbench_data.hand,
    "hand_complicated": partial(adbench_data.hand, complicated=True),
    "ba": adbench_data.ba,
}


@with_files
@pytest.mark.parametrize("name", FORMS)
def test_generated_data_has_the_form_of_the_files(name, monkeypatch):
    from_files = FORMS[name]()
    monkeypatch.setattr(adbench_data, "loaders", lambda: None)
    generated = FORMS[name]()
    for key, value in from_files.items():
        if isinstance(value, np.ndarray) and key != "triangles":
            assert generated[key].shape == value.shape, key
            assert generated[key].dtype == value.dtype, key


@pytest.mark.parametrize("name", [name for name in against_duals.DERIVATIVES if name not in SLOW])
def test_typed_programs_have_the_derivatives_of_dual_numbers(name):
    ours, plain = (flat(leaves(list(derivative()))) for derivative in against_duals.duals(name))
    np.testing.assert_allclose(ours, plain, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", against_duals.BY_HAND)
def test_gradients_by_hand_are_right(name):
    program, inputs = against_duals.CASES[name]
    primals = inputs()
    value, gradients = against_duals.BY_HAND[name](*primals)
    found, back = te.vjp(program, *primals)
    assert found == pytest.approx(value, rel=1e-12)
    np.testing.assert_allclose(flat(leaves(list(back(1.0)))), flat(list(gradients)), rtol=1e-9, atol=1e-9)
