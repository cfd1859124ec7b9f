"""Where figures come from, in words: folds, seed, tuning, versions, machine time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from protolabel.experiments.record import Record
from protolabel.experiments.tables import arm_title
from protolabel.experiments.unit import Arm

Fact = tuple[str, str]
_SEARCHED = {"metric_penalty": "λ1", "correlation_penalty": "λ2", "concentration": "α"}


def describe_records(records: Sequence[Record]) -> tuple[Fact, ...]:
    """Say how records came about, for the top of a page.

    Parameters
    ----------
    records : sequence of Record
        Records of one run.

    Returns
    -------
    tuple of (heading, text)
        Nothing without records.
    """
    done = [record for record in records if record.is_ok]
    if not done:
        return ()
    folds = sorted({record.unit.n_folds for record in done})
    computed = sorted({record.unit.fold + 1 for record in done})
    seeds = sorted({record.unit.seed for record in done})
    facts = [
        ("folds", f"{_join(folds)} by iterative stratification; computed: {_join(computed)}"),
        ("seed", f"{_join(seeds)}, of the folds and of the methods"),
        *_tuning_facts(dict.fromkeys(record.unit.arm for record in done)),
        *describe_fixed_values(
            (record.unit.method, record.configuration)
            for record in done
            if record.unit.tuning == "none" and record.unit.method.startswith("pnml-")
        ),
        ("versions", describe_versions(record.versions for record in done)),
        ("computing time", f"{sum(map(_processor_seconds, done)):.0f} s of a processor"),
    ]
    failed = len(records) - len(done)
    if failed:
        facts.append(("failed units", f"{failed}; they are in no table"))
    return tuple(facts)


def describe_versions(versions: Iterable[Mapping[str, str]]) -> str:
    """Versions of all packages, several of one where records differ."""
    found: dict[str, dict[str, None]] = {}
    for record in versions:
        for name, version in record.items():
            found.setdefault(name, {})[version] = None
    return ", ".join(f"{name} {' and '.join(values)}" for name, values in found.items())


def arm_name(arm: Arm) -> str:
    """Title of an arm with all that distinguishes it.

    Examples
    --------
    >>> arm_name(Arm("pnml-single", tuning="grid"))
    'PNML-single, grid'
    """
    name = arm_title(arm)
    if arm.tuning != "none":
        name += f", {arm.tuning}"
    if arm.thresholds != "none":
        name += ", tuned thresholds"
    return name


def _tuning_facts(arms: Iterable[Arm]) -> list[Fact]:
    arms = list(arms)
    tuned = [arm for arm in arms if arm.tuning != "none"]
    fixed = dict.fromkeys(arm.method for arm in arms if arm.tuning == "none")
    facts = []
    if tuned:
        names = dict.fromkeys(f"{arm.method} ({arm.tuning})" for arm in tuned)
        facts.append(("tuned", f"{_join(names)}, on three inner folds of each training part"))
    if fixed:
        text = f"{_join(fixed)}; their settings are fixed, the same for all datasets"
        facts.append(("not tuned", text))
    with_thresholds = dict.fromkeys(arm.method for arm in arms if arm.thresholds == "tuned")
    if with_thresholds:
        facts.append(("thresholds tuned", _join(with_thresholds)))
    return facts


def describe_fixed_values(configurations: Iterable[tuple[str, Mapping[str, Any]]]) -> list[Fact]:
    """Say which values the parameters had that the paper searches.

    Parameters
    ----------
    configurations : iterable of (method, configuration)
        See :func:`~protolabel.experiments.configuration.describe_estimator`.

    Returns
    -------
    list of (heading, text)
        One fact, without parameters that have several values; nothing if none is left.

    Examples
    --------
    >>> describe_fixed_values([("pnml-d", {"params": {"concentration": 0.1}})])
    [('fixed values', 'pnml-d α = 0.1')]
    """
    found: dict[str, dict[str, set[float]]] = {}
    for method, configuration in configurations:
        params = configuration.get("params", {})
        for name, symbol in _SEARCHED.items():
            if isinstance(params.get(name), int | float):
                found.setdefault(method, {}).setdefault(symbol, set()).add(params[name])
    texts = []
    for method, values in found.items():
        single = [f"{symbol} = {min(v):g}" for symbol, v in values.items() if len(v) == 1]
        if single:
            texts.append(f"{method} {', '.join(single)}")
    return [("fixed values", "; ".join(texts))] if texts else []


def _processor_seconds(record: Record) -> float:
    times = record.times
    return times.tuning_cpu + times.fit_cpu + times.predict_cpu


def _join(values: Iterable[object]) -> str:
    return ", ".join(str(value) for value in values)
