"""The studies of the paper, each from what is computed to tables and figures."""

from protolabel.experiments.studies.catalogue import STUDIES, find_study
from protolabel.experiments.studies.request import Request, freeze_method_settings
from protolabel.experiments.studies.study import Study, StudyResult, run_study

__all__ = [
    "STUDIES",
    "Request",
    "Study",
    "StudyResult",
    "find_study",
    "freeze_method_settings",
    "run_study",
]
