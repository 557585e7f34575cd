"""Where the tasks of `fork` run: threads, processes of this machine, and engines with several machines.

`executors` defines the interface that `fork` needs and runs calls in order; `pools`, `dask` and `ray` adapt existing
executors to it. `messages` defines the messages to and from workers, `references` the data that stays on workers,
`segments` memory that processes of one machine share, `versions` the check that both sides run the same versions.
"""

from .choice import workers_of
from .executors import Threads, Workers, default_executor
from .references import Gone, Loaded, Reference, Shared
from .versions import stamp_of

__all__ = [
    "Gone",
    "Loaded",
    "Reference",
    "Shared",
    "Threads",
    "Workers",
    "default_executor",
    "stamp_of",
    "workers_of",
]
