"""Draw the pictures of the pages that are written by hand: ``python docs/pictures.py``."""

import runpy
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

import tapeengine as te
import tapeengine.math as tm

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent / "tests")]


def tutorial() -> None:
    """What the tutorial's last block computes."""
    from docs_blocks import blocks

    from docs.drawing import BLUE, ORANGE, name_line, new_figure, save

    last = [block for block in blocks(HERE / "tutorial.md") if block.language == "python"][-1]
    with tempfile.TemporaryDirectory() as folder:
        for name, text in (*last.files, ("block.py", last.text)):
            Path(folder, name).write_text(text)
        sys.path.insert(0, folder)
        found = runpy.run_path(str(Path(folder, "block.py")))
    best = list(found["fit"].x)
    curve, jacobian = np.array(fine_curve(best)), np.array(te.jacobian(fine_curve)(best))
    band = 1.96 * np.sqrt(np.einsum("ti,ij,tj->t", jacobian, found["covariance"], jacobian))
    times = 0.04 * np.arange(len(curve))
    figure, axes = new_figure(6.8, 3.4)
    axes.fill_between(times, curve - band, curve + band, color=BLUE, alpha=0.25, linewidth=0)
    axes.plot(times, curve, color=BLUE, linewidth=1.1)
    axes.plot(found["TIMES"], found["DATA"], "o", color=ORANGE, markersize=4)
    name_line(axes, "fit and\n95 % band", times[-1], curve[-1], BLUE)
    name_line(axes, "measured", found["TIMES"][3], found["DATA"][3], ORANGE, xytext=(-18, -12))
    axes.set(xlabel="time, s", ylabel="angle, rad", xlim=(-0.2, 9.8))
    save(figure, HERE / "tutorial.svg")


def fine_curve(parameters: Any) -> list[Any]:
    """The model's angle at every fourth step."""
    length, friction, angle = parameters
    speed, seen = 0.0, []
    for step in range(961):
        if step % 4 == 0:
            seen.append(angle)
        speed = speed + 0.01 * (-9.81 / length * tm.sin(angle) - friction * speed)
        angle = angle + 0.01 * speed
    return seen


if __name__ == "__main__":
    tutorial()
