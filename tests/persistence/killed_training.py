"""Trains in child processes that are killed on the way; run by the test as a program.

Arguments: the checkpoint folder, the folder to save the finished model to, and a seed. Children
are started and killed until one gets to the end of training; their number is printed.
"""

import os
import random
import signal
import sys
import time

import torch

from persistence.training_task import task
from protolabel.persistence import save_model


def main() -> None:
    torch.set_num_threads(1)
    checkpoint_dir, target, seed = sys.argv[1:]
    model, X, Y = task()
    model.fit(X, Y)  # what is slow only once must not count
    started = time.perf_counter()
    model.fit(X, Y)
    usual = time.perf_counter() - started
    rng = random.Random(int(seed))
    attempts = 0
    while not os.path.exists(target):
        attempts += 1
        child = os.fork()
        if child == 0:
            model.fit(X, Y, checkpoint_dir=checkpoint_dir)
            save_model(model, target)
            os._exit(0)
        # Long enough for an epoch now and then, too short for all of them.
        time.sleep(rng.uniform(0.02, 0.5) * usual)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    print(attempts)  # noqa: T201


if __name__ == "__main__":
    main()
