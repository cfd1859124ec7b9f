"""Whether this machine has what protolabel needs, and what it could use besides."""

from __future__ import annotations

import importlib
import os
import platform
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from protolabel.version import __version__

_CORE = {
    "numpy": "numpy",
    "scipy": "scipy",
    "scikit-learn": "sklearn",
    "torch": "torch",
    "joblib": "joblib",
    "safetensors": "safetensors",
    "jinja2": "jinja2",
    "typer": "typer",
    "rich": "rich",
    "defusedxml": "defusedxml",
    "pooch": "pooch",
}
_EXTRAS: Mapping[str, tuple[str, ...]] = {
    "frames": ("pandas", "polars", "pyarrow"),
    "peers": ("omikuji", "xgboost-cpu"),
    "tune": ("optuna",),
    "cluster": ("dask", "distributed"),
    "onnx": ("onnx", "onnxscript", "onnxruntime"),
    "plots": ("matplotlib",),
}
_THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at.

    Parameters
    ----------
    name : str
    status : {"ok", "absent", "problem"}
        An absent thing is optional, a problem is not.
    detail : str
        What was found, and what to do.
    """

    name: str
    status: str
    detail: str


def examine() -> list[Finding]:
    """Look at versions, threads, extras, data folder, cache and GPU.

    Examples
    --------
    >>> [finding.name for finding in examine()][:2]
    ['protolabel', 'python']
    """
    python = Finding(
        "python",
        "ok" if sys.version_info >= (3, 11) else "problem",
        f"{platform.python_version()} on {platform.platform()}",
    )
    return [
        Finding("protolabel", "ok", __version__),
        python,
        *(_core(name, module) for name, module in _CORE.items()),
        _threads(),
        _gpu(),
        *(_extra(name, packages) for name, packages in _EXTRAS.items()),
        _data_folder(),
        _cache(),
    ]


def _core(name: str, module: str) -> Finding:
    """Import a package: an installation may be there and broken."""
    try:
        importlib.import_module(module)
        return Finding(name, "ok", metadata.version(name))
    except Exception as error:
        return Finding(name, "problem", f"{error}; install it with: pip install {name}")


def _threads() -> Finding:
    given = [f"{name}={os.environ[name]}" for name in _THREAD_VARIABLES if os.environ.get(name)]
    detail = f"{os.cpu_count()} cores; {', '.join(given) or 'no limit is set'}"
    return Finding("threads", "ok", detail)


def _gpu() -> Finding:
    try:
        import torch  # noqa: PLC0415
    except Exception as error:
        return Finding("gpu", "problem", str(error))
    if torch.cuda.is_available():
        return Finding("gpu", "ok", torch.cuda.get_device_name(0))
    return Finding("gpu", "absent", "none; training uses the CPU")


def _extra(name: str, packages: tuple[str, ...]) -> Finding:
    found, missing = [], []
    for package in packages:
        try:
            found.append(f"{package} {metadata.version(package)}")
        except metadata.PackageNotFoundError:
            missing.append(package)
    if not missing:
        return Finding(f"extra {name}", "ok", ", ".join(found))
    remedy = f"without {', '.join(missing)}; for all: pip install 'protolabel[{name}]'"
    return Finding(f"extra {name}", "absent", remedy)


def _data_folder() -> Finding:
    folder = os.environ.get("PROTOLABEL_DATA")
    if not folder:
        return Finding("data folder", "absent", "PROTOLABEL_DATA is not set")
    if not Path(folder).is_dir():
        return Finding(
            "data folder", "problem", f"PROTOLABEL_DATA={folder} is no folder; correct or unset it"
        )
    return Finding("data folder", "ok", folder)


def _cache() -> Finding:
    """The cache, or the closest folder above it, has to be writable."""
    from protolabel.datasets.loading import cache_home  # noqa: PLC0415

    home = cache_home()
    place = next(folder for folder in (home, *home.absolute().parents) if folder.exists())
    try:
        with tempfile.TemporaryFile(dir=place):
            return Finding("cache", "ok", str(home))
    except OSError as error:
        detail = f"{home} cannot be written ({error}); set PROTOLABEL_CACHE to another folder"
        return Finding("cache", "problem", detail)
