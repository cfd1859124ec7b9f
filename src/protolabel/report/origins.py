"""Section of a run: what is needed to compute it again."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from protolabel.experiments.record import Record
from protolabel.experiments.unit import Arm
from protolabel.report.page import Section


@dataclass(frozen=True)
class Configuration:
    """The fitted estimator of an arm."""

    method: str
    name: str
    text: str
    n_different: int


@dataclass(frozen=True)
class Origins:
    """Seeds, folds, versions and configurations."""

    facts: Sequence[tuple[str, str]]
    versions: Sequence[tuple[str, Sequence[tuple[str, int]]]]
    configurations: Sequence[Configuration]


def origins_section(records: Sequence[Record], names: Mapping[Arm, str]) -> Section:
    """Seeds, versions and the full configuration of every method."""
    versions: dict[str, Counter[str]] = {}
    for record in records:
        for package, version in record.versions.items():
            versions.setdefault(package, Counter())[version] += 1
    facts = [
        ("Seeds", _listed({record.unit.seed for record in records})),
        ("Folds", _listed({record.unit.n_folds for record in records})),
        ("Record formats", _listed({record.format for record in records})),
    ]
    content = Origins(
        facts,
        [(package, counts.most_common()) for package, counts in versions.items()],
        _configurations(records, names),
    )
    return Section("origins", "Versions and seeds", "origins.html", content)


def _configurations(records: Sequence[Record], names: Mapping[Arm, str]) -> list[Configuration]:
    found = []
    for arm, name in names.items():
        own = [record for record in records if record.unit.arm == arm and record.configuration]
        if own:
            first = own[0].configuration
            text = json.dumps(first.get("params", {}), indent=1, default=str)
            n_different = len({record.configuration_hash for record in own})
            found.append(Configuration(name, str(first.get("class", "")), text, n_different))
    return found


def _listed(values: set[int]) -> str:
    return ", ".join(str(value) for value in sorted(values))
