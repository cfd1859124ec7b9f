"""The virtual environment of BOOMER, which needs an older scikit-learn than ours."""

from __future__ import annotations

import logging
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from protolabel.datasets.loading import cache_home

BOOMER_VERSION = "0.12.3"
PYTHON_VARIABLE = "PROTOLABEL_BOOMER_PYTHON"

_LOG = logging.getLogger(__name__)
_INSTALL_SECONDS = 900


def find_boomer_python() -> Path | None:
    """Return the interpreter of an environment with BOOMER, if there is one.

    Returns
    -------
    Path or None
        What the variable ``PROTOLABEL_BOOMER_PYTHON`` names, or else the environment that
        :func:`create_boomer_environment` made.
    """
    named = os.environ.get(PYTHON_VARIABLE)
    if named:
        if not Path(named).is_file():
            raise ImportError(
                f"{PYTHON_VARIABLE}={named} is not a file; set it to the Python interpreter of an "
                f"environment with mlrl-boomer=={BOOMER_VERSION}, or unset it."
            )
        return Path(named)
    python = _python_in(environment_folder())
    return python if python.is_file() else None


def environment_folder() -> Path:
    """Return the folder of the environment in the cache of the package."""
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    return cache_home() / "environments" / f"boomer-{BOOMER_VERSION}-py{version}"


def create_boomer_environment(*, timeout: float = _INSTALL_SECONDS) -> Path:
    """Create the environment with pip, unless it is there.

    It is made under another name and then renamed: what goes by its name is complete, also
    when several processes create it at once.

    Parameters
    ----------
    timeout : float, default=900
        Seconds that each of the two steps may take.

    Returns
    -------
    Path
        Its Python interpreter.

    Raises
    ------
    ImportError
        When the environment or the package cannot be installed.
    """
    folder = environment_folder()
    if _python_in(folder).is_file():
        return _python_in(folder)
    _LOG.info("installing mlrl-boomer==%s into %s", BOOMER_VERSION, folder)
    folder.parent.mkdir(parents=True, exist_ok=True)
    building = Path(tempfile.mkdtemp(prefix=f"{folder.name}-", dir=folder.parent))
    try:
        _run([sys.executable, "-m", "venv", str(building)], timeout)
        package = f"mlrl-boomer=={BOOMER_VERSION}"
        pip = [str(_python_in(building)), "-I", "-m", "pip", "--disable-pip-version-check"]
        _run([*pip, "install", "--quiet", package], timeout)
        if not _python_in(folder).is_file():
            building.rename(folder)
    except OSError as error:
        # Another process may have been first to rename; its environment is as good.
        if not _python_in(folder).is_file():
            raise ImportError(f"BOOMER's environment {folder} cannot be made: {error}.") from error
    finally:
        shutil.rmtree(building, ignore_errors=True)
    return _python_in(folder)


def _python_in(folder: Path) -> Path:
    return folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def _run(command: list[str], timeout: float) -> None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=timeout, check=False)
    except subprocess.TimeoutExpired as error:
        raise ImportError(_explain(command, f"took more than {timeout:g} s")) from error
    if done.returncode:
        said = (done.stderr or done.stdout).strip()[-1000:]
        raise ImportError(_explain(command, f"ended with exit code {done.returncode}: {said}"))


def _explain(command: list[str], outcome: str) -> str:
    return (
        f"BOOMER lives in an environment of its own, which could not be installed: "
        f"{' '.join(command)!r} {outcome}\nInstall mlrl-boomer=={BOOMER_VERSION} into any other "
        f"virtual environment and set {PYTHON_VARIABLE} to its Python interpreter."
    )
