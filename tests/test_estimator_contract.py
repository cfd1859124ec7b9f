"""Every public estimator passes scikit-learn's own checks, with no expected failure."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from protolabel import PNMLClassifier

ESTIMATORS = [
    PNMLClassifier(),
    PNMLClassifier(prototypes="single"),
    PNMLClassifier.paper(prototypes="single"),
    PNMLClassifier.paper(prototypes="multiple"),
    PNMLClassifier.paper(prototypes="single", shared_embedding=False, max_epochs=10),
    PNMLClassifier.paper(prototypes="multiple", metric="euclidean", max_epochs=10),
]


@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn_check_passes(estimator, check):
    check(estimator)
