"""All studies by name, in an order in which the quick ones come first."""

from __future__ import annotations

from collections.abc import Mapping

from protolabel.experiments.studies.ablation import Ablation
from protolabel.experiments.studies.correlation import Correlation
from protolabel.experiments.studies.ingredients import Ingredients
from protolabel.experiments.studies.main_results import MainResults
from protolabel.experiments.studies.prototypes import Prototypes
from protolabel.experiments.studies.runtime import Runtime
from protolabel.experiments.studies.sampling import Sampling
from protolabel.experiments.studies.sensitivity import Sensitivity
from protolabel.experiments.studies.statistics import Statistics
from protolabel.experiments.studies.study import Study

# The statistics look at the records of the main results, so they come after them.
STUDIES: Mapping[str, Study] = {
    study.name: study
    for study in (
        Correlation(),
        Prototypes(),
        Sensitivity(),
        Sampling(),
        Ablation(),
        Runtime(),
        Ingredients(),
        MainResults(),
        Statistics(),
    )
}


def find_study(name: str) -> Study:
    """Look a study up by its name."""
    if name not in STUDIES:
        raise ValueError(f"There is no study {name!r}; choose one of {', '.join(STUDIES)}.")
    return STUDIES[name]
