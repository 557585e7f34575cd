"""Random indices as Python source: every kind that numpy accepts, alone and in tuples."""

from __future__ import annotations

import math
import random


class Indices:
    """Draws indices of arrays of given shapes."""

    draw: random.Random

    def whole(self, extent: int) -> str:
        """A whole number of any type."""
        n = self.draw.randint(-extent, extent - 1) if extent else 0
        n = n + 2 * extent if self.draw.random() < 0.01 else n
        forms = ("{0}", "{0}", "{0}", "np.int64({0})", "numpy.array({0})", "Whole({0})", "numpy.int8({0})")
        return self.draw.choice(forms).format(n)

    def piece(self, extent: int) -> str:
        """A slice."""
        a, b = (self.draw.choice(("", str(self.draw.randint(-extent, extent)))) for _ in range(2))
        return f"{a}:{b}:{self.draw.choice(('', '', '2', '-1', '-2'))}".removesuffix(":")

    def places(self, extent: int, count: int | None = None) -> list[int]:
        count = self.draw.randint(0, 4) if count is None else count
        return [self.draw.randint(-extent, extent - 1) for _ in range(count)] if extent else []

    def gathered(self, extent: int, count: int) -> str:
        """An array-like of whole numbers."""
        places = self.places(extent, count)
        forms = ["{0}", "numpy.array({0}, int)", "numpy.array({0}, numpy.int32)", "tuple({0})"]
        if places:
            forms += ["numpy.array([{0}, {0}])", "[[k] for k in {0}]", "[Whole(k) for k in {0}]"]
        return self.draw.choice(forms).format(places)

    def mask(self, shape: tuple[int, ...]) -> str:
        size = math.prod(shape)
        bits = [self.draw.random() < 0.5 for _ in range(size)]
        return f"numpy.array({bits}, bool).reshape({shape})"

    def index(self, shape: tuple[int, ...]) -> str:
        """An index for an array of a given shape."""
        kind = self.draw.random()
        if kind < 0.12:
            return self.mask(shape) if kind < 0.1 else f"{self.mask(shape)}.tolist()"
        if kind < 0.15:
            return self.draw.choice(("...", "()", "None", "True", "False", "numpy.array(True)"))
        count = self.draw.randint(0, 3)
        items, axis = [], 0
        while axis < len(shape):
            choice = self.draw.random()
            if choice < 0.1 and axis:
                break
            if choice < 0.15 and "..." not in items:
                items.append("...")
                axis += self.draw.randint(0, len(shape) - axis)
                continue
            if choice < 0.22:
                items.append("None")
            if choice < 0.5:
                items.append(self.whole(shape[axis]))
            elif choice < 0.72:
                items.append(self.piece(shape[axis]))
            elif choice < 0.78:
                items.append(self.mask(shape[axis : axis + 1]))
            else:
                items.append(self.gathered(shape[axis], count))
            axis += 1
        if not items:
            return "()"
        return (
            items[0] if len(items) == 1 and self.draw.random() < 0.7 else f"({', '.join(items)},)".replace(" :", " :")
        )
