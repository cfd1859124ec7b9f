"""Raw text with tags, one row a line, through a vectoriser."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from protolabel.datasets.dataset import MultiLabelDataset, Provenance, Split
from protolabel.datasets.growing import GrowingCsr
from protolabel.datasets.limits import DEFAULT_LIMITS, ReadLimits
from protolabel.datasets.lines import iter_lines, problem_at
from protolabel.datasets.readers.mulan import stem_of
from protolabel.exceptions import DatasetError


def read_text(
    path: str | Path,
    labels: str | Path | Sequence[str],
    *,
    vectorizer: Any = None,
    name: str | None = None,
    encoding: str = "utf-8",
    limits: ReadLimits = DEFAULT_LIMITS,
) -> MultiLabelDataset:
    r"""Read lines ``text <tab> tag,tag [<tab> ...]``; tags are numbers from 0, or names.

    Parameters
    ----------
    path : str or Path
        Plain or gzip-compressed text, without header and without quoting.
    labels : str, Path or sequence of str
        File with one label name a line, or the names.
    vectorizer : object with fit_transform and get_feature_names_out, default=None
        Turns an iterable of texts into a matrix; None takes ``default_vectorizer()``.
    name : str, default=None
        Name of the dataset; None takes the name of the file.
    encoding : str, default="utf-8"
        Encoding of the file.
    limits : ReadLimits, default=DEFAULT_LIMITS
        When to refuse the file.

    Returns
    -------
    MultiLabelDataset
        Sparse features.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from sklearn.feature_extraction.text import CountVectorizer
    >>> from protolabel.datasets import read_text
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "mine.tsv"
    ...     _ = path.write_text("good film\t0\nbad bad film\t0,1\n")
    ...     mine = read_text(path, labels=["film", "anger"], vectorizer=CountVectorizer())
    >>> mine.X.toarray().tolist(), mine.Y.toarray().tolist()
    ([[0.0, 1.0, 1.0], [2.0, 1.0, 0.0]], [[1, 0], [1, 1]])
    """
    return read_text_parts(
        {"train": Path(path)},
        labels,
        vectorizer=vectorizer,
        name=name or stem_of(Path(path)),
        encoding=encoding,
        limits=limits,
    )


def read_text_parts(
    parts: Mapping[str, Path],
    labels: str | Path | Sequence[str],
    *,
    vectorizer: Any = None,
    name: str,
    encoding: str = "utf-8",
    limits: ReadLimits = DEFAULT_LIMITS,
) -> MultiLabelDataset:
    """Read a split kept in several files; the vectoriser learns from the training part alone.

    Parameters
    ----------
    parts : mapping of str to Path
        Files of the parts "train", "validation" and "test", in the order of the rows; "train"
        comes first.
    labels : str, Path or sequence of str
        File with one label name a line, or the names.
    vectorizer : object, default=None
        As for ``read_text``.
    name : str
        Name of the dataset.
    encoding : str, default="utf-8"
        Encoding of the files.
    limits : ReadLimits, default=DEFAULT_LIMITS
        When to refuse a file.

    Returns
    -------
    MultiLabelDataset
        With a split when there is a test part.
    """
    if isinstance(labels, str | Path):
        label_names = tuple(iter_lines(Path(labels), limits=limits))
    else:
        label_names = tuple(labels)
    vectorizer = default_vectorizer() if vectorizer is None else vectorizer
    matrices: list[Any] = []
    targets: list[Any] = []
    for part, path in parts.items():
        rows = _TextRows(path, label_names, encoding, limits)
        learn = vectorizer.fit_transform if part == "train" else vectorizer.transform
        try:
            matrices.append(learn(rows.texts()))
        except DatasetError:
            raise
        except ValueError as error:
            raise problem_at(
                path, rows.n_lines + 1, f"the texts cannot be turned into features ({error})"
            ) from error
        targets.append(rows.labels.finish(len(label_names)))
    X = sparse.csr_matrix(sparse.vstack(matrices), dtype=np.float64)
    rows_of = np.split(np.arange(X.shape[0]), np.cumsum([Y.shape[0] for Y in targets])[:-1])
    part_rows = dict(zip(parts, rows_of, strict=True))
    split = None
    if "test" in part_rows:
        split = Split(part_rows["train"], part_rows["test"], part_rows.get("validation"))
    return MultiLabelDataset(
        name=name,
        X=X,
        Y=sparse.csr_matrix(sparse.vstack(targets), dtype=np.int32),
        feature_names=tuple(str(word) for word in vectorizer.get_feature_names_out()),
        label_names=label_names,
        split=split,
        provenance=Provenance(
            source=", ".join(str(path) for path in parts.values()),
            notes=(f"texts were turned into features by {vectorizer!r}",),
        ),
    )


def default_vectorizer() -> Any:
    """Return word counts weighted by inverse document frequency, rare words left out.

    Returns
    -------
    TfidfVectorizer
        Sublinear counts; words in fewer than two texts are left out.
    """
    from sklearn.feature_extraction.text import TfidfVectorizer  # noqa: PLC0415

    return TfidfVectorizer(sublinear_tf=True, min_df=2)


class _TextRows:
    """Yield the texts of a file and keep the tags that pass by."""

    def __init__(
        self, path: Path, label_names: tuple[str, ...], encoding: str, limits: ReadLimits
    ) -> None:
        self.path = path
        self.label_names = label_names
        self.code_of = {label: code for code, label in enumerate(label_names)}
        self.encoding = encoding
        self.limits = limits
        self.labels = GrowingCsr(np.int32)
        self.n_lines = 0

    def texts(self) -> Iterator[str]:
        """Yield the text of each row."""
        for line in iter_lines(self.path, encoding=self.encoding, limits=self.limits):
            self.n_lines += 1
            cells = line.split("\t")
            if len(cells) < 2:
                raise problem_at(
                    self.path,
                    self.n_lines,
                    f"expected a text, a tab and tags, received {line[:60]!r}",
                )
            tags = [tag.strip() for tag in cells[1].split(",") if tag.strip()]
            codes = sorted({self._code(tag) for tag in tags})
            self.labels.append([len(codes)], codes, np.ones(len(codes)))
            yield cells[0]

    def _code(self, tag: str) -> int:
        code = self.code_of.get(tag)
        if code is None and tag.isascii() and tag.isdigit() and len(tag) < 10:
            code = int(tag)
        if code is None or code >= len(self.label_names):
            raise problem_at(
                self.path,
                self.n_lines,
                f"tag {tag[:40]!r} is neither a label name nor a number below "
                f"{len(self.label_names)}",
            )
        return code
