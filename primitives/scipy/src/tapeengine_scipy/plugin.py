"""The hooks of this plugin: its primitives, the rules for SciPy's ufuncs, and sparse matrices as structures."""

from collections.abc import Callable, Mapping
from importlib import import_module
from types import ModuleType
from typing import Any

from tapeengine.plugins import hookimpl
from tapeengine.primitive import Primitive
from tapeengine.structure import Container

MODULES = (
    "special.bessel", "special.chances", "special.elementary", "special.elliptic", "special.entropy",
    "special.errorfunctions",
    "special.exponential", "special.faddeeva", "special.gamma", "special.hurwitz", "special.incomplete",
    "special.inverses", "special.lambert", "special.macdonald", "special.pairs", "special.polynomials",
    "special.reductions", "special.student", "linalg.solve", "linalg.structured", "linalg.construct",
    "linalg.decompositions", "linalg.eigen", "linalg.orthogonal", "linalg.rectangular", "linalg.triangular",
    "linalg.matrixfunctions", "linalg.sylvester", "linalg.riccati", "stats._support", "stats.continuous",
    "stats.discrete", "stats.multivariate", "interpolate.bsplines", "interpolate.polynomials", "interpolate.samples",
    "ndimage.interpolation", "_making", "fft", "_trigonometric", "signal", "_filters", "sparse.pattern",
    "sparse.linalg", "optimize.implicit", "integrate.quadrature",
)  # fmt: skip


def _modules() -> list[ModuleType]:
    return [import_module(f"tapeengine_scipy.{name}") for name in MODULES]


def _each(held: Any) -> tuple[Any, ...]:
    return held if type(held) is tuple else (held,)


@hookimpl
def tapeengine_primitives() -> list[Primitive]:
    """Return the primitives of all modules."""
    values = (value for module in _modules() for held in vars(module).values() for value in _each(held))
    found = {value.name: value for value in values if issubclass(type(value), Primitive)}
    return [primitive for name, primitive in found.items() if name.startswith("scipy.")]


def ufunc_rules() -> Mapping[Callable[..., Any], Callable[..., Any]]:
    """Map the ufuncs of `scipy.special` to their primitives, and those that its functions of Python call."""
    import numpy
    import scipy

    from tapeengine_scipy._build import scipys
    from tapeengine_scipy.special import airy, fresnel, lambertw, shichi, sici, zeta

    hidden = scipy.special._ufuncs
    rules: dict[Any, Callable[..., Any]] = {hidden._riemann_zeta: zeta, hidden._lambertw: lambertw}
    for primitive in tapeengine_primitives():
        function = scipys(primitive.name.rpartition(".")[2])
        if isinstance(function, numpy.ufunc) and primitive.name.startswith("scipy.special."):
            rules[function] = primitive
    return rules | {getattr(scipy.special, pair.__name__): pair for pair in (airy, fresnel, shichi, sici)}


def sparse_rules() -> Mapping[type, Callable[..., Any]]:
    """Map SciPy's classes of sparse matrices to their operators with traced arrays."""
    from tapeengine_scipy.sparse.operands import rules

    return rules()


@hookimpl
def tapeengine_modules() -> Mapping[str, str]:
    """Name the modules of SciPy that have counterparts here."""
    names = (
        "differentiate fft integrate interpolate linalg ndimage optimize optimize.elementwise signal sparse "
        "sparse.linalg spatial spatial.distance special stats"
    ).split()
    return {f"scipy.{name}": f"tapeengine_scipy.{name}" for name in names}


@hookimpl
def tapeengine_structures() -> Mapping[type | tuple[str, str], Container]:
    """Return how to decompose results of solvers, and sparse matrices: of these the entries are differentiated."""
    from tapeengine_scipy._results import RESULTS
    from tapeengine_scipy.sparse.matrix import SparseArray

    return {
        **RESULTS,
        SparseArray: Container(
            lambda matrix: ([matrix.entries], matrix.pattern),
            lambda pattern, children: SparseArray(children[0], pattern),
            lambda pattern: [".data"],
        ),
    }


@hookimpl
def tapeengine_numpy_rules() -> Mapping[Any, Callable[..., Any]]:
    """Return the rules for objects in SciPy's modules, which are slow to import, to be used once they are imported."""
    return {"scipy.special": ufunc_rules, "scipy.sparse": sparse_rules}
