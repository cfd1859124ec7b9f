"""How much a file may cost before it is refused."""

from __future__ import annotations

from dataclasses import dataclass

MIB = 1024 * 1024


@dataclass(frozen=True)
class ReadLimits:
    """Bounds that keep a hostile or damaged file from filling the memory.

    Parameters
    ----------
    max_bytes : int, default=8 GiB
        Largest content after decompression.
    max_ratio : int, default=250
        Largest content after decompression, as a multiple of the file, once it exceeds
        ``free_bytes``. Of the benchmark files the
        worst has 175.
    free_bytes : int, default=16 MiB
        Content that is accepted whatever the ratio.
    max_line_bytes : int, default=16 MiB
        Longest line of a text file.
    max_columns : int, default=50 million
        Largest number of features or labels that a file may declare or index.

    Examples
    --------
    >>> from protolabel.datasets.limits import ReadLimits
    >>> ReadLimits().content_budget(file_bytes=1000) == 16 * 1024 * 1024
    True
    """

    max_bytes: int = 8 * 1024 * MIB
    max_ratio: int = 250
    free_bytes: int = 16 * MIB
    max_line_bytes: int = 16 * MIB
    max_columns: int = 50_000_000

    def content_budget(self, file_bytes: int) -> int:
        """Return how many decompressed bytes a file of this size may yield."""
        return min(self.max_bytes, max(self.free_bytes, self.max_ratio * file_bytes))


DEFAULT_LIMITS = ReadLimits()
