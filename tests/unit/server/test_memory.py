"""What `prepare_memory` changes, each time in a process of its own, since it is for good."""

import platform
import subprocess
import sys

BLOCKS = """
import ctypes

class Info(ctypes.Structure):  # struct mallinfo2 of malloc.h
    _fields_ = [(f"field{number}", ctypes.c_size_t) for number in range(10)]

asked = ctypes.CDLL(None).mallinfo2
asked.restype = Info
bytes(2_000_000)  # Freed at once: from here on malloc would keep blocks of this size.
before = asked().field3  # hblks: the blocks that are mapped, each for itself
block = bytes(2_000_000)
print(asked().field3 - before)
"""


def said_by(code: str) -> str:
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return ran.stdout.strip()


def test_the_collector_is_rare_and_leaves_out_what_was_there_before() -> None:
    prepared = "import gc; from server.memory import prepare_memory; prepare_memory()"
    shown = "print(gc.get_freeze_count(), gc.get_threshold()[0], len(gc.get_objects()))"
    frozen, threshold, walked = map(int, said_by(f"{prepared}; {shown}").split())
    assert frozen > 1_000
    assert threshold == 50_000
    assert walked < 100


def test_a_large_block_goes_back_to_the_system_and_would_not_otherwise() -> None:
    prepared = "from server.memory import prepare_memory; prepare_memory()\n"
    before, after = said_by(BLOCKS), said_by(prepared + BLOCKS)
    # Other allocators than the GNU one are left as they are.
    assert (before, after) == ("0", "1") if platform.libc_ver()[0] == "glibc" else before == after
