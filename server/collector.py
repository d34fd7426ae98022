"""Python's garbage collector, as it suits a server of large answers."""

import gc
from typing import Final

__all__ = ["spare_the_collector"]

_THRESHOLDS: Final = (50_000, 20, 50)


def spare_the_collector() -> None:
    """To be called once in a process, when all is imported that it needs.

    The collector looks for cycles, and walks through whatever is alive to find them: by default
    each time that 700 objects more are alive than before. An answer of 5,000 assignments is some
    ten thousand objects, which die by their reference counts. So it runs more seldom, and what was
    there before the first request, which stays, is not walked through at all.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(*_THRESHOLDS)
