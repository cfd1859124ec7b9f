"""The report of a benchmark run: what it says, and that no name can break it."""

import base64
import hashlib
import math
import re

import pytest

from protolabel.experiments.unit import Arm
from protolabel.report import run_report
from protolabel.report.names import arm_names
from report.structure import HOSTILE, Structure
from report.synthetic_run import DATASETS, METHODS, METRICS, failed, make_records, write_records


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    records = make_records()
    records[7] = failed(records[7])
    return run_report(write_records(tmp_path_factory.mktemp("big"), records))


def test_the_report_of_a_large_run_is_small(page):
    assert len(page.encode()) < 1_000_000


def test_nothing_is_loaded_from_elsewhere(page):
    without_namespace = page.replace("http://www.w3.org/2000/svg", "")
    assert "//" not in re.sub(r"<script>.*?</script>", "", without_namespace, flags=re.DOTALL)
    assert not re.search(r"https?:|url\(|@import|\ssrc=|<link|<iframe", without_namespace)
    assert "default-src &#39;none&#39;" in page


def test_the_policy_allows_the_script_of_the_page_alone(page):
    (script,) = re.findall(r"<script>(.*?)</script>", page, flags=re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"sha256-{digest}" in page.replace("&#43;", "+")


def test_sections_come_in_their_order_with_a_table_for_each_metric(page):
    found = Structure(page)
    anchors = [attributes["id"] for tag, attributes in found.elements if tag == "section"]
    assert anchors == ["summary", "results", "ranks", "costs", "tuning", "origins"]
    results = [a for tag, a in found.elements if tag == "table" and "results" in a.get("class", "")]
    assert len(results) == len(METRICS)
    assert found.count("svg") == len(METRICS)
    for name in DATASETS:
        assert name in found.text


def test_the_failed_fold_is_counted_and_shown_with_its_error(page):
    assert "749 of 750" in page
    assert "ValueError: &lt;no&gt; &amp; &#34;x&#34;" in page
    assert "4 of 5 folds" in page


def test_best_values_and_differences_to_published_values_are_right(tmp_path):
    records = make_records(["emotions"], ["pnml-single", "br"], n_folds=2, tuned=())
    for record, value in zip(records, (0.5, 0.6, 0.1, 0.2), strict=True):
        record.metrics.update(accuracy=value, ranking_loss=value)
    page = run_report(write_records(tmp_path, records))
    assert '<strong class="best">0.550</strong><small> ±0.071</small>' in page
    assert 'title="published 0.489">▲ +0.061' in page
    # A ranking loss of 0.15 is better than one of 0.55.
    (_, loss) = re.split(r'id="metric-ranking_loss"', page)
    assert '<strong class="best">0.150</strong>' in loss


def test_tuned_settings_are_shown_with_the_folds_that_chose_them(page):
    text = Structure(page).text
    assert "penalty: 0.01, 0.1, 1" in text
    assert re.search(r"penalty [\d.]+ \(×[1-4]\)", text)


def test_hostile_names_stay_texts(tmp_path):
    names = [HOSTILE, "x" * 3000, "<b>", "javascript:alert(1)"]
    records = make_records(names, [HOSTILE, "y" * 500, "br"], n_folds=2, tuned=(HOSTILE,))
    records[0].versions[HOSTILE] = HOSTILE
    records[1].configuration["params"][HOSTILE] = [HOSTILE]
    records[2] = failed(records[2], HOSTILE)
    records[3].params[HOSTILE] = HOSTILE
    page = run_report(write_records(tmp_path, records))
    found = Structure(page)
    assert HOSTILE in found.text
    assert found.count("script") == 1
    assert found.count("img") == 0
    assert not any(key.startswith("on") for _, attributes in found.elements for key in attributes)


def test_one_method_on_one_dataset_says_why_there_are_no_ranks(tmp_path):
    page = run_report(write_records(tmp_path, make_records(["scene"], ["br"], n_folds=2)))
    assert "ranks need at least two methods" in page
    assert Structure(page).count("svg") == 0


def test_a_run_in_which_everything_failed_has_a_report(tmp_path):
    records = [failed(record) for record in make_records(["scene"], ["br"], n_folds=2)]
    page = run_report(write_records(tmp_path, records))
    assert "No fold was computed" in page
    assert "0 of 2" in page


def test_a_metric_without_a_value_is_left_out_of_the_ranks_with_a_reason(tmp_path):
    records = make_records(["scene", "image"], ["br", "camel"], n_folds=2)
    records[0].metrics["accuracy"] = float("nan")
    page = run_report(write_records(tmp_path, records))
    assert "ranks need every method on every dataset" in page.replace("\n", " ")


def test_an_empty_folder_says_how_to_fill_it(tmp_path):
    with pytest.raises(ValueError, match="holds no records; write some with `protolabel benchmark"):
        run_report(tmp_path)


def test_the_same_records_give_the_same_page(tmp_path):
    folder = write_records(tmp_path, make_records(["scene", "image"], METHODS[:3], n_folds=2))
    assert run_report(folder) == run_report(folder)


def test_arms_of_one_method_are_told_apart():
    arms = [Arm("br"), Arm("br", thresholds="tuned"), Arm("camel", tuning="30"), Arm("camel")]
    names = list(arm_names(arms).values())
    assert names == [
        "BR (own thresholds)",
        "BR (tuned thresholds)",
        "CAMEL (tuning: 30 trials)",
        "CAMEL (no tuning)",
    ]


def test_what_looks_like_the_published_value_is_neither_better_nor_worse(tmp_path):
    records = make_records(["emotions"], ["pnml-single", "br"], n_folds=2, tuned=())
    for record, value in zip(records, (0.4892, 0.4892, 0.3, math.nan), strict=True):
        record.metrics.update(accuracy=value)
    page = run_report(write_records(tmp_path, records))
    assert '<small class="equal" title="published 0.489">= ' in page
    assert "nan" not in re.sub(r"<script.*?</script>", "", page, flags=re.DOTALL).lower()
