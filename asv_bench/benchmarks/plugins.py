"""Discovery of the installed plugins."""

import tapeengine as te
from asv_bench import derivatives, limits
from asv_bench.targets import plugins

Figures = limits.figures(plugins.TARGETS)


class Discovery(derivatives.Timed):
    """An engine finds its plugins when it is built."""

    def time_engine(self) -> None:
        te.Engine()

    def track_primitives(self) -> int:
        return len(te.Engine().registry)
