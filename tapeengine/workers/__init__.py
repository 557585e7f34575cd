"""Where the tasks of `fork` run: threads, processes of this machine, and engines that know other machines.

`executors` says what `fork` asks of an executor and runs calls in order; `pools`, `dask` and `ray` are thin adapters of
what people already run. `messages` is what goes to a worker and back, `references` the data that stays there,
`segments` the memory that processes of one machine share, `versions` who may work for whom.
"""

from tapeengine.workers.choice import workers_of
from tapeengine.workers.executors import Threads, Workers, default_executor, in_order
from tapeengine.workers.references import Gone, Loaded, Reference, Shared
from tapeengine.workers.versions import stamp_of

__all__ = [
    "Gone",
    "Loaded",
    "Reference",
    "Shared",
    "Threads",
    "Workers",
    "default_executor",
    "in_order",
    "stamp_of",
    "workers_of",
]
