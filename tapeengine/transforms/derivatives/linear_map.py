"""Linear maps as values (WN sections 2.1 to 2.5): applied, transposed and combined without building matrices.

A `LinearMap` stores how to apply itself to a tangent and its transpose to a cotangent. The operators are Figure 3's:
``m(x)`` or ``m @ x`` (⊙), ``m.T(y)`` or ``y @ m`` (⊙R), ``m @ n`` (∘), ``m + n`` (⊕), `zero`, `identity`, `scaling`,
`vstack` (× and V), `hstack` (⋈ and H). The laws of Figure 4 hold by the definition of application, except for the zero
map's. `matrix` builds a matrix on request.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from ..._core.sweeps.trace import value_of
from ...errors import StructureError, UnsupportedError
from ...forms import Form, add, form_of, map_leaves
from ...structure import Structures
from .juxtaposition import common, in_a_row, total

Action = Callable[[Any], Any]


class LinearMap:
    """A linear map between spaces of structures, with its transpose.

    Parameters
    ----------
    action : callable
        Applies the map to a tangent.
    transposed : callable
        Applies the transpose to a cotangent: ``<y, action(x)> == <transposed(y), x>``.
    domain, codomain : Form
        The spaces of the tangents and of the results.
    matrix : callable, optional
        Returns the matrix faster than the action does, or None.

    Examples
    --------
    >>> import tapeengine as te
    >>> value, m = te.linearize(lambda x, y: (x * y, x + y), 2.0, 3.0)
    >>> m(1.0, 0.0), m.T((1.0, 0.0))
    ((3.0, 1.0), (3.0, 2.0))
    >>> (m.T @ m)(1.0, 0.0)
    (10.0, 7.0)
    >>> m.matrix()
    array([[3., 2.],
           [1., 1.]])
    """

    #: numpy leaves operators between arrays and maps to the map.
    __array_ufunc__ = None
    #: Calls that run again look into the functions that a map is made of.
    __tapeengine_parts__ = True

    __slots__ = ("__weakref__", "_action", "_matrix", "_of", "_transpose", "_transposed", "codomain", "domain")

    _transpose: weakref.ref[LinearMap] | None
    _of: LinearMap | None

    def __init__(
        self,
        action: Action,
        transposed: Action,
        domain: Form,
        codomain: Form,
        *,
        matrix: Callable[[], np.ndarray[Any, Any]] | None = None,
    ) -> None:
        self._action = action
        self._transposed = transposed
        self._matrix = matrix
        self.domain = domain
        self.codomain = codomain
        self._transpose = None
        self._of = None

    # -- consuming ----------------------------------------------------------------------------------------------------
    def __call__(self, *tangent: Any) -> Any:
        """Apply the map to a tangent; several arguments form a tuple."""
        return self._action(tangent[0] if len(tangent) == 1 else tangent)

    @property
    def T(self) -> LinearMap:
        """The transpose; transposing twice returns this same object."""
        if self._of is not None:
            return self._of
        known = self._transpose() if self._transpose is not None else None
        if known is None:
            known = LinearMap(self._transposed, self._action, self.codomain, self.domain)
            known._of = self
            self._transpose = weakref.ref(known)
        return known

    @property
    def shape(self) -> tuple[int, int]:
        """The shape of the matrix: the sizes of the codomain and of the domain."""
        return self.codomain.size, self.domain.size

    def matrix(self) -> np.ndarray[Any, Any]:
        """Return the matrix, with a row for each number of the codomain and a column for each number of the domain."""
        if self._of is not None:
            return self._of.matrix().T
        self._check_complex()
        known = self._matrix() if self._matrix is not None else None
        if known is not None:
            return known
        rows, columns = self.shape
        if rows == 0 or columns == 0:
            return np.zeros((rows, columns), self._dtype)
        if columns <= rows:
            parts = [self.codomain.vector(self(self.domain.basis(j))) for j in range(columns)]
        else:
            parts = [self.domain.vector(self.T(self.codomain.basis(i))) for i in range(rows)]
        # Parts may be traced, so they are joined by a function that numpy dispatches.
        return np.stack(parts, axis=1 if columns <= rows else 0).astype(self._dtype, copy=False)

    def _check_complex(self) -> None:
        """Refuse a map from complex numbers that no matrix describes, such as the derivative of ``conj``."""
        if not self.domain.is_complex:
            return
        is_mixed = any(space is not None and not space.is_complex for space in self.domain.spaces)
        v = np.exp(1j * np.arange(self.domain.size))
        turned, once = (0j, 1.0) if is_mixed else map(self._on_vector, (1j * v, v))
        if np.any(np.abs(turned - 1j * once) > 1e-5 * np.max(np.abs([turned, once]), initial=0.0)):
            raise UnsupportedError(
                f"a {self!r} that is not linear over complex numbers has no matrix: i * x does not give i times the "
                "result. Apply the map to tangents, or write the program in real and imaginary parts"
            )

    def _on_vector(self, x: Any) -> Any:
        """The numbers of the result for those of a tangent, without derivatives."""
        return value_of(self.codomain.vector(self(self.domain.value(x))))

    @property
    def _dtype(self) -> np.dtype[Any]:
        return np.dtype(complex if self.domain.is_complex or self.codomain.is_complex else float)

    def as_scipy(self) -> Any:
        """Return a `scipy.sparse.linalg.LinearOperator`, which lsqr, cg and the like accept."""
        from scipy.sparse.linalg import LinearOperator

        (self if self._of is None else self._of)._check_complex()

        def matvec(x: Any) -> Any:
            return self.codomain.vector(self(self.domain.value(np.ravel(x))))

        def rmatvec(y: Any) -> Any:  # SciPy's adjoint conjugates, the transpose does not
            return np.conj(self.domain.vector(self.T(self.codomain.value(np.conj(np.ravel(y))))))

        return LinearOperator(self.shape, matvec=matvec, rmatvec=rmatvec, dtype=self._dtype)

    # -- combining ----------------------------------------------------------------------------------------------------
    def __matmul__(self, other: Any) -> Any:
        """The composition with another map, or the map applied to a tangent."""
        if not isinstance(other, LinearMap):
            return self(other)
        _same(other.codomain, self.domain, "m @ n needs the codomain of n to be the domain of m")
        return LinearMap(
            lambda x: self._action(other._action(x)),
            lambda y: other._transposed(self._transposed(y)),
            other.domain,
            self.codomain,
        )

    def __rmatmul__(self, other: Any) -> Any:
        """The transpose applied to a cotangent."""
        return self.T(other)

    def __add__(self, other: LinearMap) -> LinearMap:
        if not isinstance(other, LinearMap):
            return NotImplemented
        _same(self.domain, other.domain, "m + n needs maps with the same domain")
        _same(self.codomain, other.codomain, "m + n needs maps with the same codomain")
        structures = self.domain.structures
        return LinearMap(
            lambda x: add(structures, self._action(x), other._action(x)),
            lambda y: add(structures, self._transposed(y), other._transposed(y)),
            self.domain,
            self.codomain,
        )

    def __mul__(self, factor: Any) -> LinearMap:
        return self._by_leaves(lambda leaf: factor * leaf) if _is_number(factor) else NotImplemented

    __rmul__ = __mul__

    def __truediv__(self, divisor: Any) -> LinearMap:
        return self._by_leaves(lambda leaf: leaf / divisor) if _is_number(divisor) else NotImplemented

    def _by_leaves(self, change: Action) -> LinearMap:
        """The map whose results and transposed results are changed by a linear function of a number."""
        structures = self.domain.structures
        return LinearMap(
            lambda x: map_leaves(structures, change, self._action(x)),
            lambda y: map_leaves(structures, change, self._transposed(y)),
            self.domain,
            self.codomain,
        )

    def __neg__(self) -> LinearMap:
        return self * -1.0

    def __sub__(self, other: LinearMap) -> LinearMap:
        return self + other * -1.0

    def __repr__(self) -> str:
        return f"<LinearMap from {self.domain} to {self.codomain}>"

    def _repr_html_(self) -> str:
        spaces = (("domain", self.domain), ("codomain", self.codomain))
        rows, columns = self.shape
        from ...html import table

        return table(
            f"LinearMap, {rows} x {columns}", ("space", "form", "numbers"), [(n, f, f.size) for n, f in spaces]
        )

    # -- building -----------------------------------------------------------------------------------------------------
    @staticmethod
    def identity(like: Any) -> LinearMap:
        """Return the unit map **1** on the space of a value.

        Examples
        --------
        >>> import tapeengine as te
        >>> te.LinearMap.identity((0.0, [0.0]))((1.0, [2.0]))
        (1.0, [2.0])
        """
        form = _form(like)
        return LinearMap(_checked(form), _checked(form), form, form)

    @staticmethod
    def zero(domain: Any, codomain: Any) -> LinearMap:
        """Return the zero map **0** from the space of one value to that of another."""
        source, target = _form(domain), _form(codomain)
        return LinearMap(_checked(source, target), _checked(target, source), source, target)

    @staticmethod
    def scaling(factor: Any, like: Any) -> LinearMap:
        """Return S(factor), which multiplies every number of a tangent by the factor."""
        scaled: LinearMap = LinearMap.identity(like) * factor
        return scaled

    @staticmethod
    def vstack(maps: Any) -> LinearMap:
        """Juxtapose maps with a common domain vertically (× and V).

        Parameters
        ----------
        maps : tuple, list, dict or object array of LinearMap
            The joined map returns the same container of results; for an array of maps, it returns arrays whose first
            axes are the axes of that array.

        Examples
        --------
        >>> import numpy as np
        >>> import tapeengine as te
        >>> double = te.LinearMap.scaling(2.0, 0.0)
        >>> te.LinearMap.vstack((double, -double))(3.0), te.LinearMap.vstack(np.array([double, -double]))(3.0)
        ((6.0, -6.0), array([ 6., -6.]))
        """
        parts, bundle = in_a_row(maps, LinearMap)
        domain = common([m.domain for m in parts], "vstack needs maps with the same domain")

        def action(x: Any) -> Any:
            return bundle.join([m(x) for m in parts])

        def transposed(y: Any) -> Any:
            return total(domain.structures, [m.T(part) for m, part in zip(parts, bundle.split(y), strict=True)])

        return LinearMap(action, transposed, domain, bundle.form([m.codomain for m in parts]))

    @staticmethod
    def hstack(maps: Any) -> LinearMap:
        """Juxtapose maps with a common codomain horizontally (⋈ and H): applied to a container of tangents, they sum.

        Parameters
        ----------
        maps : tuple, list, dict or object array of LinearMap
            The result is the transpose of `vstack` applied to their transposes.

        Examples
        --------
        >>> import tapeengine as te
        >>> double = te.LinearMap.scaling(2.0, 0.0)
        >>> te.LinearMap.hstack([double, -double])([3.0, 1.0])
        4.0
        """
        parts, bundle = in_a_row(maps, LinearMap)
        common([m.codomain for m in parts], "hstack needs maps with the same codomain")
        return LinearMap.vstack(bundle.refill([m.T for m in parts])).T


def _is_number(x: Any) -> bool:
    return not isinstance(x, LinearMap) and np.shape(x) == ()


def _form(like: Any) -> Form:
    return like if isinstance(like, Form) else form_of(Structures(), like)


def _checked(form: Form, onto: Form | None = None) -> Action:
    """The identity on tangents of one form, or the map to the zero of another; it refuses other tangents."""

    def apply(x: Any) -> Any:
        form.parts(x)
        return x if onto is None else onto.zeros()

    return apply


def _same(a: Form, b: Form, what: str) -> None:
    if a != b:
        raise StructureError(f"{what}; they are {a} and {b}")
