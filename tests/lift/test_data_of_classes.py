"""Data of classes that lifted functions read and change: counters and settings are those of the original classes."""

import math

import tapeengine as te


def settings():
    class Settings:
        scale = 2.0
        names = ("a", "b")

    class Special(Settings):
        pass

    class Counter:
        made = 0
        kinds: dict[str, int] = {}  # noqa: RUF012

        def __init__(self, x):
            Counter.made += 1
            self.kinds[type(self).__name__] = self.made
            self.x = x * Special.scale

        @classmethod
        def reset(cls):
            cls.made = 0

    return Settings, Special, Counter


def test_changes_outside_are_seen_inside():
    base, special, _ = settings()

    def f(x):
        return math.exp(x) * base.scale + len(special.names) * special.scale * x

    lifted = te.lift(f)
    for change in (lambda: None, lambda: setattr(base, "scale", 5.0), lambda: setattr(special, "scale", 7.0)):
        change()
        assert lifted(0.5) == te.vjp(lifted, 0.5)[0] == f(0.5)
        assert te.grad(lifted)(0.5) == math.exp(0.5) * base.scale + 2 * special.scale


def test_changes_inside_are_seen_outside():
    def run(wrap):
        base, special, counter = settings()

        def f(x):
            base.scale = 3.0
            special.scale *= 2.0
            parts = [counter(math.sin(x)) for _ in range(3)]
            special.added = 1.5
            return sum(p.x for p in parts) * counter.made * special.added

        value = wrap(f)(0.5)
        counter.reset()
        return value, base.scale, special.scale, special.added, counter.made, counter.kinds

    assert run(te.lift) == run(lambda f: f)


def test_instances_have_attributes_of_their_own():
    _, special, counter = settings()

    def f(x):
        c = counter(x)
        c.made = 10.0
        return c.made * math.cos(x) + special.scale

    assert te.lift(f)(0.5) == f(0.5)
    assert counter.made == 2
