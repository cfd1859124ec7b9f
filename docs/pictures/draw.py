"""Draw the pictures of the concept pages, from real runs: ``python docs/pictures/draw.py``.

Takes the names of single pictures too; a few minutes for all on one core.
"""

from __future__ import annotations

import sys
from pathlib import Path

import geometry
import measured
import torch

PICTURES = {
    "embedding": geometry.embedding,
    "prototypes": geometry.prototypes,
    "clustering": geometry.clustering,
    "metric": geometry.metric,
    "probability": geometry.probability,
    "correlation": measured.correlation,
    "sampling": measured.sampling,
    "thresholds": measured.thresholds,
    "recommended": measured.recommended,
}
FOLDER = Path(__file__).parent.parent / "concepts"


def main(names: list[str]) -> None:
    """Draw the named pictures, or all."""
    unknown = set(names) - set(PICTURES)
    if unknown:
        raise SystemExit(f"There is no picture {unknown}; choose of {', '.join(PICTURES)}.")
    # One thread: sums in one order, and so the same files everywhere on one machine.
    torch.set_num_threads(1)
    for name in names or PICTURES:
        (FOLDER / f"{name}.svg").write_text(PICTURES[name](), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
