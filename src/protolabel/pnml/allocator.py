"""Memory that a training step frees stays with the process for the next step.

The allocator of the GNU C library gives the free end of its heap back to the system, which has
to clear every page that the next step asks for again. With many labels and prototypes that took
a third of the time of a step.
"""

from __future__ import annotations

import ctypes
import os
import platform
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3
# The values that the library itself would settle at after large blocks were freed.
_MMAP_THRESHOLD = 32 * 2**20
_TRIM_THRESHOLD = 2 * _MMAP_THRESHOLD
_KEPT = 2**30
_VARIABLES = {"MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_"}


@contextmanager
def freed_memory_kept() -> Iterator[None]:
    """Keep up to a gigabyte of freed memory inside, and give all of it back at the end.

    Does nothing where the C library is another one, or where the environment sets its
    thresholds.

    Examples
    --------
    >>> with freed_memory_kept():
    ...     pass
    """
    library = _adjustable_library()
    if library is None or not library.mallopt(_M_MMAP_THRESHOLD, _MMAP_THRESHOLD):
        yield
        return
    library.mallopt(_M_TRIM_THRESHOLD, _KEPT)
    try:
        yield
    finally:
        library.mallopt(_M_TRIM_THRESHOLD, _TRIM_THRESHOLD)
        library.malloc_trim(0)


def _adjustable_library() -> Any:
    """The C library of this process, or None where its thresholds are not to be touched."""
    tunables = os.environ.get("GLIBC_TUNABLES", "")
    is_set = not _VARIABLES.isdisjoint(os.environ) or "glibc.malloc" in tunables
    if is_set or platform.libc_ver()[0] != "glibc":
        return None
    return ctypes.CDLL(None)
