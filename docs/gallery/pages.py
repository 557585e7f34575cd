"""The gallery's programs: their pictures and times, which are kept beside them, and their pages.

    python docs/gallery/pages.py            every picture and time anew
    python docs/gallery/pages.py orbit      those of one program

A program is a module with `program` and `PRIMALS` (what is differentiated, and where), `solve`, `right` and `draw`; and
with `fast`, where it pays to stage or to transform the program.
"""

import ast
import json
import sys
import time
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1]))
TIMES = HERE / "times.json"
NAMES = (
    *("orbit", "robot_arm", "ray_tracer", "option_surface", "hmc_posterior", "heat_equation"),
    *("circuit", "image_registration", "molecular_dynamics", "hmm", "bundle_adjustment", "controller"),
)


def module(name: str) -> ModuleType:
    """A program of the gallery."""
    return import_module(f"docs.gallery.{name}")


def figure(name: str, found: Any) -> Any:
    """The picture of what a program found."""
    from docs import drawing

    colours = {scheme: light for scheme, (light, _) in drawing.SCHEMES.items()}
    return module(name).draw(found, drawing.new_figure, colours)


def ratio(name: str, rounds: int = 15) -> float:
    """Value and cotangents of a program over its value: CPU time, the smallest of several, in turns."""
    import tapeengine as te
    from tapeengine.forms import ones

    here = module(name)
    structures, fast = te.default_engine().structures, getattr(here, "fast", here.program)

    def both() -> None:
        value, backpropagator = te.vjp(fast, *here.PRIMALS)
        backpropagator(ones(structures, value))

    both()  # which records or compiles what is fast
    least = [float("inf")] * 2
    for _ in range(rounds):
        for k, run in enumerate((lambda: here.program(*here.PRIMALS), both)):
            begin = time.process_time()
            runs = 0
            while time.process_time() - begin < 0.02:
                run()
                runs += 1
            least[k] = min(least[k], (time.process_time() - begin) / runs)
    return least[1] / least[0]


def title(name: str) -> tuple[str, str]:
    """The first line and the rest of a program's docstring."""
    text = ast.get_docstring(ast.parse((HERE / f"{name}.py").read_text(encoding="utf-8"))) or ""
    first, _, rest = text.partition("\n")
    return first, rest.strip()


def page(name: str, times: dict[str, float]) -> str:
    """The page of a program."""
    first, rest = title(name)
    source = (HERE / f"{name}.py").read_text(encoding="utf-8").split('"""\n', 1)[1].strip()
    return f"""\
# {first}

{rest}

![The picture that the program draws]({name}.svg)

Value and all derivatives take **{times[name]:.2g} times** as long as the plain program.

```python
{source}
```
"""


def write_pages() -> None:
    """Write the pages that the site's builder reads."""
    times = json.loads(TIMES.read_text(encoding="utf-8"))
    for name in NAMES:
        text, path = page(name, times), HERE / f"{name}.md"
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def main(names: list[str]) -> None:
    """Solve, draw and time programs."""
    from docs.drawing import save

    times = json.loads(TIMES.read_text(encoding="utf-8")) if TIMES.exists() else {}
    for name in names or NAMES:
        found = module(name).solve()
        if not module(name).right(found):
            raise SystemExit(f"{name} did not find what it looks for")
        save(figure(name, found), HERE / f"{name}.svg")
        times[name] = round(ratio(name), 3)
        print(name, times[name])
    TIMES.write_text(
        json.dumps({name: times[name] for name in NAMES if name in times}, indent=1) + "\n", encoding="utf-8"
    )


if __name__ == "__main__":
    main(sys.argv[1:])
