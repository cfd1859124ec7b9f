"""An explanation as a page."""

import numpy as np
import pytest

from protolabel import PNMLClassifier
from protolabel.inspection import explain
from protolabel.report.explanation_report import explanation_report
from report.structure import HOSTILE, Structure


@pytest.fixture(scope="module")
def fitted():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 4))
    tags = [{HOSTILE} if x > 0 else {"<b>", "z" * 2000} for x in X[:, 0]]
    model = PNMLClassifier(
        "single", n_members=2, max_epochs=2, n_landmarks=20, n_trees=5, random_state=0
    )
    return X, model.fit(X, tags)


def test_a_page_has_a_section_for_each_label_and_hostile_names_stay_texts(fitted):
    X, model = fitted
    names = [HOSTILE + str(number) for number in range(4)]
    found = explain(model, X[0], X_train=X, feature_names=names)
    page = Structure(explanation_report(found, title=HOSTILE))
    assert page.count("section") == 3
    assert page.count("svg") == 6
    assert page.count("script") == 1
    assert page.count("img") == 0
    assert HOSTILE in page.text
    assert not any(key.startswith("on") for _, found in page.elements for key in found)
    tips = [found["data-tip"] for _, found in page.elements if "data-tip" in found]
    assert any(tip.startswith(HOSTILE) for tip in tips)
