"""The report of a fitted model on labelled data."""

import re

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

from protolabel import PNMLClassifier
from protolabel.baselines.ml_knn import MLkNN
from protolabel.metrics import evaluate
from protolabel.report import model_report
from protolabel.report.comparison_section import comparison_section
from protolabel.report.page import render_page
from report.structure import HOSTILE, Structure

QUICK = {
    "n_members": 2,
    "max_epochs": 3,
    "max_prototypes": 3,
    "embedding_dim": 6,
    "n_landmarks": 20,
    "n_trees": 5,
    "random_state": 0,
}


def rows_with_labels(n_labels=4, n_rows=150):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, 6))
    Y = np.column_stack(
        [X[:, k % 6] + 0.5 * rng.normal(size=n_rows) > 0.3 for k in range(n_labels)]
    )
    return X, Y.astype(int)


@pytest.fixture(scope="module")
def fitted():
    X, Y = rows_with_labels()
    return PNMLClassifier("multiple", **QUICK).fit(X, Y), X, Y


@pytest.fixture(scope="module")
def page(fitted):
    model, X, Y = fitted
    return model_report(model, X, Y, title="Model of mine", data_name="made-up data")


def test_all_sections_are_there(page):
    found = Structure(page)
    anchors = [attributes["id"] for tag, attributes in found.elements if tag == "section"]
    assert anchors == ["summary", "learning", "labels", "map", "dependency"]
    assert "PNMLClassifier on 150 rows with 4 labels of made-up data" in found.text


def test_the_metrics_are_those_of_the_model(page, fitted):
    model, X, Y = fitted
    for value in evaluate(Y, model.predict(X), model.decision_function(X)).values():
        assert f"<dd>{value:.3f}</dd>" in page


def test_every_prototype_can_be_pointed_at_and_focussed(page, fitted):
    model, _, Y = fitted
    found = Structure(page)
    marks = [a for tag, a in found.elements if tag in ("polygon", "rect") and "data-labels" in a]
    assert len(marks) == model.n_prototypes_[0].sum()
    assert all(a["tabindex"] == "0" and a["aria-label"] for a in marks)
    shapes = {(tag, a["class"]) for tag, a in found.elements if "data-labels" in a and "class" in a}
    assert shapes == {("polygon", "positive"), ("rect", "negative")}
    for label in range(4):
        members = [
            int(n)
            for a in marks
            if a["data-labels"] == str(label) and a["class"] == "positive"
            for n in re.findall(r"nearest of its side to (\d+) of", a["data-tip"])
        ]
        assert sum(members) == Y[:, label].sum()


def test_the_rank_correlation_is_a_number(page):
    assert re.search(r"\(Spearman\): <strong>[+−]\d\.\d{3}</strong>", page)


def test_the_learning_curve_has_a_point_for_each_epoch(page):
    assert len(re.findall(r"epoch \d: ", page)) == 3


def test_hostile_label_names_stay_texts():
    X, Y = rows_with_labels()
    names = [HOSTILE, "w" * 4000, "<svg onload=alert(1)>", "plain"]
    tags = [{name for name, has in zip(names, row, strict=True) if has} for row in Y]
    model = PNMLClassifier("single", **QUICK).fit(X, tags)
    order = [names.index(name) for name in model.label_names_]
    page = model_report(model, X, Y[:, order], title=HOSTILE, data_name=HOSTILE)
    found = Structure(page)
    assert HOSTILE in found.text
    assert found.count("script") == 1
    assert found.count("img") == 0
    assert not any(key.startswith("on") for _, a in found.elements for key in a)
    assert len(page) < 500_000


def test_many_labels_are_reduced_to_the_most_frequent():
    X, Y = rows_with_labels(n_labels=40)
    model = PNMLClassifier("single", **QUICK).fit(X, Y)
    page = model_report(model, X, sp.csr_array(Y), max_rows=50)
    assert "50 of 150 rows; prototypes of 15 of 40 labels" in page
    assert "Drawn are the 30 most frequent labels" in page


def test_labels_with_embeddings_of_their_own_are_not_compared(fitted):
    _, X, Y = fitted
    model = PNMLClassifier("single", shared_embedding=False, **QUICK).fit(X, Y)
    found = Structure(model_report(model, X, Y))
    anchors = [attributes["id"] for tag, attributes in found.elements if tag == "section"]
    assert anchors == ["summary", "learning", "labels", "map"]


def test_a_label_without_positives_and_validation_losses_are_shown(fitted):
    _, X, Y = fitted
    Y = np.column_stack([Y, np.zeros(len(Y), dtype=int)])
    model = PNMLClassifier("single", early_stopping=True, **QUICK).fit(X, Y)
    page = model_report(model, X, Y)
    assert "validation loss" in page
    assert "pairs of 4 labels" in page


def test_metrics_that_are_not_defined_are_no_numbers_on_the_page(fitted):
    _, X, Y = fitted
    model = PNMLClassifier("single", **QUICK).fit(X, Y[:, :1])
    page = model_report(model, X, Y[:, :1])
    assert "<dd>–</dd>" in page
    assert "<dd>nan</dd>" not in page


def test_another_classifier_has_a_page_without_prototypes(fitted):
    _, X, Y = fitted
    found = Structure(model_report(MLkNN().fit(X, Y), X, Y))
    anchors = [attributes["id"] for tag, attributes in found.elements if tag == "section"]
    assert anchors == ["summary", "labels"]


def test_mistakes_are_named(fitted):
    model, X, Y = fitted
    with pytest.raises(ValueError, match="Y has 3 columns but the model was fitted with 4 labels"):
        model_report(model, X, Y[:, :3])
    with pytest.raises(ValueError, match="X has 10 rows and Y has 150"):
        model_report(model, X[:10], Y)
    with pytest.raises(ValueError, match="fitted to one class per row"):
        model_report(PNMLClassifier(max_epochs=1, n_members=1).fit(X, Y[:, 0]), X, Y[:, :1])


def test_labels_are_matched_to_the_model_by_name(fitted):
    _, X, Y = fitted
    frame = pd.DataFrame(Y, columns=["a", "b", "c", "d"])
    model = MLkNN().fit(X, frame)
    expected = model_report(model, X, Y)
    turned = frame[["c", "a", "d", "b"]]
    for form in (frame, turned, turned.astype("Int64"), pl.DataFrame(turned)):
        assert model_report(model, X, form) == expected
    with pytest.raises(ValueError, match=r"The columns of Y are \['a', 'b', 'c', 'e'\]; the model"):
        model_report(model, X, frame.rename(columns={"d": "e"}))
    missing = turned.astype("Int64")
    missing.loc[3, "b"] = pd.NA
    with pytest.raises(ValueError, match="The column 'b' of Y contains the value nan"):
        model_report(model, X, missing)


@pytest.mark.parametrize("form", [list, pd.Series, pl.Series])
def test_label_sets_have_the_page_of_their_matrix(fitted, form):
    _, X, Y = fitted
    tags = [[name for name, has in zip("abcd", row, strict=True) if has] for row in Y]
    model = PNMLClassifier("single", **QUICK).fit(X, tags)
    page = model_report(model, X, form(tags))
    assert page == model_report(model, X, Y)
    assert "PNMLClassifier on 150 rows with 4 labels" in page
    with pytest.raises(ValueError, match="Y has the label 'e', which is not among the 4 labels"):
        model_report(model, X, form([*tags[:-1], ["e"]]))


def test_the_map_is_limited_by_its_prototypes_and_keeps_one_label(fitted):
    from protolabel.inspection.prototype_map import map_prototypes

    model, X, Y = fitted
    everything = map_prototypes(model, X, Y, max_prototypes=10**6)
    assert len(everything.labels) == 4
    per_label = {
        label: sum(p.label == label for p in everything.prototypes) for label in everything.labels
    }
    first, second, *_ = everything.labels
    limit = per_label[first] + per_label[second]
    assert map_prototypes(model, X, Y, max_prototypes=limit).labels == (first, second)
    assert map_prototypes(model, X, Y, max_prototypes=limit - 1).labels == (first,)
    assert map_prototypes(model, X, Y, max_prototypes=0).labels == (first,)


def test_a_page_on_many_labels_shows_the_most_frequent_ones():
    X, _ = rows_with_labels()
    rng = np.random.default_rng(0)
    shares = np.linspace(0.05, 0.5, 320)
    Y = sp.csr_array((rng.random((150, 320)) < shares).astype(int))
    page = model_report(MLkNN().fit(X, Y), X, Y)
    assert "300 of 320 labels, the most frequent ones." in page
    assert "150 rows times 320 labels." in page
    counts = np.asarray(Y.sum(axis=0)).ravel()
    shown = [int(name) for name in re.findall(r'<tr><th scope="row">(\d+)</th>', page)]
    assert shown == sorted(shown)
    assert counts[shown].min() >= np.delete(counts, shown).max()


def test_hostile_names_of_methods_stay_texts_in_a_comparison():
    results = {HOSTILE: {"accuracy": 0.5}, "b": {"accuracy": 0.25}}
    page = Structure(render_page(HOSTILE, HOSTILE, [comparison_section(results)]))
    assert page.text.count(HOSTILE) == 4
    assert page.count("img") == 0
    assert "0.500" in page.text
