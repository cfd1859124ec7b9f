"""Which differences between methods mean something: tests on tables of results."""

from protolabel.experiments.statistics.bayesian import (
    BayesianComparison,
    bayesian_signed_rank,
    correlated_t_test,
)
from protolabel.experiments.statistics.diagram import critical_difference_diagram, similar_groups
from protolabel.experiments.statistics.pairwise import (
    WilcoxonComparison,
    holm,
    wilcoxon_all_pairs,
)
from protolabel.experiments.statistics.ranks import (
    ControlComparison,
    FriedmanTest,
    compare_with_control,
    critical_difference,
    friedman_test,
    rank_methods,
)
from protolabel.experiments.statistics.sign import SignTest, sign_test, sign_threshold

__all__ = [
    "BayesianComparison",
    "ControlComparison",
    "FriedmanTest",
    "SignTest",
    "WilcoxonComparison",
    "bayesian_signed_rank",
    "compare_with_control",
    "correlated_t_test",
    "critical_difference",
    "critical_difference_diagram",
    "friedman_test",
    "holm",
    "rank_methods",
    "sign_test",
    "sign_threshold",
    "similar_groups",
    "wilcoxon_all_pairs",
]
