import json
import platform
import subprocess
import sys

import pytest

from protolabel.pnml.allocator import freed_memory_kept

# Pages that the system has to provide, relative to those that each of five rounds asks for. In a
# process of its own: what others leave on the heap decides what the C library can give back.
MEASURE = """
import json, resource
import numpy as np
from protolabel.pnml.allocator import freed_memory_kept

def provided(n_rounds, n_blocks=64):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(n_rounds):
        blocks = [np.ones(2**18) for _ in range(n_blocks)]
        del blocks
    pages = n_blocks * 2**21 / resource.getpagesize()
    return (resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before) / pages / n_rounds

def inside():
    with freed_memory_kept():
        provided(1)
        return provided(5)

def failing():
    with freed_memory_kept():
        provided(1)
        raise RuntimeError

found = {"inside": inside(), "outside": provided(5)}
try:
    failing()
except RuntimeError:
    found["after an error"] = provided(1)
print(json.dumps(found))
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other C libraries are left alone")
def test_freed_memory_is_used_again_inside_and_given_back_outside():
    child = subprocess.run(
        [sys.executable, "-c", MEASURE], capture_output=True, text=True, check=True
    )
    found = json.loads(child.stdout)
    assert found["inside"] < 0.1
    assert found["outside"] > 0.5
    assert found["after an error"] > 0.5


@pytest.fixture
def opened(monkeypatch):
    """Libraries that were asked for; none of them is really opened."""
    asked = []
    monkeypatch.setattr("ctypes.CDLL", asked.append)
    return asked


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("MALLOC_TRIM_THRESHOLD_", "1000"),
        ("MALLOC_MMAP_THRESHOLD_", "1000"),
        ("GLIBC_TUNABLES", "glibc.malloc.trim_threshold=1000"),
    ],
)
def test_thresholds_of_the_environment_are_left_alone(monkeypatch, opened, name, value):
    monkeypatch.setattr("platform.libc_ver", lambda: ("glibc", "2.36"))
    monkeypatch.setenv(name, value)
    with freed_memory_kept():
        assert opened == []


def test_another_c_library_is_left_alone(monkeypatch, opened):
    monkeypatch.setattr("platform.libc_ver", lambda: ("", ""))
    with freed_memory_kept():
        assert opened == []


def test_the_c_library_of_the_process_is_asked_otherwise(monkeypatch, opened):
    for name in ("MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_", "GLIBC_TUNABLES"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("MALLOC_ARENA_MAX", "2")
    monkeypatch.setattr("platform.libc_ver", lambda: ("glibc", "2.36"))
    with freed_memory_kept():
        assert opened == [None]
