"""Special functions at complex arguments: first and second derivatives agree with SciPy's values, or are refused."""

import numpy
import pytest
import scipy

import tapeengine as te
from tapeengine.errors import TapeEngineError, UnsupportedError
from tapeengine_scipy import special

Z = numpy.array([0.4 + 0.3j, 1.2 - 0.5j, 2.7 + 0.1j])
STEP = 1e-4


def takes_complex():
    """Each special function with a rule, and the position of an argument that may be complex."""
    for primitive in te.default_engine().registry.values():
        name = primitive.name.rpartition(".")[2]
        theirs = getattr(scipy.special, name, None)
        if not isinstance(theirs, numpy.ufunc) or not primitive.name.startswith("scipy.special."):
            continue
        for place in range(len(primitive.args)):
            args = [numpy.array([1.3, 0.8, 1.0])] * len(primitive.args)
            args[place] = Z
            try:
                value = theirs(*args)
            except TypeError:
                continue
            if numpy.iscomplexobj(value) and numpy.isfinite(value).any():
                yield pytest.param(name, args, place, id=f"{name} {primitive.args[place]}")


def along_the_axes(f):
    """The derivative of a holomorphic function by differences, if both directions agree."""

    def slope(way):
        parts = [f(Z + k * STEP * way) for k in (-2, -1, 1, 2)]
        return (8 * (parts[2] - parts[1]) - (parts[3] - parts[0])) / (12 * STEP * way)

    one, other = slope(1.0), slope(1j)
    return one, numpy.isfinite(one) & (abs(one - other) < 1e-6 * (1 + abs(one)))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(("name", "args", "place"), list(takes_complex()))
def test_derivatives(name, args, place):
    def ours(z):
        return getattr(special, name)(*(z if k == place else x for k, x in enumerate(args)))

    def slope(z):
        return te.vjp(ours, z)[1](numpy.ones(3, complex))[0]

    for f, derivative in ((ours, slope), (slope, lambda z: te.vjp(slope, z)[1](numpy.ones(3, complex))[0])):
        try:
            found, (wanted, sure) = derivative(Z), along_the_axes(f)
        except TapeEngineError:
            return
        numpy.testing.assert_allclose(found[sure], wanted[sure], rtol=1e-7, atol=1e-7)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(("name", "args", "place"), list(takes_complex()))
def test_directions(name, args, place):
    """The derivative in each direction is that of both parts, also of functions that are not holomorphic."""
    z = Z * numpy.array([1.0, -1.0, 1.0])

    def ours(z):
        return getattr(special, name)(*(z if k == place else x for k, x in enumerate(args)))

    for way in (1.0, 1j, 0.6 - 0.8j):
        try:
            found = te.jvp(ours, (z,), (numpy.full(3, way, complex),))[1]
        except TapeEngineError:
            continue
        parts = [ours(z + k * STEP * way) for k in (-2, -1, 1, 2)]
        wanted = (8 * (parts[2] - parts[1]) - (parts[3] - parts[0])) / (12 * STEP)
        sure = numpy.isfinite(wanted) & (numpy.abs(parts[3] - parts[0]) < 0.1 * (1 + numpy.abs(parts[0])))
        numpy.testing.assert_allclose(found[sure], wanted[sure], rtol=1e-7, atol=1e-7)


def test_scaled_bessel_functions_of_complex_numbers_name_the_product():
    scaled = lambda z: special.iv(1, z) * numpy.exp(-numpy.abs(numpy.real(z)))  # noqa: E731
    with pytest.raises(UnsupportedError, match=r"iv\(v, z\) \* np.exp\(-np.abs\(np.real\(z\)\)\)"):
        te.jvp(lambda z: special.ive(1, z), (Z,), (Z,))
    slope = (special.ive(1, Z + STEP * 1j) - special.ive(1, Z - STEP * 1j)) / (2 * STEP)
    numpy.testing.assert_allclose(te.jvp(scaled, (Z,), (numpy.full(3, 1j),))[1], slope, rtol=1e-6)


@pytest.mark.parametrize(
    ("name", "rest"), [("zeta", ()), ("lambertw", ()), ("lambertw", ([0, 1],)), ("lambertw", (-1,))]
)
def test_functions_of_scipy_that_are_written_in_python(name, rest):
    f, ours = (lambda x, module=module: getattr(module, name)(x, *rest) for module in (scipy.special, special))
    x = numpy.array([1.5, 3.0])
    numpy.testing.assert_array_equal(te.vjp(f, x)[0], f(x))
    numpy.testing.assert_array_equal(te.jvp(f, (x,), (x,))[1], te.jvp(ours, (x,), (x,))[1])
    numpy.testing.assert_allclose(te.jvp(f, (x,), (x,))[1], (f(x * 1.00001) - f(x * 0.99999)) / 2e-5, rtol=1e-6)


def test_functions_without_a_rule_do_not_advise_to_install_this_plugin():
    for f in (scipy.special.ncfdtr, scipy.special.struve, scipy.special.modstruve):
        with pytest.raises(UnsupportedError, match="has no derivative rule") as caught:
            te.grad(lambda x, f=f: f(*[x] * f.nin))(0.5)
        assert "pip install" not in str(caught.value)


@pytest.mark.parametrize("x", [Z, numpy.array([0.5, 2.5]), numpy.array([-1.5]), numpy.array([1.0, 2.0])])
def test_zeta_without_a_second_argument(x):
    """SciPy uses another function for it, which is defined below 1 and at complex numbers."""
    numpy.testing.assert_array_equal(special.zeta(x), scipy.special.zeta(x))
    try:
        value = te.vjp(special.zeta, x)[0]
    except TapeEngineError:
        return
    numpy.testing.assert_allclose(value, scipy.special.zeta(x), rtol=1e-13)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("f", [lambda z: special.zeta(z, 2.0), lambda z: special.digamma(z), lambda z: special.zeta(z)])
def test_formulas_of_real_numbers_are_refused_at_complex_ones(f):
    with pytest.raises(UnsupportedError):
        te.vjp(f, Z)[1](numpy.ones(3, complex))
