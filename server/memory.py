"""Memory as it suits a server of large answers: Python's garbage collector, and C's allocator."""

import ctypes
import gc
import platform
from typing import Final

__all__ = ["prepare_memory"]

_THRESHOLDS: Final = (50_000, 20, 50)
# malloc.h of the GNU C library.
_M_MMAP_THRESHOLD: Final = -3
_LARGE_BLOCK: Final = 1_000_000


def prepare_memory() -> None:
    """To be called once in a process, when all is imported that it needs.

    The collector looks for cycles, and walks through whatever is alive to find them: by default
    each time that 700 objects more are alive than before. An answer of 5,000 assignments is some
    ten thousand objects, which die by their reference counts. So it runs more seldom, and what was
    there before the first request, which stays, is not walked through at all.

    Pages and answers are blocks of a megabyte and more. The GNU allocator would soon keep them for
    the next one; asked not to, it gives each back to the system, and a process is not for ever as
    large as its largest moment. Other C libraries are left as they are.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(*_THRESHOLDS)
    if platform.libc_ver()[0] == "glibc":
        ctypes.CDLL(None).mallopt(_M_MMAP_THRESHOLD, _LARGE_BLOCK)
