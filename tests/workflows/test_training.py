"""Training on a user's table: what the model is told."""

import numpy as np
from sklearn.neighbors import KNeighborsClassifier

from protolabel.workflows.file_options import FileOptions
from protolabel.workflows.labelled_data import read_labelled
from protolabel.workflows.training import train_model


class Noting(KNeighborsClassifier):
    """Notes what it is fitted with."""

    def fit(self, X, Y, groups=None):
        self.noted_ = X, groups
        return super().fit(X, Y.toarray())

    def decision_function(self, X):
        return self.predict(X)


def test_a_model_that_takes_groups_is_told_those_of_its_rows(tmp_path):
    rng = np.random.default_rng(0)
    table = tmp_path / "visits.csv"
    rows = [
        f"p{row % 12},{row % 12 + 0.5},{rng.random()},{row % 2},{row // 7 % 2}" for row in range(90)
    ]
    table.write_text("\n".join(["person,copy,a,u,v", *rows]))
    data = read_labelled(table, FileOptions(labels=("u", "v"), groups="person"))
    result = train_model(Noting(n_neighbors=3), data)
    X, groups = result.model.noted_
    assert len(X) == len(groups) == result.n_train < 90
    of_row = {}
    for copy, group in zip(np.asarray(X)[:, 0].tolist(), groups.tolist(), strict=True):
        assert of_row.setdefault(copy, group) == group
    assert len(set(of_row.values())) == len(of_row)
