"""The default configuration on the largest tables: minutes, peak memory, average precision.

    OMP_NUM_THREADS=1 python benchmarks/large.py delicious rcv1-s1-full bookmark imdb

One after the other, each in a process of its own; four of five folds are trained on. Tables
that are not at hand are drawn in their shape, which says so: their scores mean nothing then. Not
part of the suite, because it takes an hour.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path

_CODE = f"""
import json, resource, sys, time
sys.path.insert(0, {str(Path(__file__).parent)!r})
from prediction import table
from protolabel import PNMLClassifier
from protolabel.metrics import evaluate
from protolabel.preprocessing.splits import MultilabelStratifiedKFold
data = table(sys.argv[1])
splitter = MultilabelStratifiedKFold(5, shuffle=True, random_state=0)
train, test = next(iter(splitter.split(data.X, data.Y)))
X, Y = data.X[train], data.Y[train]
started, wall = time.process_time(), time.perf_counter()
compact = sys.argv[3] == "compact"
model = PNMLClassifier(effort=sys.argv[2], compact=compact, random_state=0).fit(X, Y)
figures = dict(cpu=time.process_time() - started, wall=time.perf_counter() - wall)
figures["peak"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
started = time.process_time()
scores, said = model.decision_function(data.X[test]), model.predict(data.X[test])
figures["prediction"] = time.process_time() - started
figures |= evaluate(data.Y[test], said, scores)
figures["shape"] = [*X.shape, Y.shape[1]]
figures["drawn"] = data.provenance.is_synthetic
print(json.dumps(figures))
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("names", nargs="+")
    parser.add_argument("--effort", default="balanced")
    parser.add_argument("--compact", action="store_true")
    options = parser.parse_args()
    for name in options.names:
        size = "compact" if options.compact else "whole"
        command = [sys.executable, "-c", _CODE, name, options.effort, size]
        output = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
        figures = json.loads(output.splitlines()[-1])
        rows, features, labels = figures["shape"]
        print(
            f"{name}{' (drawn)' if figures['drawn'] else ''}: {rows} rows, {features} features, "
            f"{labels} labels: {figures['cpu'] / 60:.1f} min of one core "
            f"({figures['wall'] / 60:.1f} min by the clock), peak {figures['peak']:.0f} MB, "
            f"average precision {figures['average_precision']:.4f}, micro F1 "
            f"{figures['micro_f1']:.4f}, macro F1 {figures['macro_f1']:.4f}; prediction "
            f"{figures['prediction']:.0f} s",
            flush=True,
        )


if __name__ == "__main__":
    main()
