"""Saves models in child processes that are killed on the way; run by the tests as a program.

Arguments: a model folder, the folder to save to, and how to kill. ``each-step`` kills the first
child at its first event that touches the system (opening, moving, making, flushing of files), the
next at its second, until one finishes. ``random N SEED`` kills N children at random times. After
each child a line is printed and one awaited, so that the caller can look at the folder.
"""

import os
import random
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

from protolabel.persistence import load_model, save_model

TOUCHING = ("open", "os.", "shutil.", "ctypes.")


def die_at_event(number: int) -> None:
    """Kill the own process at its n-th event."""
    seen = 0

    def count(event: str, _: object) -> None:
        nonlocal seen
        if event.startswith(TOUCHING):
            seen += 1
            if seen == number:
                os.kill(os.getpid(), signal.SIGKILL)

    fsync = os.fsync

    def flush(descriptor: int) -> None:
        sys.audit("os.fsync", descriptor)
        fsync(descriptor)

    os.fsync = flush  # raises no event of its own
    sys.addaudithook(count)


def in_child(work: Callable[[], None], delay: float | None = None) -> bool:
    """Run work in a forked process, killing it after a delay; whether it came to its end."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            work()
            code = 0
        finally:
            os._exit(code)
    if delay is not None:
        time.sleep(delay)
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        assert os.WTERMSIG(status) == signal.SIGKILL
        return False
    assert os.WEXITSTATUS(status) == 0, "the child failed"
    return True


def report(text: str) -> None:
    print(text, flush=True)  # noqa: T201
    sys.stdin.readline()


def main() -> None:
    model, folder = load_model(sys.argv[1]), Path(sys.argv[2])

    def save(mark: int) -> None:
        save_model(model, folder, metrics={"mark": mark}, force=True)

    if sys.argv[3] == "each-step":
        number, finished = 0, False
        while not finished:
            number += 1

            def dying_save(number: int = number) -> None:
                die_at_event(number)
                save(number)

            finished = in_child(dying_save)
            report("finished" if finished else f"killed {number}")
        return

    rng = random.Random(int(sys.argv[5]))

    def saves_without_end() -> None:
        mark = 0
        while True:
            mark += 1
            save(mark)

    started = time.perf_counter()
    save(0)
    usual = time.perf_counter() - started
    for _ in range(int(sys.argv[4])):
        in_child(saves_without_end, delay=rng.uniform(0, 3 * usual))
        report("killed")


if __name__ == "__main__":
    main()
