"""Packages written without the engine: values to the bit, derivatives compared with central differences."""

from __future__ import annotations

import colorsys
import importlib
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest

import tapeengine as te
from tapeengine.errors import DroppedDerivativeError


class Library:
    """A package, lifted or original, from which a call takes its modules."""

    def __init__(self, lifted: bool, also: tuple[str, ...]) -> None:
        self.lifted, self.also = lifted, also

    def __call__(self, module: str) -> Any:
        return te.lift(module, also=self.also) if self.lifted else importlib.import_module(module)


def difference(f: Callable[[float], float], x: float, step: float) -> float:
    """The derivative by a fourth-order central difference."""
    return (-f(x + 2 * step) + 8 * f(x + step) - 8 * f(x - step) + f(x - 2 * step)) / (12 * step)


def satellite(m: Library, minutes: float) -> Any:
    lines = (
        "1 25544U 98067A   19343.69339541  .00001764  00000-0  38792-4 0  9991",
        "2 25544  51.6439 211.2001 0007417  17.6667  85.6398 15.50103472202482",
    )
    return m("sgp4.model").Satrec.twoline2rv(*lines).sgp4_tsince(minutes)[1][0]


def orbit(m: Library, eccentricity: float) -> Any:
    model = m("sgp4.model")
    found = model.Satrec()
    elements = (5.7904160274885, 0.5980929187319, 0.3373093125574, 0.0472294454407, 6.0863854713832)
    found.sgp4init(model.WGS72, "i", 5, 18441.785, 2.8098e-05, 0.0, 0.0, eccentricity, *elements)
    return found.sgp4_tsince(100.0)[1][0]


def colour(m: Library, red: float) -> Any:
    objects = m("colormath.color_objects")
    converted = m("colormath.color_conversions").convert_color(objects.sRGBColor(red, 0.3, 0.5), objects.LabColor)
    return converted.lab_a


def kalman(m: Library, noise: float) -> Any:
    found = m("filterpy.kalman").KalmanFilter(dim_x=2, dim_z=1)
    found.F, found.H = np.array([[1.0, 1.0], [0.0, 1.0]]), np.array([[1.0, 0.0]])
    found.P, found.R, found.Q = found.P * 100.0, found.R * noise, found.Q * 0.01
    for z in (1.0, 2.0, 2.5):
        found.predict()
        found.update(z)
    return found.x[0, 0] + found.P[0, 1]


def wet_bulb(m: Library, temperature: float) -> Any:
    psychrolib = m("psychrolib")
    psychrolib.SetUnitSystem(psychrolib.SI)
    return psychrolib.GetHumRatioFromTWetBulb(temperature, 19.0, 101325.0)


def sun(m: Library, day: float) -> Any:
    return m("pymeeus.Sun").Sun.geometric_geocentric_position(m("pymeeus.Epoch").Epoch(day))[2]


def film(m: Library, thickness: float) -> Any:
    return m("tmm").coh_tmm("p", [1, 2.2, 1.6, 1], [np.inf, thickness, 300, np.inf], 0.3, 500.0)["T"]


def option(m: Library, volatility: float) -> Any:
    return m("blackscholes").BlackScholesCall(S=55.0, K=50.0, T=1.0, r=0.0025, sigma=volatility).delta()


def rotation(m: Library, angle: float) -> Any:
    return m("pyquaternion").Quaternion(axis=[1, 0, 0], angle=angle).rotate([0.0, 1.0, 0.0])[2]


#: The distribution's module, its requirements, the call, the point, and the tolerance of the difference.
CASES: dict[str, tuple[str, tuple[str, ...], Callable[[Library, float], Any], float, float]] = {
    "hydraulics: friction": ("fluids", (), lambda m, x: m("fluids.friction").friction_factor(Re=x, eD=1e-4), 1e5, 1e-7),
    "hydraulics: Colebrook": ("fluids", ("scipy",), lambda m, x: m("fluids.friction").Colebrook(x, 1e-4), 1e5, 1e-7),
    "hydraulics: pipe": (
        *("fluids", ()),
        lambda m, x: m("fluids").one_phase_dP(m=x, rho=1000.0, mu=1e-3, D=0.1, L=10.0, roughness=1e-5),
        *(5.0, 1e-7),
    ),
    "hydraulics: settling": (
        *("fluids", ()),
        lambda m, x: m("fluids.drag").v_terminal(D=x, rhop=2200.0, rho=1.2, mu=1.78e-5),
        *(70e-6, 1e-6),
    ),
    "geodesy: inverse": (
        *("geographiclib", ()),
        lambda m, x: m("geographiclib.geodesic").Geodesic.WGS84.Inverse(x, 10.0, 40.0, 20.0)["s12"],
        *(30.0, 1e-6),
    ),
    "geodesy: direct": (
        *("geographiclib", ()),
        lambda m, x: m("geographiclib.geodesic").Geodesic.WGS84.Direct(x, 10.0, 40.0, 2e6)["lat2"],
        *(30.0, 1e-6),
    ),
    "satellites: time": ("sgp4", (), satellite, 100.0, 1e-6),
    "satellites: eccentricity": ("sgp4", (), orbit, 0.1859667, 1e-6),
    "colour": ("colormath", (), colour, 0.4, 1e-6),
    "error function": ("pyerf", (), lambda m, x: m("pyerf.pyerf").erfinv(x) + m("pyerf.pyerf").erf(x), 0.3, 1e-6),
    "filter": ("filterpy", (), kalman, 5.0, 1e-6),
    "steam": ("iapws", (), lambda m, x: m("iapws.iapws97").IAPWS97(T=x, P=1.0).h, 400.0, 1e-5),
    "moist air": ("psychrolib", (), wet_bulb, 25.0, 1e-6),
    "optics": ("tmm", (), film, 120.0, 1e-6),
    "astronomy": ("pymeeus", (), sun, 2451545.3, 1e-4),
    "finance: value": (
        *("numpy_financial", ()),
        lambda m, x: m("numpy_financial").npv(x, [-100.0, 39.0, 59.0, 55.0, 20.0]),
        *(0.08, 1e-6),
    ),
    "finance: option": ("blackscholes", ("scipy",), option, 0.15, 1e-5),
    "chemistry": (
        *("chemicals", ()),
        lambda m, x: m("chemicals").Antoine(x, A=8.7687, B=395.744, C=-6.469),
        *(100.0, 1e-6),
    ),
    "chemistry: water": ("chemicals", ("fluids",), lambda m, x: m("chemicals").iapws95_rho(x, 1e6), 350.0, 1e-5),
    "heat transfer": ("ht", ("fluids",), lambda m, x: m("ht").Nu_conv_internal(Re=x, Pr=0.7), 1e5, 1e-6),
    "rotations": ("pyquaternion", (), rotation, 0.7, 1e-6),
    "maps": ("utm", (), lambda m, x: m("utm").from_latlon(x, 7.438632495)[1], 51.2, 1e-5),
    "daylight": (
        *("pysolar", ()),
        lambda m, x: m("pysolar.solar").get_altitude(x, -105.0, datetime(2018, 6, 1, 18, tzinfo=UTC)),
        *(42.0, 1e-5),
    ),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", CASES)
def test_a_package_as_it_is(name: str) -> None:
    package, also, call, x, tolerance = CASES[name]
    pytest.importorskip(package)
    if "scipy" in also:
        pytest.importorskip("tapeengine_scipy")
    lifted, plain = (Library(which, tuple(a for a in also if a != "scipy")) for which in (True, False))
    step = 1e-4 * max(1e-3, abs(x)) if name != "astronomy" else 0.1
    value, slope = te.value_and_grad(lambda t: call(lifted, t))(x)
    expected = call(plain, x)
    # numpy itself rounds products of complex arrays and of complex scalars differently.
    assert value == pytest.approx(expected, rel=1e-14 if name == "optics" else 0.0, abs=0.0)
    assert call(lifted, x) == expected
    assert slope == pytest.approx(difference(lambda t: float(call(plain, t)), x, step), rel=tolerance)


def test_a_package_that_a_number_passes_through_is_named() -> None:
    pytest.importorskip("ht")
    ht = te.lift("ht")
    with pytest.raises(DroppedDerivativeError, match=r'tapeengine\.lift\("ht\.[a-z_]+", also=\["fluids"\]\)'):
        te.grad(lambda x: ht.Nu_conv_internal(Re=x, Pr=0.7))(1e5)


def test_a_package_may_execute_an_import_of_its_own_modules() -> None:
    name = te.lift("colorsys", also=["bisect"]).__name__
    names: dict[str, Any] = {}
    exec(f"import {name}\nfrom {name} import rgb_to_hls", names)
    assert names["rgb_to_hls"](1.0, 0.5, 0.25) == colorsys.rgb_to_hls(1.0, 0.5, 0.25)
