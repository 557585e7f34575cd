"""Pictures of the pages: one small SVG for each, whose colours follow the reader's light or dark scheme.

Colours are of the palette of Okabe and Ito, darker on light ground and lighter on dark, so that readers who see few
colours tell them apart; lines are named beside their ends.
"""

from __future__ import annotations

import io
import re
import xml.etree.ElementTree as ET
from collections import Counter
from pathlib import Path
from typing import Any

#: For each name its colour on light ground, which figures are drawn in, and on dark ground.
SCHEMES = {
    "ink": ("#1f2937", "#e5e7eb"),
    "muted": ("#667085", "#98a2b3"),
    "grid": ("#e4e7ec", "#344054"),
    "blue": ("#0072b2", "#5ab4f0"),
    "orange": ("#d55e00", "#ff9248"),
    "green": ("#00805a", "#34d3a2"),
    "pink": ("#b5478a", "#f0a0d0"),
    "amber": ("#a87400", "#f0b429"),
    "violet": ("#5b4bc4", "#a99cff"),
    "paper": ("#fefefe", "#14181e"),
}
INK, MUTED, GRID, BLUE, ORANGE, GREEN, PINK, AMBER, VIOLET, PAPER = (light for light, _ in SCHEMES.values())
CYCLE = (BLUE, ORANGE, GREEN, PINK, AMBER, VIOLET)
FONT = "DejaVu Sans,Verdana,sans-serif"
SVG = "http://www.w3.org/2000/svg"
STYLE: dict[str, Any] = {
    "figure.facecolor": "none", "axes.facecolor": "none", "savefig.facecolor": "none",
    "axes.edgecolor": MUTED, "axes.labelcolor": INK, "text.color": INK, "xtick.color": MUTED, "ytick.color": MUTED,
    "xtick.labelcolor": INK, "ytick.labelcolor": INK, "grid.color": GRID, "grid.linewidth": 0.7,
    "axes.spines.top": False, "axes.spines.right": False, "axes.titlelocation": "left", "axes.titlesize": 10,
    "xtick.major.size": 0, "ytick.major.size": 0, "xtick.minor.size": 0, "ytick.minor.size": 0,
    "font.size": 9, "font.family": "DejaVu Sans", "legend.frameon": False, "lines.linewidth": 1.6,
    "svg.fonttype": "none", "svg.hashsalt": "tapeengine", "path.simplify": True, "path.simplify_threshold": 0.3,
    "mathtext.fontset": "dejavusans",
}  # fmt: skip


def new_figure(width: float = 6.4, height: float = 3.6, **options: Any) -> tuple[Any, Any]:
    """A figure and its axes, in the style of the pages."""
    import matplotlib
    from cycler import cycler

    matplotlib.rcParams.update(STYLE | {"axes.prop_cycle": cycler(color=CYCLE)})
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, figure.subplots(**options)


def name_line(axes: Any, text: str, x: float, y: float, colour: str, **options: Any) -> None:
    """Write a line's name beside a point of it, in the line's colour."""
    place = {"xytext": (5, 0), "textcoords": "offset points", "va": "center", "annotation_clip": False} | options
    axes.annotate(text, (x, y), color=colour, **place)


def name_ends(axes: Any, ends: list[tuple[tuple[float, float], str, str, bool]]) -> None:
    """Write names right of the axes, level with the ends of their lines, pushed up where two would overlap.

    An end is a place, a name, a colour, and whether the name is bold; the y axis is a log axis.
    """
    low, high = axes.get_ylim()
    inches = axes.figure.get_size_inches()[1] * axes.get_subplotspec().get_position(axes.figure).height
    step, last = (high / low) ** (0.17 / inches), 0.0
    for (x, y), name, colour, bold in sorted(ends, key=lambda end: end[0][1]):
        last = max(y, last * step)
        leader = {
            "arrowstyle": "-",
            "color": MUTED,
            "linewidth": 0.6,
            "linestyle": (0, (1, 2)),
            "shrinkB": 4,
            "shrinkA": 1,
        }
        style = {"fontweight": "bold"} if bold else {}
        axes.annotate(
            name, (x, y), (1.03, last), textcoords=("axes fraction", "data"), va="center", color=colour,
            annotation_clip=False, arrowprops=leader, **style,
        )  # fmt: skip


def save(figure: Any, path: Path) -> None:
    """Write a figure as a small SVG that adapts."""
    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
    path.write_text(compact(buffer.getvalue()), encoding="utf-8")


def compact(svg: str) -> str:
    """A picture of matplotlib's with one style sheet, short numbers, and no groups or names that nobody needs."""
    svg = re.sub(r"xlink:href", "href", re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL))
    ET.register_namespace("", SVG)
    root = ET.fromstring(svg)
    used = set(re.findall(r"(?:href=\"|url\()#([\w-]+)", svg))
    for element in list(root.iter()):
        clean(element, used)
    flatten(root)
    points = root.attrib["viewBox"].split()[2:]
    width, height = (f"{round(float(x) * 4 / 3)}" for x in points)  # pixels, of which 96 are an inch
    root.attrib = {"viewBox": f"0 0 {' '.join(points)}", "width": width, "height": height}
    text = name_styles(ET.tostring(root, encoding="unicode"))
    return re.sub(r"\s*\n\s*", "\n", text).strip() + "\n"


def clean(element: ET.Element, used: set[str]) -> None:
    """Shorten one element: its numbers, its style, its name."""
    if element.get("id") not in used:
        element.attrib.pop("id", None)
    for name in ("d", "x", "y", "width", "height", "transform", "points", "cx", "cy", "r"):
        if name in element.attrib and not element.tag.endswith("svg"):
            element.set(name, numbers(element.attrib[name]))
    if "style" in element.attrib:
        element.set("style", style(element.attrib["style"]))
    element.text = (element.text or "").strip() or None if not element.tag.endswith(("text", "tspan")) else element.text
    element.tail = "\n"


def numbers(text: str) -> str:
    """Numbers with one digit behind the point, and no more white space than separates them."""
    text = re.sub(r"-?\d+\.\d+(?:e-?\d+)?", lambda n: f"{float(n[0]):.1f}".removesuffix(".0"), text)
    text = re.sub(r"-0(?![.\d])", "0", text)
    return re.sub(r"\s*([MLCQzZ,()])\s*", r"\1", re.sub(r"\s+", " ", text)).strip()


def style(text: str) -> str:
    """A style with the colours' names; the font is that of the whole picture."""
    parts = [part.strip() for part in text.split(";") if part.strip()]
    kept = [
        part.replace(": ", ":")
        for part in parts
        if not part.startswith(("stroke-linejoin", "stroke-linecap", "font-family"))
    ]
    joined = ";".join(re.sub(r"^font:(?:\d+ )?([\d.]+px).*", r"font-size:\1", part) for part in kept)
    for name, (light, _) in SCHEMES.items():
        joined = joined.replace(light, f"var(--{name})")
    return joined.replace("#000000", "var(--ink)")


def flatten(element: ET.Element) -> None:
    """Put the children of groups without attributes in the place of the groups; drop what is empty."""
    children: list[ET.Element] = []
    for child in element:
        flatten(child)
        bare = child.tag == f"{{{SVG}}}g" and not child.attrib
        empty = child.tag in (f"{{{SVG}}}g", f"{{{SVG}}}defs") and not len(child)
        default = (
            child.tag == f"{{{SVG}}}style"
            or child.get("d") == ""
            or (child.get("style") == "fill:none" and not len(child))
        )
        if bare:
            children.extend(child)
        elif not empty and not default:
            children.append(child)
    element[:] = children


def name_styles(text: str) -> str:
    """Classes in the place of styles, in one sheet with the colours of both schemes."""
    found = Counter(re.findall(r' style="([^"]*)"', text))
    names = {style: f"s{k}" for k, style in enumerate(found)}
    text = re.sub(r' style="([^"]*)"', lambda match: f' class="{names[match[1]]}"', text)
    shown = {name: pair for name, pair in SCHEMES.items() if any(f"--{name})" in style for style in found)} | {
        "ink": SCHEMES["ink"]
    }
    light, dark = (";".join(f"--{name}:{pair[k]}" for name, pair in shown.items()) for k in (0, 1))
    sheet = [f"svg{{{light};font-family:{FONT};stroke-linejoin:round}}text{{fill:var(--ink)}}"]
    sheet += [f"@media(prefers-color-scheme:dark){{svg{{{dark}}}}}"]
    sheet += [f".{name}{{{style}}}" for style, name in names.items()]
    return text.replace(">", ">\n<style>" + "\n".join(sheet) + "</style>", 1)
