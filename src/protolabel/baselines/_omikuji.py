"""Parabel by the package omikuji: files in its text format, its model as plain bytes."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

Matrix = Any  # ndarray or CSR of shape (n_samples, n_features)


@dataclass(frozen=True)
class OmikujiForest:
    """The files that omikuji saves a model in.

    Parameters
    ----------
    file_names : tuple of str
    file_contents : tuple of ndarray of uint8
        Content of each file.
    n_labels : int
    """

    file_names: tuple[str, ...]
    file_contents: tuple[np.ndarray, ...]
    n_labels: int

    def open(self) -> Any:
        """Hand the files to omikuji and return its model."""
        omikuji = import_omikuji()
        with tempfile.TemporaryDirectory() as folder:
            for name, content in zip(self.file_names, self.file_contents, strict=True):
                if Path(name).name != name:
                    raise ValueError(
                        f"The model file is named {name!r}; expected a plain name without folders."
                    )
                (Path(folder) / name).write_bytes(content.tobytes())
            with _standard_output_kept_clean():
                return omikuji.Model.load(folder)


def import_omikuji() -> Any:
    """Import omikuji, or say how to get it."""
    try:
        return import_module("omikuji")
    except ImportError as error:
        raise ImportError(
            'engine="omikuji" needs the package omikuji, which is not installed; install '
            'protolabel[peers], or use engine="own".'
        ) from error


def train_omikuji(X: Matrix, Y: sp.csr_array, hyper_parameters: dict[str, Any]) -> OmikujiForest:
    """Train on a temporary file and read back what omikuji saves."""
    omikuji = import_omikuji()
    settings = omikuji.Model.default_hyper_param()
    for name, value in hyper_parameters.items():
        setattr(settings, name, value)
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "rows.txt"
        write_rows(data, X, Y)
        saved = Path(folder) / "model"
        saved.mkdir()
        with _standard_output_kept_clean():
            omikuji.Model.train_on_data(str(data), settings, n_threads=1).save(str(saved))
        files = sorted(path for path in saved.iterdir() if path.is_file())
        return OmikujiForest(
            file_names=tuple(path.name for path in files),
            file_contents=tuple(np.frombuffer(path.read_bytes(), dtype=np.uint8) for path in files),
            n_labels=Y.shape[1],
        )


def write_rows(path: Path, X: Matrix, Y: sp.csr_array) -> None:
    """Write ``labels feature:value ...`` lines under a header of the three sizes.

    A row without labels begins with a space, unless it has no features either: a space at the
    end of a line makes omikuji refuse the whole file, an empty line is a row without anything.
    """
    rows, labels = _sorted_csr(X), _sorted_csr(Y)
    lines = []
    for row in range(rows.shape[0]):
        names = ",".join(map(str, labels.indices[labels.indptr[row] : labels.indptr[row + 1]]))
        part = slice(rows.indptr[row], rows.indptr[row + 1])
        pairs = zip(rows.indices[part], rows.data[part], strict=True)
        features = "".join(f" {feature}:{np.float32(value)!s}" for feature, value in pairs)
        lines.append(names + features)
    header = f"{rows.shape[0]} {rows.shape[1]} {labels.shape[1]}"
    path.write_text("\n".join([header, *lines]) + "\n", encoding="ascii")


def omikuji_log_scores(handle: Any, X: Matrix, n_labels: int, beam_width: int | None) -> np.ndarray:
    """Logarithm of all scores; minus infinity for labels that omikuji does not return.

    Its beam limits the nodes that are kept as well as the labels returned from each leaf, so
    that all labels are scored only with a beam of their number.
    """
    rows = _sorted_csr(X)
    scores = np.zeros((rows.shape[0], n_labels))
    beam = n_labels if beam_width is None else beam_width
    for row in range(rows.shape[0]):
        part = slice(rows.indptr[row], rows.indptr[row + 1])
        pairs = list(zip(rows.indices[part].tolist(), rows.data[part].tolist(), strict=True))
        for label, score in handle.predict(pairs, beam_size=beam, top_k=n_labels):
            scores[row, label] = score
    with np.errstate(divide="ignore"):
        return np.log(scores)


@contextmanager
def _standard_output_kept_clean() -> Iterator[None]:
    """Send to standard error what omikuji logs, past Python, on standard output."""
    sys.stdout.flush()
    kept = os.dup(1)
    os.dup2(2, 1)
    try:
        yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)


def _sorted_csr(X: Matrix) -> sp.csr_array:
    rows = sp.csr_array(X, copy=True)
    rows.sum_duplicates()
    # A value that is zero in single precision is no feature to omikuji.
    rows.data[np.float32(rows.data) == 0] = 0
    rows.eliminate_zeros()
    return rows
