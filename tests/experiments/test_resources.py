import subprocess
import sys

from protolabel.experiments.resources import Stopwatch


def test_processor_time_of_children_counts():
    watch = Stopwatch()
    subprocess.run([sys.executable, "-c", "sum(range(90_000_000))"], check=True)
    _, with_child = watch.lap()
    _, alone = watch.lap()
    assert with_child > 0.1 > alone
