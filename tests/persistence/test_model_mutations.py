"""Ten thousand seeded mutations of a model: each is refused, or leaves a model that works."""

import hashlib
import json
import os
import re
import resource
import time
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from persistence.tampering import with_header
from protolabel.exceptions import ModelFileError
from protolabel.persistence import load_model

MUTATIONS_PER_PART = 2000
SECONDS = 120
MEGABYTES = 200


class Mutator:
    """Changes bytes of a model; optionally makes sizes and checksums true again."""

    def __init__(self, source: Path, target: Path, seed: int) -> None:
        self.manifest = (source / "manifest.json").read_bytes()
        self.tensors = (source / "tensors.safetensors").read_bytes()
        self.n_header = int.from_bytes(self.tensors[:8], "little")
        self.target = target
        self.rng = np.random.default_rng(seed)
        target.mkdir()

    def mutate(self, data: bytes) -> bytes:
        """Change, remove, insert or repeat a few bytes."""
        rng, mutated = self.rng, bytearray(data)
        for _ in range(int(rng.integers(1, 4))):
            position = int(rng.integers(len(mutated))) if mutated else 0
            kind = int(rng.integers(6))
            if kind == 0 and mutated:
                mutated[position] ^= 1 << int(rng.integers(8))
            elif kind == 1 and mutated:
                mutated[position] = int(rng.integers(256))
            elif kind == 2:
                del mutated[position : position + int(rng.integers(1, 9))]
            elif kind == 3:
                mutated[position:position] = rng.bytes(int(rng.integers(1, 9)))
            elif kind == 4:
                length = int(rng.integers(1, 30))
                mutated[position:position] = mutated[position : position + length]
            elif mutated:
                # A digit for a digit keeps the syntax and reaches the deeper checks.
                digit = re.search(rb"[0-9]", mutated[position : position + 200])
                if digit:
                    mutated[position + digit.start()] = 48 + int(rng.integers(10))
        return bytes(mutated)

    def write(self, manifest: bytes, tensors: bytes) -> None:
        """Overwrite the files in place: emptying them first would take most of the time."""
        for name, data in (("manifest.json", manifest), ("tensors.safetensors", tensors)):
            descriptor = os.open(self.target / name, os.O_WRONLY | os.O_CREAT)
            os.pwrite(descriptor, data, 0)
            os.ftruncate(descriptor, len(data))
            os.close(descriptor)

    def announced(self, manifest: bytes, tensors: bytes) -> bytes:
        """The manifest with true sizes and checksums, or as it is where it is no JSON."""
        try:
            document = json.loads(manifest)
            document.pop("checksum", None)
            document["tensors"]["size"] = len(tensors)
            document["tensors"]["sha256"] = hashlib.sha256(tensors).hexdigest()
            text = json.dumps(document, sort_keys=True, separators=(",", ":"))
        except (ValueError, TypeError, KeyError, AttributeError):
            return manifest
        document["checksum"] = hashlib.sha256(text.encode()).hexdigest()
        return json.dumps(document).encode()

    def header_mutated(self) -> bytes:
        header = self.mutate(self.tensors[8 : 8 + self.n_header])
        return with_header(header, self.tensors[8 + self.n_header :])

    def payload_mutated(self) -> bytes:
        start = 8 + self.n_header
        return self.tensors[:start] + self.mutate(self.tensors[start:])

    def value_mutated(self) -> bytes:
        """Replace one value of the manifest by one of another kind or size."""
        document = json.loads(self.manifest)
        document.pop("checksum")
        places = list(_places(document))
        holder, key = places[int(self.rng.integers(len(places)))]
        odd = [None, True, -1, 0, 1, 2, 7, 2**40, 10**30, 1e300, "", "x", [], [0], {}, {"a": 1}]
        holder[key] = odd[int(self.rng.integers(len(odd)))]
        return json.dumps(document).encode()


def _places(node):
    """Every value of a document, as its holder and key."""
    items = node.items() if isinstance(node, dict) else enumerate(node)
    for key, value in list(items):
        yield node, key
        if isinstance(value, (dict, list)):
            yield from _places(value)


def manifest_bytes(m: Mutator) -> None:
    m.write(m.mutate(m.manifest), m.tensors)


def manifest_bytes_with_true_checksums(m: Mutator) -> None:
    m.write(m.announced(m.mutate(m.manifest), m.tensors), m.tensors)


def manifest_values_with_true_checksums(m: Mutator) -> None:
    m.write(m.announced(m.value_mutated(), m.tensors), m.tensors)


def header_bytes_with_true_checksums(m: Mutator) -> None:
    tensors = m.header_mutated()
    m.write(m.announced(m.manifest, tensors), tensors)


def payload_bytes_with_true_checksums(m: Mutator) -> None:
    tensors = m.payload_mutated()
    m.write(m.announced(m.manifest, tensors), tensors)


PARTS = (
    manifest_bytes,
    manifest_bytes_with_true_checksums,
    manifest_values_with_true_checksums,
    header_bytes_with_true_checksums,
    payload_bytes_with_true_checksums,
)


def test_mutations_number_at_least_ten_thousand():
    assert MUTATIONS_PER_PART * len(PARTS) >= 10_000


@pytest.mark.parametrize("part", PARTS, ids=lambda part: part.__name__)
def test_mutated_model_is_refused_or_works(part, saved_model, tmp_path):
    mutator = Mutator(saved_model, tmp_path / "model", seed=PARTS.index(part))
    rows = np.linspace(-1, 1, 6).reshape(2, 3)
    load_model(saved_model).predict(rows)
    outcomes: Counter[str] = Counter()
    started = time.process_time()
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(MUTATIONS_PER_PART):
        part(mutator)
        try:
            model = load_model(mutator.target)
        except ModelFileError:
            outcomes["refused"] += 1
            continue
        outcomes["loaded"] += 1
        predict = model.predict if outcomes["loaded"] % 2 else model.predict_proba
        with np.errstate(all="ignore"):
            assert predict(rows).shape == (2, 2)
    assert outcomes["refused"] > MUTATIONS_PER_PART / 50, outcomes
    assert time.process_time() - started < SECONDS
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - memory) / 1024
    assert grown < MEGABYTES
    if part is manifest_bytes:
        # White space and the order of digits in it aside, any change is noticed.
        assert outcomes["refused"] > 0.95 * MUTATIONS_PER_PART
