"""The laws of linear maps (WN Figures 4 and 5), on derivatives of programs."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tapeengine as te
import tapeengine.numpy as tnp
from tapeengine import LinearMap
from tapeengine.errors import CotangentError, StructureError, UnsupportedError
from tapeengine.forms import form_of
from tapeengine.primitive.spaces import space_of
from tapeengine.structure import Structures

SPACES: dict[str, Any] = {
    "scalar": 1.5,
    "vector": np.zeros(3),
    "matrix": np.zeros((2, 2)),
    "pair": (0.5, np.zeros(2)),
    "tree": {"a": [0.1, 0.2], "n": 7, "b": (np.zeros(2), 0.3)},
}
space_names = st.sampled_from(sorted(SPACES))
seeds = st.integers(0, 2**32 - 1)
factors = st.floats(-4.0, 4.0).map(lambda x: round(x, 3))
laws = settings(max_examples=25, deadline=None)


def numbers(value: Any) -> list[float]:
    """The numbers of a structure, from left to right."""
    if value is None or isinstance(value, (int, str)):
        return []
    if isinstance(value, dict):
        return [x for part in value.values() for x in numbers(part)]
    if isinstance(value, (list, tuple)):
        return [x for part in value for x in numbers(part)]
    return [float(x) for x in np.ravel(value)]


def element(name: str, seed: int) -> Any:
    return space_of(SPACES[name]).random(np.random.default_rng(seed))


def linear_map(source: str, target: str, seed: int) -> LinearMap:
    """The derivative of a program with a matrix: a map without known structure."""
    rng = np.random.default_rng(seed)
    like, into = SPACES[source], te.LinearMap.identity(SPACES[target]).domain
    matrix = rng.standard_normal((into.size, len(numbers(like))))

    def program(x: Any) -> Any:
        flat = tnp.concatenate([tnp.reshape(tnp.asarray(part), (-1,)) for part in flat_parts(x)])
        return into.value(matrix @ tnp.sin(flat))

    return te.linearize(program, like)[1]


def flat_parts(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return [x for part in value.values() for x in flat_parts(part)]
    if isinstance(value, (list, tuple)):
        return [x for part in value for x in flat_parts(part)]
    return [] if isinstance(value, int) else [value]


def same(a: Any, b: Any) -> None:
    np.testing.assert_allclose(numbers(a), numbers(b), rtol=1e-11, atol=1e-11)


def equal_maps(m: LinearMap, n: LinearMap, seed: int) -> None:
    """Extensional equality, forwards and transposed (WN 2.1.2)."""
    assert m.domain == n.domain and m.codomain == n.codomain
    rng = np.random.default_rng(seed)
    x = m.domain.value(rng.standard_normal(m.domain.size))
    y = m.codomain.value(rng.standard_normal(m.codomain.size))
    same(m(x), n(x))
    same(m.T(y), n.T(y))


@laws
@given(space_names, space_names, seeds)
def test_transpose_is_tied_to_the_map_by_the_inner_product(s: str, t: str, seed: int) -> None:
    m = linear_map(s, t, seed)
    x, y = element(s, seed), element(t, seed + 1)
    left, right = np.dot(numbers(m.T(y)), numbers(x)), np.dot(numbers(y), numbers(m(x)))
    assert left == pytest.approx(right, rel=1e-12, abs=1e-12)


@laws
@given(space_names, space_names, seeds, factors)
def test_a_map_is_linear(s: str, t: str, seed: int, k: float) -> None:
    m = linear_map(s, t, seed)
    x, y = np.array(numbers(element(s, seed))), np.array(numbers(element(s, seed + 1)))
    of = m.domain.value
    np.testing.assert_allclose(numbers(m(of(x + y))), np.add(numbers(m(of(x))), numbers(m(of(y)))), atol=1e-11)
    np.testing.assert_allclose(numbers(m(of(k * x))), k * np.array(numbers(m(of(x)))), atol=1e-11)


@laws
@given(space_names, space_names, space_names, seeds)
def test_composition(r: str, s: str, t: str, seed: int) -> None:
    m, n = linear_map(s, t, seed), linear_map(r, s, seed + 1)
    x = element(r, seed)
    same((m @ n)(x), m(n(x)))
    equal_maps((m @ n).T, n.T @ m.T, seed)
    np.testing.assert_allclose((m @ n).matrix(), m.matrix() @ n.matrix(), atol=1e-11)


@laws
@given(space_names, space_names, seeds)
def test_zero_and_identity(s: str, t: str, seed: int) -> None:
    m = linear_map(s, t, seed)
    into, on = LinearMap.zero(SPACES[s], SPACES[t]), LinearMap.identity(SPACES[t])
    equal_maps(on @ m, m, seed)
    equal_maps(m @ LinearMap.identity(SPACES[s]), m, seed)
    equal_maps(LinearMap.zero(SPACES[t], SPACES[t]) @ m, into, seed)
    equal_maps(m @ LinearMap.zero(SPACES[s], SPACES[s]), into, seed)
    equal_maps(m + into, m, seed)
    equal_maps(into + m, m, seed)
    equal_maps(into.T, LinearMap.zero(SPACES[t], SPACES[s]), seed)
    equal_maps(on.T, on, seed)


@laws
@given(space_names, space_names, seeds)
def test_sums(s: str, t: str, seed: int) -> None:
    m, n = linear_map(s, t, seed), linear_map(s, t, seed + 1)
    x = element(s, seed)
    np.testing.assert_allclose(numbers((m + n)(x)), np.add(numbers(m(x)), numbers(n(x))), atol=1e-11)
    equal_maps((m + n).T, m.T + n.T, seed)
    equal_maps(m - m, LinearMap.zero(SPACES[s], SPACES[t]), seed)


@laws
@given(space_names, seeds, factors, factors)
def test_scalings(s: str, seed: int, j: float, k: float) -> None:
    def scaling(factor: float) -> LinearMap:
        return LinearMap.scaling(factor, SPACES[s])

    equal_maps(scaling(j) @ scaling(k), scaling(j * k), seed)
    equal_maps(scaling(j) + scaling(k), scaling(j + k), seed)
    equal_maps(scaling(k).T, scaling(k), seed)


@laws
@given(space_names, space_names, seeds)
def test_the_transpose_of_the_transpose_is_the_map(s: str, t: str, seed: int) -> None:
    m = linear_map(s, t, seed)
    assert m.T.T is m
    transpose = m.T
    assert m.T is transpose and transpose.T.T is transpose


@laws
@given(space_names, space_names, space_names, seeds)
def test_vertical_juxtaposition(r: str, s: str, t: str, seed: int) -> None:
    m, n, k = linear_map(s, t, seed), linear_map(s, s, seed + 1), linear_map(r, s, seed + 2)
    both = LinearMap.vstack((m, n))
    x = element(s, seed)
    same(both(x), (m(x), n(x)))
    equal_maps(both.T, LinearMap.hstack((m.T, n.T)), seed)
    equal_maps(both @ k, LinearMap.vstack((m @ k, n @ k)), seed)


@laws
@given(space_names, space_names, space_names, seeds)
def test_horizontal_juxtaposition(r: str, s: str, t: str, seed: int) -> None:
    m, n, k = linear_map(s, t, seed), linear_map(r, t, seed + 1), linear_map(t, s, seed + 2)
    both = LinearMap.hstack([m, n])
    x, y = element(s, seed), element(r, seed + 1)
    np.testing.assert_allclose(numbers(both([x, y])), np.add(numbers(m(x)), numbers(n(y))), atol=1e-11)
    equal_maps(both.T, LinearMap.vstack([m.T, n.T]), seed)
    equal_maps(k @ both, LinearMap.hstack([k @ m, k @ n]), seed)


@laws
@given(space_names, space_names, space_names, seeds)
def test_rows_meet_columns(r: str, s: str, t: str, seed: int) -> None:
    """(m1 ⋈ m2) ∘ (n1 × n2) = (m1 ∘ n1) ⊕ (m2 ∘ n2), the reason for the sum."""
    m1, m2 = linear_map(r, t, seed), linear_map(s, t, seed + 1)
    n1, n2 = linear_map(s, r, seed + 2), linear_map(s, s, seed + 3)
    equal_maps(LinearMap.hstack((m1, m2)) @ LinearMap.vstack((n1, n2)), m1 @ n1 + m2 @ n2, seed)


@laws
@given(space_names, st.sampled_from(["scalar", "vector", "matrix"]), seeds, st.integers(1, 3))
def test_arrays_of_maps(s: str, t: str, seed: int, count: int) -> None:
    """V(m) ⊙ x = build(i, m[i] ⊙ x); H is its transpose."""
    maps = np.empty(count, object)
    maps[:] = [linear_map(s, t, seed + i) for i in range(count)]
    turned = np.empty(count, object)
    turned[:] = [m.T for m in maps]
    x = element(s, seed)
    np.testing.assert_allclose(LinearMap.vstack(maps)(x), np.stack([m(x) for m in maps]), atol=1e-11)
    equal_maps(LinearMap.vstack(maps).T, LinearMap.hstack(turned), seed)
    equal_maps(LinearMap.hstack(turned).T, LinearMap.vstack(maps), seed)
    ys = np.random.default_rng(seed).standard_normal((count, *np.shape(SPACES[t])))
    total = np.sum([numbers(m.T(y if np.ndim(y) else float(y))) for m, y in zip(maps, ys, strict=True)], axis=0)
    np.testing.assert_allclose(numbers(LinearMap.hstack(turned)(ys)), total, atol=1e-11)


@pytest.mark.parametrize("shape", [(4,), (2, 2)])
def test_arrays_of_maps_at_traced_tangents(shape: tuple[int, ...]) -> None:
    """The derivative of a linear function is its transpose."""
    maps = np.empty(shape, object)
    maps.ravel()[:] = [linear_map("vector", "matrix", i) for i in range(4)]
    joined, x = LinearMap.vstack(maps), element("vector", 4)
    weights = np.random.default_rng(5).standard_normal(np.shape(joined(x)))
    np.testing.assert_allclose(te.grad(lambda v: tnp.sum(weights * joined(v)))(x), joined.T(weights), atol=1e-11)


@pytest.mark.parametrize("kind", [tuple, list, lambda maps: dict(enumerate(maps))])
def test_any_number_of_maps_in_any_container(kind: Callable[..., Any]) -> None:
    maps = [linear_map("vector", "scalar", i) for i in range(5)]
    assert LinearMap.vstack(kind(maps)).shape == (5, 3)
    equal_maps(LinearMap.vstack(kind(maps)).T, LinearMap.hstack(kind([m.T for m in maps])), 0)


def test_matrix_is_the_jacobian() -> None:
    def program(x: Any) -> Any:
        return tnp.sin(x) * x[0]

    x = np.array([0.3, 0.7, 1.1])
    np.testing.assert_allclose(te.linearize(program, x)[1].matrix(), te.jacobian(program)(x))


@pytest.mark.parametrize(("rows", "columns"), [(2, 5), (5, 2), (3, 3)])
def test_a_matrix_takes_as_many_calls_as_its_smaller_extent(rows: int, columns: int) -> None:
    matrix, calls = np.arange(1.0, rows * columns + 1).reshape(rows, columns), []

    def forward(t: Any) -> Any:
        calls.append("forward")
        return matrix @ t

    def backward(ct: Any) -> Any:
        calls.append("backward")
        return matrix.T @ ct

    forms = [form_of(Structures(), np.zeros(n)) for n in (columns, rows)]
    made = LinearMap(forward, backward, *forms)
    calls.clear()
    np.testing.assert_array_equal(made.matrix(), matrix)
    assert calls == (["forward"] * columns if columns <= rows else ["backward"] * rows)


def test_scipy_solves_with_a_map() -> None:
    linalg = pytest.importorskip("scipy.sparse.linalg")
    m = linear_map("tree", "pair", 5)
    y = np.array(numbers(element("pair", 3)))
    operator = m.as_scipy()
    x = linalg.lsqr(operator, y, atol=1e-14, btol=1e-14)[0]
    np.testing.assert_allclose(m.matrix() @ x, y, atol=1e-8)
    square = (m @ m.T + LinearMap.identity(SPACES["pair"])).as_scipy()
    solved, info = linalg.cg(square, y, rtol=1e-12)
    assert info == 0
    np.testing.assert_allclose(square.matvec(solved), y, atol=1e-9)


def test_an_array_of_maps_has_discrete_leaves_as_each_map_has() -> None:
    maps = [te.linearize(lambda x, k=k: (k * x, 3), 1.0)[1] for k in (2.0, 5.0)]
    m = LinearMap.vstack(np.array(maps))
    stacked, discrete = m(1.0)
    assert stacked.tolist() == [2.0, 5.0] and discrete is None
    assert m.T((np.array([1.0, 10.0]), None)) == 52.0


def test_maps_of_different_spaces_do_not_combine() -> None:
    m, n = linear_map("vector", "scalar", 0), linear_map("pair", "pair", 1)
    with pytest.raises(StructureError, match=r"f64\[3\]"):
        m @ n
    with pytest.raises(StructureError, match=r"hstack .* the same codomain; there are f64\[3\] and f64"):
        te.LinearMap.hstack((te.LinearMap.identity(np.ones(3)), te.LinearMap.identity(1.0)))
    with pytest.raises(StructureError, match="the same domain"):
        m + n
    with pytest.raises(CotangentError, match=r"must have the form f64\[3\], not \(f64, f64\)"):
        LinearMap.identity(np.zeros(3))((1.0, 2.0))


def test_a_map_can_be_differentiated() -> None:
    """The derivative of x |-> f'(x) v, through linearize within a trace."""

    def along(x: float) -> Any:
        return te.linearize(lambda t: t * t * t, x)[1](2.0)

    assert te.grad(along)(3.0) == pytest.approx(2.0 * 6.0 * 3.0)


@pytest.mark.parametrize("rows", [3, 90])
def test_the_matrix_of_a_program_on_arrays_comes_by_blocks(rows: int) -> None:
    """Tall and wide maps, by forward and reverse sweeps: few calls of the rules give the columns of the map."""
    calls = []

    @te.primitive
    def cube(x: Any) -> Any:
        return x**3

    def by_value(t: Any, x: Any) -> Any:
        calls.append(np.shape(t))
        return 3.0 * x * x * t

    cube.def_vjp(x=by_value).def_jvp(x=by_value)
    weights = np.random.default_rng(2).normal(size=(rows, 40))

    def program(x: Any, b: Any) -> Any:
        return {"h": cube(weights @ x) + b, "n": 3}

    _, m = te.linearize(program, np.linspace(-1.0, 1.0, 40), 0.5)
    matrix = m.matrix()
    assert matrix.shape == (rows, 41) == m.shape
    assert len(calls) <= 8
    columns = [m.codomain.vector(m(*m.domain.basis(j))) for j in range(41)]
    np.testing.assert_allclose(matrix, np.stack(columns, axis=1), rtol=1e-13, atol=1e-14)
    np.testing.assert_array_equal(m.T.matrix(), matrix.T)


def test_scipys_adjoint_of_a_complex_map_conjugates() -> None:
    pytest.importorskip("scipy.sparse.linalg")
    factors = np.array([[1.0 + 2.0j, 0.5j], [-1.0, 3.0 - 1.0j]])
    operator = te.linearize(lambda z: factors @ z, np.array([0.3 + 0.1j, 0.2 - 0.4j]))[1].as_scipy()
    x, y = np.array([1.0 - 1.0j, 0.5j]), np.array([0.25 + 1.0j, -2.0])
    np.testing.assert_allclose(operator.matvec(x), factors @ x)
    np.testing.assert_allclose(operator.rmatvec(y), factors.conj().T @ y)
    np.testing.assert_allclose(np.vdot(y, operator.matvec(x)), np.vdot(operator.rmatvec(y), x))


LIKE = [1.5, (1.5,), [1.5], {"a": 1.5}, {"b": 1.5}, (1.5, 1.5), np.zeros(1), np.zeros((1, 1)), np.zeros(1, complex)]


@pytest.mark.parametrize("first", range(len(LIKE)))
def test_forms_differ_by_container_key_shape_and_dtype(first: int) -> None:
    forms = [form_of(Structures(), like) for like in LIKE]
    assert [form == forms[first] for form in forms] == [k == first for k in range(len(LIKE))]
    assert forms[first] == form_of(Structures(), LIKE[first])


def test_the_items_of_a_tangent_belong_together_by_their_keys() -> None:
    form = form_of(Structures(), {"a": 1.5, "b": 2.5})
    for tangent in ({"a": 10.0, "b": 20.0}, {"b": 20.0, "a": 10.0}):
        assert form.vector(tangent).tolist() == [10.0, 20.0]


def linear(matrix: np.ndarray) -> LinearMap:
    return te.linearize(lambda x: matrix @ x, np.zeros(matrix.shape[1]))[1]


@pytest.mark.parametrize("dtype", [float, complex])
def test_operators_between_maps_and_arrays_are_those_of_matrices(dtype: type) -> None:
    random = np.random.default_rng(4)
    matrix = random.normal(size=(3, 2)).astype(dtype)
    m = te.linearize(lambda x: matrix @ x, np.zeros(2, dtype))[1]
    x, y = random.normal(size=2).astype(dtype), random.normal(size=3).astype(dtype)
    np.testing.assert_array_equal(m @ x, matrix @ x)
    np.testing.assert_allclose(y @ m, y @ matrix, rtol=1e-15)
    np.testing.assert_array_equal((m / 3).matrix(), matrix / 3)
    np.testing.assert_array_equal((-m).matrix(), -matrix)
    np.testing.assert_array_equal((-m - m).matrix(), -2 * matrix)
    for two in (2, 2.0, np.float64(2.0), np.array(2.0)):
        np.testing.assert_array_equal((two * m).matrix(), 2 * matrix)
        np.testing.assert_array_equal((m * two).matrix(), matrix * 2)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda m: np.ones(2) * m,
        lambda m: m * np.ones(2),
        lambda m: m + np.ones(2),
        lambda m: np.ones(2) + m,
        lambda m: m / m,
        lambda m: 2.0 / m,
        lambda m: m @ np.ones((2, 2)),
        lambda m: np.add(m, m),
        lambda m: te.grad(lambda x: (x * m)(np.ones(2)).sum())(np.ones(2)),
    ],
)
def test_no_operator_makes_an_array_of_maps(wrong: Callable[[LinearMap], Any]) -> None:
    with pytest.raises((TypeError, CotangentError)):
        wrong(linear(np.ones((3, 2))))


@pytest.mark.parametrize("rows", [1, 3])
def test_a_matrix_inside_a_trace_is_traced(rows: int) -> None:
    matrix = np.arange(6.0).reshape(3, 2)[:rows]

    def total(s: Any, jacobian: Callable[[Any], Any]) -> Any:
        return tnp.sum(jacobian(lambda x: tnp.sin(s * matrix @ x)) ** 2)

    def by_map(f: Any) -> Any:
        return te.linearize(f, np.ones(2))[1].matrix()

    expected = te.grad(lambda s: total(s, lambda f: te.jacobian(f)(np.ones(2))))(0.7)
    assert te.grad(lambda s: total(s, by_map))(0.7) == pytest.approx(expected, rel=1e-14)
    assert te.grad(lambda s: total(s, lambda f: te.linearize(f, np.ones(2))[1].T.matrix()))(0.7) == pytest.approx(
        expected, rel=1e-14
    )


def test_operators_of_maps_in_a_trace() -> None:
    m = linear(np.arange(6.0).reshape(3, 2))
    assert te.grad(lambda s: tnp.sum((s * m)(np.ones(2))))(2.0) == 15.0
    assert te.grad(lambda s: tnp.sum((m / s) @ np.ones(2)))(2.0) == -3.75
    np.testing.assert_array_equal(te.grad(lambda y: tnp.sum(y @ m))(np.ones(3)), [1.0, 5.0, 9.0])
    np.testing.assert_array_equal(te.grad(lambda x: tnp.sum(m @ x))(np.ones(2)), [6.0, 9.0])


@pytest.mark.parametrize("name", ["conj", "abs", "real", "square", "sin", "zeros_like", "exp", "angle", "imag"])
def test_a_map_of_complex_numbers_has_a_matrix_if_it_is_linear_over_them(name: str) -> None:
    z, t = np.array([1 + 1j, 2.0 - 0.5j]), np.array([1j, 2 - 1j])
    for scale in (1.0, 2 + 1j):
        m = te.linearize(lambda z, scale=scale: getattr(tnp, name)(z) * scale, z)[1]
        is_linear = np.allclose(m(1j * t), 1j * m(t))
        for vector in (lambda m: m.matrix() @ t, lambda m: m.as_scipy() @ t, lambda m: (m + m).matrix() @ t / 2.0):
            if is_linear:
                np.testing.assert_allclose(vector(m), m(t), rtol=1e-12, atol=1e-12)
            else:
                with pytest.raises(UnsupportedError, match="not linear over complex numbers"):
                    vector(m)


def test_a_map_of_real_and_complex_numbers_has_no_matrix() -> None:
    m = te.linearize(lambda x, z: x * z, 2.0, 1 + 2j)[1]
    with pytest.raises(UnsupportedError, match="not linear over complex numbers"):
        m.matrix()
    m = te.linearize(lambda x: x * (1 + 2j), np.ones(2))[1]
    np.testing.assert_array_equal(m.matrix(), (1 + 2j) * np.eye(2))


@pytest.mark.parametrize("join", [LinearMap.vstack, LinearMap.hstack])
@pytest.mark.parametrize(
    "nested", [lambda m: [m, [m]], lambda m: {"a": m, "b": (m, m)}, lambda m: ([[m]],), lambda m: m]
)
def test_nested_containers_of_maps_are_refused_at_once(join: Callable[[Any], LinearMap], nested: Any) -> None:
    with pytest.raises(StructureError, match="juxtapose"):
        join(nested(linear(np.ones((2, 2)))))
