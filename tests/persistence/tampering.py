"""Ways to tamper with a model folder, and a limit on what reading it may cost."""

import hashlib
import json
import resource
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np


class Tampered:
    """A copy of a model folder whose parts can be changed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.manifest_path = folder / "manifest.json"
        self.tensors_path = folder / "tensors.safetensors"

    def edit_manifest(self, edit: Callable[[dict[str, Any]], Any]) -> None:
        """Change the manifest and make its checksum true again."""
        manifest = json.loads(self.manifest_path.read_text())
        edit(manifest)
        manifest.pop("checksum", None)
        text = json.dumps(manifest, sort_keys=True, separators=(",", ":"))
        manifest["checksum"] = hashlib.sha256(text.encode()).hexdigest()
        self.manifest_path.write_text(json.dumps(manifest))

    def write_tensors(self, data: bytes) -> None:
        """Replace the tensor file and announce its new size and checksum."""
        self.tensors_path.write_bytes(data)

        def announce(manifest: dict[str, Any]) -> None:
            manifest["tensors"]["size"] = len(data)
            manifest["tensors"]["sha256"] = hashlib.sha256(data).hexdigest()

        self.edit_manifest(announce)

    def edit_header(self, edit: Callable[[dict[str, Any]], Any]) -> None:
        """Change the header of the tensor file, keeping checksums true."""
        header, payload = self.split()
        edit(header)
        self.write_tensors(with_header(json.dumps(header).encode(), payload))

    def split(self) -> tuple[dict[str, Any], bytes]:
        """Header and payload of the tensor file."""
        data = self.tensors_path.read_bytes()
        n_header = int.from_bytes(data[:8], "little")
        return json.loads(data[8 : 8 + n_header]), data[8 + n_header :]

    def set_tensor(self, name: str, array: np.ndarray, dtype: str) -> None:
        """Replace one array, in the file and in the schema."""
        header, payload = self.split()
        arrays = {n: payload[slice(*e["data_offsets"])] for n, e in header.items()}
        header[name] = {"dtype": dtype, "shape": list(array.shape)}
        arrays[name] = array.tobytes()
        position = 0
        for entry_name, data in arrays.items():
            header[entry_name]["data_offsets"] = [position, position + len(data)]
            position += len(data)
        self.edit_manifest(
            lambda m: m["tensors"]["schema"].update(
                {name: {"dtype": dtype, "shape": list(array.shape)}}
            )
        )
        self.write_tensors(with_header(json.dumps(header).encode(), b"".join(arrays.values())))


def manifest_entry(*keys: Any, value: Any) -> Callable[[Tampered], None]:
    """Replace one entry deep inside the manifest, with a true checksum."""

    def tamper(model: Tampered) -> None:
        def edit(manifest: Any) -> None:
            for key in keys[:-1]:
                manifest = manifest[key]
            manifest[keys[-1]] = value

        model.edit_manifest(edit)

    return tamper


def with_header(header: bytes, payload: bytes) -> bytes:
    return len(header).to_bytes(8, "little") + header + payload


@contextmanager
def bounded_memory(megabytes: int = 256) -> Iterator[None]:
    """Let the process grow by no more than this much address space."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    limit = pages * resource.getpagesize() + megabytes * 2**20
    resource.setrlimit(resource.RLIMIT_AS, (limit, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
