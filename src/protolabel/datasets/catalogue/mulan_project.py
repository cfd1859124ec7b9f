"""Addresses of files in the repository of the Mulan project."""

from __future__ import annotations

_COMMIT = "43f6389095ad71984264db4387a8074b22bc7d4a"
_ROOTS = (
    f"https://raw.githubusercontent.com/tsoumakas/mulan/{_COMMIT}/data/multi-label",
    f"https://github.com/tsoumakas/mulan/raw/{_COMMIT}/data/multi-label",
)


def from_mulan(*paths: str) -> tuple[str, ...]:
    """Return the addresses of a file, given the paths it may have below the data folder.

    Parameters
    ----------
    *paths : str
        Paths, best first.

    Returns
    -------
    tuple of str
        Addresses at one fixed commit.

    Examples
    --------
    >>> from protolabel.datasets.catalogue.mulan_project import from_mulan
    >>> len(from_mulan("flags/flags.arff"))
    2
    """
    return tuple(f"{root}/{path}" for path in paths for root in _ROOTS)
